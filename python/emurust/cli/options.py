"""Options that several subcommands take."""

from __future__ import annotations

import json
from typing import Any

from emurust.errors import ArgumentError

__all__ = ["task_option"]


def task_option(text: str) -> tuple[str, Any]:
    """Name and value of ``NAME=VALUE``; a value that is not JSON is a text.

    Raises:
        ArgumentError: there is no ``=``.
    """
    name, equals, value = text.partition("=")
    if not (equals and name):
        raise ArgumentError(f"an option is NAME=VALUE, not {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
