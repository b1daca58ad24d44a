"""A checkpoint as a policy for `emurust watch`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from emurust.envs.pokemon import PokemonEnv
from emurust.policies import PolicySource
from emurust.tasks import views
from emurust.train.build import pool_options
from emurust.train.checkpoint import latest_checkpoint, read_checkpoint
from emurust.train.play import Player

__all__ = ["checkpoint_source"]


def checkpoint_source(path: Path, *, seed: int | None = None, greedy: bool = False) -> PolicySource:
    """The policy of a checkpoint, or of the newest in a training's folder, on the task with which
    it was trained.

    Args:
        path: the checkpoint or the folder.
        seed: of what is drawn.
        greedy: take the likeliest action; else draw one.

    Raises:
        CheckpointError: there is none, or it is damaged.
    """
    path = latest_checkpoint(path)
    checkpoint = read_checkpoint(path)
    options = {name: one for name, one in pool_options(checkpoint.config).items() if one != {}}

    def make(env: Any) -> _OneAgent:
        player = Player(
            checkpoint,
            # As a pool describes its machines.
            SimpleNamespace(
                task=env.task,
                single_observation_space=env.observation_space,
                single_action_space=env.action_space,
            ),
            1,
            greedy=greedy,
            seed=0 if seed is None else seed,
            path=path,
        )
        return _OneAgent(env, player)

    return PolicySource(str(path), make, options)


class _OneAgent:
    """A player of one environment."""

    def __init__(self, env: PokemonEnv, player: Player) -> None:
        self._player = player
        self._record = np.zeros((1, env.task.observation_len), np.uint8)
        self._fields = views(env.task, self._record[0])
        self._flat = env.task.observation in ("all", "packed")

    def begin(self) -> None:
        self._player.begin(np.ones(1, np.bool_))

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        if self._flat:
            self._record[0] = observation
        elif isinstance(observation, dict):
            for name, value in observation.items():
                self._fields[name][...] = value
        else:
            next(iter(self._fields.values()))[...] = observation
        return int(self._player.act(self._record)[0])
