"""Battery RAM files, as PyBoy names and lays them out: all RAM banks in order."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from emurust.errors import SaveFileError

__all__ = ["battery_path", "read_battery", "write_battery"]


def battery_path(rom_path: Path) -> Path:
    """The file next to the ROM that keeps its battery RAM: the ROM's name plus ``.ram``."""
    return rom_path.with_name(rom_path.name + ".ram")


def read_battery(path: Path, size: int) -> bytes | None:
    """The first `size` bytes of a battery RAM file, or None if there is no file.

    Other emulators append the clock's time; what follows the RAM is left out.

    Raises:
        SaveFileError: the file cannot be read or is too short.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SaveFileError(
            f"the battery RAM file {path} cannot be read: {error.strerror}"
        ) from error
    return fitting(content, size, str(path))


def fitting(content: bytes, size: int, name: str) -> bytes:
    """The first `size` bytes of `content`."""
    if len(content) < size:
        raise SaveFileError(
            f"battery RAM from {name} has {len(content)} bytes, but the cartridge has {size}; "
            "it is truncated or belongs to another game"
        )
    return content[:size]


def write_battery(path: Path, content: bytes) -> None:
    """Replaces a battery RAM file in one step: after a crash it is the old or the new one.

    Raises:
        SaveFileError: the directory or the disk does not take it; an old file stays.
    """
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=path.name, suffix=".tmp", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _copy_mode(path, temporary)
        Path(temporary).replace(path)
        temporary = None
        _sync_directory(path.parent)
    except OSError as error:
        raise SaveFileError(
            f"the battery RAM file {path} cannot be written: {error.strerror}"
        ) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _copy_mode(path: Path, temporary: str) -> None:
    """Gives the new file the old one's permissions, or those of any new file."""
    try:
        mode = path.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        mode = 0o666 & ~umask
    Path(temporary).chmod(mode)


def _sync_directory(directory: Path) -> None:
    """Makes the rename itself durable where the platform can."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
