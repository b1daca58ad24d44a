"""The native vector environment of Gymnasium, of either generation."""

import gymnasium

import emurust  # noqa: F401 (registers the environment)

OPTIONS = {"observation": "packed", "max_steps": 50}

if gymnasium.__version__.startswith("0."):
    envs = gymnasium.make_vec(
        "EmuRust-Pokemon", num_envs=8, vectorization_mode="custom", vector_kwargs=OPTIONS
    )
else:
    envs = gymnasium.make_vec(
        "EmuRust-Pokemon", num_envs=8, vectorization_mode="vector_entry_point", **OPTIONS
    )
observations, infos = envs.reset(seed=1)
for _ in range(120):
    actions = envs.action_space.sample()
    observations, rewards, terminations, truncations, infos = envs.step(actions)
print(f"observations {observations.shape}, places {infos['places'].tolist()}")
envs.close()
