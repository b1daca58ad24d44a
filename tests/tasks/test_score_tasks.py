"""The examples for freely available games, on those games."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emurust import GameBoy
from emurust.tasks import Episode, check_cartridge, recipe, views
from emurust.tasks.reference import ReferenceEpisode

GAMES = {
    "score_2048": "2048gb.gb",
    "score_rex_run": "rex-run-v1-0.gb",
    "score_deep_scan": "deep-scan.gb",
}


@pytest.mark.parametrize("name", GAMES)
def test_a_game_is_scored_and_ends(roms: Path, name: str) -> None:
    gameboy = GameBoy((roms / "homebrew" / GAMES[name]).read_bytes())
    task = recipe(name, observation="screen").compile()
    check_cartridge(task, gameboy.rom)
    assert task.has_start_script
    task.play_start_script(gameboy._machine)
    episode = Episode(task)
    names = [field for field, _ in task.info_layout]
    _, info, _ = episode.begin(gameboy._machine, 0)
    assert dict(zip(names, info, strict=True))["score"] == 0
    rng = np.random.default_rng(0)
    for _ in range(3000):
        action = int(rng.integers(len(task.action_names)))
        _, _, terminated, _, info, _ = episode.step(gameboy._machine, action)
        if terminated:
            break
    else:
        pytest.fail("no end in 3000 steps")
    progress = dict(zip(names, info, strict=True))
    assert progress["score"] > 0
    assert progress["reward/score"] == progress["score"] * task.reward_weights["score"]
    if "high_score" in progress:
        assert progress["high_score"] == progress["score"]


@pytest.mark.parametrize("name", GAMES)
def test_the_reference_agrees(
    roms: Path, boot_rom: bytes, make_pyboy: Callable[[bytes], Any], name: str
) -> None:
    image = (roms / "homebrew" / GAMES[name]).read_bytes()
    gameboy, pyboy = GameBoy(image, bootrom=boot_rom), make_pyboy(image)
    source = recipe(name)
    task, reference_task = source.compile(), source.reference()
    task.play_start_script(gameboy._machine)
    reference_task.play_start_script(pyboy)
    assert gameboy.memory[0xC000:0xE000] == pyboy.memory[0xC000:0xE000]
    episode, reference = Episode(task), ReferenceEpisode(reference_task, pyboy)
    record, _, _ = episode.begin(gameboy._machine, 0)
    expected = reference.begin(0)
    rng = np.random.default_rng(1)
    for step in range(150):
        np.testing.assert_array_equal(views(task, record)["screens"], expected["screens"])
        action = int(rng.integers(len(task.action_names)))
        record, *outcome, info, _ = episode.step(gameboy._machine, action)
        expected, *expected_outcome, expected_info = reference.step(action)
        assert outcome == expected_outcome, step
        assert list(info) == list(expected_info.values()), step
