"""Recordings: episodes as the actions that were taken, from which they can be played again.

    >>> env = RecordEpisodes(gymnasium.make("EmuRust-Pokemon"), "run.recording")
    ...  # play
    >>> env.close()
    >>> recording = read_recording("run.recording")
    >>> env = recording.environment()
    >>> for observation, reward, terminated, truncated, info in recording.replay(env, 0):
    ...     ...

A recording holds what an episode depends on: task and options, start state, seed, actions; and
how it ended, by which a replay is checked. The ROM is not in it, only its checksum. docs/watch.md
describes the file. ``emurust watch run.recording`` shows it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from emurust import __version__
from emurust.envs.pokemon import PokemonEnv
from emurust.errors import ArgumentTypeError, LogFileError, RecordingError
from emurust.json_lines import LineWriter, read_lines
from emurust.rom import Rom, RomSource, load_rom, usual_rom
from emurust.tasks import TaskRecipe

__all__ = [
    "RecordEpisodes",
    "RecordedEpisode",
    "Recording",
    "RecordingWriter",
    "ram_checksum",
    "read_recording",
]

_KIND = "recording"
_ENDS = ("terminated", "truncated", "stopped")


@dataclass(frozen=True)
class RecordedEpisode:
    """One episode.

    Args:
        seed: the episode's seed; see `emurust.pool.episode_seed`.
        start_state: the machine's state in which it started.
        actions: (steps,) int64.
        end: ``"terminated"``, ``"truncated"``, or ``"stopped"``: neither, by the player.
        total_reward: the sum of its rewards.
        ram: `ram_checksum` after the last step.
    """

    seed: int
    start_state: bytes
    actions: npt.NDArray[np.int64]
    end: str
    total_reward: float
    ram: int


def ram_checksum(memory: Any) -> int:
    """CRC-32 of 0xC000-0xDFFF, work RAM, by which replays are checked.

    Args:
        memory: `GameBoy.memory`, or what `Pool.ram` gives.
    """
    return zlib.crc32(bytes(memory[0xC000:0xE000]))


class RecordingWriter:
    """Writes episodes to a file; `RecordEpisodes` does so for an environment.

    Args:
        path: the file. If it is there and was recorded with the same ROM, task, options and
            version, episodes are added.
        rom: the cartridge.
        recipe: the task with its options.

    Raises:
        LogFileError: the file cannot be written, or is there and was recorded with something
            else.
    """

    def __init__(self, path: str | os.PathLike[str], rom: Rom, recipe: TaskRecipe) -> None:
        header = {"version": __version__, "rom": _rom_entry(rom), "task": _task_entry(recipe)}
        self._lines = LineWriter(path, _KIND, header)
        self._start_states: dict[bytes, int] = {}
        try:
            # Of a run that is added to; numbered in the order in which they were written.
            for episode in read_recording(path).episodes:
                self._start_states.setdefault(episode.start_state, len(self._start_states))
        except LogFileError:
            self._lines.close()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._lines.path

    def add(self, episode: RecordedEpisode) -> None:
        """Adds an episode, which is in the file when this returns."""
        number = self._start_states.get(episode.start_state)
        if number is None:
            number = len(self._start_states)
            packed = base64.b64encode(zlib.compress(episode.start_state)).decode("ascii")
            self._lines.write({"start_state": number, "state": packed})
            self._start_states[episode.start_state] = number
        self._lines.write(
            {
                "seed": episode.seed,
                "start": number,
                "end": episode.end,
                "total_reward": episode.total_reward,
                "ram": episode.ram,
                "actions": episode.actions.tolist(),
            }
        )

    def close(self) -> None:
        """Closes the file; doing it again changes nothing."""
        self._lines.close()


class RecordEpisodes(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Records an `EmuRust-Pokemon` environment: each episode when it ends, or when the next one
    begins, or at `close`. Wrappers that change actions belong around this one.

    Args:
        env: the environment.
        path: the file; see `RecordingWriter`.

    Raises:
        ArgumentTypeError: it is another environment.
        LogFileError: as `RecordingWriter`.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], path: str | os.PathLike[str]) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, path=os.fspath(path))
        super().__init__(env)
        inner = env.unwrapped
        if not isinstance(inner, PokemonEnv):
            raise ArgumentTypeError(
                f"RecordEpisodes records EmuRust-Pokemon, not {type(inner).__name__}"
            )
        self._inner = inner
        self._writer = RecordingWriter(path, inner.gameboy.rom, inner.recipe)
        self._actions: list[int] | None = None
        self._total = 0.0

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        """As the environment's; what was played of the present episode is written."""
        self._write("stopped")
        result = self.env.reset(**arguments)
        self._actions, self._total = [], 0.0
        return result

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """As the environment's."""
        result = self.env.step(action)
        _, reward, terminated, truncated, _ = result
        if self._actions is not None:
            self._actions.append(int(action))
            self._total += float(reward)
            if terminated or truncated:
                self._write("terminated" if terminated else "truncated")
        return result

    def close(self) -> None:
        """Writes the present episode and closes file and environment."""
        self._write("stopped")
        self._writer.close()
        super().close()

    def _write(self, end: str) -> None:
        if self._actions and not self._inner.gameboy.stopped:
            self._writer.add(
                RecordedEpisode(
                    seed=self._inner.episode_seed,
                    start_state=self._inner.episode_start,
                    actions=np.array(self._actions, np.int64),
                    end=end,
                    total_reward=self._total,
                    ram=ram_checksum(self._inner.gameboy.memory),
                )
            )
        self._actions = None


@dataclass(frozen=True)
class Recording:
    """A recording that was read.

    Args:
        path: the file.
        version: the EmuRust that recorded it.
        rom_title, rom_sha1: the cartridge.
        recipe: the task with its options.
        episodes: the episodes, in the order of their ends.
    """

    path: Path
    version: str
    rom_title: str
    rom_sha1: str
    recipe: TaskRecipe
    episodes: Sequence[RecordedEpisode]

    def environment(self, rom: RomSource = None, *, render_mode: str | None = None) -> PokemonEnv:
        """An environment to replay it in.

        Args:
            rom: the cartridge; by default as the environment's own.
            render_mode: the environment's.

        Raises:
            RecordingError: it was recorded with another cartridge.
        """
        cartridge = load_rom(usual_rom(rom))
        found = _rom_entry(cartridge)["sha1"]
        if found != self.rom_sha1:
            raise RecordingError(
                f"{self.path} was recorded with the ROM {self.rom_title!r} (SHA-1 "
                f"{self.rom_sha1}), not with {cartridge.title!r} (SHA-1 {found}); give that ROM"
            )
        return PokemonEnv(
            cartridge.image(),
            render_mode=render_mode,
            task=self.recipe,
            start_state="power_on",
            render=True,
        )

    def replay(
        self, env: gymnasium.Env[Any, Any], number: int = 0
    ) -> Iterator[tuple[Any, float, bool, bool, dict[str, Any]]]:
        """Plays an episode again.

        Args:
            env: an environment made by `environment`, in wrappers or not.
            number: which episode, from 0.

        Yields:
            What the environment's `step` returns, for each action; the first is what `reset`
            returns, with reward 0.

        Raises:
            RecordingError: there is no such episode, or it ended otherwise than in the
                recording.
        """
        episode = self.episode(number)
        observation, info = env.reset(options=self.reset_options(number))
        yield observation, 0.0, False, False, info
        total = 0.0
        for action in episode.actions:
            observation, reward, terminated, truncated, info = env.step(action)
            total += float(reward)
            yield observation, float(reward), terminated, truncated, info
        inner = env.unwrapped
        assert isinstance(inner, PokemonEnv)
        self.check_end(number, total, ram_checksum(inner.gameboy.memory))

    def episode(self, number: int) -> RecordedEpisode:
        """An episode.

        Raises:
            RecordingError: there is no such episode.
        """
        if not 0 <= number < len(self.episodes):
            last = len(self.episodes) - 1
            there = f"the episodes 0 to {last}" if self.episodes else "no episode"
            raise RecordingError(f"{self.path} has {there}, not {number}")
        return self.episodes[number]

    def reset_options(self, number: int) -> dict[str, Any]:
        """The options for the environment's `reset` with which an episode begins."""
        episode = self.episode(number)
        return {"start_state": episode.start_state, "episode_seed": episode.seed}

    def check_end(self, number: int, total_reward: float, ram: int) -> None:
        """Compares the end of a replay with the recording's.

        Raises:
            RecordingError: they differ.
        """
        episode = self.episode(number)
        if (total_reward, ram) != (episode.total_reward, episode.ram):
            raise RecordingError(
                f"{self.path}: episode {number} ended otherwise than it was recorded by EmuRust "
                f"{self.version} (this is {__version__}): total reward {total_reward}, recorded "
                f"{episode.total_reward}; RAM {ram:08x}, recorded {episode.ram:08x}. Was the "
                "machine changed during the recording, other than by actions?"
            )


def read_recording(path: str | os.PathLike[str]) -> Recording:
    """Reads a recording.

    Raises:
        LogFileError: it cannot be read or is no recording; the message starts with file and
            line.
    """
    path = Path(path)
    header, lines = read_lines(path, _KIND)
    states: dict[int, bytes] = {}
    episodes = []
    try:
        rom, task = header["rom"], header["task"]
        version, title, sha1 = str(header["version"]), str(rom["title"]), str(rom["sha1"])
        recipe = _recipe(task)
    except (KeyError, TypeError, ValueError) as error:
        raise LogFileError(f"{path}:1: the header is damaged: {error!r}") from None
    for number, line in lines:
        try:
            if "state" in line:
                states[int(line["start_state"])] = zlib.decompress(
                    base64.b64decode(line["state"], validate=True)
                )
            else:
                episodes.append(_episode(line, states))
        except (KeyError, TypeError, ValueError, binascii.Error, zlib.error) as error:
            raise LogFileError(f"{path}:{number}: the line is damaged: {error!r}") from None
    return Recording(path, version, title, sha1, recipe, tuple(episodes))


def _episode(line: Mapping[str, Any], states: Mapping[int, bytes]) -> RecordedEpisode:
    end = line["end"]
    if end not in _ENDS:
        raise ValueError(f"an episode's end is one of {', '.join(_ENDS)}, not {end!r}")
    actions = np.array(line["actions"])
    if actions.ndim != 1 or actions.dtype.kind != "i":
        raise ValueError("actions are a list of integers")
    return RecordedEpisode(
        seed=int(line["seed"]),
        start_state=states[line["start"]],
        actions=actions.astype(np.int64),
        end=end,
        total_reward=float(line["total_reward"]),
        ram=int(line["ram"]),
    )


def _rom_entry(rom: Rom) -> dict[str, str]:
    sha1 = hashlib.sha1(rom.image(), usedforsecurity=False).hexdigest()
    return {"title": rom.title, "sha1": sha1}


def _task_entry(recipe: TaskRecipe) -> dict[str, Any]:
    options = dict(recipe.options)
    if "map_offsets" in options:
        # JSON's keys are text.
        options["map_offsets"] = [
            [number, *offset] for number, offset in options["map_offsets"].items()
        ]
    # Drawing changes nothing but what is seen.
    options.pop("render", None)
    return {
        "file_name": recipe.file_name,
        "text": recipe.text,
        "symbols": recipe.symbols,
        "options": options,
    }


def _recipe(entry: Mapping[str, Any]) -> TaskRecipe:
    options = dict(entry["options"])
    if "map_offsets" in options:
        options["map_offsets"] = {
            number: (column, row) for number, column, row in options["map_offsets"]
        }
    if "watch" in options:
        options["watch"] = [
            tuple(one) if isinstance(one, list) else one for one in options["watch"]
        ]
    symbols = entry["symbols"]
    return TaskRecipe(
        str(entry["text"]),
        str(entry["file_name"]),
        None if symbols is None else (str(symbols[0]), str(symbols[1])),
        options,
    )
