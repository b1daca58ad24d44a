"""Peers of the pool for the benchmarks: environments in Python on PyBoy.

`PyBoyEnv` is how such environments are written today: it plays the task "pokemon" with the
observation and the reward of PokemonRedExperiments v2, reading PyBoy's memory in slices and
computing with numpy. It is faster than `emurust.tasks.reference`, whose aim is to be obvious.
"""

from __future__ import annotations

import functools
import io
import warnings
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from emurust import GameBoy, shipped_cartridge
from emurust.envs import intro

BUTTONS = ("down", "left", "right", "up", "a", "b", "start")
EVENTS = slice(0xD747, 0xD87E)
HP = (0xD16C, 0xD198, 0xD1C4, 0xD1F0, 0xD21C, 0xD248)
LEVELS = (0xD18C, 0xD1B8, 0xD1E4, 0xD210, 0xD23C, 0xD268)
WAVES = 0.02 * 2.0 ** np.arange(8)


def make_pyboy(rom: str | None = None) -> Any:
    """A PyBoy without window and sound."""
    from pyboy import PyBoy

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pyboy = PyBoy(
            rom or str(shipped_cartridge()),
            window="null",
            sound_emulated=False,
            cgb=False,
            log_level="ERROR",
        )
    pyboy.set_emulation_speed(0)
    return pyboy


@functools.cache
def intro_presses() -> int:
    """How many presses the intro takes, by EmuRust: its environments start there, and so do the
    peers, which press the same buttons."""
    with GameBoy(None) as gameboy:
        return intro.play_intro(gameboy)


_intro: list[bytes] = []
"""Its state, once it was played."""


def play_intro(pyboy: Any) -> bytes:
    """Plays until the hero can be moved; the state. All machines have the shipped cartridge, so it
    is played once and loaded then."""
    if _intro:
        pyboy.load_state(io.BytesIO(_intro[0]))
        return _intro[0]
    for press in range(intro_presses()):
        pyboy.button(intro.intro_button(press), intro.HOLD_FRAMES)
        pyboy.tick(intro.HOLD_FRAMES + intro.WAIT_FRAMES, True)
    state = io.BytesIO()
    pyboy.save_state(state)
    _intro.append(state.getvalue())
    return _intro[0]


class PyBoyEnv(gymnasium.Env[Any, Any]):
    """PokemonRedExperiments v2's environment on PyBoy, without its files and logs."""

    def __init__(self, rom: str | None = None, max_steps: int = 163_840) -> None:
        self.observation_space = spaces.Dict(
            {
                "screens": spaces.Box(0, 255, (72, 80, 3), np.uint8),
                "health": spaces.Box(0, 1, (1,), np.float32),
                "level": spaces.Box(-1, 1, (8,), np.float32),
                "badges": spaces.MultiBinary(8),
                "events": spaces.MultiBinary(2488),
                "map": spaces.Box(0, 255, (48, 48, 1), np.uint8),
                "recent_actions": spaces.MultiDiscrete([7, 7, 7]),
            }
        )
        self.action_space = spaces.Discrete(7)
        self.max_steps = max_steps
        self.pyboy = make_pyboy(rom)
        self.start = play_intro(self.pyboy)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.pyboy.load_state(io.BytesIO(self.start))
        self.screens = np.zeros((72, 80, 3), np.uint8)
        self.world = np.zeros((484, 476), np.uint8)
        self.recent = np.zeros(3, np.int64)
        self.seen: dict[tuple[int, int, int], int] = {}
        self.steps = 0
        self.healed = 0.0
        self.best_events = 0
        self.last_health = 1.0
        self.first_events = self._events().sum()
        self.total = self._score()
        return self._observation(), {}

    def step(self, action: int) -> Any:
        pyboy = self.pyboy
        button = BUTTONS[int(action)]
        pyboy.button_press(button)
        pyboy.tick(8, False)
        pyboy.button_release(button)
        pyboy.tick(15, False)
        pyboy.tick(1, True)
        self.steps += 1
        self.recent[1:] = self.recent[:-1]
        self.recent[0] = action
        memory = pyboy.memory
        if memory[0xD057] == 0:
            place = (memory[0xD362], memory[0xD361], memory[0xD35E])
            self.seen[place] = self.seen.get(place, 0) + 1
            self.world[self._here()] = 255
        health = self._health()
        if health > self.last_health and self.last_health > 0:
            self.healed += (health - self.last_health) ** 2
        self.last_health = health
        total = self._score()
        reward, self.total = total - self.total, total
        truncated = self.steps >= self.max_steps
        return self._observation(), reward, False, truncated, {"places": len(self.seen)}

    def _here(self) -> tuple[int, int]:
        memory = self.pyboy.memory
        return (
            min(20 + memory[0xD361] + memory[0xD35E], 459),
            min(20 + memory[0xD362], 451),
        )

    def _events(self) -> Any:
        return np.unpackbits(np.array(self.pyboy.memory[EVENTS], np.uint8))

    def _health(self) -> float:
        memory = self.pyboy.memory
        now = sum(memory[at] * 256 + memory[at + 1] for at in HP)
        most = sum(memory[at + 33] * 256 + memory[at + 34] for at in HP)
        return now / max(1, most)

    def _score(self) -> float:
        events = int(self._events().sum()) - int(self.first_events)
        self.best_events = max(self.best_events, events)
        badges = int(self.pyboy.memory[0xD356]).bit_count()
        return 4.0 * self.best_events + 10 * self.healed + 10 * badges + 0.1 * len(self.seen)

    def _observation(self) -> Any:
        red = self.pyboy.screen.ndarray[:, :, 0]
        half = red.reshape(72, 2, 80, 2).sum(axis=(1, 3), dtype=np.uint16) // 4
        self.screens[:, :, 1:] = self.screens[:, :, :-1]
        self.screens[:, :, 0] = half
        memory = self.pyboy.memory
        level = sum(memory[at] for at in LEVELS)
        row, column = self._here()
        around = self.world[row - 12 : row + 12, column - 12 : column + 12]
        return {
            "screens": self.screens.copy(),
            "health": np.array([self.last_health], np.float32),
            "level": np.sin(WAVES * level).astype(np.float32),
            "badges": np.unpackbits(np.array([memory[0xD356]], np.uint8)).astype(np.int8),
            "events": self._events().astype(np.int8),
            "map": np.repeat(np.repeat(around, 2, 0), 2, 1)[:, :, np.newaxis],
            "recent_actions": self.recent.copy(),
        }

    def close(self) -> None:
        self.pyboy.stop(save=False)
