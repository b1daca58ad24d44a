"""Steps per second of ``EmuRust-Pokemon`` and its peers, alternated in one run.

    python bench/pool_speed.py [--seconds 1] [--warm-up 12] [--rounds 3] [--machines 1 4 16 64]
                               [--chart docs/images/pool_speed.png]

A step is 24 frames of one machine on the shipped cartridge with random buttons; EmuRust and
the environments on PyBoy make the full observation and reward of it. Everybody plays the same
stretch from the same start, 1,024 steps in all but at least 16 of each machine; EmuRust, for
which that is soon done, as often as fits into the seconds. Rates are medians over the rounds.
A pool of EmuRust's first plays for the time of the warm-up, in which the translator makes
native code; the others have nothing that gets faster. Needs ``pip install
pyboy==2.8.1``; the chart needs matplotlib; PufferLib and stable-retro take part if they are
installed. Takes about ten minutes.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from chart import headless_pyplot, save
from computer import computer
from pool_peers import BUTTONS, PyBoyEnv, make_pyboy, play_intro
from retro_peer import RetroEnv

from emurust import Pool

FRAMES = 24
STEPS = 1024
LEAST_STEPS = 16


@dataclass(frozen=True)
class Player:
    """A contender whose machines are at the start."""

    step: Callable[[], object]
    """One step of every machine."""
    restart: Callable[[], object] | None = None
    """Puts them back there."""


def machine() -> str:
    """The computer and the libraries in a line."""
    return f"{computer()}, numpy {np.__version__}, Gymnasium {gymnasium.__version__}"


@contextmanager
def emurust_pool(machines: int, **options: Any) -> Iterator[Player]:
    """The pool."""
    rng = np.random.default_rng(0)
    with Pool(num_envs=machines, **options) as pool:
        pool.reset(1)
        yield Player(
            step=lambda: pool.step(rng.integers(0, 7, machines)),
            restart=lambda: pool.reset(1),
        )


@contextmanager
def pyboy_threads(machines: int, threads: int) -> Iterator[Player]:
    """PyBoy alone: buttons and frames, no observation, no reward, nothing drawn."""
    pyboys = [make_pyboy() for _ in range(machines)]
    for one in pyboys:
        play_intro(one)
    threads = min(threads, machines)
    gate = threading.Barrier(threads + 1)
    over = False

    def work(own: list[Any]) -> None:
        rng = np.random.default_rng(0)
        while True:
            gate.wait()
            if over:
                return
            for one in own:
                button = BUTTONS[int(rng.integers(0, 7))]
                one.button_press(button)
                one.tick(8, False)
                one.button_release(button)
                one.tick(FRAMES - 8, False)
            gate.wait()

    workers = [
        threading.Thread(target=work, args=(pyboys[index::threads],)) for index in range(threads)
    ]
    for worker in workers:
        worker.start()

    def step() -> None:
        gate.wait()
        gate.wait()

    yield Player(step)
    over = True
    gate.wait()
    for worker in workers:
        worker.join()
    for one in pyboys:
        one.stop(save=False)


@contextmanager
def environments_in_threads(machines: int, threads: int) -> Iterator[Player]:
    """Environments in Python on PyBoy, a thread pool over them."""
    from concurrent.futures import ThreadPoolExecutor

    envs = [PyBoyEnv() for _ in range(machines)]
    for env in envs:
        env.reset()
    rng = np.random.default_rng(0)
    with ThreadPoolExecutor(threads) as pool:

        def step() -> None:
            list(pool.map(lambda env, action: env.step(action), envs, rng.integers(0, 7, machines)))

        yield Player(step)
    for env in envs:
        env.close()


@contextmanager
def in_gymnasium(make: Callable[[], Any], machines: int) -> Iterator[Player]:
    """Environments under Gymnasium's AsyncVectorEnv, one process each."""
    envs = gymnasium.vector.AsyncVectorEnv([make] * machines, shared_memory=True)
    envs.reset()
    rng = np.random.default_rng(0)
    yield Player(lambda: envs.step(rng.integers(0, 7, machines)))
    envs.close()


@contextmanager
def environments_in_pufferlib(machines: int) -> Iterator[Player]:
    """The same under PufferLib's Multiprocessing, one worker for each core."""
    import pufferlib.emulation
    import pufferlib.vector

    workers = min(os.cpu_count() or 1, machines)
    envs = pufferlib.vector.make(
        lambda buf=None, seed=None: pufferlib.emulation.GymnasiumPufferEnv(PyBoyEnv(), buf=buf),
        backend="Multiprocessing",
        num_envs=machines,
        num_workers=workers,
        batch_size=machines,
    )
    envs.reset()
    rng = np.random.default_rng(0)
    yield Player(lambda: envs.step(rng.integers(0, 7, machines)))
    envs.close()


def rate(player: Player, machines: int, seconds: float, warm_up: float) -> float:
    """Steps per second, over the same steps for everybody."""
    if player.restart is not None:
        end = time.perf_counter() + warm_up
        while time.perf_counter() < end:
            player.step()
        player.restart()
    steps = max(STEPS // machines, LEAST_STEPS)
    taken, passed = 0, 0.0
    while True:
        start = time.perf_counter()
        for _ in range(steps):
            player.step()
        passed += time.perf_counter() - start
        taken += steps * machines
        if player.restart is None or passed >= seconds:
            return taken / passed
        player.restart()


def contenders(cores: int, machines: int) -> dict[str, Any]:
    """By name: how to make it. EmuRust and whatever else is installed."""
    found: dict[str, Any] = {
        "EmuRust, 1 thread": lambda: emurust_pool(machines, num_threads=1),
        f"EmuRust, {cores} threads": lambda: emurust_pool(
            machines, num_threads=min(cores, machines)
        ),
        f"EmuRust, {cores} processes": lambda: emurust_pool(
            machines, backend="processes", num_workers=min(cores, machines)
        ),
        f"PyBoy alone, {cores} threads": lambda: pyboy_threads(machines, cores),
        "PyBoy + Python, thread pool": lambda: environments_in_threads(machines, cores),
        "PyBoy + Python, AsyncVectorEnv": lambda: in_gymnasium(PyBoyEnv, machines),
    }
    if importlib.util.find_spec("pufferlib") is not None:
        found["PyBoy + Python, PufferLib"] = lambda: environments_in_pufferlib(machines)
    if importlib.util.find_spec("stable_retro") is not None:
        found["stable-retro alone, AsyncVectorEnv"] = lambda: in_gymnasium(RetroEnv, machines)
    return found


def measure(machines: int, chosen: argparse.Namespace, cores: int) -> dict[str, float]:
    """Medians by name; they take turns."""
    names = contenders(cores, machines)
    rates: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(chosen.rounds):
        for name, make in names.items():
            with make() as player:
                rates[name].append(rate(player, machines, chosen.seconds, chosen.warm_up))
    return {name: statistics.median(values) for name, values in rates.items()}


def report(results: dict[int, dict[str, float]], cores: int) -> None:
    """A table and what the pool promises."""
    names = list(next(iter(results.values())))
    print(f"{'steps/s, medians':34}" + "".join(f"{n} machines".rjust(16) for n in results))
    for name in names:
        print(f"{name:34}" + "".join(f"{row[name]:16,.0f}" for row in results.values()))
    machines, row = max(results.items())
    best = row[f"EmuRust, {cores} threads"]
    python = max(value for name, value in row.items() if name.startswith("PyBoy + Python"))
    alone = row[f"PyBoy alone, {cores} threads"]
    print(f"\nat {machines} machines:")
    print(f"  {best / python:5.1f} x the best environment in Python on PyBoy (aim: 20)")
    print(f"  {best / alone:5.1f} x PyBoy alone in threads (aim: 8)")
    print(f"  {best / row['EmuRust, 1 thread']:5.2f} x one thread with {cores} (aim at 2: 1.9)")
    share = row[f"EmuRust, {cores} processes"] / best
    print(f"  {share:5.2f} x threads with processes (aim: 0.9)")


def draw(results: dict[int, dict[str, float]], path: Path) -> None:
    """Steps per second against the number of machines."""
    pyplot = headless_pyplot()
    figure, axes = pyplot.subplots(figsize=(9, 4.5), dpi=110)
    counts = list(results)
    for name in next(iter(results.values())):
        ours = name.startswith("EmuRust")
        rates = [results[n][name] for n in counts]
        axes.plot(counts, rates, "-" if ours else "--", marker="o" if ours else ".", label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.set_xlabel("machines")
    axes.set_ylabel("steps per second (24 frames each)")
    axes.set_title(f"EmuRust-Pokemon on the shipped cartridge\n{computer()}", fontsize=9)
    axes.grid(which="both", alpha=0.25)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=1, help="for EmuRust (%(default)s)")
    parser.add_argument("--warm-up", type=float, default=12, help="seconds (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--machines", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--chart", type=Path)
    chosen = parser.parse_args()
    cores = os.cpu_count() or 1
    print(machine())
    print(" ".join(["python", *sys.argv]))
    # Played before processes are forked, which then have it too.
    first = make_pyboy()
    play_intro(first)
    first.stop(save=False)
    if importlib.util.find_spec("stable_retro") is not None:
        retro = RetroEnv()
        retro.reset()
        retro.close()
    results = {}
    for machines in chosen.machines:
        results[machines] = measure(machines, chosen, cores)
    report(results, cores)
    if chosen.chart is not None:
        draw(results, chosen.chart)


if __name__ == "__main__":
    main()
