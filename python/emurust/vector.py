"""``EmuRust-Pokemon`` as a native vector environment of Gymnasium.

    >>> envs = gymnasium.make_vec("EmuRust-Pokemon", num_envs=64,
    ...                           vectorization_mode="vector_entry_point")

Gymnasium 0.29.1 calls that mode ``"custom"``. The environments play the same trajectories as
``"sync"`` and ``"async"``, which run one Python environment each; this one steps all of them
in one call (see `emurust.pool`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector.utils import batch_space

from emurust.errors import ArgumentError, ClosedError
from emurust.gameboy import FRAMES_PER_SECOND
from emurust.pool import Array, Observations, Pool, checked_seed
from emurust.rom import RomSource, usual_rom
from emurust.screen import rgb

try:
    from gymnasium.vector import AutoresetMode
except ImportError:  # Gymnasium before 1.1
    AutoresetMode = None  # type: ignore[assignment, misc]

__all__ = ["PokemonVectorEnv"]

_IS_OLD = gymnasium.__version__.startswith("0.")

if TYPE_CHECKING or not _IS_OLD:
    _Base = gymnasium.vector.VectorEnv
else:
    from gymnasium.experimental.vector import VectorEnv as _NewVectorEnv

    class _Base(gymnasium.vector.VectorEnv, _NewVectorEnv):
        """Both of Gymnasium 0.29's kinds: what its `make_vec` gives, and what its wrappers
        want."""

        # Looked at when an environment is collected whose making failed.
        viewer = None


_POOL_MODES = {"NextStep": "next_step", "SameStep": "same_step", "Disabled": "disabled"}


class PokemonVectorEnv(_Base):
    """Many `EmuRust-Pokemon` environments, stepped together.

    Observations, rewards and ends are those of the single environment. Infos are Gymnasium's
    dict of arrays with a mask ``_name`` beside each; a machine that was lost with its worker
    and has begun anew says so under ``"lost"``.

    Args:
        num_envs: number of environments.
        rom: a path, bytes or a binary file; by default the file that the environment variable
            EMURUST_ROM names, else the shipped cartridge.
        render_mode: ``"rgb_array"`` or None.
        autoreset_mode: a `gymnasium.vector.AutoresetMode` or its value; by default what
            Gymnasium's own vector environments of the installed version do: next-step from
            1.0 on, same-step before.
        seed: of the first reset, if that is given none.
        copy: returned arrays are the caller's own. False: they are the pool's, and the next
            step changes them.
        pool_options: other arguments of `emurust.Pool`: ``backend``, ``num_threads``,
            ``num_workers``, ``start_state``, ``task``, and the task's options, such as
            ``observation="packed"``.

    `reset` takes ``options={"start_state": ...}`` (one for all or a list with one for each;
    kept for later episodes) and, to reset some of the environments only,
    ``options={"reset_mask": ...}``.

    Raises:
        As `emurust.Pool`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rom: RomSource = None,
        *,
        render_mode: str | None = None,
        autoreset_mode: Any = None,
        seed: int | None = None,
        copy: bool = True,
        max_episode_steps: int | None = None,
        **pool_options: Any,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ArgumentError(f"render_mode must be 'rgb_array' or None, not {render_mode!r}")
        if render_mode is not None:
            pool_options.setdefault("render", True)
        if max_episode_steps is not None:
            pool_options.setdefault("max_steps", max_episode_steps)
        self._first_seed = None if seed is None else checked_seed("seed", seed)
        mode = _pool_mode(autoreset_mode)
        pool_options.setdefault("task", "pokemon")
        self.pool = Pool(
            usual_rom(rom),
            num_envs,
            autoreset=mode,  # type: ignore[arg-type]
            **pool_options,
        )
        single_observation_space = self.pool.single_observation_space
        single_action_space = self.pool.single_action_space
        if _IS_OLD:
            super().__init__(num_envs, single_observation_space, single_action_space)  # type: ignore[call-arg]
        self.num_envs = num_envs
        self.single_observation_space = single_observation_space
        self.single_action_space = single_action_space
        self.observation_space = batch_space(single_observation_space, num_envs)
        self.action_space = batch_space(single_action_space, num_envs)
        self.render_mode = render_mode
        self.copy = copy
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": FRAMES_PER_SECOND / max(1, self.pool.task.frame_skip),
        }
        if AutoresetMode is not None:
            values = {pool: value for value, pool in _POOL_MODES.items()}
            self.metadata["autoreset_mode"] = AutoresetMode(values[mode])
        self._all = np.ones(num_envs, dtype=np.bool_)

    # -- Gymnasium's methods ----------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins episodes.

        Args:
            seed: environment `i` gets ``seed + i``, or the `i`th of a list; None goes on with
                the present random streams.
            options: ``"start_state"``, ``"reset_mask"``.
        """
        seeds = None
        if seed is None:
            seed = self._first_seed
        self._first_seed = None
        if isinstance(seed, int | np.integer):
            seeds = [int(seed) + index for index in range(self.num_envs)]
        elif seed is not None:
            seeds = list(seed)  # type: ignore[arg-type]
            if all(one is None for one in seeds):
                seeds = None
        observations, infos = self.pool.reset(seeds, options=options)
        mask = (options or {}).get("reset_mask")
        mask = self._all if mask is None else np.asarray(mask)
        return self._own(observations), self._infos(infos, mask)

    def step(self, actions: npt.ArrayLike) -> tuple[Observations, Array, Array, Array, Any]:
        """Steps all environments; see `gymnasium.vector.VectorEnv.step`."""
        observations, rewards, terminations, truncations, infos = self.pool.step(actions)
        own = self._infos(infos, self._all)
        if "final_info" in infos:
            over = terminations | truncations
            if over.any():
                self._add_finals(own, infos, over)
        if not self.copy:
            return observations, rewards, terminations, truncations, own
        return (
            self._own(observations),
            rewards.astype(np.float64),
            terminations.copy(),
            truncations.copy(),
            own,
        )

    def render(self) -> tuple[npt.NDArray[np.uint8], ...] | None:
        """The pictures, (144, 160, 3) uint8 each, in mode "rgb_array"; otherwise None."""
        if self.pool.closed:
            raise ClosedError("this environment was closed; make a new one to go on")
        if self.render_mode is None:
            return None
        return tuple(rgb(self.pool.screens()))

    def close_extras(self, **_: Any) -> None:
        """Ends the pool, which is not there if the making failed."""
        if hasattr(self, "pool"):
            self.pool.close()

    # -- helpers ----------------------------------------------------------------------

    def _own(self, observations: Observations) -> Observations:
        if not self.copy:
            return observations
        if isinstance(observations, dict):
            return {name: value.copy() for name, value in observations.items()}
        return observations.copy()

    def _infos(self, infos: dict[str, Any], mask: Array) -> dict[str, Any]:
        values = self.pool.info_records
        if self.copy:
            values = values.copy()
        own: dict[str, Any] = {}
        for column, name in enumerate(self.pool.info_names):
            own[name] = values[:, column]
            own[f"_{name}"] = mask.copy()
        if "watch" in infos:
            own["watch"] = infos["watch"].copy() if self.copy else infos["watch"]
            own["_watch"] = mask.copy()
        lost = infos["lost"]
        if lost.any():
            own["lost"] = lost.copy()
            own["_lost"] = lost.copy()
        return own

    def _add_finals(self, own: dict[str, Any], infos: dict[str, Any], over: Array) -> None:
        name = "final_observation" if _IS_OLD else "final_obs"
        observations = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(over).tolist():
            observations[index] = _row(infos["final_observation"], index)
        own[name], own[f"_{name}"] = observations, over.copy()
        finals = dict(infos["final_info"])
        if "final_watch" in infos:
            finals["watch"] = infos["final_watch"]
        if _IS_OLD:
            dicts = np.full(self.num_envs, None, dtype=object)
            for index in np.flatnonzero(over).tolist():
                dicts[index] = {key: _scalar(value[index]) for key, value in finals.items()}
            own["final_info"] = dicts
        else:
            # Zero for the others, as Gymnasium's own.
            own["final_info"] = {}
            for key, value in finals.items():
                masked = np.zeros_like(value)
                masked[over] = value[over]
                own["final_info"][key] = masked
                own["final_info"][f"_{key}"] = over.copy()
        own["_final_info"] = over.copy()


def _row(observations: Observations, index: int) -> Any:
    if isinstance(observations, dict):
        return {name: value[index].copy() for name, value in observations.items()}
    return observations[index].copy()


def _scalar(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else float(value)


def _pool_mode(mode: Any) -> str:
    if mode is None:
        return "same_step" if _IS_OLD else "next_step"
    value = getattr(mode, "value", mode)
    if value in _POOL_MODES.values():
        return str(value)
    if value in _POOL_MODES:
        return _POOL_MODES[value]
    raise ArgumentError(f"autoreset_mode must be one of {', '.join(_POOL_MODES)}, not {mode!r}")
