"""The shipped start states fit the shipped cartridge and stand where their names say."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import pytest

import emurust
from emurust import GameBoy, Pool

STATES = Path(emurust.shipped_cartridge()).parent / "states"
NAMES = ["new-game", "first-town", *(f"leader-{number}" for number in range(1, 9))]

PARTY_COUNT = 0xD163
BADGES = 0xD356
HINT = "run cartridge/tools/start_states.py after a change of the ROM or of the state format"


def test_every_state_is_named_and_shipped() -> None:
    assert sorted(path.stem for path in STATES.glob("*.state")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_state_is_at_its_milestone(name: str) -> None:
    with GameBoy(None) as machine:
        try:
            machine.set_state((STATES / f"{name}.state").read_bytes())
        except emurust.EmuRustError as error:
            pytest.fail(f"{error}; {HINT}")
        badges = bin(machine.memory[BADGES]).count("1")
        party = machine.memory[PARTY_COUNT]
        expected = int(name.removeprefix("leader-")) - 1 if name.startswith("leader-") else 0
        assert badges == expected
        assert (party == 0) == (name == "new-game")
        # The hero can be steered: some button changes something.
        seen = {_place_and_screen(machine)}
        for button in ("down", "left", "right", "up", "start"):
            machine.button(button, 8)
            machine.tick(24)
            seen.add(_place_and_screen(machine))
        assert len(seen) > 1


def _place_and_screen(machine: GameBoy) -> bytes:
    return bytes(machine.memory[0xD35E:0xD363]) + bytes(machine.memory[0xC3A0:0xC508])


def test_environment_and_pool_start_from_a_named_state() -> None:
    env = gymnasium.make("EmuRust-Pokemon", start_state="leader-3")
    observation, _ = env.reset(seed=1)
    assert observation["badges"].sum() == 2
    env.close()
    with Pool(num_envs=2, start_states=["new-game", "leader-8"]) as pool:
        observations, _ = pool.reset(1)
        assert isinstance(observations, dict)
        np.testing.assert_array_equal(observations["badges"].sum(axis=1), [0, 7])


def test_names_reach_a_reset() -> None:
    env = gymnasium.make("EmuRust-Pokemon", start_state="power_on")
    observation, _ = env.reset(seed=1, options={"start_state": "leader-3"})
    assert observation["badges"].sum() == 2
    env.close()
    with Pool(num_envs=2, start_state="power_on") as pool:
        observations, _ = pool.reset(1, options={"start_state": [None, "leader-8"]})
        assert isinstance(observations, dict)
        np.testing.assert_array_equal(observations["badges"].sum(axis=1), [0, 7])


TASK = """
name = "own"
actions.buttons = ["none", "a"]
[variables]
logged = { address = 0xC000, type = "bytes", length = 600 }
[[observation]]
name = "log"
kind = "bytes"
variable = "logged"
[rewards]
time = { each_step = 1 }
"""
SCRIPT = 'start.script = [["none", 20], ["a", 30], ["none", 5]]\n'


class TestTasksOwnStart:
    """Where a task says itself that episodes start."""

    def places(self, task: Path, rom: bytes) -> tuple[bytes, bytes]:
        """What the first observation shows, of the environment and of a pool."""
        env = gymnasium.make("EmuRust-Pokemon", rom=rom, task=task)
        single, _ = env.reset(seed=1)
        env.close()
        with Pool(rom, 2, task=task) as pool:
            batch, _ = pool.reset(1)
        assert isinstance(batch, dict)
        assert batch["log"][0].tobytes() == batch["log"][1].tobytes()
        return single["log"].tobytes(), batch["log"][0].tobytes()

    def test_script(self, joypad_rom: bytes, tmp_path: Path) -> None:
        task = tmp_path / "own.toml"
        task.write_text(TASK.replace("[variables]", SCRIPT + "[variables]"))
        single, batch = self.places(task, joypad_rom)
        assert single == batch
        # The A button is bit 0 of the second byte of each frame, low while down.
        held = [index for index, value in enumerate(single[1::2]) if value and not value & 1]
        assert len(held) == 30
        assert held == list(range(held[0], held[0] + 30))

    def test_default_state_before_script(self, joypad_rom: bytes, tmp_path: Path) -> None:
        with GameBoy(joypad_rom) as gameboy:
            gameboy.tick(100)
            (tmp_path / "later.state").write_bytes(gameboy.get_state())
            expected = bytes(gameboy.memory[0xC000:0xC258])
        task = tmp_path / "own.toml"
        start = SCRIPT + 'start.states.later = "later.state"\nstart.default = "later"\n'
        task.write_text(TASK.replace("[variables]", start + "[variables]"))
        assert self.places(task, joypad_rom) == (expected, expected)
