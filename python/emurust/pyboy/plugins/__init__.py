"""Game wrappers: what is known about single games."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emurust.pyboy.plugins.base_plugin import PyBoyGameWrapper
from emurust.pyboy.plugins.game_wrapper2048 import GameWrapper2048
from emurust.pyboy.plugins.game_wrapper_kirby_dream_land import GameWrapperKirbyDreamLand
from emurust.pyboy.plugins.game_wrapper_pandoras_blocks import GameWrapperPandorasBlocks
from emurust.pyboy.plugins.game_wrapper_pokemon_gen1 import GameWrapperPokemonGen1
from emurust.pyboy.plugins.game_wrapper_pokemon_pinball import GameWrapperPokemonPinball
from emurust.pyboy.plugins.game_wrapper_super_mario_bros_deluxe import (
    GameWrapperSuperMarioBrosDeluxe,
)
from emurust.pyboy.plugins.game_wrapper_super_mario_land import GameWrapperSuperMarioLand
from emurust.pyboy.plugins.game_wrapper_tetris import GameWrapperTetris

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["PyBoyGameWrapper", "wrapper_for"]

_WRAPPERS: dict[str, type[PyBoyGameWrapper]] = {
    "TETRIS": GameWrapperTetris,
    "SUPER MARIOLAND": GameWrapperSuperMarioLand,
    "MARIO DELUXAHY": GameWrapperSuperMarioBrosDeluxe,
    "KIRBY DREAM LAN": GameWrapperKirbyDreamLand,
    "POKEMON RED": GameWrapperPokemonGen1,
    "POKEMON BLUE": GameWrapperPokemonGen1,
    "POKEPINBALLVPH": GameWrapperPokemonPinball,
    "DMGTRIS": GameWrapperPandorasBlocks,
    "2048": GameWrapper2048,
}


def wrapper_for(pyboy: PyBoy) -> Any:
    """The wrapper for the game that is running, by its title, or the generic one."""
    return _WRAPPERS.get(pyboy.cartridge_title, PyBoyGameWrapper)(pyboy)
