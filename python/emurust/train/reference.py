"""The task that the options describe, for the reference environment on PyBoy."""

from __future__ import annotations

from emurust._emurust import Rom
from emurust.rom import load_rom
from emurust.start_states import start_points
from emurust.tasks import TaskRecipe
from emurust.tasks import recipe as make_recipe
from emurust.train.build import pool_options
from emurust.train.config import Config
from emurust.verify.reference_environment import start_on_pyboy

__all__ = ["reference_setup"]


def reference_setup(config: Config) -> tuple[Rom, TaskRecipe, list[bytes]]:
    """Cartridge, task and start states (as PyBoy's files) for `ReferenceEnvironment`."""
    options = pool_options(config)
    start = options.pop("start_state", None)
    rom = load_rom(options.pop("rom"))
    recipe = make_recipe(options.pop("task"), rom=rom, **options)
    points = start_points(start, rom, recipe.compile(), recipe)
    return rom, recipe, [start_on_pyboy(rom, point) for point in points]
