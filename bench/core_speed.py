"""Speed of one machine against PyBoy, ROM by ROM, alternated in one run.

    python bench/core_speed.py [ROM or folder ...] [--render none|last|every]
                               [--engine auto|interpreter|translator] [--warm-up 2]
                               [--frames 4800] [--rounds 5] [--clock cpu|wall] [--json FILE]

Both sides run the same scripted buttons on one thread in chunks of 24 frames, a round of
PyBoy's and a round of EmuRust's in turn (a turn of EmuRust's must be tens of milliseconds, or
it is over before the processor's caches are rid of what PyBoy left in them). `--render last`
draws one frame of each chunk, `every` all of them. Ratios are medians over the rounds; the
last line is their geometric mean. `--clock cpu` (the default) counts the thread's processor
time, so that other programs on the machine disturb less; `wall` counts the time that passes.

Before that another EmuRust machine plays the same for `--warm-up` seconds, so that native
code, which is made in the background and shared, is there; its time is not counted.

Needs `pip install pyboy==2.8.1`. Without ROMs named, those in `homebrew/` below
EMURUST_TEST_ROMS (or ../shared/roms) and the shipped cartridge are used.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from computer import computer

import emurust

CHUNK_FRAMES = 24
WARM_UP_FRAMES = 150
BUTTONS = ("up", "down", "left", "right", "a", "b", "start", "select")
CLOCKS: dict[str, Callable[[], float]] = {"cpu": time.thread_time, "wall": time.perf_counter}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("roms", nargs="*", type=Path, metavar="ROM")
    parser.add_argument("--render", choices=("none", "last", "every"), default="none")
    parser.add_argument("--engine", choices=("auto", "interpreter", "translator"), default="auto")
    parser.add_argument("--warm-up", type=float, default=2.0, help="seconds (%(default)s)")
    parser.add_argument("--frames", type=int, default=4800, help="per round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="cpu")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    roms = find_roms(options.roms)
    if not roms:
        parser.error("no ROMs found: name some, or set EMURUST_TEST_ROMS")
    print(f"# {computer()}")
    print(f"# {' '.join(sys.argv)}")
    print(f"# {'ROM':36} {'PyBoy':>10} {'EmuRust':>10} {'ratio':>7}   (us per frame)")
    ratios: dict[str, float] = {}
    for path in roms:
        pairs = measure(path.read_bytes(), options)
        pyboy, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratios[path.name] = statistics.median(theirs / own for theirs, own in pairs)
        print(f"  {path.name:36} {pyboy:10.2f} {ours:10.2f} {ratios[path.name]:7.2f}", flush=True)
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
    slowest = min(ratios, key=lambda name: ratios[name])
    print(
        f"geometric mean over {len(ratios)} ROMs, rendering {options.render}: {mean:.2f}x PyBoy "
        f"(least: {ratios[slowest]:.2f}x, {slowest})"
    )
    if options.json:
        figures = {"machine": computer(), "render": options.render, "geometric_mean": mean}
        options.json.write_text(json.dumps(figures | {"ratios": ratios}, indent=1))
    return 0


def find_roms(named: list[Path]) -> list[Path]:
    """The ROMs named, or in folders named, or the default ones."""
    if not named:
        default = Path(__file__).parent.parent.parent / "shared" / "roms"
        folder = Path(os.environ.get("EMURUST_TEST_ROMS", default)) / "homebrew"
        named = [folder, Path(emurust.shipped_cartridge())]
    found: list[Path] = []
    for path in named:
        if path.is_dir():
            found += sorted(p for p in path.iterdir() if p.suffix in (".gb", ".gbc"))
        elif path.is_file():
            found.append(path)
    return found


def measure(rom: bytes, options: argparse.Namespace) -> list[tuple[float, float]]:
    """Microseconds per frame of (PyBoy, EmuRust), a pair for each round."""
    clock = CLOCKS[options.clock]
    pyboy = make_pyboy(rom)
    # Native code lives as long as a machine that uses it.
    played = warm_up(rom, options)
    ours = emurust.GameBoy(io.BytesIO(rom), engine=options.engine)
    played.stop(save=False)
    # PyBoy's boot program takes 64 frames more.
    pyboy.tick(64 + WARM_UP_FRAMES, True, False)
    ours.tick(WARM_UP_FRAMES, True, False)
    pairs = []
    for round_ in range(options.rounds):
        buttons = script(round_, options.frames)
        spent = []
        for machine in (pyboy, ours):
            start = clock()
            play(machine, buttons, options.render)
            spent.append(clock() - start)
        frames = len(buttons) * CHUNK_FRAMES
        pairs.append(tuple(seconds * 1e6 / frames for seconds in spent))
    pyboy.stop(save=False)
    ours.stop(save=False)
    return pairs


def warm_up(rom: bytes, options: argparse.Namespace) -> emurust.GameBoy:
    """Plays what will be measured until the time is over."""
    end = time.monotonic() + options.warm_up
    while True:
        machine = emurust.GameBoy(io.BytesIO(rom), engine=options.engine)
        machine.tick(WARM_UP_FRAMES, True, False)
        for round_ in range(options.rounds):
            play(machine, script(round_, options.frames), options.render)
            if time.monotonic() >= end:
                return machine


def script(round_: int, frames: int) -> list[str]:
    """The button of each chunk of a round."""
    rng = random.Random(round_)
    return [rng.choice(BUTTONS) for _ in range(max(1, frames // CHUNK_FRAMES))]


def play(machine: Any, buttons: list[str], render: str) -> None:
    """Plays a round."""
    for button in buttons:
        machine.button(button, 8)
        run_chunk(machine, render)


def run_chunk(machine: Any, render: str) -> None:
    """Runs one chunk of frames."""
    if render == "every":
        for _ in range(CHUNK_FRAMES):
            machine.tick(1, True, False)
    else:
        machine.tick(CHUNK_FRAMES, render == "last", False)


def make_pyboy(rom: bytes) -> Any:
    """PyBoy as fast as it goes: no window, no sound, no speed limit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyboy import PyBoy
    pyboy = PyBoy(
        io.BytesIO(rom),
        ram_file=io.BytesIO(bytes(0x20000)),
        window="null",
        sound_emulated=False,
        cgb=False,
        log_level="CRITICAL",
    )
    pyboy.set_emulation_speed(0)
    return pyboy


if __name__ == "__main__":
    sys.exit(main())
