"""Level 4: a trained policy plays the same game on EmuRust and on PyBoy.

The policy chooses actions from what PyBoy's side shows, and every side takes them: observations,
rewards, ends and RAM must be equal after each step, for whole episodes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from emurust.pool import Pool
from emurust.tasks import views
from emurust.train.build import open_pool
from emurust.train.checkpoint import Checkpoint
from emurust.train.config import Config
from emurust.train.play import Player
from emurust.train.reference import reference_setup
from emurust.verify.environments import Comparison, Difference, Step, compare_steps
from emurust.verify.reference_environment import ReferenceEnvironment, ram_hash

__all__ = ["Transfer", "sides", "transfer"]


@dataclass(frozen=True)
class Transfer:
    """What one way of playing came to.

    Attributes:
        mode: ``"greedily"`` or ``"by sampling"``.
        sides: names of what was compared with PyBoy.
        comparison: what came of it; its returns are PyBoy's, one for each episode.
        side: name of the side of the difference.
        lengths: steps of each episode.
    """

    mode: str
    sides: Sequence[str]
    comparison: Comparison
    side: str = ""
    lengths: Sequence[int] = ()


def sides(count: int) -> dict[str, dict[str, Any]]:
    """The ways in which EmuRust plays: arguments of a `Pool` of `count` machines by name."""
    workers = min(2, count)
    backends: dict[str, dict[str, Any]] = {
        "EmuRust in threads": {"backend": "threads", "num_threads": workers},
        "EmuRust in processes": {"backend": "processes", "num_workers": workers},
    }
    if "engine" not in inspect.signature(Pool.__init__).parameters:
        return backends
    return {
        f"{name} ({engine})": {**options, "engine": engine}
        for name, options in backends.items()
        for engine in ("interpreter", "auto")
    }


class _PoolSide:
    """Machines of a pool, one for each episode."""

    def __init__(self, name: str, pool: Pool) -> None:
        self.name = name
        self.pool = pool
        self._given = [Step()] * pool.num_envs

    def reset(self, seed: int) -> None:
        self.pool.reset(seed)
        self._given = [Step()] * self.pool.num_envs

    def step(self, actions: npt.NDArray[np.int64]) -> None:
        _, rewards, terminations, truncations, _ = self.pool.step(actions)
        self._given = [
            Step(float(reward), bool(terminated), bool(truncated))
            for reward, terminated, truncated in zip(
                rewards, terminations, truncations, strict=True
            )
        ]

    def look(self, agent: int) -> tuple[Step, dict[str, Any], int]:
        record = self.pool.records[agent]
        ram = self.pool.ram(agent)
        state = ram_hash(ram[0xC000:0xE000].tobytes(), ram[0xFF80:0xFFFF].tobytes())
        return self._given[agent], views(self.pool.task, record), state


def transfer(
    checkpoint: Checkpoint,
    *,
    greedy: bool,
    episodes: int = 2,
    seed: int = 1,
    max_steps: int | None = None,
    path: Path | str = "the checkpoint",
    progress: Callable[[int], None] | None = None,
    against: dict[str, dict[str, Any]] | None = None,
) -> Transfer:
    """Plays episodes with a policy on PyBoy and on EmuRust and compares each step.

    Args:
        checkpoint: the policy and its options.
        greedy: take the likeliest action; else draw.
        episodes: how many, played side by side.
        seed: of the episodes and of what is drawn.
        max_steps: of an episode, instead of the options'.
        path: the checkpoint's, for messages.
        progress: called with the number of steps done.
        against: sides to compare with instead of `sides`.

    Raises:
        CheckpointError: the policy does not fit the task.
        ReferenceMissingError: PyBoy is not installed.
    """
    config = checkpoint.config
    if max_steps is not None:
        config = {**config, "env": {**config["env"], "max_steps": max_steps}}
    against = sides(episodes) if against is None else against
    mode = "greedily" if greedy else "by sampling"
    with ExitStack() as stack:
        pools = [
            _PoolSide(
                name,
                stack.enter_context(open_pool(config, episodes, autoreset="disabled", **options)),
            )
            for name, options in against.items()
        ]
        first = pools[0].pool
        references = _references(config, episodes, stack)
        player = Player(checkpoint, first, episodes, greedy=greedy, seed=seed, path=path)
        for side in pools:
            side.reset(seed)
        for reference, own in zip(references, first.episode_seeds, strict=True):
            reference.reset(own or 0)
        records = np.zeros((episodes, first.observation_len), np.uint8)
        given = [Step()] * episodes
        playing = np.ones(episodes, dtype=bool)
        totals, lengths = np.zeros(episodes), np.zeros(episodes, dtype=np.int64)
        history: list[npt.NDArray[np.int64]] = []
        steps = 0
        while True:
            for agent in np.flatnonzero(playing).tolist():
                reference = references[agent]
                expected = (given[agent], reference.observation(), reference.state_hash())
                for side in pools:
                    difference = compare_steps(
                        expected, side.look(agent), len(history), seed=seed, agent=agent
                    )
                    if difference is not None:
                        taken = [int(actions[agent]) for actions in history]
                        return _parted(mode, against, side.name, steps, difference, taken)
                totals[agent] += given[agent].reward
                playing[agent] = not (given[agent].terminated or given[agent].truncated)
            if not playing.any():
                break
            for agent, reference in enumerate(references):
                reference.record(records[agent])
            actions = player.act(records)
            history.append(actions)
            for agent in np.flatnonzero(playing).tolist():
                given[agent] = references[agent].step(int(actions[agent]))
            for side in pools:
                side.step(actions)
            steps += int(playing.sum())
            lengths += playing
            if progress is not None:
                progress(steps)
        comparison = Comparison(steps, episodes, None, (), totals.tolist())
        return Transfer(mode, list(against), comparison, lengths=lengths.tolist())


def _parted(
    mode: str,
    against: dict[str, dict[str, Any]],
    side: str,
    steps: int,
    difference: Difference,
    actions: list[int],
) -> Transfer:
    return Transfer(mode, list(against), Comparison(steps, 0, difference, actions), side)


def _references(config: Config, count: int, stack: ExitStack) -> list[ReferenceEnvironment]:
    rom, recipe, starts = reference_setup(config)
    made = []
    for _ in range(count):
        environment = ReferenceEnvironment(rom, recipe, starts)
        stack.callback(environment.close)
        made.append(environment)
    return made
