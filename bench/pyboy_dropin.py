"""Speed of the drop-in class against PyBoy's, through the same calls.

A step is what a script for training does: 24 frames, the last one rendered, 20 bytes of
memory, the picture as an array. Both classes take turns; medians are compared.

    python bench/pyboy_dropin.py [ROM] [--sound] [--steps N] [--rounds N]
"""

from __future__ import annotations

import argparse
import io
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

from computer import computer

import emurust.pyboy
from emurust.rom import read_rom

ADDRESSES = range(0xD000, 0xD000 + 20)
BUTTONS = ("a", "b", "up", "down", "left", "right", "start")


def steps(pyboy: Any, count: int) -> float:
    """Seconds of processor time for `count` steps."""
    start = time.process_time()
    for step in range(count):
        pyboy.button(BUTTONS[step * 5 % len(BUTTONS)], 8)
        pyboy.tick(24, True)
        for address in ADDRESSES:
            pyboy.memory[address]
        pyboy.screen.ndarray.copy()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rom", nargs="?", help="the shipped cartridge by default")
    parser.add_argument("--sound", action="store_true", help="emulate sound, as is the default")
    parser.add_argument("--steps", type=int, default=100, help="steps a turn (%(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each (%(default)s)")
    options = parser.parse_args()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyboy

    image = read_rom(options.rom)

    def make(kind: Callable[..., Any]) -> Any:
        machine = kind(
            io.BytesIO(image),
            window="null",
            cgb=False,
            sound_emulated=options.sound,
            log_level="CRITICAL",
        )
        machine.tick(600, False)
        return machine

    theirs, ours = make(pyboy.PyBoy), make(emurust.pyboy.PyBoy)
    times: dict[str, list[float]] = {"PyBoy": [], "emurust.pyboy": []}
    for _ in range(options.rounds):
        times["PyBoy"].append(steps(theirs, options.steps))
        times["emurust.pyboy"].append(steps(ours, options.steps))
    assert theirs._cycles() == ours._cycles(), "they did not do the same"

    print(computer())
    print(f"{options.steps} steps of 24 frames, 20 reads, 1 picture; sound {options.sound}")
    medians = {name: statistics.median(values) / options.steps for name, values in times.items()}
    for name, median in medians.items():
        print(f"{name:15} {median * 1e6:8.0f} us a step, {24 / median:9.0f} frames/s")
    print(f"ratio {medians['PyBoy'] / medians['emurust.pyboy']:.2f}")
    theirs.stop(save=False)
    ours.stop(save=False)


if __name__ == "__main__":
    main()
