"""``EmuRust-Pokemon`` for PufferLib 3.

A native `PufferEnv`: many machines in one environment, stepped on threads, that write their
observations and rewards straight into PufferLib's buffers. It runs alone and under
PufferLib's Serial and Multiprocessing backends; `emurust train` trains on it with PufferLib's
own trainer (`emurust.train`). Needs ``pip install 'emurust[puffer]'``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from emurust._pufferlib import import_pufferlib
from emurust.errors import ArgumentError
from emurust.pool import Array, Pool
from emurust.rom import RomSource, usual_rom

if TYPE_CHECKING:
    from emurust.puffer_policy import Policy, Recurrent

__all__ = ["PokemonPuffer", "Policy", "Recurrent", "env_creator", "make"]

pufferlib = import_pufferlib("pufferlib", "emurust.puffer", "pip install 'emurust[puffer]'")

_PufferEnv: Any = pufferlib.PufferEnv

ENV_NAME = "emurust_pokemon"
_FLAT = ("packed", "all", "screen", "ram")


class PokemonPuffer(_PufferEnv):  # type: ignore[misc]
    """Many machines that play `EmuRust-Pokemon`, each an agent of PufferLib's.

    An episode's end begins the next at once. Infos are a list of dicts of numbers: one for
    each ended episode (``episode_return``, ``episode_length`` and the task's progress at its
    end), and every `report_interval` steps one with the means of the progress over all agents
    under ``progress/``, as episodes are long; most steps give an empty list.

    Random streams: PufferLib gives each environment a number when it is made (as `seed`) and
    seeds that overlap between workers when it is reset. Agents' streams are derived from both
    and from the agent's number, so that no two agents of a run share one.

    Args:
        num_agents: number of machines.
        rom: as `emurust.vector.PokemonVectorEnv`.
        observation: ``"packed"`` (small), ``"all"``, ``"screen"``, or ``"ram"`` (no pictures; as
            bytes): PufferLib's native environments have one flat array.
        report_interval: steps between reports of progress; 0: none.
        num_threads: threads; by default one under a backend of PufferLib's, which runs one
            process for each core, and one for each core alone.
        buf, seed: PufferLib's.
        pool_options: other arguments of `emurust.Pool`.

    Raises:
        As `emurust.Pool`.
    """

    def __init__(
        self,
        num_agents: int = 64,
        rom: RomSource = None,
        *,
        observation: str = "packed",
        report_interval: int = 1024,
        num_threads: int | None = None,
        buf: dict[str, Array] | None = None,
        seed: int | None = None,
        render_mode: str | None = None,
        **pool_options: Any,
    ) -> None:
        if observation not in _FLAT:
            raise ArgumentError(
                f"observation must be one of {', '.join(_FLAT)} for PufferLib, not {observation!r}"
            )
        if num_threads is None and buf is not None and "backend" not in pool_options:
            num_threads = 1
        self.num_agents = num_agents
        self.render_mode = render_mode
        self.report_interval = report_interval
        number = 0 if seed is None else int(seed)
        options: dict[str, Any] = {
            "observation": observation,
            "autoreset": "same_step",
            "first_index": number * num_agents,
            "num_threads": num_threads,
            **pool_options,
        }
        rom = usual_rom(rom)
        # The spaces are needed before PufferLib makes the buffers, and the buffers before the
        # pool: one machine says what they are.
        alone = {"num_threads": None, "num_workers": None, "backend": "threads"}
        with Pool(rom, 1, **{**options, **alone}) as one:
            self.task = one.task
            self.single_observation_space: Any = one.single_observation_space
            if observation == "ram":
                self.single_observation_space = spaces.Box(0, 255, (one.observation_len,), np.uint8)
            self.single_action_space: Any = spaces.Discrete(int(one.single_action_space.n))
        super().__init__(buf)
        self.pool = Pool(
            rom,
            num_agents,
            buffers={
                "observations": self.observations,
                "rewards": self.rewards,
                "terminations": self.terminals,
                "truncations": self.truncations,
            },
            **options,
        )
        self._returns = np.zeros(num_agents)
        self._lengths = np.zeros(num_agents, dtype=np.int64)
        self._steps = 0
        self._began = False
        self._actions: Array | None = None

    def reset(self, seed: int | None = None) -> tuple[Array, list[dict[str, float]]]:
        """Begins episodes on all machines."""
        if seed is None and not self._began:
            seed = 0
        self.pool.reset(None if seed is None else int(seed))
        self._began = True
        self._actions = None
        self._returns[:] = 0
        self._lengths[:] = 0
        return self.observations, []

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Array, Array, Array, Array, list[dict[str, float]]]:
        """Steps all machines."""
        actions = np.asarray(actions).reshape(-1)
        infos = self.pool.step(actions)[4]
        reports = self._stepped(actions, infos)
        return self.observations, self.rewards, self.terminals, self.truncations, reports

    def send(self, actions: npt.ArrayLike) -> None:
        """Gives all machines actions without waiting."""
        self._actions = np.asarray(actions).reshape(-1)
        self.pool.send(self._actions)

    def recv(self) -> tuple[Any, ...]:
        """Waits for all machines: observations, rewards, ends, infos, agents, mask."""
        self.settle()
        return super().recv()  # type: ignore[no-any-return]

    def settle(self) -> None:
        """Waits for what was sent, so that nothing is under way; `recv` gives it later."""
        if self._actions is not None:
            infos = self.pool.recv()[4]
            self.infos = self._stepped(self._actions, infos)
            self._actions = None

    def _stepped(self, actions: Array, infos: dict[str, Any]) -> list[dict[str, float]]:
        """Counts a step whose results are in the arrays; what it reports."""
        self._returns += self.rewards
        self._lengths += 1
        self._steps += 1
        reports = []
        over = self.terminals | self.truncations
        if over.any():
            reports.extend(self._ended(over, infos))
        if self.report_interval and self._steps % self.report_interval == 0:
            means = self.pool.info_records.mean(axis=0, dtype=np.float64).tolist()
            names = self.pool.info_names
            reports.append(
                {f"progress/{name}": mean for name, mean in zip(names, means, strict=True)}
            )
        lost = int(infos["lost"].sum())
        if lost:
            reports.append({"lost": float(lost)})
        return reports

    def _ended(self, over: Array, infos: dict[str, Any]) -> list[dict[str, float]]:
        reports = []
        for index in np.flatnonzero(over).tolist():
            report = {name: float(value[index]) for name, value in _columns(infos)}
            report["episode_return"] = report["score"] = float(self._returns[index])
            report["episode_length"] = float(self._lengths[index])
            reports.append(report)
            self._returns[index] = 0
            self._lengths[index] = 0
        return reports

    def render(self) -> Array:
        """The first machine's picture, (144, 160, 3) uint8; drawn only if the observation has
        pictures."""
        grey = np.array([255, 153, 85, 0, 0], dtype=np.uint8)[self.pool.screens()[0]]
        return np.repeat(grey[..., np.newaxis], 3, axis=-1)

    def close(self) -> None:
        """Ends the pool."""
        self.pool.close()


def _columns(infos: dict[str, Any]) -> Any:
    return infos["final_info"].items()


def env_creator(name: str = ENV_NAME) -> Callable[..., PokemonPuffer]:
    """What PufferLib's `vector.make` takes.

    Raises:
        ArgumentError: there is no environment of that name.
    """
    if name != ENV_NAME:
        raise ArgumentError(f"there is no environment {name!r}; there is {ENV_NAME!r}")
    return make


def make(*args: Any, **kwargs: Any) -> PokemonPuffer:
    """Makes the environment; a plain function, so that it pickles."""
    return PokemonPuffer(*args, **kwargs)


def __getattr__(name: str) -> Any:
    # The policies need torch, the environment does not.
    if name in ("Policy", "Recurrent"):
        from emurust import puffer_policy

        return getattr(puffer_policy, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
