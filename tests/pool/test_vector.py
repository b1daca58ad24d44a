"""The native vector environment against Gymnasium's own around single environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from emurust import Pool
from emurust.errors import ArgumentError
from emurust.vector import PokemonVectorEnv

IS_OLD = gymnasium.__version__.startswith("0.")
OPTIONS: dict[str, Any] = {"max_steps": 4, "num_threads": 2}


class OneMachine(gymnasium.Env[Any, Any]):
    """A plain environment around a pool of one machine."""

    def __init__(self, **options: Any) -> None:
        self.pool = Pool(num_envs=1, num_threads=1, autoreset="disabled", **options)
        self.observation_space = self.pool.single_observation_space
        self.action_space = self.pool.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        observations, infos = self.pool.reset(None if seed is None else [seed], options=options)
        return self._one(observations), self._info(infos)

    def step(self, action: Any) -> Any:
        observations, rewards, terminations, truncations, infos = self.pool.step([action])
        return (
            self._one(observations),
            float(rewards[0]),
            bool(terminations[0]),
            bool(truncations[0]),
            self._info(infos),
        )

    def _one(self, observations: Any) -> Any:
        if isinstance(observations, dict):
            return {name: value[0].copy() for name, value in observations.items()}
        return observations[0].copy()

    def _info(self, infos: dict[str, Any]) -> dict[str, Any]:
        return {name: infos[name][0] for name in self.pool.info_names}

    def close(self) -> None:
        self.pool.close()


def sync(num_envs: int, mode: Any = None, **options: Any) -> Any:
    if IS_OLD:
        from gymnasium.experimental.vector import SyncVectorEnv
    else:
        from gymnasium.vector import SyncVectorEnv
    more = {} if mode is None else {"autoreset_mode": mode}
    return SyncVectorEnv([lambda: OneMachine(**options) for _ in range(num_envs)], **more)


def modes() -> list[Any]:
    if hasattr(gymnasium.vector, "AutoresetMode"):
        mode = gymnasium.vector.AutoresetMode
        return [None, mode.NEXT_STEP, mode.SAME_STEP, mode.DISABLED]
    return [None]


def assert_equal(one: Any, other: Any, where: str) -> None:
    if isinstance(one, dict):
        assert set(one) == set(other), where
        for key in one:
            assert_equal(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, np.ndarray) and one.dtype == object:
        assert [value is None for value in one] == [value is None for value in other], where
        for left, right in zip(one, other, strict=True):
            if left is not None:
                assert_equal(left, right, where)
    else:
        np.testing.assert_array_equal(one, other, err_msg=where)


@pytest.mark.parametrize("mode", modes())
@pytest.mark.parametrize("observation", ["dict", "screen", "packed"])
def test_equals_a_sync_vector_env(mode: Any, observation: str) -> None:
    native = PokemonVectorEnv(3, autoreset_mode=mode, observation=observation, **OPTIONS)
    single = sync(3, mode, observation=observation, max_steps=4)
    assert native.observation_space == single.observation_space
    assert native.action_space == single.action_space
    assert native.metadata.get("autoreset_mode") == single.metadata.get("autoreset_mode")
    left, right = native.reset(seed=5), single.reset(seed=5)
    rng = np.random.default_rng(1)
    for key, (one, other) in enumerate(zip(left, right, strict=True)):
        assert_equal(one, other, f"reset[{key}]")
    for step in range(14):
        chosen = rng.integers(0, 7, 3)
        left, right = native.step(chosen), single.step(chosen)
        for key, (one, other) in enumerate(zip(left, right, strict=True)):
            assert_equal(one, other, f"step {step}[{key}]")
        assert native.observation_space.contains(left[0])
        assert left[1].dtype == right[1].dtype
        over = left[2] | left[3]
        if mode is not None and mode.name == "DISABLED" and over.any():
            options = {"reset_mask": over}
            left, right = native.reset(options=dict(options)), single.reset(options=dict(options))
            assert_equal(left[0], right[0], "masked reset")
            assert_equal(left[1]["_steps"], over, "masked reset")
    native.close()
    single.close()


def test_make_vec() -> None:
    if IS_OLD:
        envs = gymnasium.make_vec(
            "EmuRust-Pokemon", 3, vectorization_mode="custom", vector_kwargs=dict(OPTIONS)
        )
    else:
        envs = gymnasium.make_vec(
            "EmuRust-Pokemon", 3, vectorization_mode="vector_entry_point", **OPTIONS
        )
    assert isinstance(envs.unwrapped, PokemonVectorEnv)
    observations, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(observations)
    assert isinstance(envs.single_observation_space, spaces.Dict)
    observations, rewards, terminations, truncations, _ = envs.step(envs.action_space.sample())
    assert rewards.shape == terminations.shape == truncations.shape == (3,)
    envs.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_make_vec_of_single_environments_plays_the_same(mode: str) -> None:
    single = gymnasium.make_vec("EmuRust-Pokemon", 2, vectorization_mode=mode, max_steps=3)
    native = PokemonVectorEnv(2, max_steps=3, num_threads=1)
    left, right = native.reset(seed=8), single.reset(seed=8)
    for step in range(8):
        for key, (one, other) in enumerate(zip(left, right, strict=True)):
            assert_equal(one, other, f"{mode}, before step {step}[{key}]")
        chosen = np.array([step % 7, (step + 3) % 7])
        left, right = native.step(chosen), single.step(chosen)
    native.close()
    single.close()


def arrays_of(value: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        return [array for one in value.values() for array in arrays_of(one)]
    if isinstance(value, tuple):
        return [array for one in value for array in arrays_of(one)]
    return []


def test_returned_arrays_are_not_changed_by_later_steps() -> None:
    envs = PokemonVectorEnv(3, autoreset_mode="SameStep", watch=["map"], **OPTIONS)
    kept = [arrays_of(envs.reset(seed=1))]
    copies = [[array.copy() for array in kept[0]]]
    for step in range(10):
        kept.append(arrays_of(envs.step([step % 7, 3, 1])))
        copies.append([array.copy() for array in kept[-1]])
    envs.reset(seed=2)
    for arrays, before in zip(kept, copies, strict=True):
        for array, copy in zip(arrays, before, strict=True):
            if array.dtype != object:
                np.testing.assert_array_equal(array, copy)
    envs.close()


def test_without_copies_the_arrays_are_the_pools() -> None:
    envs = PokemonVectorEnv(2, copy=False, observation="packed", num_threads=1)
    observations, _ = envs.reset(seed=1)
    assert np.shares_memory(observations, envs.pool.records)
    again, rewards, *_ = envs.step([0, 0])
    assert again is observations
    assert rewards.dtype == np.float32
    envs.close()


def test_start_state_and_render() -> None:
    envs = PokemonVectorEnv(2, render_mode="rgb_array", observation="ram", num_threads=1)
    envs.reset(seed=1, options={"start_state": "usual"})
    envs.step([0, 3])
    pictures = envs.render()
    assert pictures is not None
    assert [picture.shape for picture in pictures] == [(144, 160, 3)] * 2
    assert len({picture.tobytes() for picture in pictures} | {bytes(144 * 160 * 3)}) >= 2
    envs.close()


def test_wrong_options() -> None:
    with pytest.raises(ArgumentError, match="autoreset_mode must be one of NextStep, SameStep"):
        PokemonVectorEnv(1, autoreset_mode="later")
    with pytest.raises(ArgumentError, match="render_mode"):
        PokemonVectorEnv(1, render_mode="human")
