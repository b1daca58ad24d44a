"""Wrong calls get a specific exception that says what would be right; the pool stays usable."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from emurust import EmuRustError, Pool
from emurust.errors import (
    ArgumentError,
    ArgumentTypeError,
    ClosedError,
    RomNotFoundError,
    StateError,
)
from emurust.pool_errors import (
    MachineError,
    MachineIndexError,
    PoolOrderError,
    WorkerStartError,
)
from emurust.tasks import TaskCartridgeError, TaskNotFoundError, TaskOptionError

MakePool = Callable[..., Pool]


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ([0, 0], ArgumentError, "expected 3 actions, got 2"),
        ([0, 0, 0, 0], ArgumentError, "expected 3 actions, got 4"),
        ([[0], [0], [0]], ArgumentError, r"not the shape \(3, 1\)"),
        (5, ArgumentError, r"not the shape \(\)"),
        ([0.0, 0.0, 0.0], ArgumentTypeError, "must be integers, not float64"),
        ([True, False, True], ArgumentTypeError, "must be integers, not bool"),
        (["a", "b", "c"], ArgumentTypeError, "must be integers"),
        ([0, 8, 0], ArgumentError, "action of machine 1 must be 0 to 7, not 8"),
        ([0, 0, -1], ArgumentError, "action of machine 2 must be 0 to 7, not -1"),
        ([2**40, 0, 0], ArgumentError, "action of machine 0 must be 0 to 7"),
    ],
)
def test_actions(
    dummy: MakePool, backend: str, wrong: Any, error: type[Exception], message: str
) -> None:
    pool = dummy(3, backend)
    pool.reset(1)
    before = pool.records.copy()
    with pytest.raises(error, match=message):
        pool.step(wrong)
    assert (pool.records == before).all()
    pool.step([1, 1, 1])
    assert (pool.records != before).any()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_any_integers_are_actions(dummy: MakePool, dtype: str) -> None:
    pool, other = dummy(3), dummy(3)
    pool.reset(1)
    other.reset(1)
    strided = np.arange(6, dtype=dtype)[::2]
    pool.step(strided)
    other.step([0, 2, 4])
    assert (pool.records == other.records).all()


def test_calls_out_of_order(dummy: MakePool, backend: str) -> None:
    pool = dummy(3, backend, batch_size=2)
    with pytest.raises(PoolOrderError, match="call reset"):
        pool.step([0, 0, 0])
    pool.reset(1)
    with pytest.raises(PoolOrderError, match="nothing was sent"):
        pool.recv()
    pool.send([0], [1])
    with pytest.raises(PoolOrderError, match="machine 1 was sent an action already"):
        pool.send([0], [1])
    with pytest.raises(PoolOrderError, match="only 1 machines were sent"):
        pool.recv()
    with pytest.raises(PoolOrderError, match="machine 1"):
        pool.step([0, 0, 0])
    with pytest.raises(PoolOrderError, match="machine 1"):
        pool.get_state(1)
    with pytest.raises(PoolOrderError, match="already"):
        pool.send([0, 0], [2, 2])
    pool.send([0], [2])
    *_, ids = pool.recv()
    assert sorted(ids.tolist()) == [1, 2]
    pool.step([0, 0, 0])


def test_machines_that_do_not_exist(dummy: MakePool, backend: str) -> None:
    pool = dummy(3, backend)
    pool.reset(1)
    for call in (
        lambda: pool.send([0], [3]),
        lambda: pool.get_state(3),
        lambda: pool.set_state(3, b""),
        lambda: pool.fork(0, 3),
        lambda: pool.ram(3),
        lambda: pool.set_start(3, b"12345678"),
    ):
        with pytest.raises(MachineIndexError, match="machine 3 does not exist; .* 0 to 2"):
            call()
    with pytest.raises(ArgumentError, match="no machine -1"):
        pool.send([0], [-1])
    with pytest.raises(ArgumentError, match="0 or more, not -1"):
        pool.get_state(-1)
    with pytest.raises(ArgumentError, match="expected 1 actions, got 2"):
        pool.send([0, 0], [1])
    with pytest.raises(ArgumentTypeError, match="env_ids must be integers"):
        pool.send([0], [0.0])


def test_a_closed_pool(dummy: MakePool, backend: str) -> None:
    pool = dummy(2, backend)
    observations, _ = pool.reset(1)
    pool.close()
    pool.close()
    assert pool.closed
    for call in (
        lambda: pool.step([0, 0]),
        lambda: pool.reset(),
        lambda: pool.send([0, 0]),
        lambda: pool.recv(),
        lambda: pool.get_state(0),
        lambda: pool.fork(0, 1),
        lambda: pool.ram(0),
        lambda: pool.screens(),
        lambda: pool.recover(),
    ):
        with pytest.raises(ClosedError, match="closed"):
            call()
    # What it gave stays readable.
    assert isinstance(observations, np.ndarray)
    observations.sum()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs must be 1 or more, not 0"),
        ({"num_envs": 2, "num_threads": 3}, r"num_threads must be 1 to .* \(2\), not 3"),
        ({"num_envs": 2, "backend": "processes", "num_workers": 3}, "num_workers must be 1 to"),
        ({"num_envs": 2, "num_threads": 0}, "num_threads must be 1 or more"),
        ({"num_envs": 2, "num_workers": 1}, "takes num_threads, not num_workers"),
        ({"num_envs": 2, "backend": "gpu"}, "'threads' or 'processes', not 'gpu'"),
        ({"num_envs": 2, "batch_size": 3}, r"batch_size must be 1 to .* \(2\), not 3"),
        ({"num_envs": 2, "autoreset": "now"}, "autoreset must be"),
        ({"num_envs": 2, "first_index": -1}, "first_index must be 0 or more"),
    ],
)
def test_impossible_pools(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Pool.dummy(**options)


def test_wrong_games(build_rom: Callable[..., bytes]) -> None:
    with pytest.raises(RomNotFoundError):
        Pool("/no/such.gb")
    with pytest.raises(TaskNotFoundError, match="no task 'chess'"):
        Pool(task="chess")
    with pytest.raises(TaskOptionError, match="frame_stack"):
        Pool(frame_stack=99)
    with pytest.raises(TypeError, match="colour"):
        Pool(colour=True)
    with pytest.raises(TaskCartridgeError):
        Pool(build_rom(title=b"CHESS"), start_state="power_on")
    with pytest.raises(StateError, match="cannot be read"):
        Pool(start_state="/no/such.state")
    with pytest.raises(StateError, match=r"none of the task's \(power_on, new-game, .*leader-8"):
        Pool(start_state="leader-9")
    with pytest.raises(StateError, match="start state"):
        Pool(start_state=b"no state")
    with pytest.raises(ArgumentError, match="rom has 1 entries for 2 machines"):
        Pool([None], 2)
    with pytest.raises(ArgumentError, match="empty list"):
        Pool(start_state=[])
    with pytest.raises(ArgumentError, match="not both"):
        Pool(start_state=b"", start_states=[b""])
    with pytest.raises(ArgumentError, match="cannot be in one pool"):
        Pool(num_envs=2, task=["pokemon", "explore"], start_state="power_on")


def test_reset_arguments(dummy: MakePool, backend: str) -> None:
    pool = dummy(3, backend)
    with pytest.raises(ArgumentError, match="no option colour; .* reset_mask, start_state"):
        pool.reset(options={"colour": 1})
    with pytest.raises(ArgumentError, match="2 seeds for 3 machines"):
        pool.reset([1, 2])
    with pytest.raises(ArgumentError, match="seed must be 0 or more"):
        pool.reset(-1)
    with pytest.raises(ArgumentTypeError, match="seed must be an integer"):
        pool.reset("now")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"bool array of shape \(3,\)"):
        pool.reset(options={"reset_mask": np.zeros(3)})
    with pytest.raises(ArgumentError, match="start_state has 1 entries for 3 machines"):
        pool.reset(options={"start_state": [b"12345678"]})
    with pytest.raises(StateError, match="machine 0: a start has 8 bytes, this one has 2"):
        pool.reset(options={"start_state": b"12"})
    pool.reset(1)


def test_states_that_do_not_fit(dummy: MakePool, backend: str) -> None:
    pool = dummy(2, backend)
    pool.reset(1)
    before = pool.records.copy()
    state = pool.get_state(0)
    for wrong in (b"", b"nonsense", state[:-1], state + b"\0", state[:20]):
        with pytest.raises(StateError, match="machine 1: "):
            pool.set_state(1, wrong)
    with pytest.raises(ArgumentTypeError, match="a state is bytes, not str"):
        pool.set_state(1, "state")  # type: ignore[arg-type]
    assert (pool.records == before).all()
    pool.set_state(1, state)
    assert (pool.records[0] == pool.records[1]).all()


def test_a_state_of_another_game_leaves_the_machine(backend: str) -> None:
    count = {"num_threads": 1} if backend == "threads" else {"num_workers": 1}
    with (
        Pool(num_envs=1, backend=backend, **count) as pool,  # type: ignore[arg-type]
        Pool(num_envs=1, task="explore", start_state="power_on") as other,
    ):
        pool.reset(1)
        other.reset(1)
        before = pool.get_state(0)
        for wrong in (other.get_state(0), before[: len(before) // 2], b"EMURSLT1" + bytes(300)):
            with pytest.raises(StateError):
                pool.set_state(0, wrong)
        damaged = bytearray(before)
        damaged[1000] ^= 1
        with pytest.raises(StateError):
            pool.set_state(0, bytes(damaged))
        assert pool.get_state(0) == before


def buffers(num_envs: int = 3, length: int = 16) -> dict[str, np.ndarray[Any, Any]]:
    return {
        "observations": np.zeros((num_envs, length), np.uint8),
        "rewards": np.zeros(num_envs, np.float32),
        "terminations": np.zeros(num_envs, bool),
        "truncations": np.zeros(num_envs, bool),
    }


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"observations": np.zeros((3, 15), np.uint8)}, ArgumentError, "3 rows of 16 bytes, not 3"),
        ({"observations": np.zeros(48, np.uint8)}, ArgumentError, "a row for each machine"),
        ({"observations": np.zeros((3, 16), np.int8)}, ArgumentTypeError, "uint8, not int8"),
        ({"observations": np.zeros((3, 32), np.uint8)[:, ::2]}, ArgumentError, "contiguous"),
        ({"observations": np.zeros((16, 3), np.uint8).T}, ArgumentError, "contiguous"),
        ({"observations": [[0] * 16] * 3}, ArgumentTypeError, "must be a numpy array, not list"),
        ({"rewards": np.zeros(3)}, ArgumentTypeError, "must be float32, not float64"),
        ({"rewards": np.zeros(2, np.float32)}, ArgumentError, r"shape \(3,\), not \(2,\)"),
        ({"rewards": np.zeros((3, 1), np.float32)}, ArgumentError, r"shape \(3,\), not \(3, 1\)"),
        ({"truncations": np.zeros(3, np.uint8)}, ArgumentTypeError, "must be bool"),
        ({"masks": np.zeros(3, bool)}, ArgumentError, "exactly the arrays"),
    ],
)
def test_buffers_that_do_not_fit(
    backend: str, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Pool.dummy(3, backend=backend, buffers=buffers() | change)  # type: ignore[arg-type]


def test_buffers_that_cannot_be_written() -> None:
    given = buffers()
    given["rewards"].flags.writeable = False
    with pytest.raises(ArgumentError, match="rewards must be writeable"):
        Pool.dummy(3, buffers=given)
    misaligned = np.zeros(13, np.uint8)[1:].view(np.float32)
    with pytest.raises(ArgumentError, match="aligned"):
        Pool.dummy(3, buffers=buffers() | {"rewards": misaligned})
    short = {name: value for name, value in buffers().items() if name != "rewards"}
    with pytest.raises(ArgumentError, match="exactly the arrays"):
        Pool.dummy(3, buffers=short)
    with pytest.raises(ArgumentError, match="4 rows of 16 bytes, not 3 of 16"):
        Pool.dummy(4, buffers=buffers())


def test_results_are_written_to_buffers(dummy: MakePool, backend: str) -> None:
    given = buffers()
    given["observations"] = np.zeros((3, 4, 4), np.uint8)
    pool, other = dummy(3, backend, buffers=given), dummy(3)
    pool.reset(1)
    other.reset(1)
    for step in range(12):
        results = pool.step([step % 7] * 3)
        expected = other.step([step % 7] * 3)
        assert given["observations"].reshape(3, 16).tobytes() == other.records.tobytes()
        assert given["rewards"].tobytes() == expected[1].tobytes()
        assert given["terminations"].tobytes() == expected[2].tobytes()
        assert given["truncations"].tobytes() == expected[3].tobytes()
        assert np.shares_memory(results[1], given["rewards"])
    pool.fork(0, 2)
    assert (given["observations"][0] == given["observations"][2]).all()
    with pytest.raises(ArgumentTypeError, match="cannot be pickled"):
        pool.__reduce__()


def test_a_failing_machine_is_named_and_recovered(dummy: MakePool, backend: str) -> None:
    pool = dummy(5, backend, panic_action=7, episode_len=0)
    pool.reset(1)
    with pytest.raises(MachineError, match=r"machine 3: .*told to panic by action 7.*recover"):
        pool.step([0, 0, 0, 7, 0])
    assert pool.lost == [3]
    for call in (lambda: pool.step([0] * 5), lambda: pool.get_state(3), pool.reset):
        with pytest.raises(MachineError, match="machine 3"):
            call()
    pool.recover()
    assert pool.lost == []
    *_, infos, ids = pool.recv()
    assert ids.tolist() == [0, 1, 2, 3, 4]
    assert infos["lost"].tolist() == [False, False, False, True, False]
    assert infos["steps"].tolist() == [1, 1, 1, 0, 1]
    *_, infos = pool.step([0] * 5)
    assert not infos["lost"].any()


@pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")
@pytest.mark.parametrize("limit", ["RLIMIT_FSIZE", "RLIMIT_AS"])
def test_shared_memory_exhausted(limit: str) -> None:
    """The limit must be a process's own, so another process is asked."""
    script = f"""
import resource
from emurust import Pool
from emurust.pool_errors import PoolMemoryError
resource.setrlimit(resource.{limit}, (1 << 32, 1 << 32))
try:
    Pool.dummy(2000, backend="processes", num_workers=1, observation_len=1 << 22)
except PoolMemoryError as error:
    print("refused:", error)
with Pool.dummy(2, backend="processes", num_workers=1) as pool:
    pool.reset(1)
    pool.step([0, 0])
    print("usable")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert "usable" in done.stdout, done.stderr
    assert "refused:" in done.stdout
    assert "of shared memory for 2000 machines could not be had" in done.stdout
    assert "use fewer machines" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="this platform has no worker processes")
def test_workers_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    for executable, message in (
        ("/no/such/python", "worker 0 could not be started: No such file"),
        ("/bin/false", "ended with exit status 1 before it was ready"),
    ):
        monkeypatch.setattr(sys, "executable", executable)
        with pytest.raises(WorkerStartError, match=message):
            Pool.dummy(2, backend="processes", num_workers=1)


def test_every_error_is_an_emurust_error() -> None:
    from emurust import pool_errors

    for name in pool_errors.__all__:
        assert issubclass(getattr(pool_errors, name), EmuRustError)
