"""``emurust watch``: a policy or a recording playing, in a window or as a film."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from emurust.cli.options import task_option
from emurust.cli.progress import Progress
from emurust.envs.pokemon import PokemonEnv
from emurust.errors import ArgumentError
from emurust.pictures import Film, open_film
from emurust.policies import Policy, PolicySource, make_policy, policy_source
from emurust.recording import Recording, ram_checksum, read_recording
from emurust.window import Window

__all__ = ["main"]

_DEFAULT_FILM_STEPS = 250


def main(argv: Sequence[str]) -> int:
    """Shows a policy or a recording playing."""
    options = _arguments(argv)
    recording = None
    if Path(options.what).is_file() and not options.what.endswith(".pt"):
        recording = read_recording(options.what)
        env, policy, reset = _recorded(recording, options)
    else:
        source = policy_source(options.what, seed=options.seed, greedy=options.greedy)
        env, policy = _live(source, options)
        reset = {"seed": options.seed}
    steps = options.steps
    if steps is None and recording is None and options.output is not None:
        steps = _DEFAULT_FILM_STEPS
    screen: _Screen = (
        _WindowScreen(env, options.scale or 4, options.speed)
        if options.output is None
        else _FilmScreen(options.output, options.every, options.scale or 1)
    )
    total = 0.0
    shown = 0
    try:
        with Progress(steps or 0, "steps") as progress:
            for shown, reward in enumerate(_played(env, policy, reset, screen, steps), 1):
                total += reward
                if steps is not None and options.output is not None:
                    progress.update(shown)
        if recording is not None and shown == len(recording.episode(options.episode).actions):
            recording.check_end(options.episode, total, ram_checksum(env.gameboy.memory))
    finally:
        screen.close()
        env.close()
    print(f"{shown:,} steps, total reward {total:.6g}")
    if options.output is not None:
        print(options.output)
    return 0


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="emurust watch",
        description="Shows EmuRust-Pokemon being played: in a window until it is closed "
        "(escape), or as a film in a file.",
        epilog="A policy is a function that takes the environment and returns the policy, in a "
        "module of yours; 'emurust.policies' says what that is. Recordings are made by "
        "emurust.recording.RecordEpisodes.",
    )
    parser.add_argument(
        "what",
        nargs="?",
        default="random",
        help="random (default), a recording, a checkpoint or the folder of a training, or "
        "module:function",
    )
    parser.add_argument("--rom", help="the ROM; by default EMURUST_ROM's or the shipped cartridge")
    parser.add_argument("--task", help="task name or file (pokemon)")
    parser.add_argument("--start-state", help="where it starts: a name, or a file with a state")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the task, such as frame_skip=12 or observation=packed",
    )
    parser.add_argument("--seed", type=int, help="of the environment and of what is drawn")
    parser.add_argument(
        "--greedy", action="store_true", help="have a checkpoint take the likeliest action"
    )
    parser.add_argument("--episode", type=int, default=0, help="of a recording (%(default)s)")
    parser.add_argument(
        "--steps",
        type=int,
        help="end after so many; by default the end of the recording, of a policy's film "
        f"{_DEFAULT_FILM_STEPS}, in a window never",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="a film: .gif, .mp4; .png: the last frame"
    )
    parser.add_argument(
        "--every", type=int, default=4, metavar="N", help="film every Nth frame (%(default)s)"
    )
    parser.add_argument("--scale", type=int, help="size of a pixel (window 4, film 1)")
    parser.add_argument(
        "--speed", type=float, default=1.0, help="of the window, 0: as fast as it goes (1)"
    )
    options = parser.parse_args(argv)
    if options.steps is not None and options.steps < 1:
        raise ArgumentError(f"--steps must be 1 or more, not {options.steps}")
    if options.every < 1:
        raise ArgumentError(f"--every must be 1 or more, not {options.every}")
    if options.scale is not None and not 1 <= options.scale <= 20:
        raise ArgumentError(f"--scale must be 1 to 20, not {options.scale}")
    if not 0 <= options.speed <= 1000:
        raise ArgumentError(f"--speed must be 0 to 1000, not {options.speed}")
    if options.seed is not None and options.seed < 0:
        raise ArgumentError(f"--seed must be 0 or more, not {options.seed}")
    return options


def _recorded(
    recording: Recording, options: argparse.Namespace
) -> tuple[PokemonEnv, Policy, dict[str, Any]]:
    names = ("task", "start_state", "option", "seed", "greedy")
    values = {name: getattr(options, name) for name in names}
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in values.items()
        if not (value is None or value is False or value == [])
    ]
    if given:
        raise ArgumentError(
            f"{options.what} is a recording, which says itself what is played; leave out "
            f"{', '.join(given)}"
        )
    env = recording.environment(options.rom)
    actions = recording.episode(options.episode).actions
    return env, _Actions(actions), {"options": recording.reset_options(options.episode)}


def _live(source: PolicySource, options: argparse.Namespace) -> tuple[PokemonEnv, Policy]:
    arguments: dict[str, Any] = dict(source.env_options)
    arguments.update(task_option(text) for text in options.option)
    if options.task is not None:
        arguments["task"] = options.task
    if options.start_state is not None:
        arguments["start_state"] = options.start_state
    arguments["render"] = True
    own_rom = arguments.pop("rom", None)
    env = PokemonEnv(own_rom if options.rom is None else options.rom, **arguments)
    return env, make_policy(source, env)


class _Actions:
    """A policy that does what was recorded, and then ends."""

    def __init__(self, actions: npt.NDArray[np.int64]) -> None:
        self._actions = iter(actions.tolist())

    def begin(self) -> None:
        pass

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        return int(next(self._actions))


class _Screen(Protocol):
    """Where frames are shown."""

    @property
    def closed(self) -> bool: ...

    def show(self, shades: npt.NDArray[np.uint8]) -> None: ...

    def close(self) -> None: ...


class _WindowScreen:
    def __init__(self, env: PokemonEnv, scale: int, speed: float) -> None:
        self._window = Window(env.gameboy.cartridge_title, scale, speed)

    @property
    def closed(self) -> bool:
        return self._window.closed_by_user

    def show(self, shades: npt.NDArray[np.uint8]) -> None:
        for _ in self._window.events():
            pass
        self._window.show(shades)

    def close(self) -> None:
        self._window.close()


class _FilmScreen:
    closed = False

    def __init__(self, path: Path, every: int, scale: int) -> None:
        self._film: Film = open_film(path, every=every, scale=scale)
        self._every = every
        self._frames = 0

    def show(self, shades: npt.NDArray[np.uint8]) -> None:
        if self._frames % self._every == 0:
            self._film.add(shades)
        self._frames += 1

    def close(self) -> None:
        self._film.close()


def _played(
    env: PokemonEnv,
    policy: Policy,
    reset: dict[str, Any],
    screen: _Screen,
    steps: int | None,
) -> Iterator[float]:
    """Plays and shows; yields each step's reward. Ends with the policy's actions, the steps, the
    window; a live policy's next episode begins by itself."""
    observation, info = env.reset(**reset)
    policy.begin()
    screen.show(env.gameboy.screen.shades)
    done = 0
    while not screen.closed and done != steps:
        try:
            action = policy.act(observation, info)
        except StopIteration:
            return
        if not env.action_space.contains(np.int64(action)):
            last = int(env.action_space.n) - 1  # type: ignore[attr-defined]
            raise ArgumentError(f"the policy chose {action}; an action is 0 to {last}")
        for shades in env.step_frames(action):
            screen.show(shades)
        observation, reward, terminated, truncated, info = env.step(np.int64(action))
        screen.show(env.gameboy.screen.shades)
        done += 1
        yield reward
        if (terminated or truncated) and not isinstance(policy, _Actions):
            observation, info = env.reset()
            policy.begin()
