"""``emurust bench``: a quick look at the speed of this machine.

Careful measurements, of many ROMs, are made by the scripts in ``bench/``.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import platform
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from emurust.buttons import BUTTONS
from emurust.cli.progress import Progress
from emurust.errors import ArgumentError
from emurust.gameboy import GameBoy
from emurust.rom import Rom, load_rom

__all__ = ["main"]

_WARM_UP_FRAMES = 300
_FRAMES_PER_PRESS = 24


def main(argv: Sequence[str]) -> int:
    """Measures frames per second, and PyBoy's in turn when it is installed."""
    parser = argparse.ArgumentParser(
        prog="emurust bench",
        description="Frames per second with random buttons, one thread. When PyBoy is "
        "installed, it runs the same in turn.",
    )
    parser.add_argument("rom", nargs="?", help="the ROM; the shipped cartridge by default")
    parser.add_argument("--frames", type=int, default=3000, help="per round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (%(default)s)")
    parser.add_argument(
        "--profile",
        action="store_true",
        help="instead: what a step of EmuRust-Pokemon spends on emulation, rendering, task and "
        "hand-over",
    )
    options = parser.parse_args(argv)
    if options.frames < _FRAMES_PER_PRESS or options.rounds < 1:
        raise ArgumentError(f"--frames must be {_FRAMES_PER_PRESS} or more, --rounds 1 or more")
    rom = load_rom(options.rom)
    if options.profile:
        from emurust.pool_profile import profile, report

        with Progress(options.rounds * 5, "measurements") as progress:
            costs = profile(
                rom.image(), rounds=options.rounds, progress=lambda done, _: progress.update(done)
            )
        print(f"{rom.title}: one step of one machine, {_machine_name()}")
        print(report(costs))
        return 0
    machines: dict[str, Callable[[], Any]] = {"EmuRust": lambda: GameBoy(rom)}
    if importlib.util.find_spec("pyboy") is not None:
        machines["PyBoy"] = lambda: _pyboy(rom)
    print(f"{rom.title}: {options.rounds} x {options.frames} frames, {_machine_name()}")

    total = 2 * options.rounds * len(machines)
    with Progress(total, "rounds") as progress:
        done = 0
        rates: dict[tuple[str, bool], list[float]] = {}
        for render in (False, True):
            for _ in range(options.rounds):
                for name, make in machines.items():
                    rate = _rate(make, options.frames, render)
                    rates.setdefault((name, render), []).append(rate)
                    done += 1
                    progress.update(done)
    for render in (False, True):
        what = "every frame rendered" if render else "no rendering"
        best = {name: max(rates[name, render]) for name in machines}
        line = ", ".join(f"{name} {rate:,.0f} frames/s" for name, rate in best.items())
        if "PyBoy" in best:
            line += f" ({best['EmuRust'] / best['PyBoy']:.1f}x)"
        print(f"{what}: {line}")
    if "PyBoy" not in machines:
        print("(pip install 'emurust[verify]' adds PyBoy to compare with)")
    return 0


def _pyboy(rom: Rom) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SDL2's notice about its own binaries
        from pyboy import PyBoy

    return PyBoy(
        io.BytesIO(rom.image()),
        window="null",
        cgb=False,
        sound_emulated=False,
        log_level="CRITICAL",
    )


def _rate(make: Callable[[], Any], frames: int, render: bool) -> float:
    """Frames per second of one machine, seeded random buttons."""
    machine = make()
    buttons = np.random.default_rng(0).integers(len(BUTTONS), size=1 + frames // _FRAMES_PER_PRESS)
    machine.tick(_WARM_UP_FRAMES, True, False)
    start = time.perf_counter()
    done = 0
    for number in buttons:
        machine.button(BUTTONS[number], _FRAMES_PER_PRESS // 3)
        if render:
            for _ in range(_FRAMES_PER_PRESS):
                machine.tick(1, True, False)
        else:
            machine.tick(_FRAMES_PER_PRESS, False, False)
        done += _FRAMES_PER_PRESS
    rate = done / (time.perf_counter() - start)
    machine.stop(save=False)
    return rate


def _machine_name() -> str:
    return f"{platform.processor() or platform.machine()}, Python {platform.python_version()}"
