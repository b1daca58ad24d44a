"""The native PufferEnv alone and under the backends of the installed PufferLib."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

# Importing PufferLib leaves a link in the working directory.
_here = Path.cwd()
os.chdir(tempfile.mkdtemp())
try:
    pufferlib = pytest.importorskip("pufferlib", reason="PufferLib is not installed")
finally:
    os.chdir(_here)
vectors = pytest.importorskip("pufferlib.vector", reason="PufferLib lacks its dependencies")

from emurust import Pool  # noqa: E402
from emurust.errors import ArgumentError  # noqa: E402
from emurust.puffer import PokemonPuffer, env_creator  # noqa: E402

OPTIONS: dict[str, Any] = {
    "num_agents": 4,
    "max_steps": 6,
    "start_state": "power_on",
    "report_interval": 5,
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path) -> Iterator[None]:
    # Importing PufferLib and training leave files in the working directory.
    before = Path.cwd()
    os.chdir(tmp_path)
    yield
    os.chdir(before)


def test_alone_it_gives_what_the_pool_gives() -> None:
    env = vectors.make(env_creator(), env_kwargs=OPTIONS, backend=pufferlib.PufferEnv)
    pool = Pool(
        num_envs=4, observation="packed", max_steps=6, start_state="power_on", num_threads=1
    )
    observations, infos = env.reset(seed=3)
    pool.reset(3)
    assert infos == []
    assert (observations == pool.records).all()
    reports: list[dict[str, float]] = []
    for step in range(13):
        actions = np.full(4, step % 7)
        observations, rewards, terminals, truncations, infos = env.step(actions)
        expected = pool.step(actions)
        assert (observations == pool.records).all()
        for one, other in zip((rewards, terminals, truncations), expected[1:4], strict=True):
            assert (one == other).all()
        reports += infos
    ended = [report for report in reports if "episode_length" in report]
    assert [report["episode_length"] for report in ended] == [6.0] * 8
    assert {"episode_return", "score", "badges", "places"} <= set(ended[0])
    assert sum("progress/places" in report for report in reports) == 2
    env.close()
    pool.close()


def test_it_writes_into_pufferlibs_buffers() -> None:
    vecenv = vectors.make(env_creator(), env_kwargs=OPTIONS, backend=vectors.Serial, num_envs=3)
    observations, _ = vecenv.reset(seed=1)
    assert observations is vecenv.observations
    for env in vecenv.envs:
        assert np.shares_memory(env.observations, vecenv.observations)
        assert np.shares_memory(env.pool.records, vecenv.observations)
    before = observations.copy()
    for step in range(4):
        vecenv.step(np.full(12, step))
    assert (observations != before).any()
    vecenv.close()


class Dummies(PokemonPuffer):
    """The same environment around machines whose observation is their random stream."""

    def __init__(self, num_agents: int = 3, buf: Any = None, seed: int | None = None) -> None:
        super().__init__(num_agents, start_state="power_on", buf=None, seed=seed)
        self.pool.close()
        self.single_observation_space = spaces.Box(0, 255, (16,), np.uint8)
        pufferlib.set_buffers(self, buf)
        self.pool = Pool.dummy(
            num_agents,
            num_threads=1,
            first_index=(seed or 0) * num_agents,
            buffers={
                "observations": self.observations,
                "rewards": self.rewards,
                "terminations": self.terminals,
                "truncations": self.truncations,
            },
        )


@pytest.mark.parametrize(
    ("backend", "options"),
    [
        ("Serial", {"num_envs": 4}),
        ("Multiprocessing", {"num_envs": 4, "num_workers": 2}),
        ("Multiprocessing", {"num_envs": 2, "num_workers": 2}),
    ],
)
def test_no_two_agents_share_a_stream(backend: str, options: dict[str, Any]) -> None:
    if options.get("num_workers", 0) > (os.cpu_count() or 1):
        pytest.skip("PufferLib wants a core for each worker")
    vecenv = vectors.make(Dummies, backend=backend, **options)
    observations, _ = vecenv.reset(seed=42)
    seen = {record.tobytes() for record in observations}
    assert len(seen) == len(observations) == options["num_envs"] * 3
    vecenv.close()


@pytest.mark.parametrize("batch_size", [1, 2])
def test_multiprocessing(batch_size: int) -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("PufferLib wants a core for each worker")
    vecenv = vectors.make(
        env_creator(),
        env_kwargs=OPTIONS,
        backend="Multiprocessing",
        num_envs=2,
        num_workers=2,
        batch_size=batch_size,
    )
    vecenv.async_reset(seed=1)
    reports: list[dict[str, float]] = []
    for step in range(14):
        observations, rewards, _, truncations, infos, _, masks = vecenv.recv()
        assert observations.shape == (4 * batch_size, vecenv.single_observation_space.shape[0])
        assert rewards.shape == truncations.shape == (4 * batch_size,)
        assert masks.all()
        reports += infos
        vecenv.send(np.full(4 * batch_size, step % 7))
    assert any(report.get("episode_length") == 6 for report in reports)
    vecenv.close()


def test_wrong_options() -> None:
    with pytest.raises(ArgumentError, match="packed, all, screen, ram for PufferLib, not 'dict'"):
        PokemonPuffer(observation="dict")
    with pytest.raises(ArgumentError, match="no environment 'chess'"):
        env_creator("chess")


def test_sending_and_receiving_is_stepping() -> None:
    one, other = PokemonPuffer(**OPTIONS), PokemonPuffer(**OPTIONS)
    one.async_reset(3)
    other.reset(3)
    assert (one.recv()[0] == other.observations).all()
    reports: list[list[dict[str, float]]] = [[], []]
    for step in range(14):
        actions = np.full(4, step % 7)
        one.send(actions)
        if step % 3 == 0:
            one.settle()  # Nothing is lost by waiting early.
        found, expected = one.recv(), other.step(actions)
        for left, right in zip(found[:4], expected[:4], strict=True):
            assert (left == right).all()
        for number, infos in enumerate((found[4], expected[4])):
            reports[number] += infos
    assert reports[0] == reports[1]
    one.close()
    other.close()


@pytest.mark.train
@pytest.mark.parametrize("observation", ["packed", "all"])
def test_policy(observation: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from emurust.puffer import Policy

    env = PokemonPuffer(3, observation=observation, start_state="power_on")
    env.reset(seed=1)
    policy = Policy(env, hidden_size=32, pictures=0)
    records = torch.from_numpy(env.observations.copy())
    logits, values = policy(records)
    assert (logits.shape, values.shape) == ((3, 7), (3, 1))
    cells, rest = policy._take_apart(records)
    # 9 x 10 cells of 8 x 8 pixels, of each of 3 pictures, all from 0 to 1.
    assert cells.shape == (3, 90, 8 * 8 * 3)
    assert 0 <= float(cells.min()) <= float(cells.max()) <= 1
    assert torch.isfinite(rest).all()
    if observation == "packed":
        # The picture, taken apart again: every second pixel of the screen.
        shades = (3 - np.minimum(env.pool.screens(), 3))[:, ::2, ::2] / 3
        own = shades.reshape(3, 9, 8, 10, 8).transpose(0, 1, 3, 2, 4).reshape(3, 90, 64)
        newest = cells.reshape(3, 90, 3, 64)[:, :, 0]
        assert np.allclose(newest.numpy(), own)
    with pytest.raises(ArgumentError, match="cell_size must be 1 or more, not 0"):
        Policy(env, cell_size=0)
    env.close()
