"""``emurust watch`` and the policies it plays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from emurust.cli import main
from emurust.envs.pokemon import PokemonEnv
from emurust.errors import ArgumentError
from emurust.policies import Policy, make_policy, policy_source
from emurust.recording import RecordEpisodes, read_recording

Capture = pytest.CaptureFixture[str]

POLICIES = '''
class Counting:
    """Presses the buttons in turn, from the first in each episode."""

    def __init__(self, env):
        self.env = env

    def begin(self):
        self.number = -1

    def act(self, observation, info):
        assert observation.shape == (4744,) and "places" in info
        self.number += 1
        return self.number % self.env.action_space.n


def counting(env):
    return Counting(env)


counting.env_options = {"observation": "packed", "start_state": "first-town", "max_steps": 5}


def right(env):
    return lambda observation: 2


def nothing(env):
    return 3


def wrong(env):
    return lambda observation: 99


def odd(env):
    return right(env)


odd.env_options = 3
'''


@pytest.fixture
def policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of policies in the current directory."""
    name = f"policies_of_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(POLICIES)
    monkeypatch.chdir(tmp_path)
    return name


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "run.recording"
    env = RecordEpisodes(gymnasium.make("EmuRust-Pokemon", start_state="first-town"), path)
    for count in (6, 4):
        env.reset(seed=1)
        for number in range(count):
            env.step(number % 4)
    env.close()
    return path


def frames(path: Path) -> int:
    image = pytest.importorskip("PIL.Image")
    with image.open(path) as opened:
        return int(getattr(opened, "n_frames", 1))


def test_random_as_a_film(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "film.gif"
    arguments = ["watch", "--seed", "1", "--steps", "10", "--start-state", "first-town"]
    assert main([*arguments, "-o", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("10 steps, total reward ")
    # Every 4th of 24 frames a step; Pillow joins those that are alike.
    assert 5 < frames(path) <= 61
    again = tmp_path / "again.gif"
    assert main([*arguments, "-o", str(again)]) == 0
    assert again.read_bytes() == path.read_bytes()


def test_the_last_frame(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "last.png"
    assert main(["watch", "--seed", "2", "--steps", "3", "--scale", "2", "-o", str(path)]) == 0
    env = PokemonEnv(render_mode="rgb_array")
    env.reset(seed=2)
    env.action_space.seed(2)
    for _ in range(3):
        env.step(env.action_space.sample())
    with image.open(path) as picture:
        shown = np.asarray(picture.convert("RGB"))
    np.testing.assert_array_equal(shown[::2, ::2], env.render())
    assert shown.shape == (288, 320, 3)


def test_mp4(tmp_path: Path) -> None:
    encoder = pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "film.mp4"
    assert main(["watch", "--steps", "5", "--every", "2", "-o", str(path)]) == 0
    assert encoder.count_frames_and_secs(str(path))[0] == pytest.approx(61, abs=1)


def test_a_recording(recording: Path, tmp_path: Path, capsys: Capture) -> None:
    total = read_recording(recording).episodes[1].total_reward
    path = tmp_path / "last.png"
    assert main(["watch", str(recording), "--episode", "1", "-o", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"4 steps, total reward {total:.6g}\n")


def test_in_a_window(recording: Path, capsys: Capture) -> None:
    pytest.importorskip("pygame")
    assert main(["watch", str(recording), "--speed", "0"]) == 0
    assert main(["watch", "--steps", "2", "--speed", "0", "--scale", "1"]) == 0
    assert "6 steps" in capsys.readouterr().out


def test_closing_the_window_ends_it(capsys: Capture) -> None:
    pygame = pytest.importorskip("pygame")
    pygame.display.init()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert main(["watch", "--speed", "0"]) == 0
    assert capsys.readouterr().out.startswith("0 steps")


def test_a_policy_of_the_users(policies: str, tmp_path: Path, capsys: Capture) -> None:
    path = str(tmp_path / "last.png")
    arguments = ["watch", f"{policies}:counting", "--steps", "12", "-o", path]
    assert main(arguments) == 0
    # A new episode after each five steps: the policy's own environment options were taken.
    env = PokemonEnv(start_state="first-town", max_steps=5)
    env.reset()
    total = 0.0
    for number in range(12):
        _, reward, _, truncated, _ = env.step(np.int64(number % 5))
        total += reward
        if truncated:
            env.reset()
    assert capsys.readouterr().out.startswith(f"12 steps, total reward {total:.6g}\n")
    assert main([*arguments, "--option", "frame_skip=6", "--option", "max_steps=0"]) == 0
    assert main(["watch", f"{policies}:right", "--steps", "2", "-o", path]) == 0


def test_policies_in_programs(policies: str) -> None:
    env = PokemonEnv(start_state="first-town", observation="packed")
    observation, info = env.reset(seed=1)
    source = policy_source(f"{policies}:counting")
    assert source.env_options["observation"] == "packed"
    policy = make_policy(source, env)
    assert isinstance(policy, Policy)
    policy.begin()
    assert [policy.act(observation, info) for _ in range(8)] == [0, 1, 2, 3, 4, 5, 6, 0]
    random = [make_policy(policy_source("random", seed=4), env) for _ in range(2)]
    assert isinstance(random[0], Policy)
    actions = []
    for one in random:
        one = make_policy(policy_source("random", seed=4), env)
        actions.append([one.act(observation, info) for _ in range(20)])
    assert actions[0] == actions[1]
    assert len(set(actions[0])) > 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("best", "there is no policy 'best'; expected random, a checkpoint"),
        ("no_such_module:make", "cannot be imported: No module named"),
        ("json:no_such", "json has no function no_such"),
        ("POLICIES:odd", "odd.env_options must be a dict, not int"),
    ],
)
def test_wrong_policies(policies: str, name: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        policy_source(name.replace("POLICIES", policies))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["POLICIES:nothing"], "expected an object with the methods begin and act"),
        (["POLICIES:wrong", "-o", "x.png"], "the policy chose 99; an action is 0 to 6"),
        (["--greedy"], "only checkpoints can be greedy, not the policy 'random'"),
        (["RECORDING", "--greedy"], "leave out --greedy"),
        (["--steps", "0"], "--steps must be 1 or more"),
        (["--every", "0"], "--every must be 1 or more"),
        (["--scale", "99"], "--scale must be 1 to 20"),
        (["--speed", "-1"], "--speed must be 0 to 1000"),
        (["--seed", "-1"], "--seed must be 0 or more"),
        (["--option", "frame_skip"], "an option is NAME=VALUE, not 'frame_skip'"),
        (["--option", "colour=1"], "there is no option colour"),
        (["-o", "film.avi"], r"the name of a film ends in .png, .gif, .mp4, not '.avi'"),
        (["-o", "none/film.gif"], "there is no such folder"),
        (["RECORDING", "--seed", "1", "--task", "explore"], "leave out --task, --seed"),
        (["RECORDING", "--episode", "2"], "has the episodes 0 to 1, not 2"),
        (["RECORDING", "--rom", "OTHER"], "was recorded with the ROM 'KITHWILD'"),
    ],
)
def test_wrong_usage(
    arguments: list[str],
    message: str,
    policies: str,
    recording: Path,
    joypad_rom: bytes,
    tmp_path: Path,
    capsys: Capture,
) -> None:
    (tmp_path / "OTHER").write_bytes(joypad_rom)
    names = {"RECORDING": str(recording)}
    filled: list[Any] = [names.get(one, one.replace("POLICIES", policies)) for one in arguments]
    assert main(["watch", *filled]) == 1
    error = capsys.readouterr().err
    assert message in error.replace("\n", " ")
    assert error.count("\n") == 1
