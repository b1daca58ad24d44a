"""Exchanging states with PyBoy, and finding what differs in two of its files."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np

from emurust import BUTTONS, GameBoy
from emurust.verify.pyboy_state import PyBoyState, parse

# What no program, picture or later state depends on: host times, registers that
# cannot be read back, marks that are renewed with each line drawn, values that
# are derived from others at the next catch-up, and what belongs to other consoles.
_DEAD_INTS = {
    "frame_done",
    "sampling_off",
    "object_priority_mode",
    "wram_bank",
    "sound_distance",
    "serial_distance",
    "serial_clock",
    "serial_target",
    "serial_internal",
    "ch3_volume_shift",
    "ch3_accessible",
    "ch3_sample_position",
    "ch4_reload",
    "ch4_feedback",
    "ch4_counter",
    "ch4_countdown",
    "ch4_alignment",
    "ch4_running",
    "stopped",
    "rtc_halt_copy",
    "rtc_carry_copy",
}
_DEAD_PARTS = ("length_load", "pending_duty")
_DEAD_ARRAYS = {"screen_attributes", "io", "sgb", "audio"}


def warm_pyboy(pyboy_class: Any, rom: bytes, *, sound: bool) -> Any:
    """A PyBoy that has drawn a picture: the row counter of its window is the usual one."""
    pyboy = fresh_pyboy(pyboy_class, rom, sound=sound)
    pyboy.tick(60, True, False)
    return pyboy


def fresh_pyboy(pyboy_class: Any, rom: bytes, *, sound: bool) -> Any:
    """A PyBoy just switched on."""
    pyboy = pyboy_class(
        io.BytesIO(rom), window="null", cgb=False, sound_emulated=sound, log_level="CRITICAL"
    )
    pyboy.set_emulation_speed(0)
    return pyboy


def saved(pyboy: Any) -> bytes:
    """The state of a PyBoy."""
    buffer = io.BytesIO()
    pyboy.save_state(buffer)
    return buffer.getvalue()


def differences(
    ours: bytes, theirs: bytes, rom: bytes, *, sound: bool = True, rtc: bool = False
) -> list[str]:
    """What two files of version 29 say differently that anybody could ever see."""
    left, right = parse(ours, rom), parse(theirs, rom)
    found = []
    if not sound:
        # PyBoy keeps what a file said of the sound unit, and never looks at it.
        for side in (left, right):
            for name, offset in side.offsets.items():
                if side.offsets["audio_fill"] <= offset < side.offsets["screen"]:
                    for fields in (side.ints, side.floats, side.arrays):
                        fields.pop(name, None)
            side.ints["audio_fill"] = side.ints["nr51"] = 0
            side.arrays["audio"] = np.zeros(0, dtype=np.uint8)
    for name, value in right.ints.items():
        if (
            name in _DEAD_INTS
            or name.endswith(_DEAD_PARTS)
            or (name.startswith("rtc_") and not rtc)
        ):
            continue
        if name == "tima_counter" and not right.ints["tima_reload"]:
            continue
        if left.ints[name] != value:
            found.append(f"{name}: {left.ints[name]} here, {value} in PyBoy")
    for name, time in right.floats.items():
        if name not in right.host_time_fields and left.floats[name] != time:
            found.append(f"{name}: {left.floats[name]} here, {time} in PyBoy")
    for name, array in right.arrays.items():
        if name not in _DEAD_ARRAYS and not np.array_equal(left.arrays[name], array):
            count = int((left.arrays[name] != array).sum())
            found.append(f"{count} bytes of {name}")
    fill = right.ints["audio_fill"]
    if not np.array_equal(_audio(left)[:fill], _audio(right)[:fill]):
        found.append("sound samples")
    return found


def _audio(state: PyBoyState) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return state.arrays["audio"]


def press_randomly(rng: random.Random, *machines: Any) -> None:
    """Sometimes presses or releases a button, on all machines alike."""
    if rng.random() < 0.15:
        button, press = rng.choice(BUTTONS), rng.random() < 0.5
        for machine in machines:
            (machine.button_press if press else machine.button_release)(button)


def run_together(
    gameboy: GameBoy,
    pyboy: Any,
    rom: bytes,
    rng: random.Random,
    frames: int,
    *,
    sound: bool,
    check_every: int = 60,
    skip_pictures: int = 0,
    rtc: bool = False,
) -> None:
    """Runs both with the same random input and compares all along.

    Registers, cycles and pictures after every frame, whole states every
    `check_every` frames.
    """
    for frame in range(frames):
        press_randomly(rng, gameboy, pyboy)
        render = frame < skip_pictures or rng.random() < 0.7
        listen = sound and rng.random() < 0.5
        gameboy.tick(1, render, listen)
        pyboy.tick(1, render, listen)
        where = f"frame {frame}"
        ours, theirs = gameboy.register_file, pyboy.register_file
        for register in ("A", "F", "B", "C", "D", "E", "HL", "SP", "PC"):
            assert getattr(ours, register) == getattr(theirs, register), (where, register)
        assert gameboy.cycles == pyboy._cycles(), where
        if frame >= skip_pictures:
            assert np.array_equal(gameboy.screen.ndarray, pyboy.screen.ndarray), where
        if frame % check_every == check_every - 1:
            found = differences(gameboy.get_state("pyboy"), saved(pyboy), rom, sound=sound, rtc=rtc)
            if frame < skip_pictures:
                found = [line for line in found if "of screen" not in line]
            assert not found, (where, found)
