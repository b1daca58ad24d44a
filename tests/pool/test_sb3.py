"""The adapter for Stable-Baselines3."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")

from emurust.sb3 import PokemonVecEnv


def test_conventions() -> None:
    env = PokemonVecEnv(3, max_steps=4, num_threads=1, info_names=["places"])
    env.seed(3)
    observations = env.reset()
    assert isinstance(observations, dict)
    assert env.observation_space["screens"].contains(observations["screens"][0])
    for step in range(1, 9):
        observations, rewards, dones, infos = env.step(np.full(3, step % 7))
        assert (rewards.dtype, dones.dtype) == (np.float32, np.bool_)
        assert dones.all() == (step % 4 == 0)
        assert all("places" in info for info in infos)
        if dones.all():
            assert infos[0]["episode"]["l"] == 4
            assert infos[0]["TimeLimit.truncated"] is True
            assert infos[0]["terminal_observation"]["screens"].shape == (72, 80, 3)
    assert len(env.env_method("get_state", indices=[0, 2])) == 2
    assert env.get_attr("num_envs") == [3, 3, 3]
    assert env.env_is_wrapped(object) == [False] * 3
    env.close()


@pytest.mark.slow
def test_ppo_learns_a_little() -> None:
    from stable_baselines3 import PPO

    env = PokemonVecEnv(4, observation="screen", num_threads=2)
    PPO("CnnPolicy", env, n_steps=16, batch_size=32, n_epochs=1).learn(128)
    env.close()
