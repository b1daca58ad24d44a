"""The compiled tasks on EmuRust against the plain reference on PyBoy, step by step."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emurust import GameBoy, shipped_cartridge
from emurust.tasks import Episode, TaskRecipe, recipe, views
from emurust.tasks.reference import ReferenceEpisode

HERE = Path(__file__).parent
MakePyBoy = Callable[[bytes], Any]


class Twins:
    """EmuRust and PyBoy on the same ROM, from power-on."""

    def __init__(self, image: bytes, boot_rom: bytes, make_pyboy: MakePyBoy) -> None:
        self.gameboy = GameBoy(image, bootrom=boot_rom)
        self.pyboy = make_pyboy(image)
        # PyBoy's first drawn frame ever is special; see its reference notes.
        self.tick(2, True)

    def tick(self, frames: int, render: bool) -> None:
        self.gameboy.tick(frames, render)
        self.pyboy.tick(frames, render)

    def tap(self, button: str) -> None:
        self.gameboy.button(button, 8)
        self.pyboy.button(button, 8)
        self.tick(32, True)

    def save(self) -> tuple[bytes, bytes]:
        state = io.BytesIO()
        self.pyboy.save_state(state)
        return self.gameboy.get_state(), state.getvalue()

    def load(self, states: tuple[bytes, bytes]) -> None:
        self.gameboy.set_state(states[0])
        self.pyboy.load_state(io.BytesIO(states[1]))


@pytest.fixture
def shipped(boot_rom: bytes, make_pyboy: MakePyBoy) -> Twins:
    """The shipped cartridge, its opening played."""
    twins = Twins(Path(shipped_cartridge()).read_bytes(), boot_rom, make_pyboy)
    twins.tick(120, True)
    for press in range(40):
        twins.tap(("start", "a")[press % 2])
    return twins


def compare(task_recipe: TaskRecipe, twins: Twins, steps: int, seed: int) -> None:
    """Plays both with the same random actions, over episodes as they end."""
    task = task_recipe.compile()
    episode = Episode(task)
    reference = ReferenceEpisode(task_recipe.reference(), twins.pyboy)
    names = [name for name, _ in task.info_layout]
    start = twins.save()
    rng = np.random.default_rng(seed)
    done = True
    for step in range(steps):
        where = f"{task.name}, {task.observation}, seed {seed}, step {step}"
        if done:
            twins.load(start)
            record, _, watch = episode.begin(twins.gameboy._machine, step)
            expected = reference.begin(step)
            done = False
        else:
            # Some buttons again and again, so that the hero gets somewhere.
            action = (
                int(rng.integers(len(task.action_names))) if rng.random() < 0.7 else step // 30 % 4
            )
            record, reward, terminated, truncated, info, watch = episode.step(
                twins.gameboy._machine, action
            )
            expected, *outcome, expected_info = reference.step(action)
            assert [reward, terminated, truncated] == outcome, where
            assert dict(zip(names, info, strict=True)) == expected_info, where
            done = terminated or truncated
        found = views(task, record)
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            assert found[name].dtype == array.dtype, f"{name}: {where}"
            np.testing.assert_array_equal(found[name], array, f"{name}: {where}", strict=True)
        assert bytes(watch) == reference.watched(), where


OBSERVATIONS = ["dict", "screen", "ram", "all", "packed"]


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_pokemon_on_the_shipped_cartridge(shipped: Twins, observation: str) -> None:
    task = recipe("pokemon", rom=shipped.gameboy.rom, observation=observation, max_steps=200)
    assert len(task.options["map_offsets"]) >= 3
    compare(task, shipped, 250, seed=1)


@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("resolution", ["full", "half"])
def test_everything_on_the_shipped_cartridge(
    shipped: Twins, observation: str, resolution: str
) -> None:
    task = recipe(HERE / "everything.toml", observation=observation, resolution=resolution)
    compare(task, shipped, 120, seed=2)


@pytest.mark.parametrize(
    ("frame_skip", "hold_frames"), [(1, 1), (4, 4), (7, 6), (24, 8), (0, None)]
)
def test_timing(shipped: Twins, frame_skip: int, hold_frames: int | None) -> None:
    task = recipe("explore", frame_skip=frame_skip, hold_frames=hold_frames, max_steps=70)
    compare(task, shipped, 100, seed=3)


def test_options(shipped: Twins) -> None:
    task = recipe(
        "pokemon",
        rom=shipped.gameboy.rom,
        frame_stack=1,
        resolution="full",
        reward_weights={"level": 0.7, "seen": 0.1, "explore": 0.025, "caught": 3},
        reward_scale=0.5,
        max_steps=40,
        watch=["x", 0xD361, (0xD16B, 44), "hp"],
        map_offsets={0: (3, 4), 1: (-30, 2), 2: (460, 4)},
    )
    compare(task, shipped, 100, seed=4)


def test_other_games(roms: Path, boot_rom: bytes, make_pyboy: MakePyBoy) -> None:
    for name in ("tobutobugirl.gb", "libbet.gb", "dusky-dungeon.gb"):
        twins = Twins((roms / "homebrew" / name).read_bytes(), boot_rom, make_pyboy)
        twins.tick(200, True)
        compare(recipe(HERE / "everything.toml"), twins, 60, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 15))
def test_pokemon_for_long(shipped: Twins, seed: int) -> None:
    task = recipe("pokemon", rom=shipped.gameboy.rom, max_steps=4000)
    compare(task, shipped, 10_000, seed)
