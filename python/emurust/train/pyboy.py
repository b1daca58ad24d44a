"""Training on PyBoy: the task's reference in plain Python, under PufferLib's Multiprocessing.

Slow, and the same game to the bit: what is trained there plays here. `emurust train
--env.backend pyboy` uses it, and the benchmark of training with environments of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from emurust._pufferlib import import_pufferlib
from emurust.pool import Array, episode_seed
from emurust.rom import load_rom
from emurust.train.config import Config
from emurust.train.libraries import INSTALL
from emurust.train.machines import EndedEpisode
from emurust.train.reference import reference_setup
from emurust.verify.reference_environment import ReferenceEnvironment

__all__ = ["PyBoyMachines", "ReferenceAgents"]

_pufferlib = import_pufferlib("pufferlib", "training", INSTALL)
_vector = import_pufferlib("pufferlib.vector", "training", INSTALL)
_PufferEnv: Any = _pufferlib.PufferEnv


class ReferenceAgents(_PufferEnv):
    """Machines of PyBoy's that play a task, one after the other, as one `PufferEnv`.

    Args:
        rom: the cartridge's bytes.
        recipe: the task with its options, as `emurust.tasks.recipe` makes it.
        starts: start states, as PyBoy's files.
        count: number of machines.
        buf, seed: PufferLib's; the seed is the number of this environment.
    """

    def __init__(
        self,
        rom: bytes,
        recipe: Any,
        starts: list[bytes],
        count: int,
        buf: dict[str, Array] | None = None,
        seed: int | None = None,
    ) -> None:
        self.num_agents = count
        self.task = recipe.compile()
        length = self.task.observation_len
        self.single_observation_space: Any = spaces.Box(0, 255, (length,), np.uint8)
        self.single_action_space: Any = spaces.Discrete(len(self.task.action_names))
        super().__init__(buf)
        self._first = count * (seed or 0)
        cartridge = load_rom(rom)
        self._machines = [ReferenceEnvironment(cartridge, recipe, starts) for _ in range(count)]
        self._episodes = [0] * count
        self._returns = np.zeros(count)
        self._lengths = np.zeros(count, dtype=np.int64)
        self._seed = 0

    def reset(self, seed: int | None = None) -> tuple[Array, list[dict[str, float]]]:
        """Begins episodes on all machines."""
        self._seed = seed or 0
        for index in range(self.num_agents):
            self._begin(index)
        return self.observations, []

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Array, Array, Array, Array, list[dict[str, float]]]:
        """Steps all machines; an episode's end begins the next."""
        reports = []
        for index, action in enumerate(np.asarray(actions).reshape(-1).tolist()):
            machine = self._machines[index]
            given = machine.step(action)
            self.rewards[index] = given.reward
            self.terminals[index] = given.terminated
            self.truncations[index] = given.truncated
            self._returns[index] += given.reward
            self._lengths[index] += 1
            if given.terminated or given.truncated:
                report = {name: float(value) for name, value in machine.info.items()}
                report["episode_return"] = float(self._returns[index])
                report["episode_length"] = float(self._lengths[index])
                reports.append(report)
                self._begin(index)
            else:
                machine.record(self.observations[index])
        return self.observations, self.rewards, self.terminals, self.truncations, reports

    def _begin(self, index: int) -> None:
        machine = self._machines[index]
        machine.reset(episode_seed(self._seed, self._first + index, self._episodes[index]))
        machine.record(self.observations[index])
        self._episodes[index] += 1
        self._returns[index] = 0
        self._lengths[index] = 0

    def close(self) -> None:
        """Ends the machines."""
        for machine in self._machines:
            machine.close()


class PyBoyMachines:
    """What `emurust.train.machines.Machines` is, on PyBoy in worker processes.

    A checkpoint has no state of these machines: a training on them cannot be resumed.

    Args:
        config: the options of the training.
        workers: number of worker processes; of which the number of machines is a multiple.
        make: makes a worker's `PufferEnv`, with PufferLib's `buf` and `seed` and with `options`;
            `ReferenceAgents` by default.
        options: for `make`.
        envs_per_worker: how many such environments each worker runs.
    """

    def __init__(
        self,
        config: Config,
        workers: int,
        *,
        make: Callable[..., Any] | None = None,
        options: Mapping[str, Any] | None = None,
        envs_per_worker: int = 1,
    ) -> None:
        rom, recipe, starts = reference_setup(config)
        self.num_agents: int = config["env"]["num_agents"]
        if make is None:
            make = ReferenceAgents
            options = {
                "rom": rom.image(),
                "recipe": recipe,
                "starts": starts,
                "count": self.num_agents // workers,
            }
        several = workers > 1
        self._vecenv = _vector.make(
            make,
            env_kwargs=dict(options or {}),
            backend="Multiprocessing" if several else "Serial",
            num_envs=workers * envs_per_worker,
            **(
                {"num_workers": workers, "batch_size": workers * envs_per_worker} if several else {}
            ),
        )
        self.driver_env = self._vecenv.driver_env
        self.agents_per_batch: int = self._vecenv.agents_per_batch
        self.task = recipe.compile()
        self.info_names = [name for name, _ in self.task.info_layout]
        self.single_observation_space = self._vecenv.single_observation_space
        self.single_action_space = self._vecenv.single_action_space
        self.action_space = self._vecenv.action_space
        self._ended: list[EndedEpisode] = []

    def async_reset(self, seed: int | None = None) -> None:
        """Begins episodes on all machines."""
        self._vecenv.async_reset(0 if seed is None else seed)

    def recv(self) -> tuple[Any, ...]:
        """Waits for all machines; as `Machines.recv`."""
        results = self._vecenv.recv()
        for report in results[4]:
            if "episode_length" in report:
                self._ended.append(EndedEpisode(dict(report), 0, np.empty(0, np.uint8)))
        return tuple(results)

    def send(self, actions: npt.ArrayLike) -> None:
        """Gives actions to all machines."""
        self._vecenv.send(np.asarray(actions))

    def ended(self) -> list[EndedEpisode]:
        """Episodes that ended since this was asked before; without actions."""
        episodes, self._ended = self._ended, []
        return episodes

    def state_dict(self) -> dict[str, Any]:
        """Nothing: PyBoy's machines are not kept."""
        return {}

    def close(self) -> None:
        """Ends the workers."""
        self._vecenv.close()
