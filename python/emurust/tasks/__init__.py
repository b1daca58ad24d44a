"""Tasks: what to observe, what to reward and when an episode ends, described in files.

    >>> from emurust import tasks
    >>> task = tasks.load("pokemon", observation="packed", reward_weights={"level": 1})

A task file (TOML) is compiled once and played by any number of machines; docs/tasks.md
describes the format. `emurust.tasks.reference` is the same in plain Python, for PyBoy.
"""

from emurust._emurust import Episode, Task
from emurust.tasks.cartridges import CartridgeWarning, check_cartridge, recognise
from emurust.tasks.errors import (
    TaskCartridgeError,
    TaskError,
    TaskFileError,
    TaskNotFoundError,
    TaskOptionError,
)
from emurust.tasks.files import TaskRecipe, load, read_map_offsets, recipe, task_names
from emurust.tasks.ram_search import RamSearch
from emurust.tasks.records import action_space, observation, observation_space, views

__all__ = [
    "CartridgeWarning",
    "Episode",
    "RamSearch",
    "Task",
    "TaskCartridgeError",
    "TaskError",
    "TaskFileError",
    "TaskNotFoundError",
    "TaskOptionError",
    "TaskRecipe",
    "action_space",
    "check_cartridge",
    "load",
    "observation",
    "observation_space",
    "read_map_offsets",
    "recipe",
    "recognise",
    "task_names",
    "views",
]
