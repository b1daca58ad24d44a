"""The engines: how they are chosen, and that they are the same machine."""

from __future__ import annotations

import logging
import random
from typing import Any

import numpy as np
import pytest

import emurust
from emurust import engine as engine_module
from emurust.errors import ArgumentError

ENGINES = ("interpreter", "translator", "auto")
BUTTONS = ("a", "b", "start", "up", "down", "left", "right")


def play(gameboy: emurust.GameBoy, frames: int, seed: int) -> list[bytes]:
    """Random buttons; the machine's state after each of some frames."""
    buttons = random.Random(seed)
    states = []
    for frame in range(frames):
        if frame % 10 == 0:
            gameboy.button(buttons.choice(BUTTONS), 6)
        gameboy.tick(1, frame % 7 == 0)
        if frame % 50 == 0:
            states.append(gameboy.get_state())
            gameboy._machine.translate_now(well=frame % 100 == 0)
    return states


def test_engines_are_the_same_machine() -> None:
    runs = [play(emurust.GameBoy(engine=engine), 600, 1) for engine in ENGINES]
    assert runs[0] == runs[1]
    assert runs[0] == runs[2]


def test_memory_written_from_outside_takes_effect_at_once() -> None:
    logs = []
    for engine in ENGINES:
        gameboy = emurust.GameBoy(engine=engine)
        play(gameboy, 300, 2)
        log = []
        for value in range(60):
            gameboy.memory[0xC100 + value] = value
            gameboy.memory[0xFF80 + value] = value
            gameboy.tick(1, True)
            log.append((gameboy.memory[0x8000:0x10000], gameboy.cycles))
        logs.append(log)
    assert logs[0] == logs[1] == logs[2]


def test_pools_run_the_same_on_each_engine() -> None:
    def run(engine: Any) -> list[Any]:
        with emurust.Pool(num_envs=3, num_threads=2, engine=engine) as pool:
            pool.reset(seed=5)
            actions = np.random.default_rng(5)
            log = []
            for _ in range(150):
                result = pool.step(actions.integers(0, 7, 3))
                log.append([np.array(part).tobytes() for part in result[1:4]])
            log.append([pool.get_state(i) for i in range(3)])
            return log

    assert run("interpreter") == run("translator") == run(None)


def test_unknown_engines_are_refused() -> None:
    with pytest.raises(ArgumentError, match="'auto', 'interpreter' or 'translator'"):
        emurust.GameBoy(engine="jit")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="engine must be"):
        emurust.Pool(engine="jit")  # type: ignore[arg-type]


def test_environment_variable_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMURUST_ENGINE", "interpreter")
    assert engine_module.chosen_engine(None) == "interpreter"
    assert engine_module.chosen_engine("translator") == "translator"
    monkeypatch.setenv("EMURUST_ENGINE", "fast")
    with pytest.raises(ArgumentError, match="EMURUST_ENGINE must be"):
        emurust.GameBoy()


def test_auto_says_once_why_there_is_no_native_code(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(engine_module, "translator_unavailable", lambda: "no memory for code")
    engine_module._explain_fallback.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, logger="emurust"):
            assert engine_module.chosen_engine("auto") == "auto"
            assert engine_module.chosen_engine("auto") == "auto"
        assert [record.message for record in caplog.records] == [
            "running on the interpreter, which is slower: no memory for code"
        ]
    finally:
        engine_module._explain_fallback.cache_clear()
