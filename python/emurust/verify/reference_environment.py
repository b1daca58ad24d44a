"""The reference environment: a task in plain Python on PyBoy, from the start states of EmuRust."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from emurust._emurust import Rom
from emurust.gameboy import GameBoy
from emurust.pool import start_index
from emurust.start_states import StartPoint
from emurust.tasks import TaskRecipe
from emurust.tasks.reference import ReferenceEpisode
from emurust.verify.backends import import_pyboy
from emurust.verify.environments import Step

__all__ = ["ReferenceEnvironment", "ram_hash", "start_on_pyboy"]

Array = npt.NDArray[Any]

_WORK_RAM = slice(0xC000, 0xE000)
_HIGH_RAM = slice(0xFF80, 0xFFFF)


def ram_hash(work_ram: bytes, high_ram: bytes) -> int:
    """CRC-32 of 0xC000-0xDFFF and 0xFF80-0xFFFE."""
    return zlib.crc32(high_ram, zlib.crc32(work_ram))


def start_on_pyboy(rom: Rom, start: StartPoint) -> bytes:
    """A start state as PyBoy's state file."""
    with GameBoy(rom) as gameboy:
        if start.state is not None:
            gameboy.set_state(start.state)
        return gameboy.get_state("pyboy")


class ReferenceEnvironment:
    """One machine of PyBoy's that plays a task; an `Environment` to compare with.

    Args:
        rom: the cartridge.
        recipe: the task with its options.
        starts: where episodes start, as `start_on_pyboy` gives them.

    Raises:
        ReferenceMissingError: PyBoy is not installed.
    """

    name = "PyBoy"

    def __init__(self, rom: Rom, recipe: TaskRecipe, starts: Sequence[bytes]) -> None:
        self.task = recipe.compile()
        self._starts = starts
        self._pyboy: Any = import_pyboy().PyBoy(
            io.BytesIO(rom.image()),
            window="null",
            cgb=False,
            sound_emulated=False,
            log_level="CRITICAL",
        )
        self._pyboy.set_emulation_speed(0)
        self._episode = ReferenceEpisode(recipe.reference(), self._pyboy)
        self._seen: dict[str, Array] = {}
        self.info: dict[str, np.float32] = {}

    def reset(self, seed: int) -> None:
        """Begins the episode with that seed; see `emurust.pool.episode_seed`."""
        state = self._starts[start_index(seed, len(self._starts))]
        # PyBoy's counter of window lines is not part of its states, and what an earlier episode
        # or a new instance left in it moves the first window (docs/verification.md). A drawn
        # frame clears it.
        self._pyboy.load_state(io.BytesIO(state))
        self._pyboy.tick(1, True)
        self._pyboy.load_state(io.BytesIO(state))
        self._seen = self._episode.begin(seed)
        self.info = self._episode.info()

    def step(self, action: int) -> Step:
        """Takes an action."""
        self._seen, reward, terminated, truncated, self.info = self._episode.step(int(action))
        return Step(float(reward), bool(terminated), bool(truncated))

    def state_hash(self) -> int:
        """Of work RAM and high RAM."""
        memory = self._pyboy.memory
        return ram_hash(bytes(memory[_WORK_RAM]), bytes(memory[_HIGH_RAM]))

    def observation(self) -> dict[str, Array]:
        """The observation by name of the field."""
        return self._seen

    def record(self, out: npt.NDArray[np.uint8]) -> None:
        """Writes the observation as the record of bytes that EmuRust writes."""
        for name, _, _, offset, *_ in self.task.observation_layout:
            content = np.ascontiguousarray(self._seen[name]).view(np.uint8).reshape(-1)
            out[offset : offset + content.size] = content

    def close(self) -> None:
        """Ends the machine."""
        self._pyboy.stop(save=False)
