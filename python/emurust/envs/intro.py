"""From power-on to the first moment at which the hero can be moved.

Games open with logos, a title and talk. Pressing START and A in turn gets through all
of it; the question is only when to stop. After each press the machine is forked and, in
the fork, each direction is held for a moment: the game is under control when one of
them moves the hero. The machine itself is never probed, so its state at that moment is
that of a player who pressed the same buttons.
"""

from __future__ import annotations

from emurust.envs import ram
from emurust.errors import IntroError
from emurust.gameboy import GameBoy

__all__ = ["HOLD_FRAMES", "WAIT_FRAMES", "intro_button", "play_intro"]

HOLD_FRAMES = 8
"""Frames for which each button is held."""
WAIT_FRAMES = 24
"""Frames from its release to the next press."""
_PROBE_FRAMES = 24
_LAST_FRAME = 30_000
"""Half the longest opening known to need only START and A, in frames, times four."""

_DIRECTIONS = ("down", "up", "left", "right")


def intro_button(press: int) -> str:
    """The button of a press, from 0."""
    return ("start", "a")[press % 2]


def play_intro(gameboy: GameBoy) -> int:
    """Plays until the hero can be moved.

    Returns:
        The number of presses that it took.

    Raises:
        IntroError: it did not come to that; the game wants other buttons.
    """
    first_frame = gameboy.frame_count
    presses = 0
    while gameboy.frame_count - first_frame < _LAST_FRAME:
        gameboy.button(intro_button(presses), HOLD_FRAMES)
        gameboy.tick(HOLD_FRAMES + WAIT_FRAMES, False)
        presses += 1
        if _under_control(gameboy):
            return presses
    raise IntroError(
        f"{gameboy.cartridge_title!r} did not reach a moment at which its hero can be moved "
        f"within {_LAST_FRAME} frames of START and A; give the environment a start_state"
    )


def _under_control(gameboy: GameBoy) -> bool:
    if gameboy.memory[ram.MAP_HEIGHT] == 0 or gameboy.memory[ram.IS_IN_BATTLE] != 0:
        return False
    return any(_moves(gameboy.fork(), direction) for direction in _DIRECTIONS)


def _moves(probe: GameBoy, direction: str) -> bool:
    before = _place(probe)
    probe.button_press(direction)
    probe.tick(_PROBE_FRAMES, False)
    return _place(probe) != before


def _place(gameboy: GameBoy) -> tuple[int, int, int]:
    memory = gameboy.memory
    return memory[ram.CURRENT_MAP], memory[ram.X_COORDINATE], memory[ram.Y_COORDINATE]
