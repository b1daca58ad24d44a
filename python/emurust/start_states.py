"""Where episodes start: what a user may name, and the states behind it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from emurust._emurust import Rom, Task
from emurust.errors import ArgumentError, ArgumentTypeError, StateError
from emurust.gameboy import GameBoy
from emurust.tasks import TaskRecipe

__all__ = ["POWER_ON", "StartPoint", "StartState", "start_point", "start_points"]

StartState: TypeAlias = str | os.PathLike[str] | bytes
"""Where an episode starts: ``"power_on"``, the name of one of the task's start states, a path
of a state saved by `GameBoy.save_state`, or its bytes."""

POWER_ON = "power_on"


class StartPoint(NamedTuple):
    """A start state and its name; without a state: just switched on."""

    name: str
    state: bytes | None


def start_points(
    start: StartState | Sequence[StartState] | None, rom: Rom, task: Task, recipe: TaskRecipe
) -> tuple[StartPoint, ...]:
    """The start states that a user asks for with one value, a list, or None.

    None is the task's own start: its default start state, the end of its start script, for task
    ``"pokemon"`` the moment at which the hero can first be moved, else power-on. What has to be
    played to get there is played once per process.

    Raises:
        ArgumentError: the list is empty.
        ArgumentTypeError: something is neither a name nor a path nor bytes.
        StateError: a start state cannot be read.
        TaskFileError: the file of one of the task's start states cannot be read.
        IntroError: the intro did not lead to a hero that can be moved.
    """
    if start is None:
        return (_task_start(rom, task, recipe),)
    if isinstance(start, list | tuple):
        if not start:
            raise ArgumentError("start_state is an empty list; give at least one start state")
        return tuple(start_point(one, recipe) for one in start)
    return (start_point(start, recipe),)  # type: ignore[arg-type]


def start_point(start: StartState, recipe: TaskRecipe) -> StartPoint:
    """The start state that a user asks for; errors as those of `start_points`."""
    if isinstance(start, bytes | bytearray | memoryview):
        return StartPoint("given", bytes(start))
    if not isinstance(start, str | os.PathLike):
        raise ArgumentTypeError(
            f"a start state is a name, a path or bytes, not {type(start).__name__}"
        )
    if start == POWER_ON:
        return StartPoint(POWER_ON, None)
    name = os.fspath(start)
    names = recipe.start_state_names()
    if name in names:
        return StartPoint(name, recipe.start_state(name))
    try:
        return StartPoint(name, Path(start).read_bytes())
    except OSError as error:
        known = ", ".join([POWER_ON, *names])
        raise StateError(
            f"the start state {name} is none of the task's ({known}) and cannot be read as a "
            f"file: {error.strerror}"
        ) from error


_played: dict[tuple[int, str], bytes] = {}
"""States that had to be played to, by the ROM's fingerprint and the task file."""


def _task_start(rom: Rom, task: Task, recipe: TaskRecipe) -> StartPoint:
    if task.default_start is not None:
        return start_point(task.default_start, recipe)
    if not task.has_start_script and task.name != "pokemon":
        return StartPoint(POWER_ON, None)
    key = rom.fingerprint, recipe.text
    if key not in _played:
        gameboy = GameBoy(rom)
        if task.has_start_script:
            task.play_start_script(gameboy._machine)
        else:
            from emurust.envs.intro import play_intro

            play_intro(gameboy)
            # Drawn once, so that the first observation is not black.
            gameboy.tick(1, True)
        _played[key] = gameboy.get_state()
    return StartPoint("script" if task.has_start_script else "intro", _played[key])
