"""Many machines, stepped together.

    >>> pool = emurust.Pool(num_envs=64)
    >>> observations, infos = pool.reset(seed=1)
    >>> observations, rewards, terminations, truncations, infos = pool.step(actions)

All of a pool's results are in arrays that are made once and written again by every step,
without copying: copy what must outlive the next step (`emurust.vector` does so for you).
Machines run on threads of this process or in worker processes; both give the same bytes for
the same seed and actions, whatever their number. docs/pool.md tells how to choose.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from emurust import _emurust
from emurust._emurust import PoolEngine, Rom, Task
from emurust.engine import EngineName, chosen_engine
from emurust.errors import ArgumentError, ArgumentTypeError, StateError
from emurust.rom import RomSource, load_rom
from emurust.start_states import StartPoint, StartState, start_point, start_points
from emurust.tasks import (
    TaskRecipe,
    action_space,
    check_cartridge,
    observation,
    observation_space,
    recipe,
)

__all__ = [
    "Array",
    "Observations",
    "Pool",
    "StartState",
    "checked_seed",
    "episode_seed",
    "start_index",
]

Array: TypeAlias = npt.NDArray[Any]
Observations: TypeAlias = Array | dict[str, Array]
TaskSource: TypeAlias = str | os.PathLike[str] | TaskRecipe

Results: TypeAlias = tuple[Observations, Array, Array, Array, dict[str, Any]]
"""Observations, rewards, terminations, truncations, infos."""

_SCREEN_SHAPE = (144, 160)
_RESET_OPTIONS = ("reset_mask", "start_state")


class Pool:
    """Game Boys that play a task together.

    Args:
        rom: a path, bytes or a binary file; by default the shipped cartridge. A list has one
            for each machine.
        num_envs: number of machines.
        task: name of a shipped task, path of a task file, or an `emurust.tasks.TaskRecipe`. A
            list has one for each machine; tasks of one pool have the same observation and
            number of actions, and infos that one of them does not have are NaN.
        backend: ``"threads"`` or ``"processes"`` (Linux, macOS).
        num_threads: threads that run the machines, the calling one included; by default one
            for each core.
        num_workers: worker processes; by default one for each core.
        batch_size: number of results that `recv` gives; by default `num_envs`.
        autoreset: what follows an episode's end. ``"same_step"``: the step that ends it begins
            the next; the observation is the new episode's first, the last of the old one is in
            ``infos["final_observation"]`` and ``infos["final_info"]``. ``"next_step"``: the
            step after begins the next and ignores its action. ``"disabled"``: only `reset`
            begins episodes.
        start_state: where episodes start; a list: one of them is drawn for each episode. By
            default the task's own start, for task ``"pokemon"`` the moment at which the hero
            can first be moved (found by script, once per ROM and process), else power-on.
        start_states: the same for each machine on its own.
        first_index: number of the first machine among all machines of a run: pools of one run
            that are given the same seed and different ranges of numbers share no random
            numbers.
        engine: ``"translator"``, ``"interpreter"`` or ``"auto"``, as for `emurust.GameBoy`.
        buffers: arrays of the caller that results are written to instead of the pool's own:
            ``observations`` (num_envs, ...) uint8 with `observation_len` bytes a row,
            ``rewards`` (num_envs,) float32, ``terminations`` and ``truncations`` (num_envs,)
            bool, all contiguous and writeable.
        task_options: options of the task, such as ``observation="packed"`` or
            ``frame_skip=24``; see `emurust.tasks.recipe`.

    Raises:
        ArgumentError: an argument has a value that makes no sense.
        RomError, RomNotFoundError, RomReadError: see `emurust.load_rom`.
        emurust.tasks.TaskError: something about the task is wrong.
        StateError: a start state cannot be read or does not fit its cartridge.
        PoolMemoryError: there is not enough memory.
        WorkerStartError: workers could not be started.

    A pool may be used from several threads (calls wait for each other), is a context manager,
    and pickles as what it was made from, not as what its machines are doing.
    """

    def __init__(
        self,
        rom: RomSource | Sequence[RomSource] = None,
        num_envs: int = 1,
        *,
        task: TaskSource | Sequence[TaskSource] = "pokemon",
        backend: Literal["threads", "processes"] = "threads",
        num_threads: int | None = None,
        num_workers: int | None = None,
        batch_size: int | None = None,
        autoreset: Literal["same_step", "next_step", "disabled"] = "same_step",
        start_state: StartState | Sequence[StartState] | None = None,
        start_states: Sequence[StartState | Sequence[StartState] | None] | None = None,
        first_index: int = 0,
        engine: EngineName | None = None,
        buffers: Mapping[str, Array] | None = None,
        **task_options: Any,
    ) -> None:
        num_envs = _whole("num_envs", num_envs, 1)
        if start_state is not None and start_states is not None:
            raise ArgumentError("give start_state (for all) or start_states (for each), not both")
        roms = _load_roms(_for_each("rom", rom, num_envs))
        sources = _for_each("task", task, num_envs)
        starts = (
            [start_state] * num_envs
            if start_states is None
            else _for_each("start_states", list(start_states), num_envs)
        )

        setup = _Setup()
        for machine_rom, source, machine_start in zip(roms, sources, starts, strict=True):
            setup.add(machine_rom, source, machine_start, task_options)
        self._setup = setup
        self._task: Task | None = setup.tasks[0]
        self._options = {
            "backend": backend,
            "workers": _worker_count(backend, num_threads, num_workers),
            "batch_size": None if batch_size is None else _whole("batch_size", batch_size, 1),
            "autoreset": autoreset,
            "first_index": _whole("first_index", first_index, 0),
            "engine": chosen_engine(engine),
        }
        self._start(buffers)

    @classmethod
    def dummy(
        cls,
        num_envs: int = 1,
        *,
        backend: Literal["threads", "processes"] = "threads",
        num_threads: int | None = None,
        num_workers: int | None = None,
        batch_size: int | None = None,
        autoreset: Literal["same_step", "next_step", "disabled"] = "same_step",
        first_index: int = 0,
        buffers: Mapping[str, Array] | None = None,
        observation_len: int = 16,
        episode_len: int = 10,
        work: int = 0,
        panic_action: int | None = None,
    ) -> Pool:
        """A pool of machines that only count: for measuring the hand-over and for tests.

        Args:
            observation_len: bytes of an observation.
            episode_len: steps of an episode; 0: endless.
            work: rounds of arithmetic of a step, about a nanosecond each.
            panic_action: an action that makes the machine fail.
        """
        pool = cls.__new__(cls)
        pool._setup = _Setup(
            dummies={
                "machines": _whole("num_envs", num_envs, 1),
                "observation_len": _whole("observation_len", observation_len, 0),
                "episode_len": _whole("episode_len", episode_len, 0),
                "work": _whole("work", work, 0),
                "panic_action": panic_action,
            }
        )
        pool._task = None
        pool._options = {
            "backend": backend,
            "workers": _worker_count(backend, num_threads, num_workers),
            "batch_size": None if batch_size is None else _whole("batch_size", batch_size, 1),
            "autoreset": autoreset,
            "first_index": _whole("first_index", first_index, 0),
        }
        pool._start(buffers)
        return pool

    def _start(self, buffers: Mapping[str, Array] | None) -> None:
        # Held here, too: arrays over the caller's memory do not keep it alive themselves.
        self._buffers = None if buffers is None else _check_buffers(buffers)
        self._engine = self._setup.engine(self._options, self._buffers)
        self._finalizer = weakref.finalize(self, self._engine.close)
        self._num_envs = self._setup.machines
        self._all = _Results(self._engine.arrays(), self._engine.info_names, self._task)
        batch = self._engine.batch_arrays()
        self._batch = (
            self._all if batch is None else _Results(batch, self._engine.info_names, self._task)
        )
        self._received = np.arange(self._engine.batch_size, dtype=np.int64)

    # -- what it is ------------------------------------------------------------------

    @property
    def num_envs(self) -> int:
        """Number of machines."""
        return self._num_envs

    @property
    def num_workers(self) -> int:
        """Threads or worker processes that run them."""
        return self._engine.num_workers

    @property
    def batch_size(self) -> int:
        """Number of results that `recv` gives."""
        return self._engine.batch_size

    @property
    def backend(self) -> str:
        """``"threads"`` or ``"processes"``."""
        return str(self._options["backend"])

    @property
    def autoreset(self) -> str:
        """``"same_step"``, ``"next_step"`` or ``"disabled"``."""
        return str(self._options["autoreset"])

    @property
    def worker_pids(self) -> list[int]:
        """Process numbers of the worker processes."""
        return self._engine.worker_ids

    @property
    def task(self) -> Task:
        """The (first machine's) task.

        Raises:
            ArgumentError: dummies play none.
        """
        if self._task is None:
            raise ArgumentError("dummies play no task")
        return self._task

    @property
    def rom(self) -> Rom:
        """The (first machine's) cartridge.

        Raises:
            ArgumentError: dummies have none.
        """
        if self._setup.dummies is not None:
            raise ArgumentError("dummies have no cartridge")
        return self._setup.roms[0]

    @property
    def single_observation_space(self) -> spaces.Space[Any]:
        """The space of one machine's observation."""
        if self._task is None:
            return spaces.Box(0, 255, (self.observation_len,), np.uint8)
        return observation_space(self._task)

    @property
    def single_action_space(self) -> spaces.Discrete:
        """The actions of one machine."""
        if self._task is None:
            return spaces.Discrete(self._engine.num_actions)
        return action_space(self._task)

    @property
    def observation_len(self) -> int:
        """Bytes of one machine's observation record."""
        return self._engine.observation_len

    @property
    def info_names(self) -> list[str]:
        """Names of the info values."""
        return self._engine.info_names

    @property
    def records(self) -> npt.NDArray[np.uint8]:
        """The observation records, (num_envs, `observation_len`) uint8: what `step` and `reset`
        give, as bytes. Written again by every call."""
        return self._all.records

    @property
    def info_records(self) -> npt.NDArray[np.float32]:
        """The info values, (num_envs, number of `info_names`) float32; written again."""
        return self._all.info_records

    # -- stepping --------------------------------------------------------------------

    def reset(
        self,
        seed: int | Sequence[int] | None = None,
        *,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode on every machine. What is under way is waited for and dropped.

        Args:
            seed: a number from which, with its own number, each machine's random stream is
                derived; or one number for each machine (then equal numbers give equal
                streams). None goes on with the present streams, which differ between pools
                until one was given.
            options: ``"start_state"``: where these and all later episodes start, one for all
                machines or a list with one for each; ``"usual"`` goes back to what the pool
                was made with. ``"reset_mask"``: (num_envs,) bool, machines to reset; the
                others stay as they are.

        Returns:
            Observations and infos.

        Raises:
            ArgumentError: there is no such option, or a value makes no sense.
            StateError: a start state does not fit.
            MachineError, WorkerLostError: machines were lost; see `recover`.
        """
        options = options or {}
        unknown = options.keys() - set(_RESET_OPTIONS)
        if unknown:
            raise ArgumentError(
                f"reset has no option {', '.join(sorted(map(str, unknown)))}; "
                f"its options are {', '.join(_RESET_OPTIONS)}"
            )
        mask = self._check_mask(options.get("reset_mask"))
        start = options.get("start_state")
        if start is not None:
            for index, one in enumerate(self._starts_for_each(start)):
                if one is not None and (mask is None or mask[index]):
                    self.set_start(index, one)
        own_seed, seeds = _seeds(seed)
        if seeds is not None and mask is not None and len(seeds) == self.num_envs:
            seeds = [one for one, chosen in zip(seeds, mask, strict=True) if chosen]
        self._engine.reset(own_seed, seeds, mask)
        return self._all.observations, self._all.infos

    def step(self, actions: npt.ArrayLike) -> Results:
        """Gives every machine an action and waits for all.

        Args:
            actions: (num_envs,) integers.

        Returns:
            observations: as `single_observation_space`, with the machines as first axis.
            rewards: (num_envs,) float32.
            terminations: (num_envs,) bool, episodes that reached an end of the task.
            truncations: (num_envs,) bool, episodes that were cut off.
            infos: by name (num_envs,) float32; ``"watch"`` (num_envs, bytes) uint8 if the task
                watches RAM; ``"lost"`` (num_envs,) bool: the machine was lost and has begun
                anew. With same-step reset also ``"final_observation"``, ``"final_info"`` and
                ``"final_watch"``, whose rows hold for machines whose episode this step ended.

        The same arrays every time.

        Raises:
            ArgumentError, ArgumentTypeError: the actions have a wrong shape, type or value; no
                machine was stepped.
            PoolOrderError: machines were not reset, or were sent actions already.
            MachineError, WorkerLostError: machines were lost; the others have been stepped.
                After `recover`, `recv` gives the results of this step.
            ClosedError: the pool is closed.
        """
        self._engine.step(_integers("actions", actions))
        return self._all.results

    def send(self, actions: npt.ArrayLike, env_ids: npt.ArrayLike | None = None) -> None:
        """Gives machines actions without waiting.

        Args:
            actions: (n,) integers.
            env_ids: (n,) numbers of the machines; by default all.

        Raises:
            ArgumentError, ArgumentTypeError, MachineIndexError: as `step`; nothing was sent.
            PoolOrderError: a machine was sent an action and not received yet, or is twice in
                `env_ids`; nothing was sent.
        """
        ids = None if env_ids is None else _integers("env_ids", env_ids)
        self._engine.send(_integers("actions", actions), ids)

    def recv(self) -> tuple[Observations, Array, Array, Array, dict[str, Any], Array]:
        """Waits for the first `batch_size` machines that are ready.

        Returns:
            What `step` returns for these machines, and their numbers, (batch_size,) int64. If
            `batch_size` is `num_envs` they are in order.

        Raises:
            PoolOrderError: fewer machines were sent actions.
            MachineError, WorkerLostError: machines were lost; see `recover`.
        """
        self._engine.recv(self._received)
        return (*self._batch.results, self._received)

    def recover(self) -> None:
        """Makes lost machines anew after a `MachineError` or `WorkerLostError`.

        Workers that are gone are started again. The machines begin a new episode; their
        results say so in ``infos["lost"]``. Those whose results were waited for are ready for
        `recv`; the others report it with their next step.
        """
        self._engine.recover()

    @property
    def lost(self) -> list[int]:
        """Numbers of machines that are lost and wait for `recover`."""
        return self._engine.lost

    # -- states ----------------------------------------------------------------------

    def get_state(self, index: int) -> bytes:
        """The state of a machine and its episode, with what the agent last saw of it.

        Raises:
            MachineIndexError: there is no such machine.
            PoolOrderError: it was sent an action and not received yet.
        """
        return self._engine.get_state(_index(index))

    def set_state(self, index: int, state: bytes) -> None:
        """Continues a machine from a state of a machine with the same ROM and task.

        Its row of the arrays shows what that state's agent saw. Its stream of random numbers
        stays its own: later episodes do not repeat the other's.

        Raises:
            StateError: the state is damaged or does not fit; nothing changed.
            MachineIndexError, PoolOrderError: as `get_state`.
        """
        if not isinstance(state, bytes | bytearray | memoryview):
            raise ArgumentTypeError(f"a state is bytes, not {type(state).__name__}")
        self._engine.set_state(_index(index), bytes(state))

    def fork(self, src: int, dst: int) -> None:
        """Makes machine `dst` a copy of machine `src`, as `get_state` and `set_state` would.

        Raises:
            StateError: they play different games or tasks.
            MachineIndexError, PoolOrderError: as `get_state`.
        """
        self._engine.fork(_index(src), _index(dst))

    @property
    def streams(self) -> list[tuple[int, int]]:
        """Each machine's stream of random numbers and the number of its next episode. With
        the states of all machines it is all that later steps depend on. Setting it goes on
        with the streams of another pool from the next episodes on.

        Raises:
            ArgumentError: there is not one for each machine.
            PoolOrderError: a machine was sent an action and not received yet.
        """
        return self._engine.streams()

    @streams.setter
    def streams(self, streams: Sequence[tuple[int, int]]) -> None:
        self._engine.resume_streams(list(streams))

    @property
    def episode_seeds(self) -> list[int | None]:
        """The seed of each machine's present episode, with which a single environment plays
        the same (``options={"episode_seed": seed}``); None before a machine's first."""
        return self._engine.episode_seeds()

    def set_start(self, index: int, start_state: StartState) -> None:
        """Sets where the later episodes of one machine start; ``"usual"``: as it was made.

        Raises:
            StateError: the start state cannot be read or does not fit.
            MachineIndexError: there is no such machine.
        """
        index = _index(index)
        if isinstance(start_state, str) and start_state == "usual":
            self._engine.set_start(index)
        elif isinstance(start_state, str) and start_state in self._setup.start_names(index):
            self._engine.set_start(index, name=start_state)
        else:
            start = start_point(start_state, self._setup.recipe(index))
            if start.state is None:
                raise StateError(
                    "power_on is only available as a start if the pool was made with it"
                )
            self._engine.set_start(index, state=start.state)

    # -- looking in ------------------------------------------------------------------

    def ram(self, index: int) -> npt.NDArray[np.uint8]:
        """A machine's address space as its program would read it, (65536,) uint8, a new array:
        ``pool.ram(3)[0xD356]``."""
        return self._engine.ram(_index(index))

    def screens(self) -> npt.NDArray[np.uint8]:
        """The pictures that the machines drew last, (num_envs, 144, 160) uint8, a new array:
        shades 0 (white) to 3 (black), 4: nothing drawn. A task whose observation has no
        pictures draws none unless it is given ``render=True``."""
        out = np.empty((self.num_envs, self._engine.screen_len), np.uint8)
        self._engine.screens(out)
        if self._task is None:
            return out
        return out.reshape(self.num_envs, *_SCREEN_SHAPE)

    # -- ends ------------------------------------------------------------------------

    def close(self) -> None:
        """Ends threads and worker processes; doing it again changes nothing. The arrays stay
        readable while somebody holds them."""
        self._finalizer()

    @property
    def closed(self) -> bool:
        """Whether the pool was closed."""
        return self._engine.closed

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self.num_envs

    def __repr__(self) -> str:
        what = "dummies" if self._task is None else f"task {self._task.name!r}"
        ends = ", closed" if self.closed else ""
        return (
            f"<emurust.Pool of {self.num_envs} machines, {what}, "
            f"{self.num_workers} {self.backend}{ends}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        if self._buffers is not None:
            raise ArgumentTypeError(
                "a pool that writes to buffers of its caller cannot be pickled; make it with "
                "buffers=None"
            )
        return _unpickle, (type(self), self._setup.plain(), self._options)

    # -- helpers ---------------------------------------------------------------------

    def _starts_for_each(self, start: Any) -> Sequence[Any]:
        if isinstance(start, list | tuple):
            if len(start) != self.num_envs:
                raise ArgumentError(
                    f"start_state has {len(start)} entries for {self.num_envs} machines"
                )
            return start
        return [start] * self.num_envs

    def _check_mask(self, mask: Any) -> list[bool] | None:
        if mask is None:
            return None
        mask = np.asarray(mask)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ArgumentError(
                f"reset_mask must be a bool array of shape ({self.num_envs},), "
                f"not {mask.dtype} of shape {mask.shape}"
            )
        return mask.tolist()  # type: ignore[no-any-return]


class _Results:
    """Arrays over results, put together once in the form in which they are returned."""

    def __init__(self, arrays: dict[str, Array], names: list[str], task: Task | None) -> None:
        self.records = arrays["observations"]
        self.info_records = arrays["infos"]
        self.observations = self._observations(self.records, task)
        self.infos: dict[str, Any] = {
            name: arrays["infos"][:, column] for column, name in enumerate(names)
        }
        if arrays["watch"].shape[1]:
            self.infos["watch"] = arrays["watch"]
        self.infos["lost"] = arrays["lost"]
        if "final_observations" in arrays:
            self.infos["final_observation"] = self._observations(arrays["final_observations"], task)
            self.infos["final_info"] = {
                name: arrays["final_infos"][:, column] for column, name in enumerate(names)
            }
            if arrays["watch"].shape[1]:
                self.infos["final_watch"] = arrays["final_watch"]
        self.results: Results = (
            self.observations,
            arrays["rewards"],
            arrays["terminations"],
            arrays["truncations"],
            self.infos,
        )

    @staticmethod
    def _observations(records: Array, task: Task | None) -> Observations:
        return records if task is None else observation(task, records)


class _Setup:
    """What the machines are made of: each ROM, task and set of start states once."""

    def __init__(self, dummies: dict[str, Any] | None = None) -> None:
        self.dummies = dummies
        self.roms: list[Rom] = []
        self.recipes: list[TaskRecipe] = []
        self.tasks: list[Task] = []
        self.configs: list[tuple[int, int, tuple[StartPoint, ...]]] = []
        self.assignment: list[int] = []
        self._rom_numbers: dict[int, int] = {}
        self._config_numbers: dict[Any, int] = {}
        self._compiled: dict[Any, int] = {}

    @property
    def machines(self) -> int:
        if self.dummies is not None:
            return int(self.dummies["machines"])
        return len(self.assignment)

    def add(
        self,
        rom: Rom,
        source: TaskSource,
        start: StartState | Sequence[StartState] | None,
        options: Mapping[str, Any],
    ) -> None:
        """Adds a machine."""
        key = (rom.fingerprint, _key(source), _key(start))
        if key not in self._config_numbers:
            rom_number = self._rom_numbers.setdefault(rom.fingerprint, len(self.roms))
            if rom_number == len(self.roms):
                self.roms.append(rom)
            task_number = self._task(rom, source, options)
            starts = start_points(start, rom, self.tasks[task_number], self.recipes[task_number])
            self._config_numbers[key] = len(self.configs)
            self.configs.append((rom_number, task_number, starts))
        self.assignment.append(self._config_numbers[key])

    def _task(self, rom: Rom, source: TaskSource, options: Mapping[str, Any]) -> int:
        # The ROM decides about map offsets.
        key = (rom.fingerprint, _key(source))
        if key not in self._compiled:
            made = (
                source.with_options(**options)
                if isinstance(source, TaskRecipe)
                else recipe(source, rom=rom, **options)
            )
            task = made.compile()
            check_cartridge(task, rom)
            self._compiled[key] = len(self.tasks)
            self.recipes.append(made)
            self.tasks.append(task)
        return self._compiled[key]

    def start_names(self, index: int) -> list[str]:
        if self.dummies is not None:
            return ["zero"]
        if index >= len(self.assignment):
            return []
        return [start.name for start in self.configs[self.assignment[index]][2]]

    def recipe(self, index: int) -> TaskRecipe:
        """The task of a machine; of one that does not exist, the first's."""
        if self.dummies is not None:
            return TaskRecipe("name = 'dummy'", "dummy")
        index = index if index < len(self.assignment) else 0
        return self.recipes[self.configs[self.assignment[index]][1]]

    def engine(
        self, options: Mapping[str, Any], buffers: tuple[Array, Array, Array, Array] | None
    ) -> PoolEngine:
        common = {"worker_command": _worker_command(), "buffers": buffers, **options}
        if self.dummies is not None:
            return PoolEngine.dummies(**self.dummies, **common)
        configs = []
        for rom_number, task_number, starts in self.configs:
            made = self.recipes[task_number]
            configs.append(
                (
                    rom_number,
                    made.text,
                    made.file_name,
                    made.symbols,
                    dict(made.options),
                    [(start.name, start.state) for start in starts],
                )
            )
        images = [rom.image() for rom in self.roms]
        return PoolEngine.games(images, configs, self.assignment, **common)

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "dummies": self.dummies,
            "roms": [rom.image() for rom in self.roms],
            "recipes": self.recipes,
            "configs": self.configs,
            "assignment": self.assignment,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> _Setup:
        setup = cls(plain["dummies"])
        setup.roms = [Rom(image) for image in plain["roms"]]
        setup.recipes = list(plain["recipes"])
        setup.tasks = [made.compile() for made in setup.recipes]
        setup.configs = list(plain["configs"])
        setup.assignment = list(plain["assignment"])
        return setup


def _unpickle(cls: type[Pool], plain: Mapping[str, Any], options: dict[str, Any]) -> Pool:
    pool = cls.__new__(cls)
    pool._setup = _Setup.from_plain(plain)
    pool._task = pool._setup.tasks[0] if pool._setup.tasks else None
    pool._options = options
    pool._start(None)
    return pool


def episode_seed(seed: int, index: int, episode: int) -> int:
    """The seed of an episode in a pool that was reset with `seed`: of the machine with that
    number, the `episode`th since then (from 0). Seeds given to each machine alone count as
    machine 0 of theirs."""
    return _emurust.episode_seed(seed, index, episode)


def checked_seed(name: str, seed: Any) -> int:
    """The seed as a number.

    Args:
        name: what to call it in the error.

    Raises:
        ArgumentError: it is none.
    """
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= seed < 2**64:
        raise ArgumentError(f"{name} must be an integer from 0 to 2**64 - 1, not {seed!r}")
    return int(seed)


def start_index(episode_seed: int, count: int) -> int:
    """Which of `count` start states the episode with that seed takes."""
    return _emurust.start_index(episode_seed, count)


def _worker_command() -> list[str]:
    """What a worker process runs: see `emurust._worker`."""
    worker = Path(__file__).with_name("_worker.py")
    module = _emurust.__file__
    return [sys.executable, "-I", "-S", os.fspath(worker), os.fspath(module)]


def _worker_count(backend: str, num_threads: int | None, num_workers: int | None) -> int | None:
    names = {"threads": "num_threads", "processes": "num_workers"}
    counts = {"num_threads": num_threads, "num_workers": num_workers}
    if backend not in names:
        raise ArgumentError(f"backend must be 'threads' or 'processes', not {backend!r}")
    name = names[backend]
    other = next(given for given in counts if given != name)
    if counts[other] is not None:
        raise ArgumentError(f"backend {backend!r} takes {name}, not {other}")
    count = counts[name]
    return None if count is None else _whole(name, count, 1)


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ArgumentTypeError(f"{name} must be an integer, not {type(value).__name__}")
    if value < least:
        raise ArgumentError(f"{name} must be {least} or more, not {value}")
    return int(value)


def _index(value: Any) -> int:
    return _whole("the number of a machine", value, 0)


def _for_each(name: str, value: Any, count: int) -> list[Any]:
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ArgumentError(f"{name} has {len(value)} entries for {count} machines")
    return list(value)


def _load_roms(sources: list[RomSource]) -> list[Rom]:
    """A ROM for each source; equal paths and the same objects are read once."""
    loaded: dict[Any, Rom] = {}
    roms = []
    for source in sources:
        key = source if isinstance(source, str | os.PathLike) else id(source)
        if key not in loaded:
            loaded[key] = load_rom(source)
        roms.append(loaded[key])
    return roms


def _key(value: Any) -> Any:
    """Something to tell sources apart by."""
    if isinstance(value, list | tuple):
        return tuple(_key(one) for one in value)
    if isinstance(value, TaskRecipe):
        return id(value)
    return value


def _integers(name: str, values: npt.ArrayLike) -> Array:
    """A one-dimensional array of integers; its length is the engine's to check."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ArgumentTypeError(f"{name} must be integers, not {array.dtype}")
    if array.ndim != 1:
        raise ArgumentError(f"{name} must have one dimension, not the shape {array.shape}")
    return array


def _seeds(seed: Any) -> tuple[int | None, list[int] | None]:
    if seed is None:
        return None, None
    if isinstance(seed, list | tuple | np.ndarray):
        return None, [_whole("a seed", one, 0) for one in seed]
    return _whole("seed", seed, 0), None


_BUFFERS = {
    "observations": np.uint8,
    "rewards": np.float32,
    "terminations": np.bool_,
    "truncations": np.bool_,
}


def _check_buffers(buffers: Mapping[str, Array]) -> tuple[Array, Array, Array, Array]:
    if set(buffers) != set(_BUFFERS):
        raise ArgumentError(
            f"buffers must have exactly the arrays {', '.join(_BUFFERS)}, "
            f"not {', '.join(map(str, buffers))}"
        )
    rows = None
    for name, dtype in _BUFFERS.items():
        array = buffers[name]
        if not isinstance(array, np.ndarray):
            raise ArgumentTypeError(
                f"the buffer for {name} must be a numpy array, not {type(array).__name__}"
            )
        if array.dtype != dtype:
            raise ArgumentTypeError(
                f"the buffer for {name} must be {np.dtype(dtype)}, not {array.dtype}"
            )
        if not (array.flags.c_contiguous and array.flags.aligned):
            raise ArgumentError(f"the buffer for {name} must be contiguous and aligned")
        if not array.flags.writeable:
            raise ArgumentError(f"the buffer for {name} must be writeable")
        if name == "observations":
            if array.ndim < 2:
                raise ArgumentError(
                    "the buffer for observations must have a row for each machine, "
                    f"not the shape {array.shape}"
                )
            rows = array.shape[0]
        elif array.shape != (rows,):
            raise ArgumentError(
                f"the buffer for {name} must have the shape ({rows},), not {array.shape}"
            )
    observations = buffers["observations"]
    return (
        observations.reshape(observations.shape[0], -1),
        buffers["rewards"],
        buffers["terminations"],
        buffers["truncations"],
    )
