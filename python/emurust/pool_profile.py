"""What a step costs, by part: ``emurust bench --profile``.

Parts cannot be timed from inside without slowing them down. Instead pools that leave one part
out after the other are measured in turn, and the differences told.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from emurust.pool import Pool
from emurust.rom import RomSource

__all__ = ["profile", "report"]

PARTS = ("emulation", "rendering", "task", "hand-over")


def profile(
    rom: RomSource = None,
    *,
    num_envs: int = 64,
    rounds: int = 5,
    seconds: float = 0.5,
    progress: Callable[[int, int], object] | None = None,
    **task_options: Any,
) -> dict[str, float]:
    """Microseconds of one machine's step, by part, on one thread.

    Args:
        rom: as for `emurust.Pool`.
        num_envs: machines of the pools.
        rounds: medians are taken over so many.
        seconds: of each measurement; there are four in a round.
        progress: is told how many measurements are done, and of how many.
        task_options: options of the task "pokemon", such as ``observation="packed"``.

    Returns:
        ``emulation``: running the frames, drawing none. ``rendering``: drawing the last one.
        ``task``: observation, reward and info. ``hand-over``: from Python to the machines and
        back. ``total``: all of them, measured together. Small parts can come out as 0.
    """
    common: dict[str, Any] = {"num_threads": 1}
    with (
        Pool(rom, num_envs, **common, **task_options) as whole,
        Pool(rom, num_envs, **common, **{**task_options, "frame_skip": 0}) as still,
        Pool(rom, num_envs, **common, **{**task_options, "observation": "ram"}) as dark,
        Pool(
            rom, num_envs, **common, **{**task_options, "observation": "ram", "frame_skip": 0}
        ) as dark_still,
        Pool.dummy(num_envs, episode_len=0, **common) as empty,
    ):
        pools = {
            "whole": whole,
            "still": still,
            "dark": dark,
            "dark_still": dark_still,
            "empty": empty,
        }
        for pool in pools.values():
            pool.reset(1)
        took: dict[str, list[float]] = {name: [] for name in pools}
        done = 0
        for _ in range(rounds):
            for name, pool in pools.items():
                took[name].append(_step_time(pool, seconds))
                done += 1
                if progress is not None:
                    progress(done, rounds * len(pools))
    cost = {name: statistics.median(times) for name, times in took.items()}
    emulation = max(0.0, cost["dark"] - cost["dark_still"])
    parts = {
        "emulation": emulation,
        "rendering": max(0.0, cost["whole"] - cost["still"] - emulation),
        "task": max(0.0, cost["still"] - cost["empty"]),
        "hand-over": cost["empty"],
    }
    return {**parts, "total": cost["whole"]}


def report(costs: dict[str, float]) -> str:
    """A table of `profile`'s result."""
    lines = [f"{'part':12}{'µs a step':>12}{'share':>9}"]
    for name in (*PARTS, "total"):
        share = costs[name] / costs["total"]
        lines.append(f"{name:12}{costs[name]:12.2f}{share:9.1%}")
    lines.append(f"{1e6 / costs['total']:,.0f} steps/s on one thread")
    return "\n".join(lines)


def _step_time(pool: Pool, seconds: float) -> float:
    """Microseconds of one machine's step."""
    rng = np.random.default_rng(0)
    actions = rng.integers(0, 7, (64, pool.num_envs))
    pool.step(actions[0])
    start = time.perf_counter()
    calls = 0
    while (now := time.perf_counter()) - start < seconds:
        pool.step(actions[calls % len(actions)])
        calls += 1
    return (now - start) / calls / pool.num_envs * 1e6
