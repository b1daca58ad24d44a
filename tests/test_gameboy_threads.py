"""A machine used by several threads."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from emurust import GameBoy


def test_every_call_counts(joypad_rom: bytes) -> None:
    gameboy = GameBoy(joypad_rom)
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda _: gameboy.tick(3), range(200)):
            pass
    assert gameboy.frame_count == 600
    alone = GameBoy(joypad_rom)
    alone.tick(600)
    assert alone.get_state() == gameboy.get_state()


def test_running_releases_the_gil() -> None:
    gameboy = GameBoy()
    gameboy.tick(60)
    times: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            times.append(time.perf_counter())
            time.sleep(0.0005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    gameboy.tick(20_000, False)
    end = time.perf_counter()
    done.set()
    watcher.join()
    inside = [start, *(moment for moment in times if start < moment < end), end]
    longest_pause = max(later - earlier for earlier, later in itertools.pairwise(inside))
    assert longest_pause < (end - start) / 3


def test_views_while_another_thread_runs() -> None:
    gameboy = GameBoy()
    views = [
        gameboy.wram,
        gameboy.vram,
        gameboy.oam,
        gameboy.hram,
        gameboy.cart_ram,
        gameboy.screen.shades,
        gameboy.screen.ndarray,
    ]
    end = time.monotonic() + 1.0
    problems: list[object] = []

    def run() -> None:
        while time.monotonic() < end:
            gameboy.button("a", 4)
            gameboy.tick(5)

    def look() -> None:
        while time.monotonic() < end:
            for view in views:
                view.sum()
            if gameboy.screen.shades.max() > 4:
                problems.append(gameboy.screen.shades.max())
            gameboy.fork()
            gameboy.set_state(gameboy.get_state())
            gameboy.memory[0xC000:0xC100]

    threads = [threading.Thread(target=work) for work in (run, run, look, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    # At rest, every view shows the machine.
    assert views[0].tolist() == gameboy.memory[0xC000:0xE000]
    red = np.array([255, 153, 85, 0, 0], dtype=np.uint8)
    assert np.array_equal(views[6][:, :, 0], red[views[5]])


def test_stopping_while_another_thread_runs(joypad_rom: bytes) -> None:
    from emurust.errors import ClosedError

    gameboy = GameBoy(joypad_rom)
    outcome: list[type] = []

    def run() -> None:
        try:
            while True:
                gameboy.tick(10)
        except ClosedError as error:
            outcome.append(type(error))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.05)
    gameboy.stop(save=False)
    thread.join(timeout=10)
    assert outcome == [ClosedError]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs POSIX timers")
def test_ctrl_c_ends_a_long_tick(joypad_rom: bytes) -> None:
    gameboy = GameBoy(joypad_rom)

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            gameboy.tick(10**9, False)
        assert time.monotonic() - start < 30
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    # The machine is whole and goes on.
    frames = gameboy.frame_count
    assert 0 < frames < 10**9
    gameboy.tick()
    assert gameboy.frame_count == frames + 1
