"""Kirby's Dream Land."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from emurust.pyboy.plugins.game_values import Byte, Digits, Value
from emurust.pyboy.plugins.known_game import KnownGame

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["GameWrapperKirbyDreamLand"]

_TRANSITION_FRAMES = 60


class GameWrapperKirbyDreamLand(KnownGame):
    """Kirby's Dream Land: the area is the screen above the status lines.

    Attributes:
        score: in points.
        health: in bars.
        lives_left: without the one being played.
    """

    title = "Kirby Dream Land"
    cartridge_title = "KIRBY DREAM LAN"
    section = (0, 0, 20, 16)
    follows_scrolling = True
    values: ClassVar[dict[str, Value]] = {
        "score": Digits(0xD070, 4, times=10),
        "health": Byte(0xD086),
        "lives_left": Byte(0xD089, plus=-1),
    }
    labels: ClassVar[dict[str, str]] = {
        "score": "Score",
        "health": "Health",
        "lives_left": "Lives left",
    }

    score: int
    health: int
    lives_left: int

    def __init__(self, pyboy: PyBoy) -> None:
        super().__init__(pyboy)
        self._game_over = False

    def post_tick(self) -> None:
        """Reads the attributes anew; called after each `PyBoy.tick`."""
        lives_before, health_before = self.lives_left, self.health
        super().post_tick()
        if lives_before == 0 and health_before > 0 and self.health == 0:
            self._game_over = True

    def start_game(self, timer_div: int | None = None) -> None:
        """Goes through the title and the introduction to the first level.

        Raises:
            PyBoyException: it was called before.
        """
        self._check_not_started()
        self._wait_for_background(slice(0, 3), 16, [231, 224, 235])  # HAL
        self.pyboy.tick(25, False)
        for _ in range(2):
            self.pyboy.button("start")
            self.pyboy.tick()
            self.pyboy.tick(_TRANSITION_FRAMES, False)
        super().start_game(timer_div)

    def reset_game(self, timer_div: int | None = None) -> None:
        """Goes back to where `start_game` ended."""
        self._game_over = False
        super().reset_game(timer_div)

    def game_over(self) -> bool:
        """The last life's health was seen to run out since the game began."""
        return self._game_over
