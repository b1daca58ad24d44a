"""What can be wrong with a task."""

from emurust.errors import ArgumentError, EmuRustError

__all__ = [
    "TaskCartridgeError",
    "TaskError",
    "TaskFileError",
    "TaskNotFoundError",
    "TaskOptionError",
]


class TaskError(EmuRustError, ValueError):
    """Something about a task is wrong."""


class TaskFileError(TaskError):
    """A task or symbol file is wrong; the message starts with file, line and field."""


class TaskNotFoundError(TaskError, FileNotFoundError):
    """There is no task of that name and no task file at that path."""


class TaskOptionError(TaskError, ArgumentError):
    """An option of a task has a value that makes no sense; the message names it."""


class TaskCartridgeError(TaskError):
    """The task is not made for this cartridge."""
