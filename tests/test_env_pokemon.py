"""``EmuRust-Pokemon`` as Gymnasium sees it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import emurust
from emurust import GameBoy
from emurust.envs.pokemon import ACTIONS, PokemonEnv
from emurust.errors import (
    ArgumentError,
    ArgumentTypeError,
    ClosedError,
    DependencyError,
    IntroError,
    RomNotFoundError,
    StateError,
    StateMismatchError,
)

if TYPE_CHECKING:
    from conftest import RomBuilder

GYMNASIUM_1 = int(gymnasium.__version__.split(".")[0]) >= 1


def make(**options: Any) -> Any:
    return gymnasium.make("EmuRust-Pokemon", **options).unwrapped


@pytest.mark.parametrize("render_mode", [None, "rgb_array", "human"])
def test_passes_gymnasiums_checker(render_mode: str | None) -> None:
    if render_mode == "human":
        pytest.importorskip("pygame")
    check_env(make(render_mode=render_mode))


class TestRegistration:
    """In a fresh process, since this one has imported everything."""

    @staticmethod
    def run(code: str, tmp_path: Path) -> str:
        result = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    def test_after_import(self, tmp_path: Path) -> None:
        code = "import emurust, gymnasium; print(gymnasium.make('EmuRust-Pokemon').unwrapped)"
        assert "PokemonEnv" in self.run(code, tmp_path)

    def test_gymnasium_imported_first(self, tmp_path: Path) -> None:
        code = "import gymnasium, emurust; print(gymnasium.make('EmuRust-Pokemon').unwrapped)"
        assert "PokemonEnv" in self.run(code, tmp_path)

    def test_with_the_module_in_the_name(self, tmp_path: Path) -> None:
        code = "import gymnasium; print(gymnasium.make('emurust:EmuRust-Pokemon').unwrapped)"
        assert "PokemonEnv" in self.run(code, tmp_path)

    @pytest.mark.skipif(GYMNASIUM_1, reason="Gymnasium 1.0 removed the loading of plug-ins")
    def test_as_a_plug_in(self, tmp_path: Path) -> None:
        code = "import gymnasium; print(gymnasium.make('EmuRust-Pokemon').unwrapped)"
        assert "PokemonEnv" in self.run(code, tmp_path)


def test_observation_is_three_pictures_newest_first() -> None:
    env = make(render_mode="rgb_array")
    observation, _ = env.reset()
    assert env.observation_space.contains(observation)
    assert not observation[:, :, 1:].any()
    history = []
    for action in (0, 3, 1, 2):
        observation, *_ = env.step(action)
        picture = env.render()[:, :, 0].astype(float)
        half = picture.reshape(72, 2, 80, 2).mean(axis=(1, 3)).astype(np.uint8)
        history.insert(0, half)
        assert np.array_equal(observation[:, :, 0], half)
    for age in range(3):
        assert np.array_equal(observation[:, :, age], history[age])


def test_observations_do_not_change_later() -> None:
    env = make()
    first, _ = env.reset()
    kept = first.copy()
    second, *_ = env.step(0)
    assert np.array_equal(first, kept)
    assert not np.shares_memory(first, second)


def test_equal_actions_give_equal_episodes() -> None:
    rng = np.random.default_rng(3)
    actions = rng.integers(7, size=60)
    runs = []
    for env in (make(), make()):
        for _ in range(2):
            observation, info = env.reset(seed=7)
            steps = [(observation.tobytes(), info)]
            for action in actions:
                observation, reward, terminated, truncated, info = env.step(action)
                steps.append((observation.tobytes(), reward, terminated, truncated, info))
            runs.append(steps)
    assert runs[0] == runs[1] == runs[2] == runs[3]


def test_the_step_is_pokemonredexperiments() -> None:
    """Press, 8 frames, release, 15 frames, 1 drawn frame."""
    env = make()
    env.reset()
    twin = env.gameboy.fork()
    for action in (0, 4, 6, 2, 5, 1):
        env.step(action)
        twin.button_press(ACTIONS[action])
        for _ in range(8):
            twin.tick(1, False)
        twin.button_release(ACTIONS[action])
        for _ in range(15):
            twin.tick(1, False)
        twin.tick(1, True)
        assert twin.get_state() == env.gameboy.get_state()


def test_human_mode_changes_nothing_but_the_window() -> None:
    pytest.importorskip("pygame")
    seen, unseen = make(render_mode="human"), make()
    a, _ = seen.reset()
    b, _ = unseen.reset()
    assert np.array_equal(a, b)
    for action in (0, 4, 1, 2, 6):
        assert np.array_equal(seen.step(action)[0], unseen.step(action)[0])
    seen.close()


def test_new_places_are_worth_a_point() -> None:
    env = make()
    _, info = env.reset()
    places = {(info["map"], info["x"], info["y"])}
    assert info["places"] == 1
    rng = np.random.default_rng(0)
    total = 0.0
    for _ in range(300):
        *_, reward, terminated, truncated, info = env.step(rng.integers(7))
        place = (info["map"], info["x"], info["y"])
        in_battle = env.gameboy.memory[0xD057] != 0
        assert reward == float(place not in places and not in_battle)
        if not in_battle:
            places.add(place)
        total += reward
        assert not terminated
        assert not truncated
        assert info["places"] == len(places)
    assert total >= 3
    _, info = env.reset()
    assert info["places"] == 1


def test_truncated_after_max_steps() -> None:
    env = make(max_steps=3)
    env.reset()
    assert [env.step(0)[3] for _ in range(3)] == [False, False, True]


def test_starts_under_control() -> None:
    env = make()
    _, start = env.reset()
    moved = set()
    for action in range(4):
        env.reset()
        info = env.step(action)[4]
        moved.add((info["map"], info["x"], info["y"]))
    assert moved - {(start["map"], start["x"], start["y"])}


def test_roms_from_argument_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.gb"
    path.write_bytes(emurust.shipped_cartridge().read_bytes())
    path.with_name("game.gb.ram").write_bytes(b"too short, and not to be read")
    env = make(rom=path)
    env.close()
    assert path.with_name("game.gb.ram").read_bytes().startswith(b"too short")
    monkeypatch.setenv("EMURUST_ROM", str(path))
    assert make().gameboy.rom.image() == path.read_bytes()
    monkeypatch.setenv("EMURUST_ROM", str(tmp_path / "missing.gb"))
    with pytest.raises(RomNotFoundError, match=r"missing\.gb"):
        make()
    assert make(rom=path)


def test_start_states(tmp_path: Path) -> None:
    first = make()
    first.reset()
    for action in (0, 0, 0):
        *_, info = first.step(action)
    state = first.gameboy.get_state()
    path = tmp_path / "start.state"
    path.write_bytes(state)
    for start in (state, path, str(path)):
        observation, found = make(start_state=start).reset()
        assert (found["map"], found["x"], found["y"]) == (info["map"], info["x"], info["y"])
        assert observation[:, :, 0].any()
    _, found = first.reset(options={"start_state": state})
    assert (found["map"], found["x"], found["y"]) == (info["map"], info["x"], info["y"])


def test_pickles() -> None:
    env = make()
    env.reset()
    env.step(2)
    copy = pickle.loads(pickle.dumps(env))
    for action in (0, 1, 2, 3):
        a, b = env.step(action), copy.step(action)
        assert np.array_equal(a[0], b[0])
        assert a[1:] == b[1:]


@pytest.mark.parametrize("vectorization", ["sync", "async"])
def test_in_gymnasiums_own_vectors(vectorization: str) -> None:
    if GYMNASIUM_1:
        envs = gymnasium.make_vec("EmuRust-Pokemon", num_envs=2, vectorization_mode=vectorization)
    else:
        kind: Callable[..., Any] = (
            gymnasium.vector.SyncVectorEnv
            if vectorization == "sync"
            else gymnasium.vector.AsyncVectorEnv
        )
        envs = kind([lambda: gymnasium.make("emurust:EmuRust-Pokemon")] * 2)
    observations, _ = envs.reset(seed=0)
    assert observations.shape == (2, 72, 80, 3)
    single = make()
    single.reset()
    for action in (0, 2, 1):
        observations, *_ = envs.step(np.array([action, action]))
        expected, *_ = single.step(action)
        assert np.array_equal(observations[0], expected)
        assert np.array_equal(observations[1], expected)
    envs.close()


class TestBadInput:
    def test_options(self) -> None:
        for options, message in [
            ({"frame_skip": 1}, "frame_skip must be 2 or more, not 1"),
            ({"hold_frames": 0}, "hold_frames must be 1 or more, not 0"),
            ({"hold_frames": 24}, r"hold_frames must be below frame_skip \(24\), not 24"),
            ({"max_steps": 0}, "max_steps must be 1 or more, not 0"),
            ({"render_mode": "ansi"}, "render_mode must be 'rgb_array', 'human' or None"),
        ]:
            with pytest.raises(ArgumentError, match=message):
                PokemonEnv(**options)  # type: ignore[arg-type]
        for options in ({"frame_skip": 2.5}, {"max_steps": "3"}, {"hold_frames": True}):
            with pytest.raises(ArgumentTypeError, match="must be an integer, not"):
                PokemonEnv(**options)  # type: ignore[arg-type]

    @pytest.mark.parametrize("action", [-1, 7, 1.5, "a", None, np.array([1, 2])])
    def test_actions(self, action: Any) -> None:
        env = make()
        env.reset()
        before = env.gameboy.frame_count
        with pytest.raises(ArgumentError, match="an action is an integer from 0 to 6, not"):
            env.step(action)
        assert env.gameboy.frame_count == before

    def test_reset_options(self) -> None:
        with pytest.raises(ArgumentError, match="reset has no option level; its options are start"):
            make().reset(options={"level": 3})

    def test_start_states(self, joypad_rom: bytes, tmp_path: Path) -> None:
        other = GameBoy(joypad_rom).get_state()
        with pytest.raises(StateMismatchError, match="another cartridge"):
            PokemonEnv(start_state=other)
        with pytest.raises(StateError, match="missing cannot be read: No such file"):
            PokemonEnv(start_state=tmp_path / "missing")
        with pytest.raises(ArgumentTypeError, match="a start state is a path or bytes, not int"):
            PokemonEnv(start_state=3)  # type: ignore[arg-type]

    def test_a_game_without_a_hero(
        self, build_rom: RomBuilder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("emurust.envs.intro._LAST_FRAME", 600)
        with pytest.raises(IntroError, match="'TEST' did not reach .* give the environment a star"):
            PokemonEnv(build_rom())

    def test_closed(self) -> None:
        env = make(render_mode="rgb_array")
        env.reset()
        env.close()
        env.close()
        for use in (env.reset, env.render, lambda: env.step(0)):
            with pytest.raises(ClosedError, match="this environment was closed"):
                use()

    def test_no_window_library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pygame", None)
        with pytest.raises(DependencyError, match=r"pip install 'emurust\[play\]'"):
            PokemonEnv(render_mode="human")
