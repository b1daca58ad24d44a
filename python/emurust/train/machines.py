"""The machines of a training, as PufferLib's trainer wants its environments.

One or two groups of machines. With two, one group's machines run (on threads or in worker
processes) while the policy chooses actions for the other's, which helps where the policy runs
on another device than the machines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from emurust.pool import Array
from emurust.puffer import PokemonPuffer, pufferlib
from emurust.train.build import pool_options
from emurust.train.config import Config

__all__ = ["EndedEpisode", "Machines"]


@dataclass(frozen=True)
class EndedEpisode:
    """An episode that was played to its end.

    Attributes:
        info: the task's progress at its end, ``episode_return`` and ``episode_length``.
        seed: the episode's; with the start states and the actions it gives the episode again.
        actions: (steps,) uint8.
    """

    info: dict[str, float]
    seed: int
    actions: npt.NDArray[np.uint8]


class _Group(PokemonPuffer):
    """Machines that remember what was done in their episodes."""

    def __init__(self, stagger: bool, max_steps: int, **options: Any) -> None:
        super().__init__(max_steps=max_steps, report_interval=0, **options)
        self.ended: list[EndedEpisode] = []
        self.on_step: Callable[[dict[str, Any]], None] | None = None
        self._stagger = stagger
        self._max_steps = max_steps
        self._history = np.zeros((max_steps, self.num_agents), dtype=np.uint8)
        self._seeds: list[int | None] = []

    def reset(self, seed: int | None = None) -> tuple[Array, list[dict[str, float]]]:
        result = super().reset(seed)
        self._seeds = self.pool.episode_seeds
        return result

    def _stepped(self, actions: Array, infos: dict[str, Any]) -> list[dict[str, float]]:
        self._history[np.minimum(self._lengths, self._max_steps - 1), range(len(actions))] = actions
        if self.on_step is not None:
            self.on_step(infos)
        lengths = self._lengths + 1
        reports = super()._stepped(actions, infos)
        over = np.flatnonzero(self.terminals | self.truncations).tolist()
        ends = (report for report in reports if "episode_length" in report)
        for index, report in zip(over, ends, strict=True):
            played = self._history[: lengths[index], index].copy()
            self.ended.append(EndedEpisode(report, self._seeds[index] or 0, played))
        if over:
            self._seeds = self.pool.episode_seeds
        if self._stagger and self._steps < self._max_steps:
            self._cut_short()
        return reports

    def _cut_short(self) -> None:
        """Ends the first episodes one after the other, all of them within one's length."""
        due = np.arange(self.num_agents) * self._max_steps // self.num_agents == self._steps
        if due.any():
            self.pool.reset(options={"reset_mask": due})
            self.truncations[due] = True
            self._returns[due] = 0
            self._lengths[due] = 0
            self._seeds = self.pool.episode_seeds

    def state_dict(self) -> dict[str, Any]:
        """All that later steps depend on, as tensors and plain values."""
        self.settle()
        states = [self.pool.get_state(index) for index in range(self.num_agents)]
        return {
            "states": [torch.frombuffer(bytearray(state), dtype=torch.uint8) for state in states],
            "streams": [list(stream) for stream in self.pool.streams],
            "rewards": torch.from_numpy(self.rewards.copy()),
            "terminals": torch.from_numpy(self.terminals.copy()),
            "truncations": torch.from_numpy(self.truncations.copy()),
            "returns": torch.from_numpy(self._returns.copy()),
            "lengths": torch.from_numpy(self._lengths.copy()),
            "history": torch.from_numpy(self._history.copy()),
            "steps": self._steps,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a `state_dict` of machines with the same options."""
        self.async_reset(0)
        for index, one in enumerate(state["states"]):
            self.pool.set_state(index, one.numpy().tobytes())
        self.pool.streams = [(int(stream), int(episode)) for stream, episode in state["streams"]]
        self.rewards[:] = state["rewards"].numpy()
        self.terminals[:] = state["terminals"].numpy()
        self.truncations[:] = state["truncations"].numpy()
        self._returns[:] = state["returns"].numpy()
        self._lengths[:] = state["lengths"].numpy()
        self._history[:] = state["history"].numpy()
        self._steps = state["steps"]
        self._seeds = self.pool.episode_seeds


class Machines:
    """PufferLib's vector environment for its trainer.

    Args:
        config: the options of the training.

    Raises:
        As `emurust.Pool`.
    """

    def __init__(self, config: Config) -> None:
        env = config["env"]
        groups = env["groups"]
        self.num_agents: int = env["num_agents"]
        self.agents_per_batch: int = self.num_agents // groups
        options = pool_options(config)
        workers = {"threads": "num_threads", "processes": "num_workers"}[env["backend"]]
        if env["workers"]:
            options[workers] = min(env["workers"], self.agents_per_batch)
        self.groups: list[_Group] = []
        try:
            for number in range(groups):
                group = _Group(
                    env["stagger"],
                    num_agents=self.agents_per_batch,
                    seed=number,
                    backend=env["backend"],
                    **options,
                )
                self.groups.append(group)
        except BaseException:
            self.close()
            raise
        self.driver_env = self.groups[0]
        self.task = self.driver_env.task
        self.info_names = self.driver_env.pool.info_names
        self.single_observation_space = self.driver_env.single_observation_space
        self.single_action_space = self.driver_env.single_action_space
        self.action_space = pufferlib.spaces.joint_space(
            self.single_action_space, self.agents_per_batch
        )
        self._turn = 0

    def async_reset(self, seed: int | None = None) -> None:
        """Begins episodes on all machines."""
        self._turn = 0
        for group in self.groups:
            group.async_reset(seed)

    def recv(self) -> tuple[Any, ...]:
        """Waits for the group whose turn it is: observations, rewards, terminals, truncations,
        infos, numbers of the agents, mask."""
        *results, agents, mask = self.groups[self._turn].recv()
        return (*results, agents + self._turn * self.agents_per_batch, mask)

    def send(self, actions: npt.ArrayLike) -> None:
        """Gives actions to the group that was received last."""
        self.groups[self._turn].send(actions)
        self._turn = (self._turn + 1) % len(self.groups)

    def ended(self) -> list[EndedEpisode]:
        """Episodes that ended since this was asked before, those with the steps under way
        included: so that it does not matter whether a checkpoint waited for them."""
        for group in self.groups:
            group.settle()
        episodes = [episode for group in self.groups for episode in group.ended]
        for group in self.groups:
            group.ended.clear()
        return episodes

    def on_step(self, call: Callable[[dict[str, Any]], None]) -> None:
        """Sets what is called with the infos of each step of a group of machines."""
        for group in self.groups:
            group.on_step = call

    def state_dict(self) -> dict[str, Any]:
        """All that later steps depend on."""
        return {"groups": [group.state_dict() for group in self.groups], "turn": self._turn}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a `state_dict` of machines with the same options."""
        for group, one in zip(self.groups, state["groups"], strict=True):
            group.load_state_dict(one)
        self._turn = state["turn"]

    def close(self) -> None:
        """Ends the pools."""
        for group in self.groups:
            group.close()
