"""What goes wrong before or while training."""

from __future__ import annotations

from emurust.errors import EmuRustError

__all__ = ["CheckpointError", "ConfigError", "DeviceError", "RunFolderError"]


class ConfigError(EmuRustError, ValueError):
    """An option does not exist, or has a value that makes no sense; the message says which
    would."""


class CheckpointError(EmuRustError, ValueError):
    """A file is no checkpoint, or not one of this task or policy."""


class DeviceError(EmuRustError, RuntimeError):
    """The device that was asked for is not there."""


class RunFolderError(EmuRustError, OSError):
    """A training's folder cannot be written, or holds another training."""
