"""Making ``import pyboy`` give `emurust.pyboy`, for programs that cannot be edited."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

from emurust.errors import EmuRustError

__all__ = ["InstallError", "install", "uninstall"]

_NAME = "pyboy"
_OURS = "emurust.pyboy"


class InstallError(EmuRustError, RuntimeError):
    """PyBoy was imported before `install` was called."""


class _Loader(importlib.abc.Loader):
    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(self._name)

    def exec_module(self, module: ModuleType) -> None:
        """It was run when it was imported under its own name."""


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _NAME and not fullname.startswith(_NAME + "."):
            return None
        ours = _OURS + fullname.removeprefix(_NAME)
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name != ours:
                raise
            raise ModuleNotFoundError(
                f"emurust.pyboy stands in for pyboy here and has no module {fullname}",
                name=fullname,
            ) from None
        spec = importlib.machinery.ModuleSpec(fullname, _Loader(ours), is_package=False)
        if hasattr(module, "__path__"):
            spec.submodule_search_locations = []
        return spec


_FINDER = _Finder()


def install() -> None:
    """From now on ``import pyboy`` and ``from pyboy.utils import ...`` give EmuRust's.

    Calling it again does nothing. An installed PyBoy is not touched; `uninstall` makes it
    importable again.

    Raises:
        InstallError: PyBoy itself was imported already, so that parts of the program may
            hold its classes. Call this first.
    """
    present = sys.modules.get(_NAME)
    if _FINDER in sys.meta_path:
        return
    if present is not None:
        raise InstallError(
            "pyboy is imported already; call emurust.pyboy.install() before anything imports it"
        )
    sys.meta_path.insert(0, _FINDER)


def uninstall() -> None:
    """Takes back `install`; modules that were imported meanwhile keep what they have."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
        for name in [n for n in sys.modules if n == _NAME or n.startswith(_NAME + ".")]:
            del sys.modules[name]
