"""64 machines that press random buttons: steps per second, and what they have found."""

import time

import numpy as np

import emurust

STEPS = 200

rng = np.random.default_rng(0)
with emurust.Pool(num_envs=64) as pool:
    pool.reset(seed=1)
    start = time.perf_counter()
    for _ in range(STEPS):
        _, _, _, _, infos = pool.step(rng.integers(0, 7, pool.num_envs))
    rate = STEPS * pool.num_envs / (time.perf_counter() - start)
    print(f"{rate:,.0f} steps/s of 24 frames, {infos['places'].max():.0f} places at most")
    # The best machine's state, in every machine.
    best = int(infos["places"].argmax())
    for machine in range(pool.num_envs):
        pool.fork(best, machine)
