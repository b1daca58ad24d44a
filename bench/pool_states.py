"""What it costs to save, restore and fork a machine with its episode, and PyBoy's times.

    python bench/pool_states.py [--calls 300]

Medians of single calls, in microseconds, alternated. Needs ``pip install pyboy==2.8.1`` for
the peer. Also prints the memory of 1,024 machines.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pool_peers import make_pyboy, play_intro
from pool_speed import machine

from emurust import Pool


def resident() -> int:
    """Bytes of memory of this process."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=300)
    chosen = parser.parse_args()
    print(machine())
    print(" ".join(["python", *sys.argv]))
    threads = Pool(num_envs=8, num_threads=1)
    processes = Pool(num_envs=8, backend="processes", num_workers=2)
    pyboy = make_pyboy()
    start = play_intro(pyboy)
    calls: dict[str, Callable[[], object]] = {}
    for pool in (threads, processes):
        pool.reset(1)
        pool.step(np.zeros(8, np.int64))
        state = pool.get_state(0)
        name = pool.backend
        calls[f"{name}: fork"] = lambda pool=pool: pool.fork(0, 1)
        if pool is processes:
            calls[f"{name}: fork to another worker"] = lambda pool=pool: pool.fork(0, 7)
        calls[f"{name}: get_state"] = lambda pool=pool: pool.get_state(0)
        calls[f"{name}: set_state"] = lambda pool=pool, state=state: pool.set_state(1, state)
    calls["PyBoy: save_state in memory"] = lambda: pyboy.save_state(io.BytesIO())
    calls["PyBoy: load_state in memory"] = lambda: pyboy.load_state(io.BytesIO(start))
    took: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(chosen.calls):
        for name, call in calls.items():
            begin = time.perf_counter_ns()
            call()
            took[name].append((time.perf_counter_ns() - begin) / 1000)
    for name, times in took.items():
        print(f"{name:36} {statistics.median(times):10.1f} µs")
    threads.close()
    processes.close()
    pyboy.stop(save=False)
    before = resident()
    with Pool(num_envs=1024, num_threads=1) as many:
        many.reset(1)
        many.step(np.zeros(1024, np.int64))
        each = (resident() - before) / 1024 / 1024
        rows = many.observation_len / 1024
        print(f"1,024 machines: {each:.0f} KiB each, of which {rows:.0f} KiB are its observation")


if __name__ == "__main__":
    main()
