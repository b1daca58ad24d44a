"""``EmuRust-Pokemon``: one machine that plays a task, as a Gymnasium environment.

What is observed and rewarded is the task's business (`emurust.tasks`); where episodes start
and how their seeds are derived is the same as in a pool of one machine (`emurust.pool`). So
single, vectorised and batched environments play the same trajectories.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from emurust._emurust import Episode, Task
from emurust.errors import ArgumentError, ClosedError
from emurust.gameboy import FRAMES_PER_SECOND, GameBoy
from emurust.pool import TaskSource, checked_seed, episode_seed, start_index
from emurust.rom import RomSource, load_rom, usual_rom
from emurust.screen import rgb
from emurust.start_states import StartState, start_points
from emurust.tasks import (
    TaskRecipe,
    action_space,
    check_cartridge,
    observation,
    observation_space,
    recipe,
)
from emurust.tasks.records import Observation
from emurust.window import Window

__all__ = ["PokemonEnv"]

_TASK_OPTIONS = frozenset(inspect.signature(recipe).parameters) - {"task", "rom"}
_RESET_OPTIONS = frozenset({"episode_seed", "start_state"})
_USUAL = "usual"


class PokemonEnv(gymnasium.Env[Observation, np.int64]):
    """A Pokemon-like game: explore the world, win badges, advance the story.

    By default the task is ``"pokemon"``: observation, actions, timing and reward of
    PokemonRedExperiments v2, term by term. An action holds one of seven buttons (down, left,
    right, up, A, B, START) for 8 of 24 frames; the last frame is drawn. The observation is a
    dict of pictures, health, levels, badges, events, explored surroundings and recent actions.

    Info holds named numbers of the task (such as ``places`` and ``badges``), what each reward
    term has given in this episode (``reward/TERM``), and ``watch``, (bytes,) uint8, if the
    task watches RAM.

    Args:
        rom: a path, bytes or a binary file. By default the file that the environment variable
            EMURUST_ROM names, else the shipped cartridge. Battery RAM files are neither read
            nor written.
        render_mode: ``"rgb_array"``, ``"human"`` (a window, which shows every frame at the
            real machine's speed; needs ``pip install 'emurust[play]'``) or None.
        task: name of a shipped task, path of a task file, or a `emurust.tasks.TaskRecipe`.
        start_state: where episodes start: the name of one of the task's start states, a path
            of a state saved by `GameBoy.save_state`, its bytes, or ``"power_on"``; of a list,
            one is drawn for each episode. By default the task's own start, for task
            ``"pokemon"`` the moment at which the hero can first be moved (found by playing
            the intro by script, once per ROM and process).
        seed: of the series of episodes that begins with the first reset, if that is given none;
            by default one that nobody knows.
        task_options: options of the task, such as ``observation="screen"``, ``frame_skip=24``
            or ``reward_weights={"badge": 20}``; see `emurust.tasks.recipe`.

    Raises:
        RomNotFoundError, RomReadError, RomError: see `emurust.load_rom`.
        emurust.tasks.TaskError: the task, one of its options, or the ROM for it is wrong.
        StateError: a start state is not of this ROM, or damaged.
        IntroError: the intro did not lead to a hero that can be moved.
        ArgumentError: an option does not exist or has a value that makes no sense.
        DependencyError: render_mode "human" without a window library.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["rgb_array", "human"],
        "render_fps": FRAMES_PER_SECOND / 24,
    }

    def __init__(
        self,
        rom: RomSource = None,
        *,
        render_mode: str | None = None,
        task: TaskSource = "pokemon",
        start_state: StartState | Sequence[StartState] | None = None,
        seed: int | None = None,
        **task_options: Any,
    ) -> None:
        if seed is not None:
            seed = checked_seed("seed", seed)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ArgumentError(
                f"render_mode must be 'rgb_array', 'human' or None, not {render_mode!r}"
            )
        unknown = task_options.keys() - _TASK_OPTIONS
        if unknown:
            raise ArgumentError(
                f"there is no option {', '.join(sorted(unknown))}; the options are rom, "
                f"render_mode, task, start_state, seed, {', '.join(sorted(_TASK_OPTIONS))}"
            )
        if render_mode is not None:
            task_options.setdefault("render", True)
        self.render_mode = render_mode
        cartridge = load_rom(usual_rom(rom))
        self._recipe = (
            task.with_options(**task_options)
            if isinstance(task, TaskRecipe)
            else recipe(task, rom=cartridge, **task_options)
        )
        self._gameboy = GameBoy(cartridge)
        self._power_on = self._gameboy.get_state()
        self._set_up()
        check_cartridge(self._task, cartridge)
        self._usual_starts = self._start_states(start_state)
        self._starts = self._usual_starts
        self._start = self._usual_starts[0]
        self._seed = seed
        self._episodes = 0
        self._episode_seed = 0

    def _set_up(self) -> None:
        """Makes what can be made from the recipe."""
        self._task = self._recipe.compile()
        self._episode = Episode(self._task)
        self._info_names = [name for name, _ in self._task.info_layout]
        self.action_space = action_space(self._task)
        self.observation_space = observation_space(self._task)
        fps = FRAMES_PER_SECOND / max(1, self._task.frame_skip)
        self.metadata = {**type(self).metadata, "render_fps": fps}  # type: ignore[misc]
        title = self._gameboy.cartridge_title
        self._window = Window(title) if self.render_mode == "human" else None

    @property
    def gameboy(self) -> GameBoy:
        """The machine, to look at; changing it changes the episode."""
        return self._gameboy

    @property
    def task(self) -> Task:
        """The task."""
        return self._task

    @property
    def recipe(self) -> TaskRecipe:
        """The task as plain data, with its options."""
        return self._recipe

    @property
    def episode_seed(self) -> int:
        """The number that all that is drawn in this episode depends on; the reset option of the
        same name repeats it."""
        return self._episode_seed

    @property
    def episode_start(self) -> bytes:
        """The machine's state in which this episode started."""
        return self._start

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: begins a new series of episodes: what is drawn in them (the start state of
                several, idle frames that a task asks for) depends on it alone. None goes on
                with the present series.
            options: ``{"start_state": ...}``: where this and later episodes start, as the
                constructor's; ``"usual"`` goes back to what the constructor was given.
                ``{"episode_seed": ...}``: begins the episode with that number (see
                `emurust.pool.episode_seed`) instead of the series' next.

        Raises:
            ArgumentError: there is no such option.
            StateError: the start state is not of this ROM, or damaged.
            ClosedError: the environment was closed.
        """
        self._check_open()
        super().reset(seed=seed)
        options = options or {}
        unknown = options.keys() - _RESET_OPTIONS
        if unknown:
            raise ArgumentError(
                f"reset has no option {', '.join(sorted(map(str, unknown)))}; "
                f"its options are {', '.join(sorted(_RESET_OPTIONS))}"
            )
        start = options.get("start_state")
        if start is not None:
            usual = isinstance(start, str) and start == _USUAL
            self._starts = self._usual_starts if usual else self._start_states(start)
        if seed is not None:
            self._seed, self._episodes = seed, 0
        elif self._seed is None:
            self._seed = int(self.np_random.integers(2**63))
        own_seed = options.get("episode_seed")
        if own_seed is None:
            own_seed = episode_seed(self._seed, 0, self._episodes)
            self._episodes += 1
        else:
            own_seed = checked_seed("episode_seed", own_seed)
        self._episode_seed = own_seed
        self._start = self._starts[start_index(own_seed, len(self._starts))]
        self._gameboy.set_state(self._start)
        record, info, watch = self._episode.begin(self._gameboy._machine, own_seed)
        self._show()
        return observation(self._task, record), self._info(info, watch)

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Takes an action.

        Raises:
            ArgumentError: there is no such action.
            ClosedError: the environment was closed.
        """
        self._check_open()
        if not self.action_space.contains(action):
            last = len(self._task.action_names) - 1
            raise ArgumentError(f"an action is an integer from 0 to {last}, not {action!r}")
        if self._window is not None:
            for shades in self.step_frames(action):
                self._window.show(shades)
        record, reward, terminated, truncated, info, watch = self._episode.step(
            self._gameboy._machine, int(action)
        )
        self._show()
        return (
            observation(self._task, record),
            reward,
            terminated,
            truncated,
            self._info(info, watch),
        )

    def step_frames(self, action: np.int64 | int) -> Iterator[npt.NDArray[np.uint8]]:
        """The frames, (144, 160) shades, that a step with this action would show, but its last,
        which the step draws: played by a copy of the machine. The array is the same each time.
        """
        copy = self._gameboy.fork()
        name = self._task.action_names[int(action)]
        buttons = [] if name == "none" else name.split("+")
        for button in buttons:
            copy.button_press(button)
        for frame in range(self._task.frame_skip - 1):
            if frame == self._task.hold_frames:
                for button in buttons:
                    copy.button_release(button)
            copy.tick()
            yield copy.screen.shades

    def render(self) -> Any:
        """The picture, (144, 160, 3) uint8, in mode "rgb_array"; otherwise None."""
        self._check_open()
        if self.render_mode == "rgb_array":
            return rgb(self._gameboy.screen.shades)
        self._show()
        return None

    def close(self) -> None:
        """Ends the machine and closes the window; doing it again changes nothing."""
        if self._window is not None:
            self._window.close()
            self._window = None
        self._gameboy.stop(save=False)

    def __getstate__(self) -> dict[str, Any]:
        """The environment in the middle of its episode, as plain data and bytes."""
        rebuilt = ("_task", "_window", "action_space", "observation_space")
        state = {name: value for name, value in self.__dict__.items() if name not in rebuilt}
        state["_episode"] = self._episode.save()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._set_up()
        self._episode.load(state["_episode"])

    def _check_open(self) -> None:
        if self._gameboy.stopped:
            raise ClosedError("this environment was closed; make a new one to go on")

    def _start_states(self, start: StartState | Sequence[StartState] | None) -> list[bytes]:
        """The start states, each of which this machine takes."""
        states = []
        for one in start_points(start, self._gameboy.rom, self._task, self._recipe):
            state = self._power_on if one.state is None else one.state
            self._gameboy.set_state(state)
            states.append(state)
        return states

    def _info(
        self, values: npt.NDArray[np.float32], watch: npt.NDArray[np.uint8]
    ) -> dict[str, Any]:
        info: dict[str, Any] = dict(zip(self._info_names, values.tolist(), strict=True))
        if watch.size:
            info["watch"] = watch
        return info

    def _show(self) -> None:
        if self._window is not None:
            self._window.show(self._gameboy.screen.shades)
