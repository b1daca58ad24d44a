"""The native PufferEnv under PufferLib's Multiprocessing; needs PufferLib 3.

To train with PufferLib's trainer: emurust train
"""

import numpy as np
import pufferlib.vector

from emurust.puffer import env_creator

if __name__ == "__main__":
    vecenv = pufferlib.vector.make(
        env_creator(),
        env_kwargs={"num_agents": 32, "report_interval": 50},
        backend="Multiprocessing",
        num_envs=2,
        num_workers=2,
    )
    vecenv.async_reset(seed=1)
    for _ in range(100):
        observations, rewards, _, _, infos, _, _ = vecenv.recv()
        vecenv.send(np.random.default_rng().integers(0, 7, len(rewards)))
        for info in infos:
            print({name: round(value, 2) for name, value in info.items()})
    vecenv.close()
