"""Importing PufferLib without what importing it does besides.

PufferLib links its resources into the working directory, silences warnings for the whole
process, and its trainer ends the process at Ctrl-C, whatever it was doing.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from emurust.errors import DependencyError

__all__ = ["import_pufferlib"]


def import_pufferlib(name: str, needed_by: str, install: str) -> Any:
    """A module of PufferLib's.

    Args:
        name: of the module, such as ``pufferlib.vector``.
        needed_by: what needs it, for the message.
        install: how to install it, for the message.

    Raises:
        DependencyError: it is not installed, or lacks something that it needs.
    """
    if name in sys.modules:
        return sys.modules[name]
    try:
        with _undone():
            return importlib.import_module(name)
    except ImportError as error:
        raise DependencyError(f"{needed_by} needs {name} ({error}): {install}") from error


@contextlib.contextmanager
def _undone() -> Iterator[None]:
    hook = sys.excepthook
    handler = None
    if threading.current_thread() is threading.main_thread():
        handler = signal.getsignal(signal.SIGINT)
    with (
        tempfile.TemporaryDirectory() as elsewhere,
        _working_directory(elsewhere),
        warnings.catch_warnings(),
        # Gym says on each import that nobody maintains it any more.
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            sys.excepthook = hook
            if handler is not None:
                signal.signal(signal.SIGINT, handler)


@contextlib.contextmanager
def _working_directory(path: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)
