"""Games whose wrappers PyBoy has and EmuRust does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from emurust.pyboy.plugins.base_plugin import PyBoyGameWrapper
from emurust.pyboy.utils import UnavailableError

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["GAMES_NOT_WRAPPED", "NotWrapped"]

#: By cartridge title: the game, and why it is missing.
GAMES_NOT_WRAPPED = {
    "MARIO DELUXAHY": ("Super Mario Bros. Deluxe", "it is a Game Boy Color game"),
}


class NotWrapped(PyBoyGameWrapper):
    """The generic wrapper, for a game that PyBoy knows more of.

    What is generic works; whatever else PyBoy's wrapper may have raises.

    Raises:
        UnavailableError: by `start_game`, `reset_game`, `game_over` and every name that the
            generic wrapper lacks.
    """

    def __init__(self, pyboy: PyBoy) -> None:
        self._game, self._reason = GAMES_NOT_WRAPPED[pyboy.cartridge_title]
        super().__init__(pyboy)

    def _raise(self, name: str) -> NoReturn:
        raise UnavailableError(
            f"there is no game_wrapper.{name} for {self._game}: {self._reason}. "
            "Read the game's numbers with PyBoy.memory; game_area is there"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self._raise(name)

    def start_game(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises UnavailableError."""
        self._raise("start_game")

    def reset_game(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises UnavailableError."""
        self._raise("reset_game")

    def game_over(self) -> NoReturn:
        """Raises UnavailableError."""
        self._raise("game_over")
