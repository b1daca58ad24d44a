"""Recordings: written by a wrapper, read, replayed, and refused when they do not fit."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import emurust
from emurust.envs.pokemon import PokemonEnv
from emurust.errors import ArgumentTypeError, LogFileError, RecordingError
from emurust.pool import episode_seed
from emurust.recording import (
    RecordedEpisode,
    RecordEpisodes,
    Recording,
    RecordingWriter,
    ram_checksum,
    read_recording,
)

OPTIONS: dict[str, Any] = {"start_state": ["first-town", "leader-2"], "observation": "packed"}


def play(path: Path, steps: list[int], **options: Any) -> list[list[Any]]:
    """Records episodes of so many steps; what each step gave."""
    env = RecordEpisodes(gymnasium.make("EmuRust-Pokemon", **{**OPTIONS, **options}), path)
    rng = np.random.default_rng(5)
    played = []
    for number, count in enumerate(steps):
        env.reset(seed=3 if number == 0 else None)
        played.append([env.step(rng.integers(0, 7)) for _ in range(count)])
    env.close()
    return played


def assert_same(recording: Recording, number: int, played: list[Any]) -> None:
    env = recording.environment()
    replayed = list(recording.replay(env, number))[1:]
    assert len(replayed) == len(played)
    for (observation, *rest, info), (expected, *others, expected_info) in zip(
        replayed, played, strict=True
    ):
        np.testing.assert_array_equal(observation, expected)
        assert rest == others
        np.testing.assert_equal(info, expected_info)
    env.close()


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "run.recording"
    play(path, [12, 5])
    return path


def test_episodes_are_replayed_exactly(tmp_path: Path) -> None:
    path = tmp_path / "run.recording"
    options = {
        "reward_weights": {"level": 2.0},
        "max_steps": 9,
        "frame_skip": 20,
        "watch": ["x", (0xD361, 2)],
    }
    # The second and third end by themselves, the others by the next and by the closing.
    played = play(path, [4, 9, 9, 3], **options)
    recording = read_recording(path)
    assert recording.version == emurust.__version__
    assert recording.rom_title == "KITHWILD"
    ends = [episode.end for episode in recording.episodes]
    assert ends == ["stopped", "truncated", "truncated", "stopped"]
    assert [len(episode.actions) for episode in recording.episodes] == [4, 9, 9, 3]
    assert len({episode.start_state for episode in recording.episodes}) == 2
    for number, steps in enumerate(played):
        assert_same(recording, number, steps)


def own_task(tmp_path: Path) -> Path:
    task = tmp_path / "own.toml"
    task.write_text(
        'name = "own"\nactions.buttons = ["none", "a"]\n'
        "[variables]\nx = 0xC000\n[[observation]]\nname = 'x'\nkind = 'value'\nvalue = 'x'\n"
        "low = 0\nhigh = 255\n[rewards]\nx = { value = 'x' }\n"
    )
    return task


def test_an_own_task_file_is_part_of_it(joypad_rom: bytes, tmp_path: Path) -> None:
    task = own_task(tmp_path)
    path = tmp_path / "own.recording"
    env = RecordEpisodes(PokemonEnv(joypad_rom, task=task, start_state="power_on"), path)
    env.reset(seed=1)
    for action in (1, 0, 1):
        env.step(action)
    env.close()
    task.unlink()
    recording = read_recording(path)
    again = recording.environment(joypad_rom)
    assert len(list(recording.replay(again))) == 4


def test_an_episode_of_a_pool(tmp_path: Path) -> None:
    start = (Path(emurust.shipped_cartridge()).parent / "states" / "first-town.state").read_bytes()
    rom = emurust.load_rom(None)
    task = emurust.tasks.recipe("pokemon", rom=rom, observation="ram")
    rng = np.random.default_rng(1)
    actions, rewards = [], []
    with emurust.Pool(num_envs=3, task=task, start_state=start) as pool:
        pool.reset(seed=9)
        for _ in range(20):
            actions.append(rng.integers(0, 7, 3))
            rewards.append(pool.step(actions[-1])[1].copy())
        ram = ram_checksum(pool.ram(2))
        seed = pool.episode_seeds[2]
    assert seed == episode_seed(9, 2, 0)
    writer = RecordingWriter(tmp_path / "best.recording", rom, task)
    writer.add(
        RecordedEpisode(
            seed=seed,
            start_state=start,
            actions=np.array(actions)[:, 2],
            end="stopped",
            total_reward=sum(float(reward[2]) for reward in rewards),
            ram=ram,
        )
    )
    writer.close()
    recording = read_recording(tmp_path / "best.recording")
    # Which also compares the ends.
    assert len(list(recording.replay(recording.environment()))) == 21


def test_a_second_run_is_added(recorded: Path) -> None:
    play(recorded, [3])
    recording = read_recording(recorded)
    assert [len(episode.actions) for episode in recording.episodes] == [12, 5, 3]
    env = recording.environment()
    for number in range(3):
        list(recording.replay(env, number))
    # The start states are in it once each.
    assert recorded.read_text().count('"state"') == len(
        {episode.start_state for episode in recording.episodes}
    )


def test_a_run_that_was_killed_leaves_whole_episodes(recorded: Path) -> None:
    whole = recorded.read_bytes()
    recorded.write_bytes(whole[:-20])
    assert len(read_recording(recorded).episodes) == 1
    play(recorded, [4])
    assert [len(e.actions) for e in read_recording(recorded).episodes] == [12, 4]


def test_another_run_does_not_fit_the_file(
    recorded: Path, joypad_rom: bytes, tmp_path: Path
) -> None:
    with pytest.raises(LogFileError, match="is there with another task; give another file"):
        play(recorded, [1], frame_skip=12)
    env = PokemonEnv(joypad_rom, task=own_task(tmp_path), start_state="power_on")
    with pytest.raises(LogFileError, match="is there with another rom, task"):
        RecordEpisodes(env, recorded)


def test_another_rom_is_refused(recorded: Path, joypad_rom: bytes) -> None:
    with pytest.raises(RecordingError, match="recorded with the ROM 'KITHWILD' .* not with 'TEST'"):
        read_recording(recorded).environment(joypad_rom)


def test_a_replay_that_goes_another_way_is_told(recorded: Path) -> None:
    lines = recorded.read_text().splitlines()
    numbers = [number for number, line in enumerate(lines) if '"actions"' in line]
    episode = json.loads(lines[numbers[0]])
    episode["actions"][3] = (episode["actions"][3] + 1) % 7
    lines[numbers[0]] = json.dumps(episode)
    recorded.write_text("\n".join(lines) + "\n")
    recording = read_recording(recorded)
    with pytest.raises(RecordingError, match="episode 0 ended otherwise than it was recorded"):
        list(recording.replay(recording.environment(), 0))
    with pytest.raises(RecordingError, match="has the episodes 0 to 1, not 2"):
        list(recording.replay(recording.environment(), 2))


def damaged(change: Callable[[list[str]], None]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        lines = path.read_text().splitlines()
        change(lines)
        path.write_text("\n".join(lines) + "\n")

    return apply


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "run.recording cannot be read: No such file"),
        (lambda path: path.write_bytes(b""), r":1: expected a file of EmuRust recording"),
        (lambda path: path.write_text('{"a": 1}\n'), "found something else"),
        (lambda path: path.write_text('{"emurust":"visits"}\n'), "found visits"),
        (damaged(lambda lines: lines.insert(0, "{")), ":1: not a line of JSON"),
        (damaged(lambda lines: lines.insert(1, "[]")), r":2: expected an object, found \[\]"),
        (
            damaged(
                lambda lines: lines.__setitem__(0, lines[0].replace('"format":1', '"format":2'))
            ),
            ":1: it has format 2; this version reads format 1",
        ),
        (
            damaged(lambda lines: lines.__setitem__(0, lines[0].replace('"sha1"', '"sha2"'))),
            ":1: the header is damaged",
        ),
        (damaged(lambda lines: lines.insert(1, '{"seed": 1}')), ":2: the line is damaged"),
        (
            damaged(lambda lines: lines.insert(1, '{"start_state": 0, "state": "abc"}')),
            ":2: the line is damaged",
        ),
        (
            damaged(lambda lines: lines.__setitem__(2, lines[2].replace('"stopped"', '"won"'))),
            ":3: the line is damaged: .*terminated, truncated, stopped, not 'won'",
        ),
        (
            damaged(
                lambda lines: lines.__setitem__(
                    2, lines[2].replace('"actions":[', '"actions":["up",')
                )
            ),
            ":3: the line is damaged: .*a list of integers",
        ),
    ],
)
def test_damaged_files(recorded: Path, damage: Callable[[Path], Any], message: str) -> None:
    damage(recorded)
    with pytest.raises(LogFileError, match=message):
        read_recording(recorded)


def test_what_cannot_be_recorded(tmp_path: Path) -> None:
    class Other(gymnasium.Env[Any, Any]):
        pass

    with pytest.raises(ArgumentTypeError, match="records EmuRust-Pokemon, not Other"):
        RecordEpisodes(Other(), tmp_path / "x")
    env = gymnasium.make("EmuRust-Pokemon", start_state="power_on")
    with pytest.raises(LogFileError, match="cannot be written: No such file"):
        RecordEpisodes(env, tmp_path / "none" / "x")
    (tmp_path / "text").write_text("hello\n")
    with pytest.raises(LogFileError, match="is there and is no file of EmuRust recording"):
        RecordEpisodes(env, tmp_path / "text")


def test_the_seed_of_an_episode_repeats_it() -> None:
    env = PokemonEnv(start_state=["new-game", "first-town", "leader-1", "leader-2"])
    starts = []
    seeds = []
    env.reset(seed=11)
    for _ in range(6):
        starts.append(env.episode_start)
        seeds.append(env.episode_seed)
        env.reset()
    assert len(set(starts)) > 1
    for start, seed in zip(starts, seeds, strict=True):
        env.reset(options={"episode_seed": seed})
        assert env.episode_start == start
    copy = pickle.loads(pickle.dumps(env))
    assert copy.episode_seed == env.episode_seed
    copy.close()
    env.close()
