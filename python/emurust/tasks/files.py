"""Finding tasks, symbols and maps, and putting them together into a task.

The shipped task files lie beside this module. A `TaskRecipe` is a task as plain data: it
pickles, and any process can compile it.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from emurust._emurust import Rom, Task
from emurust.errors import DependencyError
from emurust.tasks.errors import TaskFileError, TaskNotFoundError, TaskOptionError
from emurust.tasks.reference import ReferenceTask, Watch, read_symbols

__all__ = ["MapOffsets", "TaskRecipe", "load", "read_map_offsets", "recipe", "task_names"]

PathLike: TypeAlias = str | os.PathLike[str]
MapOffsets: TypeAlias = Mapping[int, tuple[int, int]]

_TASKS = Path(__file__).parent
_POKEMON_MAPS = _TASKS / "maps" / "pokemon_red.json"
_SHIPPED_MAPS = _TASKS.parent / "data" / "cartridge_maps.json"
_MAPS_BY_TITLE = {
    "POKEMON RED": _POKEMON_MAPS,
    "POKEMON BLUE": _POKEMON_MAPS,
    "KITHWILD": _SHIPPED_MAPS,
}


@dataclass(frozen=True)
class TaskRecipe:
    """A task as plain data.

    Args:
        text: the task file.
        file_name: its name, for messages.
        symbols: text and name of a `.sym` file.
        options: the options, by name.
        directory: the folder of the task file, where its start states are looked for.
    """

    text: str
    file_name: str
    symbols: tuple[str, str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    directory: str = ""

    def compile(self) -> Task:
        """The task.

        Raises:
            TaskFileError: the task file or the symbol file is wrong; the message starts
                with its name, the line and the field.
            TaskOptionError: an option is wrong.
        """
        task = Task.from_toml(self.text, self.file_name, self.symbols)
        return task.with_options(**self.options)

    def reference(self) -> ReferenceTask:
        """The same task for the reference implementation in plain Python."""
        options = {name: value for name, value in self.options.items() if name != "render"}
        symbols = {} if self.symbols is None else read_symbols(self.symbols[0])
        return ReferenceTask(_read_toml(self.text), symbols, **options)

    def with_options(self, **options: Any) -> TaskRecipe:
        """The recipe with some options changed."""
        changed = dict(self.options) | _given(options)
        return replace(self, options=changed)

    def start_state_names(self) -> list[str]:
        """Names of the task's start states."""
        return [name for name, _ in self.compile().start_states]

    def start_state(self, name: str) -> bytes:
        """The bytes of one of the task's start states.

        Raises:
            TaskOptionError: the task has no start state of that name.
            TaskFileError: its file cannot be read.
        """
        known = dict(self.compile().start_states)
        if name not in known:
            raise TaskOptionError(
                f"option start_state: {name!r} is unknown; "
                f"expected {', '.join(known) or 'none, the task has no start states'}"
            )
        path = Path(self.directory) / known[name]
        try:
            return path.read_bytes()
        except OSError as error:
            raise TaskFileError(
                f"{self.file_name}: start.states.{name}: {path} cannot be read: {error.strerror}"
            ) from None


def task_names() -> list[str]:
    """Names of the shipped tasks."""
    return sorted(path.stem for path in _TASKS.glob("*.toml"))


def load(task: PathLike = "pokemon", **options: Any) -> Task:
    """The task of that name or file, compiled; see `recipe` for the options and errors."""
    return recipe(task, **options).compile()


def recipe(
    task: PathLike = "pokemon",
    *,
    rom: Rom | None = None,
    symbols: PathLike | None = None,
    observation: str | None = None,
    frame_skip: int | None = None,
    hold_frames: int | None = None,
    frame_stack: int | None = None,
    resolution: str | None = None,
    reward_weights: Mapping[str, float] | None = None,
    reward_scale: float | None = None,
    max_steps: int | None = None,
    watch: Sequence[Watch] | None = None,
    map_offsets: MapOffsets | PathLike | None = None,
    render: bool | None = None,
) -> TaskRecipe:
    """The task of that name or file, with options.

    Args:
        task: name of a shipped task (see `task_names`), or the path of a task file.
        rom: the cartridge it will be played on. If the task has a world map, the places
            of the maps of known cartridges are filled in (`map_offsets` overrides them).
        symbols: path of a `.sym` file that resolves names of addresses.
        observation: ``"dict"`` all fields; ``"screen"`` only the pictures, one Box;
            ``"ram"`` all but the pictures; ``"all"`` all fields as one flat uint8 Box;
            ``"packed"`` the same in few bytes: 2 bits a pixel, 1 bit a flag.
        frame_skip: frames per step, 1 to 10,000. 0 runs none, to measure the overhead.
        hold_frames: frames for which an action's buttons are held, 1 to `frame_skip`.
        frame_stack: number of recent pictures, 1 to 16.
        resolution: ``"full"`` (144 x 160) or ``"half"`` (72 x 80: means of 2 x 2 pixels, or
            every second pixel when packed).
        reward_weights: weights by reward term; terms not named keep the file's.
        reward_scale: factor on every weight.
        max_steps: steps until an episode is truncated; 0: never.
        watch: RAM to hand out each step: addresses, names of variables or symbols, or
            (address, length).
        map_offsets: column and row of each map in the world by map number, or the path of
            a JSON file (see `read_map_offsets`).
        render: draw each step's last frame even when the observation does not show it.

    Raises:
        TaskNotFoundError: there is no such task.
        TaskFileError: a file cannot be read as text, or the map file is wrong.
    """
    path = _find(task)
    text = _read_text(path, "task file")
    symbol_file = None
    if symbols is not None:
        symbol_file = (_read_text(Path(symbols), "symbol file"), Path(symbols).name)
    options = _given(
        {
            "observation": observation,
            "frame_skip": frame_skip,
            "hold_frames": hold_frames,
            "frame_stack": frame_stack,
            "resolution": resolution,
            "reward_weights": None if reward_weights is None else dict(reward_weights),
            "reward_scale": reward_scale,
            "max_steps": max_steps,
            "watch": None if watch is None else list(watch),
            "render": render,
        }
    )
    if map_offsets is None:
        shipped = None if rom is None else _MAPS_BY_TITLE.get(rom.title)
        if (
            shipped is not None
            and shipped.is_file()
            and Task.from_toml(text, path.name, symbol_file).has_world
        ):
            options["map_offsets"] = read_map_offsets(shipped)
    elif isinstance(map_offsets, Mapping):
        options["map_offsets"] = dict(map_offsets)
    else:
        options["map_offsets"] = read_map_offsets(map_offsets)
    return TaskRecipe(text, path.name, symbol_file, options, os.fspath(path.parent))


def read_map_offsets(path: PathLike) -> dict[int, tuple[int, int]]:
    """Column and row of each map in the world, by map number, from a JSON file.

    Two forms are understood: ``{"maps": [{"id": 0, "x": 1, "y": 2}, ...]}``, and
    PokemonRedExperiments' ``{"regions": [{"id": "0", "coordinates": [1, 2]}, ...]}``.
    Other fields are ignored, and so are map numbers below 0.

    Raises:
        TaskFileError: the file cannot be read or has another form.
    """
    path = Path(path)
    text = _read_text(path, "map file")
    try:
        content = json.loads(text)
        if "maps" in content:
            offsets = {int(m["id"]): (int(m["x"]), int(m["y"])) for m in content["maps"]}
        else:
            offsets = {
                int(region["id"]): (int(region["coordinates"][0]), int(region["coordinates"][1]))
                for region in content["regions"]
            }
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise TaskFileError(
            f"{path.name}: not a map file ({error}); "
            'expected {"maps": [{"id": 0, "x": 1, "y": 2}]}'
        ) from None
    return {number: offset for number, offset in offsets.items() if number >= 0}


def known_maps(title: str) -> list[dict[str, Any]]:
    """The maps of a known cartridge, by its header's title; of others none.

    Returns:
        For each map a dict with at least ``id``, ``x`` and ``y``, its place in the world, and
        ``width`` and ``height``, all in walking steps.
    """
    path = _MAPS_BY_TITLE.get(title)
    if path is None or not path.is_file():
        return []
    maps: list[dict[str, Any]] = json.loads(_read_text(path, "map file"))["maps"]
    return maps


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _find(task: PathLike) -> Path:
    if isinstance(task, str) and task in task_names():
        return _TASKS / f"{task}.toml"
    path = Path(task)
    if path.is_file():
        return path
    raise TaskNotFoundError(
        f"there is no task {os.fspath(task)!r}; expected one of {', '.join(task_names())}, "
        "or the path of a task file"
    )


def _read_text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskFileError(f"{path.name}: the {what} cannot be read: {error}") from None


def _read_toml(text: str) -> dict[str, Any]:
    try:
        toml = importlib.import_module("tomllib")
    except ImportError:  # Python 3.10
        try:
            toml = importlib.import_module("tomli")
        except ImportError:
            raise DependencyError(
                "the reference implementation needs tomli on Python 3.10: pip install tomli"
            ) from None
    content: dict[str, Any] = toml.loads(text)
    return content
