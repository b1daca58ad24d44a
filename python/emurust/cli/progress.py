"""Progress of long work on the standard error stream."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

__all__ = ["Progress"]


class Progress:
    """A line that says how far the work is: rewritten on a terminal, else every ten seconds.

    Nothing is written for work that ends within a second.
    """

    def __init__(self, total: int, unit: str, stream: TextIO | None = None) -> None:
        self._total = total
        self._unit = unit
        self._stream = sys.stderr if stream is None else stream
        self._on_terminal = self._stream.isatty()
        self._interval = 0.2 if self._on_terminal else 10.0
        self._start = time.perf_counter()
        self._next = self._start + 1.0
        self._written = False

    def update(self, done: int) -> None:
        """Tells that `done` of the total is done."""
        now = time.perf_counter()
        if now < self._next:
            return
        self._next = now + self._interval
        rate = done / (now - self._start)
        text = (
            f"{done:,} of {self._total:,} {self._unit} "
            f"({100 * done // max(self._total, 1)}%), {rate:,.0f} a second"
        )
        if self._on_terminal:
            self._stream.write(f"\r{text}\x1b[K")
        else:
            self._stream.write(text + "\n")
        self._stream.flush()
        self._written = True

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._written and self._on_terminal:
            self._stream.write("\n")
