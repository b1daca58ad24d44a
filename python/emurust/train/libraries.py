"""The libraries that training needs, imported with words for those who lack them."""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

from emurust._pufferlib import import_pufferlib
from emurust.errors import DependencyError

__all__ = ["INSTALL", "import_torch", "import_trainer"]

INSTALL = "pip install 'emurust[train]'"


def import_torch(needed_by: str) -> Any:
    """PyTorch.

    Raises:
        DependencyError: it is not installed.
    """
    # PyTorch's threads wait for work by spinning, which takes the machines' cores from them.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("torch")
    except ImportError as error:
        raise DependencyError(f"{needed_by} needs PyTorch: {INSTALL}") from error


def import_trainer() -> Any:
    """PufferLib's module with its trainer.

    Raises:
        DependencyError: it is not installed, or lacks something that it needs.
    """
    return import_pufferlib("pufferlib.pufferl", "training", INSTALL)
