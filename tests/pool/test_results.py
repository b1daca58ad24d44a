"""The same seed and actions give the same bytes, whoever runs the machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from emurust import GameBoy, Pool, tasks
from emurust.errors import ArgumentError
from emurust.pool import episode_seed

MakePool = Callable[..., Pool]
Array = npt.NDArray[Any]


def actions(step: int, num_envs: int, num_actions: int = 7) -> Array:
    """Actions that differ between machines and steps."""
    return (step * 31 + np.arange(num_envs) * 7 + step // 3) % num_actions


def history(pool: Pool, steps: int, seed: Any = 5) -> list[list[Array]]:
    """Everything that a pool gives, step by step."""
    pool.reset(seed)
    seen = [[pool.records.copy(), pool.info_records.copy()]]
    for step in range(steps):
        _, rewards, terminations, truncations, infos = pool.step(actions(step, pool.num_envs))
        row = [pool.records, pool.info_records, rewards, terminations, truncations]
        over = terminations | truncations
        if "final_info" in infos:
            row += [value[over] for value in infos["final_info"].values()]
        seen.append([array.copy() for array in row])
    return seen


def assert_same(one: list[list[Array]], other: list[list[Array]]) -> None:
    assert len(one) == len(other)
    for step, (left, right) in enumerate(zip(one, other, strict=True)):
        for a, b in zip(left, right, strict=True):
            assert a.tobytes() == b.tobytes(), f"step {step} differs"


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_counts_and_backends_do_not_matter(dummy: MakePool, backend: str, autoreset: str) -> None:
    expected = history(dummy(7, count=1, autoreset=autoreset), 40)
    for count in (1, 2, 3, 7):
        assert_same(expected, history(dummy(7, backend, count, autoreset=autoreset), 40))


def test_games_are_the_same_on_both_backends(backend: str) -> None:
    with Pool(num_envs=5, num_threads=1, max_steps=12) as one:
        expected = history(one, 30)
    count = {"num_threads": 3} if backend == "threads" else {"num_workers": 2}
    with Pool(num_envs=5, backend=backend, max_steps=12, **count) as other:  # type: ignore[arg-type]
        assert_same(expected, history(other, 30))


def test_a_pool_plays_what_a_single_episode_plays() -> None:
    with Pool(num_envs=3, max_steps=8, start_state="power_on", watch=[0xFF80, "map"]) as pool:
        gameboy = GameBoy(None)
        task = tasks.recipe(
            "pokemon", rom=gameboy.rom, max_steps=8, watch=[0xFF80, "map"]
        ).compile()
        episode = tasks.Episode(task)
        start = gameboy.get_state()
        pool.reset(11)
        for number in range(3):
            gameboy.set_state(start)
            record, info, watch = episode.begin(gameboy._machine, episode_seed(11, 2, number))
            for step in range(8):
                assert pool.records[2].tobytes() == record.tobytes()
                assert pool.info_records[2].tobytes() == info.tobytes()
                chosen = actions(step, 3)
                results = pool.step(chosen)
                record, reward, terminated, truncated, info, watch = episode.step(
                    gameboy._machine, int(chosen[2])
                )
                assert (results[1][2], results[2][2], results[3][2]) == (
                    np.float32(reward),
                    terminated,
                    truncated,
                )
                if not truncated:
                    assert results[4]["watch"][2].tobytes() == watch.tobytes()
            assert truncated
            finals = results[4]
            fields = tasks.observation(task, record)
            for name, value in finals["final_observation"].items():
                assert value[2].tobytes() == fields[name].tobytes()
            assert [value[2] for value in finals["final_info"].values()] == info.tolist()
            assert finals["final_watch"][2].tobytes() == watch.tobytes()


def test_send_and_recv_give_what_step_gives(dummy: MakePool, backend: str) -> None:
    steps, num_envs = 15, 6
    expected = history(dummy(num_envs), steps)
    pool = dummy(num_envs, backend, batch_size=2)
    pool.reset(5)
    assert pool.records.tobytes() == expected[0][0].tobytes()
    pool.send(actions(0, num_envs))
    taken = np.zeros(num_envs, dtype=int)
    under_way = num_envs
    # Machines come at different rates: at the end there may be one left, and no batch.
    while under_way >= 2:
        observations, rewards, _, truncations, infos, ids = pool.recv()
        assert len(ids) == len(set(ids.tolist())) == len(rewards) == 2
        under_way -= 2
        for row, machine in enumerate(ids.tolist()):
            taken[machine] += 1
            records, info, reward, _, truncated = expected[taken[machine]][:5]
            assert observations[row].tobytes() == records[machine].tobytes()
            assert infos["steps"][row] == info[machine][0]
            assert rewards[row] == reward[machine]
            assert truncations[row] == truncated[machine]
            if taken[machine] < steps:
                pool.send(actions(taken[machine], num_envs)[machine : machine + 1], [machine])
                under_way += 1
    assert taken.max() == steps


def test_recv_of_all_is_in_order(dummy: MakePool, backend: str) -> None:
    pool = dummy(5, backend)
    pool.reset(1)
    pool.send([3, 3], [4, 0])
    pool.send([3, 3, 3], [2, 1, 3])
    *_, ids = pool.recv()
    assert ids.tolist() == [0, 1, 2, 3, 4]


def test_arrays_are_made_once(dummy: MakePool) -> None:
    pool = dummy(3)
    observations, infos = pool.reset(1)
    first = pool.step([0, 0, 0])
    assert first is pool.step([0, 0, 0])
    assert first[0] is observations
    assert first[4] is infos


def test_streams_never_meet(dummy: MakePool) -> None:
    seen: set[bytes] = set()
    for first_index in (0, 4, 8):
        pool = dummy(4, episode_len=1, first_index=first_index)
        for seed in (0, 1):
            pool.reset(seed)
            for _ in range(10):
                for record in pool.records:
                    assert record.tobytes() not in seen
                    seen.add(record.tobytes())
                pool.step([0] * 4)


def test_pools_without_a_seed_differ(dummy: MakePool) -> None:
    one, other = dummy(1), dummy(1)
    one.reset()
    other.reset()
    assert one.records.tobytes() != other.records.tobytes()


def test_a_machine_counts_by_its_global_number(dummy: MakePool) -> None:
    whole, part = dummy(6), dummy(2, first_index=4)
    whole.reset(9)
    part.reset(9)
    assert part.records.tobytes() == whole.records[4:].tobytes()


def test_states_and_streams_are_all_there_is(dummy: MakePool, backend: str) -> None:
    first, second = dummy(4, backend), dummy(4, backend)
    history(first, 17, seed=11)
    states, streams = [first.get_state(index) for index in range(4)], first.streams
    rest = [first.step(actions(step, 4))[0].copy() for step in range(17, 45)]
    history(second, 3, seed=5)
    for index, state in enumerate(states):
        second.set_state(index, state)
    second.streams = streams
    again = [second.step(actions(step, 4))[0].copy() for step in range(17, 45)]
    assert all((one == other).all() for one, other in zip(rest, again, strict=True))
    with pytest.raises(ArgumentError, match="3 streams for 4 machines"):
        second.streams = streams[:3]


def test_seeds_one_by_one(dummy: MakePool, backend: str) -> None:
    pool = dummy(3, backend)
    pool.reset([7, 8, 7])
    assert pool.records[0].tobytes() == pool.records[2].tobytes()
    assert pool.records[0].tobytes() != pool.records[1].tobytes()
    alone = dummy(1)
    alone.reset(8)
    assert pool.records[1].tobytes() == alone.records[0].tobytes()


def test_reset_mask(dummy: MakePool, backend: str) -> None:
    pool = dummy(4, backend, autoreset="disabled")
    pool.reset(1)
    pool.step([1, 2, 3, 4])
    before = pool.records.copy()
    mask = np.array([False, True, False, True])
    _, infos = pool.reset(options={"reset_mask": mask})
    assert infos["steps"].tolist() == [1, 0, 1, 0]
    assert (pool.records == before).all(axis=1).tolist() == [True, False, True, False]


def test_start_states_reach_each_machine_and_stay(backend: str) -> None:
    gameboy = GameBoy(None)
    gameboy.tick(100, False)
    early = gameboy.get_state()
    gameboy.tick(200, False)
    late = gameboy.get_state()
    count = {"num_threads": 2} if backend == "threads" else {"num_workers": 2}
    options: Any = {"max_steps": 2, "backend": backend, **count}
    with Pool(num_envs=3, start_state="power_on", **options) as pool:
        pool.reset(1, options={"start_state": [early, None, late]})
        first = pool.ram(0), pool.ram(1), pool.ram(2)
        assert len({ram.tobytes() for ram in first}) == 3
        for _ in range(2):
            pool.step([0, 0, 0])
        # The end of the episode has begun another one from the same place.
        for index in range(3):
            assert pool.ram(index).tobytes() == first[index].tobytes()
        pool.reset(1, options={"start_state": "usual"})
        assert pool.ram(0).tobytes() == pool.ram(2).tobytes()
    with Pool(num_envs=3, start_states=[early, "power_on", late], **options) as pool:
        pool.reset(1)
        for index in range(3):
            assert pool.ram(index).tobytes() == first[index].tobytes()


def test_drawn_start_states_are_all_taken() -> None:
    gameboy = GameBoy(None)
    states = []
    for _ in range(3):
        gameboy.tick(60, False)
        states.append(gameboy.get_state())
    with Pool(num_envs=24, start_state=states, observation="ram") as pool:
        pool.reset(3)
        rams = [pool.ram(index).tobytes() for index in range(24)]
        assert len(set(rams)) == 3
        pool.reset(3)
        assert rams == [pool.ram(index).tobytes() for index in range(24)]


def test_different_tasks_and_roms(build_rom: Callable[..., bytes]) -> None:
    other_rom = build_rom(cartridge_type=0x1B, ram_code=3, title=b"KITHWILD")
    with Pool([None, other_rom], 2, task="explore", start_state="power_on") as pool:
        pool.reset(1)
        assert pool.ram(0)[:0x4000].tobytes() != pool.ram(1)[:0x4000].tobytes()


def test_screens_and_ram(backend: str) -> None:
    count = {"num_threads": 1} if backend == "threads" else {"num_workers": 1}
    with Pool(num_envs=2, backend=backend, **count) as pool:  # type: ignore[arg-type]
        pool.reset(1)
        pool.step([0, 3])
        screens = pool.screens()
        assert screens.shape == (2, 144, 160)
        assert screens.max() <= 4
        # The newest picture of the observation, from the shades.
        grey = np.array([255, 153, 85, 0, 0])[screens]
        half = grey.reshape(2, 72, 2, 80, 2).sum(axis=(2, 4)) // 4
        observations = pool.reset(options={"reset_mask": np.zeros(2, dtype=bool)})[0]
        assert isinstance(observations, dict)
        assert (observations["screens"][..., 0] == half).all()
        assert pool.ram(0).shape == (0x10000,)
