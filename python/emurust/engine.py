"""The two engines that run code, and which of them is used."""

from __future__ import annotations

import functools
import logging
import os
from typing import Literal, get_args

from emurust._emurust import translator_unavailable
from emurust.errors import ArgumentError

EngineName = Literal["auto", "interpreter", "translator"]
"""``"translator"`` makes native code of what a cartridge does often, at once when it is due;
``"interpreter"`` runs one instruction after the other; ``"auto"`` is the translator wherever
it can be had, at work in the background. The machine is the same, bit for bit."""

ENGINE_VARIABLE = "EMURUST_ENGINE"
"""Environment variable with the engine to use where none is asked for."""


def chosen_engine(engine: str | None) -> EngineName:
    """The engine to use: the one asked for, or that of `ENGINE_VARIABLE`, or ``"auto"``.

    Says once in the log of ``emurust`` if ``"auto"`` has to do without native code.

    Raises:
        ArgumentError: there is no such engine.
    """
    asked, where = engine, "engine"
    if asked is None:
        asked, where = os.environ.get(ENGINE_VARIABLE) or "auto", ENGINE_VARIABLE
    for name in get_args(EngineName):
        if asked == name:
            if name == "auto":
                _explain_fallback()
            return name  # type: ignore[no-any-return]
    raise ArgumentError(f"{where} must be 'auto', 'interpreter' or 'translator', not {asked!r}")


@functools.cache
def _explain_fallback() -> None:
    reason = translator_unavailable()
    if reason is not None:
        logging.getLogger("emurust").warning(
            "running on the interpreter, which is slower: %s", reason
        )
