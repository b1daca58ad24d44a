"""Frames as picture files: PNG and GIF through Pillow, MP4 through imageio-ffmpeg."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from emurust.errors import ArgumentError, DependencyError, SaveFileError
from emurust.gameboy import FRAMES_PER_SECOND
from emurust.screen import GREY_OF_SHADE, rgb

__all__ = ["Film", "import_pillow", "open_film", "picture", "save_picture"]

Shades = npt.NDArray[np.uint8]

_PALETTE = [grey for grey in GREY_OF_SHADE.tolist() for _ in range(3)]


def import_pillow() -> Any:
    """Pillow's module Image.

    Raises:
        DependencyError: it is not installed.
    """
    try:
        from PIL import Image
    except ImportError:
        raise DependencyError(
            "pictures need Pillow; install it with: pip install 'emurust[image]'"
        ) from None
    return Image


def picture(shades: Shades, scale: int = 1) -> Any:
    """A frame, (144, 160) shades, as a Pillow image with a palette of greys."""
    large = _enlarged(shades, scale)
    image = import_pillow().frombytes("P", large.shape[::-1], large.tobytes())
    image.putpalette(_PALETTE)
    return image


def save_picture(image: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Writes a Pillow image to a file.

    Raises:
        SaveFileError: that does not work.
    """
    try:
        image.save(path, **options)
    except (OSError, ValueError) as error:
        raise SaveFileError(f"the picture {path} cannot be written: {error}") from error


class Film(Protocol):
    """A file that frames go into, one after the other."""

    def add(self, shades: Shades) -> None:
        """Adds a frame, (144, 160) shades, which may change afterwards."""

    def close(self) -> None:
        """Writes what is not written yet. Raises SaveFileError if that does not work."""


def open_film(path: str | os.PathLike[str], *, every: int = 1, scale: int = 1) -> Film:
    """A film in the format that the file's name asks for: ``.gif``, ``.mp4``, or ``.png``, which
    keeps the last frame only.

    Args:
        path: the file.
        every: how many of the machine's frames pass from one added frame to the next.
        scale: size of a pixel.

    Raises:
        ArgumentError: the name asks for something else.
        DependencyError: what the format needs is not installed.
        SaveFileError: the file cannot be written.
    """
    path = Path(path)
    kinds: dict[str, type[_Png] | type[_Gif] | type[_Mp4]] = {
        ".png": _Png,
        ".gif": _Gif,
        ".mp4": _Mp4,
    }
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise ArgumentError(
            f"the name of a film ends in {', '.join(kinds)}, not {path.suffix or 'nothing'!r}: "
            f"{path}"
        )
    if not path.absolute().parent.is_dir():
        raise SaveFileError(f"the picture {path} cannot be written: there is no such folder")
    return kind(path, every, scale)


class _Png:
    def __init__(self, path: Path, every: int, scale: int) -> None:
        import_pillow()  # Missing is better found before the run than after it.
        self._path = path
        self._scale = scale
        self._last: Shades = np.full((144, 160), 4, np.uint8)

    def add(self, shades: Shades) -> None:
        self._last = shades.copy()

    def close(self) -> None:
        save_picture(picture(self._last, self._scale), self._path)


class _Gif:
    def __init__(self, path: Path, every: int, scale: int) -> None:
        import_pillow()
        self._path = path
        self._scale = scale
        # GIF times are hundredths of a second; browsers dislike less than two.
        self._duration = max(20, round(1000 * every / FRAMES_PER_SECOND / 10) * 10)
        self._frames: list[Shades] = []

    def add(self, shades: Shades) -> None:
        self._frames.append(shades.copy())

    def close(self) -> None:
        if not self._frames:
            return
        save_picture(
            picture(self._frames[0], self._scale),
            self._path,
            save_all=True,
            append_images=(picture(shades, self._scale) for shades in self._frames[1:]),
            duration=self._duration,
            loop=0,
        )
        self._frames.clear()


class _Mp4:
    def __init__(self, path: Path, every: int, scale: int) -> None:
        try:
            import imageio_ffmpeg
        except ImportError:
            raise DependencyError(
                "MP4 needs imageio-ffmpeg; install it with: pip install 'emurust[video]'"
            ) from None
        self._path = path
        self._scale = scale
        self._writer = imageio_ffmpeg.write_frames(
            os.fspath(path),
            (160 * scale, 144 * scale),
            fps=FRAMES_PER_SECOND / every,
            macro_block_size=16,
            ffmpeg_log_level="error",
        )
        self._send(None)

    def add(self, shades: Shades) -> None:
        self._send(np.ascontiguousarray(rgb(_enlarged(shades, self._scale))))

    def close(self) -> None:
        self._writer.close()

    def _send(self, frame: npt.NDArray[np.uint8] | None) -> None:
        try:
            self._writer.send(frame)
        except OSError as error:
            raise SaveFileError(f"the film {self._path} cannot be written: {error}") from error


def _enlarged(shades: Shades, scale: int) -> Shades:
    return np.repeat(np.repeat(shades, scale, 0), scale, 1)
