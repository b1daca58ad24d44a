"""What the wrappers of single games have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from emurust.pyboy.api.constants import TILES
from emurust.pyboy.plugins.base_plugin import PyBoyGameWrapper
from emurust.pyboy.plugins.game_values import Value
from emurust.pyboy.utils import PyBoyException

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["KnownGame", "group_tiles"]

_LONGEST_WAIT = 60 * 60


class KnownGame(PyBoyGameWrapper):
    """A game of which it is known where it keeps its numbers.

    Subclasses describe them in `values`; they are attributes, read after each tick.
    """

    title: ClassVar[str]
    section: ClassVar[tuple[int, int, int, int]]
    follows_scrolling: ClassVar[bool] = False
    values: ClassVar[Mapping[str, Value]] = {}
    labels: ClassVar[Mapping[str, str]] = {}
    """What `print` calls the attributes it shows."""

    def __init__(self, pyboy: PyBoy) -> None:
        super().__init__(pyboy, self.section, self.follows_scrolling)
        for name, value in self.values.items():
            setattr(self, name, value.initial)

    def post_tick(self) -> None:
        """Reads the attributes anew; called after each `PyBoy.tick`."""
        super().post_tick()
        for name, value in self.values.items():
            setattr(self, name, value.read(self.pyboy))

    def _check_not_started(self) -> None:
        if self.game_has_started:
            raise PyBoyException("the game was started before; go back with reset_game")

    def _wait_for_background(self, columns: slice, row: int, tiles: Sequence[int]) -> None:
        """Runs, one frame at least, until the background shows `tiles`."""
        self.pyboy.tick(1, False)
        self._wait_until(lambda: self.pyboy.tilemap_background[columns, row] == tiles)

    def _wait_until(
        self,
        is_so: Callable[[], bool],
        *,
        frames: int = 1,
        each: Callable[[], object] | None = None,
    ) -> None:
        """Runs so many frames at a time until something is so, perhaps none.

        `each` is called before each time.
        """
        for _ in range(0, _LONGEST_WAIT, frames):
            if is_so():
                return
            if each is not None:
                each()
            self.pyboy.tick(frames, False)
        raise PyBoyException(
            f"{self.title} did not come to where it starts from within {_LONGEST_WAIT} frames; "
            "start_game is for a game that was just switched on"
        )

    def _press(self, button: str, frames: int) -> None:
        self.pyboy.button(button)
        self.pyboy.tick(frames, False)

    def _headline(self) -> str:
        return f"{self.title}:"

    def _summary(self) -> list[str]:
        """What `print` shows before the area."""
        lines = [f"{label}: {getattr(self, name)}" for name, label in self.labels.items()]
        return [self._headline(), *lines]

    def __repr__(self) -> str:
        return "\n".join([*self._summary(), super().__repr__()])


def group_tiles(
    groups: Iterable[Iterable[int]], *, others: int = 0, first: int = 1
) -> npt.NDArray[np.uint8]:
    """A mapping for `game_area`: the tiles of the first group become `first`, and so on."""
    mapping = np.full(TILES, others, dtype=np.uint8)
    for number, tiles in enumerate(groups, first):
        mapping[list(tiles)] = number
    return mapping
