"""Button scripts: seeded random play, and files written by a user.

A script is a list with one entry per frame; each entry is the list of events that
take effect at the start of that frame.

File format: one event per line, ``FRAME press|release|tap BUTTON [FRAMES]``.
``tap`` presses and releases after FRAMES frames (8 if left out). ``#`` starts a
comment; lines may come in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from emurust.verify.errors import ButtonScriptError
from emurust.verify.protocol import Input

BUTTONS = ("up", "down", "right", "left", "a", "b", "select", "start")

Script = Sequence[Sequence[Input]]

_TAP_FRAMES = 8


def no_buttons(frames: int) -> Script:
    """Nobody plays."""
    return [[] for _ in range(frames)]


def random_buttons(frames: int, seed: int, *, start: int = 0) -> Script:
    """Seeded random play for ``frames`` frames, hands off before frame ``start``.

    The mix is meant to get games moving and to reach odd moments alike: buttons are
    held from 1 to 30 frames, sometimes two at a time, now and then all of them
    flutter for a few frames (opposite directions together included).
    """
    rng = np.random.default_rng(seed)
    script: list[list[Input]] = [[] for _ in range(frames)]
    held: dict[str, int] = {}
    frame = start
    while frame < frames:
        for button in [name for name, end in held.items() if end <= frame]:
            script[frame].append(("release", button))
            del held[button]
        roll = rng.random()
        if roll < 0.03:
            flutter_end = min(frames, frame + int(rng.integers(2, 12)))
            for f in range(frame, flutter_end):
                for _ in range(int(rng.integers(1, 4))):
                    button = BUTTONS[int(rng.integers(len(BUTTONS)))]
                    if button in held:
                        script[f].append(("release", button))
                        del held[button]
                    else:
                        script[f].append(("press", button))
                        held[button] = f + int(rng.integers(1, 20))
            frame = flutter_end
            continue
        if roll < 0.20 and len(held) < 2:
            button = BUTTONS[int(rng.integers(len(BUTTONS)))]
            if button not in held:
                script[frame].append(("press", button))
                held[button] = frame + int(rng.integers(1, 31))
        frame += 1
    return script


def read_buttons(path: Path, frames: int) -> Script:
    """Read a button file.

    Raises:
        ButtonScriptError: a line that is not an event (named with its number).
        OSError: the file cannot be read.
    """
    return parse_buttons(path.read_text(encoding="utf-8").splitlines(), frames, str(path))


def parse_buttons(lines: Iterable[str], frames: int, source: str) -> Script:
    """Turn event lines into a script; ``source`` names them in errors."""
    script: list[list[Input]] = [[] for _ in range(frames)]

    def add(frame: int, event: Input) -> None:
        if frame < frames:
            script[frame].append(event)

    for number, line in enumerate(lines, start=1):
        words = line.split("#", 1)[0].lower().split()
        if not words:
            continue
        where = f"{source}:{number}"
        if len(words) < 3:
            raise ButtonScriptError(
                f"{where}: expected 'FRAME press|release|tap BUTTON', got {line!r}"
            )
        frame_text, action, button = words[:3]
        if not frame_text.isdecimal():
            raise ButtonScriptError(
                f"{where}: the frame {frame_text!r} is not a whole number from 0"
            )
        if button not in BUTTONS:
            raise ButtonScriptError(
                f"{where}: no button {button!r}; there are {', '.join(BUTTONS)}"
            )
        frame = int(frame_text)
        if action in ("press", "release") and len(words) == 3:
            add(frame, (action, button))
        elif action == "tap" and len(words) <= 4:
            length = words[3] if len(words) == 4 else str(_TAP_FRAMES)
            if not length.isdecimal() or int(length) < 1:
                raise ButtonScriptError(f"{where}: a tap lasts 1 frame or more, not {length!r}")
            add(frame, ("press", button))
            add(frame + int(length), ("release", button))
        else:
            raise ButtonScriptError(
                f"{where}: {' '.join(words[1:])!r} is not press BUTTON, release BUTTON "
                "or tap BUTTON [FRAMES]"
            )
    return script
