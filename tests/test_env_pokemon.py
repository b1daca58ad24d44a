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
from emurust import GameBoy, Pool
from emurust.envs.pokemon import PokemonEnv
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
from emurust.tasks import TaskError
from emurust.vector import PokemonVectorEnv

if TYPE_CHECKING:
    from conftest import RomBuilder

ACTIONS = ("down", "left", "right", "up", "a", "b", "start")
GYMNASIUM_1 = int(gymnasium.__version__.split(".")[0]) >= 1


def make(**options: Any) -> Any:
    return gymnasium.make("EmuRust-Pokemon", **options).unwrapped


def place(env: Any) -> tuple[int, int, int]:
    """Map, x and y of the hero."""
    memory = env.gameboy.memory
    return memory[0xD35E], memory[0xD362], memory[0xD361]


def flat(value: Any) -> Any:
    """Something that compares by content."""
    if isinstance(value, dict):
        return {name: flat(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return tuple(flat(item) for item in value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value


@pytest.mark.parametrize("render_mode", [None, "rgb_array", "human"])
def test_passes_gymnasiums_checker(render_mode: str | None) -> None:
    if render_mode == "human":
        pytest.importorskip("pygame")
    check_env(make(render_mode=render_mode))


@pytest.mark.parametrize("observation", ["screen", "ram", "all", "packed"])
def test_every_observation_passes_the_checker(observation: str) -> None:
    check_env(make(observation=observation), skip_render_check=True)


def test_spaces() -> None:
    env = make()
    assert env.action_space == gymnasium.spaces.Discrete(7)
    spaces = env.observation_space
    assert isinstance(spaces, gymnasium.spaces.Dict)
    assert set(spaces) == {
        "screens",
        "health",
        "level",
        "badges",
        "events",
        "map",
        "recent_actions",
    }
    assert spaces["screens"] == gymnasium.spaces.Box(0, 255, (72, 80, 3), np.uint8)
    assert make(observation="screen").observation_space == spaces["screens"]


@pytest.mark.parametrize("observation", ["dict", "packed"])
def test_plays_as_a_pool_of_one(observation: str) -> None:
    options: dict[str, Any] = {"observation": observation, "max_steps": 6, "watch": [0xD35E]}
    env = make(**options)
    starts = [env.reset()[0] and env.gameboy.get_state()] if observation == "dict" else None
    if starts:
        env.step(0)
        starts.append(env.gameboy.get_state())
        env = make(start_state=starts, **options)
    pool = Pool(autoreset="disabled", num_threads=1, start_state=starts, **options)
    rng = np.random.default_rng(2)
    for seed in (11, None, None, 12, None):
        ours, our_info = env.reset(seed=seed)
        theirs, their_info = pool.reset(None if seed is None else [seed])
        while True:
            one = theirs[0] if observation == "packed" else {k: v[0] for k, v in theirs.items()}
            assert flat(ours) == flat(one)
            assert our_info.pop("watch").tolist() == their_info["watch"][0].tolist()
            assert our_info == {name: float(their_info[name][0]) for name in pool.info_names}
            action = int(rng.integers(7))
            ours, reward, terminated, truncated, our_info = env.step(action)
            theirs, rewards, terminations, truncations, their_info = pool.step([action])
            assert (reward, terminated, truncated) == (
                float(rewards[0]),
                bool(terminations[0]),
                bool(truncations[0]),
            )
            if truncated:
                break
    pool.close()


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


def test_screens_are_the_pictures_newest_first() -> None:
    env = make(render_mode="rgb_array")
    observation, _ = env.reset()
    assert env.observation_space.contains(observation)
    assert not observation["screens"][:, :, 1:].any()
    history = []
    for action in (0, 3, 1, 2):
        observation, *_ = env.step(action)
        picture = env.render()[:, :, 0].astype(float)
        half = picture.reshape(72, 2, 80, 2).mean(axis=(1, 3)).astype(np.uint8)
        history.insert(0, half)
    for age in range(3):
        assert np.array_equal(observation["screens"][:, :, age], history[age])


def test_observations_do_not_change_later() -> None:
    env = make()
    first, _ = env.reset()
    kept = flat(first)
    second, *_ = env.step(0)
    assert flat(first) == kept
    assert not np.shares_memory(first["screens"], second["screens"])


def test_equal_actions_give_equal_episodes() -> None:
    actions = np.random.default_rng(3).integers(7, size=60)
    runs = []
    for env in (make(), make()):
        for _ in range(2):
            steps = [flat(env.reset(seed=7))]
            steps += [flat(env.step(action)) for action in actions]
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


def test_human_mode_changes_nothing_but_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    seen, unseen = make(render_mode="human"), make(render_mode="rgb_array")
    frames: list[np.ndarray[Any, Any]] = []
    monkeypatch.setattr(seen._window, "show", lambda shades: frames.append(shades.copy()))
    assert flat(seen.reset()) == flat(unseen.reset())
    for action in (0, 4, 1, 2, 6):
        frames.clear()
        twin = seen.gameboy.fork()
        assert flat(seen.step(action)) == flat(unseen.step(action))
        assert len(frames) == 24
        twin.button_press(ACTIONS[action])
        for frame, shown in enumerate(frames):
            if frame == 8:
                twin.button_release(ACTIONS[action])
            twin.tick()
            assert np.array_equal(shown, twin.screen.shades), frame
    seen.close()


def test_new_places_are_rewarded() -> None:
    env = make(task="explore")
    _, info = env.reset()
    assert info["places"] == 0
    rng = np.random.default_rng(0)
    total, places = 0.0, set()
    for _ in range(300):
        *_, reward, _, _, info = env.step(rng.integers(7))
        if env.gameboy.memory[0xD057] == 0:
            places.add(place(env))
        total += reward
    assert info["places"] == len(places)
    assert len(places) >= 3
    assert total > 0


def test_truncated_after_max_steps() -> None:
    env = make(max_steps=3)
    env.reset()
    assert [env.step(0)[3] for _ in range(3)] == [False, False, True]


def test_starts_under_control() -> None:
    env = make()
    env.reset()
    start = place(env)
    moved = set()
    for action in range(4):
        env.reset()
        env.step(action)
        moved.add(place(env))
    assert moved - {start}


def test_options_of_the_task() -> None:
    env = make(reward_weights={"explore": 5}, frame_skip=4, hold_frames=2, frame_stack=1)
    assert env.observation_space["screens"].shape == (72, 80, 1)
    env.reset()
    before = env.gameboy.frame_count
    env.step(0)
    assert env.gameboy.frame_count == before + 4
    assert env.metadata["render_fps"] == pytest.approx(59.7275 / 4, rel=1e-4)


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
    usual = place(first)
    for _ in range(3):
        first.step(0)
    state, there = first.gameboy.get_state(), place(first)
    path = tmp_path / "start.state"
    path.write_bytes(state)
    for start in (state, path, str(path), [state], [path, state]):
        env = make(start_state=start)
        env.reset()
        assert place(env) == there
        assert env.gameboy.get_state() == state
    first.reset(options={"start_state": state})
    assert first.gameboy.get_state() == state
    first.reset()
    assert first.gameboy.get_state() == state
    first.reset(options={"start_state": "usual"})
    assert place(first) == usual
    env = make(start_state="power_on", render_mode="rgb_array")
    env.reset()
    assert env.gameboy.register_file.PC == 0x0100


def test_the_seed_can_be_given_at_the_making() -> None:
    states = ["new-game", "first-town", "leader-1", "leader-2"]
    given = make(start_state=states, seed=6)
    later = make(start_state=states)
    later.reset(seed=6)
    given.reset()
    for _ in range(4):
        assert given.unwrapped.episode_seed == later.unwrapped.episode_seed
        given.reset()
        later.reset()
    many = PokemonVectorEnv(3, start_state=states, seed=6)
    others = PokemonVectorEnv(3, start_state=states)
    for options in ({}, {"seed": None}):
        first, _ = many.reset(**options)
        second, _ = others.reset(seed=6) if not options else others.reset()
        assert isinstance(first, dict)
        assert isinstance(second, dict)
        for name, value in first.items():
            np.testing.assert_array_equal(value, second[name])
    many.close()
    others.close()


def test_the_start_state_is_drawn_by_the_seed() -> None:
    env = make()
    env.reset()
    starts = []
    for _ in range(4):
        env.step(0)
        starts.append(env.gameboy.get_state())
    env = make(start_state=starts)

    def drawn(seed: int | None) -> int:
        env.reset(seed=seed)
        return starts.index(env.gameboy.get_state())

    series = [drawn(5), *(drawn(None) for _ in range(30))]
    assert set(series) == {0, 1, 2, 3}
    assert [drawn(5), *(drawn(None) for _ in range(30))] == series


def test_pickles_in_the_middle_of_an_episode() -> None:
    env = make()
    env.reset(seed=4)
    env.step(2)
    copy = pickle.loads(pickle.dumps(env))
    for action in (0, 1, 2, 3, 4):
        assert flat(env.step(action)) == flat(copy.step(action))
    assert flat(env.reset()) == flat(copy.reset())


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
    single = make()
    single.reset()
    for action in (0, 2, 1):
        observations, *_ = envs.step(np.array([action, action]))
        expected, *_ = single.step(action)
        for index in range(2):
            assert flat({k: v[index] for k, v in observations.items()}) == flat(expected)
    envs.close()


class TestBadInput:
    def test_options(self) -> None:
        for options, kind, message in [
            ({"render_mode": "ansi"}, ArgumentError, "must be 'rgb_array', 'human' or None"),
            ({"frameskip": 4}, ArgumentError, "there is no option frameskip; the options are"),
            ({"frame_skip": 20_000}, TaskError, "frame_skip"),
            ({"hold_frames": 25}, TaskError, "hold_frames"),
            ({"observation": "pixels"}, TaskError, "observation"),
            ({"reward_weights": {"gold": 1}}, TaskError, "gold"),
            ({"frame_skip": "many"}, TaskError, "frame_skip: expected a whole number"),
            ({"task": "pinball"}, TaskError, "there is no task 'pinball'"),
        ]:
            with pytest.raises(kind, match=message):
                PokemonEnv(**options)  # type: ignore[arg-type]

    def test_a_rom_that_the_task_does_not_fit(self, joypad_rom: bytes) -> None:
        with pytest.raises(TaskError, match="TEST"):
            PokemonEnv(joypad_rom)

    @pytest.mark.parametrize("action", [-1, 7, 1.5, "a", None, np.array([1, 2])])
    def test_actions(self, action: Any) -> None:
        env = make()
        env.reset()
        before = env.gameboy.frame_count
        with pytest.raises(ArgumentError, match="an action is an integer from 0 to 6, not"):
            env.step(action)
        assert env.gameboy.frame_count == before

    def test_reset_options(self) -> None:
        with pytest.raises(
            ArgumentError, match="reset has no option level; its options are episode_seed, start"
        ):
            make().reset(options={"level": 3})

    @pytest.mark.parametrize("number", [-1, 2**64, "first", 0.5, True])
    def test_seeds(self, number: Any) -> None:
        with pytest.raises(ArgumentError, match="seed must be an integer from 0 to"):
            PokemonEnv(seed=number)
        with pytest.raises(ArgumentError, match="seed must be an integer from 0 to"):
            PokemonVectorEnv(2, seed=number)
        with pytest.raises(ArgumentError, match="episode_seed must be an integer from 0"):
            make().reset(options={"episode_seed": number})

    def test_start_states(self, joypad_rom: bytes, tmp_path: Path) -> None:
        other = GameBoy(joypad_rom).get_state()
        with pytest.raises(StateMismatchError, match="another cartridge"):
            PokemonEnv(start_state=other)
        with pytest.raises(StateError, match=r"missing is none .* as a file: No such file"):
            PokemonEnv(start_state=tmp_path / "missing")
        with pytest.raises(StateError, match=r"leader-9 is none of the task's \(.*leader-8\)"):
            PokemonEnv(start_state="leader-9")
        with pytest.raises(ArgumentTypeError, match="a start state is a name, a path or bytes"):
            PokemonEnv(start_state=3)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="an empty list"):
            PokemonEnv(start_state=[])

    def test_a_game_without_a_hero(
        self, build_rom: RomBuilder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("emurust.envs.intro._LAST_FRAME", 600)
        with pytest.raises(
            IntroError, match="'KITHWILD' did not reach .* give the environment a star"
        ):
            PokemonEnv(build_rom(title=b"KITHWILD"))

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
