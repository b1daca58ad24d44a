"""``EmuRust-Pokemon``: explore a Pokemon-like world from its pictures.

Actions and timing are those of PokemonRedExperiments v2: seven buttons, 24 frames per
action, the button down for the first 8, only the last frame drawn. The observation is
that project's ``screens``: the three newest pictures at half size.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from emurust.envs import ram
from emurust.envs.intro import play_intro
from emurust.errors import ArgumentError, ArgumentTypeError, ClosedError, StateError
from emurust.gameboy import FRAMES_PER_SECOND, GameBoy
from emurust.rom import RomSource, load_rom
from emurust.screen import SCREEN_HEIGHT, SCREEN_WIDTH
from emurust.window import Window

__all__ = ["ACTIONS", "PokemonEnv", "StartState"]

ACTIONS = ("down", "left", "right", "up", "a", "b", "start")
"""The button of each action."""

ROM_VARIABLE = "EMURUST_ROM"
"""Environment variable with the path of the ROM to use by default."""

StartState = str | os.PathLike[str] | bytes
"""A state saved by `GameBoy.save_state`, as its file's path or its bytes."""

_FRAME_SKIP = 24
_HOLD_FRAMES = 8
_MAX_STEPS = 163_840
_FRAME_STACK = 3

_GREY_OF_SHADE = np.array([255, 153, 85, 0, 0], dtype=np.uint8)

_intro_states: dict[int, bytes] = {}
"""Where the intro ends, by the ROM's fingerprint: played once per process."""


class PokemonEnv(gymnasium.Env[npt.NDArray[np.uint8], np.int64]):
    """A hero walks through a world; each new place is worth a point.

    Action space: ``Discrete(7)``: down, left, right, up, A, B, START.

    Observation space: ``Box(0, 255, (72, 80, 3), uint8)``: the three newest pictures,
    newest first, each the mean of 2 x 2 pixels; black before the episode's first.

    Reward: 1 for each (map, x, y) not visited before in the episode, outside battles.

    Episode end: truncated after `max_steps` steps; it never terminates.

    Info: ``map``, ``x``, ``y`` (where the hero is), ``places`` (number visited).

    Args:
        rom: a path, bytes or a binary file with a ROM that keeps its variables where
            Pokemon Red does. By default the file that the environment variable
            EMURUST_ROM names, else the shipped cartridge. Battery RAM files are neither
            read nor written.
        render_mode: ``"rgb_array"``, ``"human"`` (a window, which shows every frame at
            the real machine's speed; needs ``pip install 'emurust[play]'``) or None.
        start_state: where episodes start. By default the intro is played once by script
            until the hero can be moved.
        frame_skip: frames per action.
        hold_frames: frames for which the action's button is down, 1 to `frame_skip` - 1.
        max_steps: steps until an episode is truncated.

    Raises:
        RomNotFoundError, RomReadError, RomError: see `emurust.load_rom`.
        StateError: the start state is not of this ROM, or damaged.
        IntroError: the intro did not lead to a hero that can be moved.
        ArgumentError: an option has a value that makes no sense.
        DependencyError: render_mode "human" without a window library.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own declaration)
        "render_modes": ["rgb_array", "human"],
        "render_fps": FRAMES_PER_SECOND / _FRAME_SKIP,
    }
    _OPTIONS: ClassVar = frozenset({"start_state"})

    def __init__(
        self,
        rom: RomSource = None,
        *,
        render_mode: str | None = None,
        start_state: StartState | None = None,
        frame_skip: int = _FRAME_SKIP,
        hold_frames: int = _HOLD_FRAMES,
        max_steps: int = _MAX_STEPS,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ArgumentError(
                f"render_mode must be 'rgb_array', 'human' or None, not {render_mode!r}"
            )
        self.render_mode = render_mode
        self._frame_skip = _at_least("frame_skip", frame_skip, 2)
        self._hold_frames = _at_least("hold_frames", hold_frames, 1)
        if self._hold_frames >= self._frame_skip:
            raise ArgumentError(
                f"hold_frames must be below frame_skip ({frame_skip}), not {hold_frames}"
            )
        self._max_steps = _at_least("max_steps", max_steps, 1)
        self.metadata = {**self.metadata, "render_fps": FRAMES_PER_SECOND / frame_skip}

        self.action_space = spaces.Discrete(len(ACTIONS))
        shape = (SCREEN_HEIGHT // 2, SCREEN_WIDTH // 2, _FRAME_STACK)
        self.observation_space = spaces.Box(0, 255, shape, np.uint8)

        self._gameboy = GameBoy(load_rom(rom if rom is not None else _default_rom()))
        self._start_state = (
            _intro_state(self._gameboy) if start_state is None else _state_bytes(start_state)
        )
        self._gameboy.set_state(self._start_state)
        self._window = Window(self._gameboy.cartridge_title) if render_mode == "human" else None
        self._screens = np.zeros(shape, dtype=np.uint8)
        self._visited: set[tuple[int, int, int]] = set()
        self._steps = 0

    @property
    def gameboy(self) -> GameBoy:
        """The machine, to look at; changing it changes the episode."""
        return self._gameboy

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.uint8], dict[str, Any]]:
        """Starts an episode at the start state.

        Args:
            seed: as Gymnasium's. Nothing here is random: equal actions give equal episodes.
            options: ``{"start_state": ...}`` starts this episode elsewhere.

        Raises:
            ArgumentError: there is no such option.
            StateError: the start state is not of this ROM, or damaged.
        """
        self._check_open()
        super().reset(seed=seed)
        options = options or {}
        unknown = options.keys() - self._OPTIONS
        if unknown:
            raise ArgumentError(
                f"reset has no option {', '.join(sorted(unknown))}; "
                f"its options are {', '.join(sorted(self._OPTIONS))}"
            )
        start = options.get("start_state")
        self._gameboy.set_state(self._start_state if start is None else _state_bytes(start))
        self._steps = 0
        self._visited = set()
        self._visit()
        self._screens.fill(0)
        self._push_screen()
        self._show()
        return self._screens.copy(), self._info()

    def step(
        self, action: np.int64
    ) -> tuple[npt.NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Presses one button and runs `frame_skip` frames.

        Raises:
            ArgumentError: the action is not 0 to 6.
            ClosedError: the environment was closed.
        """
        self._check_open()
        if not self.action_space.contains(action):
            raise ArgumentError(f"an action is an integer from 0 to 6, not {action!r}")
        button = ACTIONS[int(action)]
        self._gameboy.button_press(button)
        self._run(self._hold_frames, draw_last=False)
        self._gameboy.button_release(button)
        self._run(self._frame_skip - self._hold_frames, draw_last=True)
        self._push_screen()
        self._steps += 1
        reward = self._visit()
        truncated = self._steps >= self._max_steps
        return self._screens.copy(), reward, False, truncated, self._info()

    def render(self) -> Any:
        """The picture, (144, 160, 3) uint8, in mode "rgb_array"; otherwise None."""
        self._check_open()
        if self.render_mode == "rgb_array":
            grey = _GREY_OF_SHADE[self._gameboy.screen.shades]
            return np.repeat(grey[:, :, np.newaxis], 3, axis=2)
        self._show()
        return None

    def close(self) -> None:
        """Ends the machine and closes the window; doing it again changes nothing."""
        if self._window is not None:
            self._window.close()
            self._window = None
        self._gameboy.stop(save=False)

    def _check_open(self) -> None:
        if self._gameboy.stopped:
            raise ClosedError("this environment was closed; make a new one to go on")

    def _run(self, frames: int, *, draw_last: bool) -> None:
        if self._window is None:
            self._gameboy.tick(frames, draw_last)
            return
        for _ in range(frames):
            self._gameboy.tick(1, True)
            self._show()

    def _show(self) -> None:
        if self._window is not None:
            self._window.show(self._gameboy.screen.shades)

    def _push_screen(self) -> None:
        grey = _GREY_OF_SHADE[self._gameboy.screen.shades]
        squares = grey.reshape(SCREEN_HEIGHT // 2, 2, SCREEN_WIDTH // 2, 2)
        half = squares.sum(axis=(1, 3), dtype=np.uint16) // 4
        self._screens[:, :, 1:] = self._screens[:, :, :-1]
        self._screens[:, :, 0] = half

    def _place(self) -> tuple[int, int, int]:
        memory = self._gameboy.memory
        return memory[ram.CURRENT_MAP], memory[ram.X_COORDINATE], memory[ram.Y_COORDINATE]

    def _visit(self) -> float:
        """Counts the present place; worth 1 if it is new."""
        place = self._place()
        if self._gameboy.memory[ram.IS_IN_BATTLE] != 0 or place in self._visited:
            return 0.0
        self._visited.add(place)
        return 1.0

    def _info(self) -> dict[str, Any]:
        number, x, y = self._place()
        return {"map": number, "x": x, "y": y, "places": len(self._visited)}


def _default_rom() -> str | None:
    return os.environ.get(ROM_VARIABLE) or None


def _at_least(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ArgumentTypeError(f"{name} must be an integer, not {type(value).__name__}")
    if value < least:
        raise ArgumentError(f"{name} must be {least} or more, not {value}")
    return int(value)


def _state_bytes(state: StartState) -> bytes:
    if isinstance(state, bytes):
        return state
    if not isinstance(state, str | os.PathLike):
        raise ArgumentTypeError(f"a start state is a path or bytes, not {type(state).__name__}")
    try:
        return Path(state).read_bytes()
    except OSError as error:
        raise StateError(f"the start state {state} cannot be read: {error.strerror}") from error


def _intro_state(gameboy: GameBoy) -> bytes:
    fingerprint = gameboy.rom.fingerprint
    if fingerprint not in _intro_states:
        play_intro(gameboy)
        # Drawn once, so that the first observation is not black.
        gameboy.tick(1, True)
        _intro_states[fingerprint] = gameboy.get_state()
    return _intro_states[fingerprint]
