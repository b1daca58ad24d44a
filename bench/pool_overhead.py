"""What a call of the pool costs when its machines do nothing.

    python bench/pool_overhead.py [--machines 64] [--calls 20000]

Machines are dummies, so that only the hand-over is measured: actions in, every machine visited
on a thread or in a worker process, results out. Medians of single calls, in microseconds.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

import numpy as np
from pool_speed import machine

from emurust import Pool


def median_call(pool: Pool, calls: int) -> float:
    """Microseconds."""
    actions = np.zeros(pool.num_envs, np.int64)
    pool.reset(1)
    for _ in range(200):
        pool.step(actions)
    took = np.empty(calls)
    for number in range(calls):
        start = time.perf_counter_ns()
        pool.step(actions)
        took[number] = time.perf_counter_ns() - start
    return float(np.median(took)) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--machines", type=int, default=64)
    parser.add_argument("--calls", type=int, default=20_000)
    chosen = parser.parse_args()
    print(machine())
    print(" ".join(["python", *sys.argv]))
    cores = os.cpu_count() or 1
    for backend, name, aim in (("threads", "num_threads", 20), ("processes", "num_workers", 50)):
        for count in sorted({1, min(cores, chosen.machines)}):
            with Pool.dummy(
                chosen.machines, backend=backend, episode_len=0, **{name: count}
            ) as pool:
                took = median_call(pool, chosen.calls)
            print(
                f"{chosen.machines} machines, {count} {backend:9}: {took:6.1f} µs a step "
                f"(aim: {aim})"
            )


if __name__ == "__main__":
    main()
