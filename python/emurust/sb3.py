"""``EmuRust-Pokemon`` for Stable-Baselines3.

    >>> from stable_baselines3 import PPO
    >>> from emurust.sb3 import PokemonVecEnv
    >>> PPO("MultiInputPolicy", PokemonVecEnv(16)).learn(100_000)

Needs ``pip install 'emurust[sb3]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from emurust.errors import DependencyError
from emurust.pool import Array, Observations, Pool
from emurust.rom import RomSource, usual_rom

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise DependencyError(
        "emurust.sb3 needs Stable-Baselines3: pip install 'emurust[sb3]'"
    ) from error

__all__ = ["PokemonVecEnv"]


class PokemonVecEnv(VecEnv):  # type: ignore[misc]
    """Many environments on a pool, with Stable-Baselines3's conventions: an episode's end
    begins the next, its last observation is in ``info["terminal_observation"]``, and a
    truncated one says ``info["TimeLimit.truncated"]``. Ended episodes also report return and
    length under ``info["episode"]``, as its `VecMonitor` does.

    Args:
        num_envs: number of environments.
        rom: as `emurust.vector.PokemonVectorEnv`.
        info_names: info values to hand out each step, as lists of dicts are slow to make;
            by default those of the task at the end of each episode only.
        pool_options: other arguments of `emurust.Pool`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rom: RomSource = None,
        *,
        info_names: Sequence[str] = (),
        **pool_options: Any,
    ) -> None:
        self.pool = Pool(
            usual_rom(rom),
            num_envs,
            autoreset="same_step",
            **pool_options,
        )
        self.render_mode = None
        self._info_names = list(info_names)
        self._actions: Array = np.zeros(num_envs, dtype=np.int64)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        super().__init__(
            num_envs, self.pool.single_observation_space, self.pool.single_action_space
        )

    def reset(self) -> Observations:
        """Begins episodes, with the seeds and options set before."""
        seeds = None if self._seeds[0] is None else self._seeds
        options = [one for one in self._options if one]
        start = [one.get("start_state") for one in self._options] if options else None
        observations, _ = self.pool.reset(
            seeds, options=None if start is None else {"start_state": start}
        )
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0
        self._lengths[:] = 0
        return _own(observations)

    def step_async(self, actions: Array) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Observations, Array, Array, list[dict[str, Any]]]:
        observations, rewards, terminations, truncations, infos = self.pool.step(self._actions)
        dones = terminations | truncations
        self._returns += rewards
        self._lengths += 1
        reported: list[dict[str, Any]] = [
            {name: float(infos[name][index]) for name in self._info_names}
            for index in range(self.num_envs)
        ]
        for index in np.flatnonzero(dones).tolist():
            info = reported[index]
            info.update({name: float(v[index]) for name, v in infos["final_info"].items()})
            info["terminal_observation"] = _row(infos["final_observation"], index)
            info["TimeLimit.truncated"] = bool(truncations[index] and not terminations[index])
            info["episode"] = {
                "r": float(self._returns[index]),
                "l": int(self._lengths[index]),
            }
            self._returns[index] = 0
            self._lengths[index] = 0
        for index in np.flatnonzero(infos["lost"]).tolist():
            reported[index]["lost"] = True
        return _own(observations), rewards.copy(), dones, reported

    def close(self) -> None:
        """Ends the pool."""
        self.pool.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute of this object, once for each environment: they have none of their
        own."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute of this object."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Calls a method of the pool with each environment's number first, such as
        ``get_state``."""
        method = getattr(self.pool, method_name)
        return [method(index, *args, **kwargs) for index in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Array | None]:
        grey = np.array([255, 153, 85, 0, 0], dtype=np.uint8)[self.pool.screens()]
        return list(np.repeat(grey[..., np.newaxis], 3, axis=-1))


def _own(observations: Observations) -> Observations:
    if isinstance(observations, dict):
        return {name: value.copy() for name, value in observations.items()}
    return observations.copy()


def _row(observations: Observations, index: int) -> Any:
    if isinstance(observations, dict):
        return {name: value[index].copy() for name, value in observations.items()}
    return observations[index].copy()
