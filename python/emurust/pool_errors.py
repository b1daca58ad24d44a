"""What can go wrong with many machines.

Like all exceptions of EmuRust these derive from `EmuRustError` and from the built-in
exception that describes them best.
"""

from __future__ import annotations

from emurust.errors import ArgumentError, EmuRustError

__all__ = [
    "ForkedPoolError",
    "MachineError",
    "MachineIndexError",
    "PoolError",
    "PoolMemoryError",
    "PoolOrderError",
    "WorkerLostError",
    "WorkerStartError",
]


class PoolError(EmuRustError, RuntimeError):
    """A pool cannot do what was asked of it."""


class PoolOrderError(PoolError):
    """A call does not fit what the pool is doing: two sends for one machine, a receive with
    nothing sent, a step before a reset. The pool is as before."""


class MachineError(PoolError):
    """The program of one machine failed; the message names it. `Pool.recover` makes it anew."""


class WorkerLostError(PoolError):
    """A worker process is gone; the message names it and its machines. `Pool.recover` starts
    it again with its machines reset."""


class WorkerStartError(PoolError):
    """A worker process or thread could not be started; the message says why."""


class ForkedPoolError(PoolError):
    """The pool belongs to the process that this one was forked from."""


class PoolMemoryError(PoolError, MemoryError):
    """There is not as much memory as the pool needs."""


class MachineIndexError(ArgumentError, IndexError):
    """There is no machine of that number."""
