"""Workers and trainers are killed for real; nothing is left behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emurust import Pool
from emurust.pool_errors import ForkedPoolError, WorkerLostError

MakePool = Callable[..., Pool]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into Linux's /proc")


def names(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def open_files() -> int:
    return len(names("/proc/self/fd"))


def task_count() -> int:
    """Threads of this process, but for one that makes native code and then ends by itself."""

    def name(task: Path) -> str:
        try:
            return (task / "comm").read_text()
        except OSError:  # it has just ended
            return "emurust-translator"

    tasks = Path("/proc/self/task").iterdir()
    return sum(not name(task).startswith("emurust-transla") for task in tasks)


def runs(pid: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> float:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, "it did not come to that"
        time.sleep(0.01)
    return time.monotonic() - start


def kill(pool: Pool, worker: int, number: int = signal.SIGKILL) -> None:
    """Kills a worker and waits until the system says so."""
    pid = pool.worker_pids[worker]
    os.kill(pid, number)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


# -- workers that die --------------------------------------------------------------------


def test_a_killed_worker_is_noticed_named_and_replaced(dummy: MakePool) -> None:
    pool = dummy(6, "processes", 2, episode_len=0)
    expected = dummy(6, episode_len=0)
    pool.reset(1)
    expected.reset(1)
    pool.step([1] * 6)
    expected.step([1] * 6)
    pid = pool.worker_pids[1]
    os.kill(pid, signal.SIGKILL)
    start = time.monotonic()
    with pytest.raises(
        WorkerLostError,
        match=rf"worker 1 \(process {pid}\) with machines 3 to 5 was killed by signal 9.*recover",
    ):
        pool.step([2] * 6)
    assert time.monotonic() - start < 1
    expected.step([2] * 6)
    assert pool.lost == [3, 4, 5]
    with pytest.raises(WorkerLostError, match="worker 1"):
        pool.recv()
    pool.recover()
    assert pool.worker_pids[1] != pid
    *_, infos, ids = pool.recv()
    assert ids.tolist() == list(range(6))
    assert infos["lost"].tolist() == [False] * 3 + [True] * 3
    # The others were stepped; the lost ones have begun an episode that nobody had before.
    assert (pool.records[:3] == expected.records[:3]).all()
    assert infos["steps"].tolist() == [2, 2, 2, 0, 0, 0]
    fresh = dummy(6, episode_len=0)
    fresh.reset(1)
    assert (pool.records[3:] != fresh.records[3:]).any(axis=1).all()
    *_, infos = pool.step([3] * 6)
    assert not infos["lost"].any()


def test_a_worker_killed_at_work_is_noticed(dummy: MakePool) -> None:
    pool = dummy(2, "processes", 2, work=400_000_000, batch_size=1)
    pool.reset(1)
    pool.send([0, 0])
    time.sleep(0.05)
    os.kill(pool.worker_pids[0], signal.SIGKILL)
    start = time.monotonic()
    with pytest.raises(WorkerLostError, match="worker 0"):
        pool.recv()
    assert time.monotonic() - start < 1
    # The other one's result still comes; then there is nothing more to wait for.
    *_, ids = pool.recv()
    assert ids.tolist() == [1]
    with pytest.raises(WorkerLostError, match="worker 0"):
        pool.recv()
    pool.recover()
    *_, infos, ids = pool.recv()
    assert (ids.tolist(), infos["lost"].tolist()) == ([0], [True])


def test_a_loss_while_nothing_is_under_way_is_reported_with_the_next_step(
    dummy: MakePool,
) -> None:
    pool = dummy(4, "processes", 2, episode_len=0)
    pool.reset(1)
    kill(pool, 0, signal.SIGTERM)
    pool.recover()
    *_, infos = pool.step([1] * 4)
    assert infos["lost"].tolist() == [True, True, False, False]
    assert infos["steps"].tolist() == [1, 1, 1, 1]
    *_, infos = pool.step([1] * 4)
    assert not infos["lost"].any()


def test_calls_to_one_machine_notice_a_dead_worker(dummy: MakePool) -> None:
    pool = dummy(4, "processes", 2)
    pool.reset(1)
    state = pool.get_state(0)
    kill(pool, 0)
    for call in (
        lambda: pool.get_state(0),
        lambda: pool.set_state(1, state),
        lambda: pool.fork(3, 0),
    ):
        with pytest.raises((WorkerLostError,), match=r"worker 0|machine \d"):
            call()
        pool.recover()
        pool.get_state(0)
        kill(pool, 0)


def test_start_states_survive_the_loss_of_a_worker(dummy: MakePool) -> None:
    pool = dummy(2, "processes", 2)
    pool.reset(1, options={"start_state": [None, b"\7" + bytes(7)]})
    kill(pool, 1)
    pool.recover()
    assert pool.records[1, :8].tolist() == [7] + [0] * 7


def test_a_pool_can_be_closed_after_a_loss(dummy: MakePool) -> None:
    pool = dummy(4, "processes", 2)
    pids = pool.worker_pids
    pool.reset(1)
    os.kill(pids[0], signal.SIGKILL)
    with pytest.raises(WorkerLostError):
        pool.step([0] * 4)
    pool.close()
    assert not any(runs(pid) for pid in pids)


# -- nothing is left ---------------------------------------------------------------------


def test_nothing_is_left_after_close_or_collection(backend: str) -> None:
    count: dict[str, Any] = {"num_threads": 2} if backend == "threads" else {"num_workers": 2}
    shm = names("/dev/shm")
    Pool.dummy(4, backend=backend, **count).close()  # type: ignore[arg-type]
    gc.collect()
    files, tasks = open_files(), task_count()
    pids: list[int] = []
    for number in range(6):
        pool = Pool.dummy(4, backend=backend, **count)  # type: ignore[arg-type]
        pool.reset(1)
        pool.send([0] * 4)
        pids += pool.worker_pids
        if number % 2:
            pool.close()
        del pool
    gc.collect()
    assert open_files() == files
    assert task_count() == tasks
    assert not any(runs(pid) for pid in pids)
    assert names("/dev/shm") == shm


def test_many_pools_at_once(dummy: MakePool) -> None:
    pools = [dummy(3, name, 2) for name in ("threads", "processes") * 4]
    for pool in pools:
        pool.reset(1)
    for _ in range(20):
        for pool in pools:
            pool.step([1, 2, 3])
    assert len({pool.records.tobytes() for pool in pools}) == 1


TRAINER = """
import sys, time
from emurust import Pool
pool = Pool.dummy(4, backend="processes", num_workers=2, work={work})
pool.reset(1)
print(*pool.worker_pids, flush=True)
while True:
    try:
        pool.step([0] * 4)
        {rest}
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        {then}
"""


def start_trainer(
    work: int = 0, rest: str = "time.sleep(0.01)", then: str = "sys.exit(3)"
) -> tuple[subprocess.Popen[str], list[int]]:
    script = TRAINER.format(work=work, rest=rest, then=then)
    trainer = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert trainer.stdout is not None
    line = trainer.stdout.readline()
    assert line, trainer.communicate()[1]
    pids = [int(word) for word in line.split()]
    assert all(runs(pid) for pid in pids)
    # Into the loop.
    time.sleep(0.3)
    return trainer, pids


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
@pytest.mark.parametrize("work", [0, 300_000_000])
def test_workers_end_with_their_trainer(number: signal.Signals, work: int) -> None:
    trainer, pids = start_trainer(work)
    trainer.send_signal(number)
    trainer.communicate(timeout=30)
    wait_until(lambda: not any(runs(pid) for pid in pids), 2)


@pytest.mark.parametrize("work", [0, 300_000_000])
def test_ctrl_c_leaves_nothing(work: int) -> None:
    trainer, pids = start_trainer(work)
    # As a terminal does it: to everybody in the group.
    os.killpg(trainer.pid, signal.SIGINT)
    output, errors = trainer.communicate(timeout=30)
    assert output == "interrupted\n", errors
    assert trainer.returncode == 3
    wait_until(lambda: not any(runs(pid) for pid in pids), 2)


def test_a_pool_goes_on_after_ctrl_c() -> None:
    trainer, pids = start_trainer(
        300_000_000, then="pool.reset(1); pool.step([0] * 4); print('on', flush=True); break"
    )
    os.killpg(trainer.pid, signal.SIGINT)
    output, errors = trainer.communicate(timeout=60)
    assert output == "interrupted\non\n", errors
    assert trainer.returncode == 0
    wait_until(lambda: not any(runs(pid) for pid in pids), 2)


def test_ctrl_c_while_threads_work() -> None:
    script = TRAINER.replace('backend="processes", num_workers=2', "num_threads=2").format(
        work=2_000_000_000, rest="pass", then="sys.exit(3)"
    )
    trainer = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert trainer.stdout is not None
    trainer.stdout.readline()
    time.sleep(0.2)
    trainer.send_signal(signal.SIGINT)
    output, _ = trainer.communicate(timeout=60)
    assert output == "interrupted\n"
    assert trainer.returncode == 3


def test_workers_outlive_the_thread_that_made_the_pool() -> None:
    made: list[Pool] = []

    def make() -> None:
        made.append(Pool.dummy(4, backend="processes", num_workers=2))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    with made[0] as pool:
        time.sleep(0.5)
        pool.reset(1)
        pool.step([0] * 4)
        assert all(runs(pid) for pid in pool.worker_pids)


# -- fork and spawn ----------------------------------------------------------------------


def in_child(work: Callable[[], Any]) -> tuple[int, str]:
    """Exit status of a forked child that does `work`, and what it says."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(read)
            os.write(write, str(work()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    said = b""
    while part := os.read(read, 65536):
        said += part
    os.close(read)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_cannot_use_the_pool_but_its_own(dummy: MakePool, backend: str) -> None:
    pool = dummy(4, backend)
    pool.reset(1)
    pool.step([0] * 4)

    def use() -> str:
        try:
            pool.step([0] * 4)
        except ForkedPoolError as error:
            return str(error)
        return "stepped"

    status, said = in_child(use)
    assert status == 0
    assert f"made in process {os.getpid()}" in said
    assert "make a pool after the fork" in said

    def close_and_make() -> int:
        pool.close()
        count: dict[str, Any] = {"num_threads": 2} if backend == "threads" else {"num_workers": 2}
        with Pool.dummy(4, backend=backend, **count) as own:  # type: ignore[arg-type]
            own.reset(1)
            own.step([0] * 4)
            return int(own.records.sum())

    status, said = in_child(close_and_make)
    assert (status, said) == (0, str(int(pool.records.sum())))
    # What the child did with its copy was nothing to this one.
    pool.step([0] * 4)


def play(backend: str) -> bytes:
    count: dict[str, Any] = {"num_threads": 2} if backend == "threads" else {"num_workers": 2}
    with Pool.dummy(4, backend=backend, **count) as pool:  # type: ignore[arg-type]
        pool.reset(1)
        pool.step([1, 2, 3, 4])
        return pool.records.tobytes()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(backend: str, method: str) -> None:
    expected = play("threads")
    with multiprocessing.get_context(method).Pool(2) as workers:
        assert workers.map(play, [backend] * 2) == [expected] * 2


def test_without_what_only_linux_has(backend: str) -> None:
    """Sleepers that look for themselves and a block in a file, as other systems have them."""
    script = f"""
import time
from emurust import Pool
count = "num_threads" if {backend!r} == "threads" else "num_workers"
with Pool.dummy(4, backend={backend!r}, **{{count: 2}}) as pool:
    pool.reset(1)
    for _ in range(20):
        pool.step([1, 2, 3, 4])
        time.sleep(0.002)  # so that workers go to sleep
    blocks = [line.split()[5] for line in open("/proc/self/maps") if "emurust-pool" in line]
    print(pool.records.tobytes().hex(), *blocks)
"""
    results = {}
    for portable in ("0", "1"):
        output = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "EMURUST_PORTABLE": portable},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout.split()
        results[portable] = output[0]
        if backend == "processes":
            assert output[1].startswith("/memfd:") == (portable == "0")
    assert results["0"] == results["1"]


def test_pools_pickle_as_recipes(dummy: MakePool, backend: str) -> None:
    pool = dummy(3, backend, episode_len=4, first_index=2)
    pool.reset(1)
    with pickle.loads(pickle.dumps(pool)) as copy:
        assert (copy.num_envs, copy.backend, copy.num_workers) == (3, backend, 2)
        copy.reset(1)
        assert copy.records.tobytes() == pool.records.tobytes()
    with Pool(num_envs=2, num_threads=1, observation="ram", max_steps=5) as games:
        games.reset(1)
        state = games.get_state(1)
        assert pickle.loads(pickle.dumps(state)) == state
        with pickle.loads(pickle.dumps(games)) as copy:
            copy.reset(1)
            for step in range(7):
                games.step([step, 3])
                copy.step([step, 3])
                assert copy.records.tobytes() == games.records.tobytes()


# -- threads -----------------------------------------------------------------------------


def test_several_threads_share_a_pool(dummy: MakePool, backend: str) -> None:
    pool = dummy(4, backend, episode_len=0)
    pool.reset(1)
    errors: list[BaseException] = []
    stepped = []

    def work() -> None:
        for _ in range(50):
            try:
                pool.step([1] * 4)
                stepped.append(1)
            except Exception as error:
                errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    # Some may have met in the middle of a step and been told so; the pool is whole.
    assert len(stepped) + len(errors) == 150
    *_, infos = pool.step([1] * 4)
    assert len(set(infos["steps"].tolist())) == 1


def test_the_gil_is_free_during_a_step(dummy: MakePool) -> None:
    pool = dummy(1, work=600_000_000, count=1)
    pool.reset(1)
    ticks = 0
    over = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not over.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    pool.step([0])
    took = time.monotonic() - start
    over.set()
    thread.join()
    assert ticks > took * 1000 / 10


def test_a_thousand_machines_fit() -> None:
    """160 KiB for each machine beyond the shared ROM, its results included."""
    with Pool(num_envs=1, num_threads=1, start_state="power_on") as one:
        one.reset(1)
        before = resident()
        with Pool(num_envs=1024, start_state="power_on", frame_skip=1) as pool:
            pool.reset(1)
            pool.step(np.zeros(1024, dtype=np.int64))
            each = (resident() - before) / 1024
        print(f"{each / 1024:.0f} KiB for each machine with its results")
        assert each < 160 * 1024 + one.observation_len * 2


def resident() -> int:
    text = Path("/proc/self/statm").read_text()
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")
