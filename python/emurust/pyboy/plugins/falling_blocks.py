"""What the wrappers of games of falling blocks have in common."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from emurust.pyboy.plugins.known_game import KnownGame

__all__ = ["FallingBlocksGame"]


class FallingBlocksGame(KnownGame):
    """A game whose area is a well of 10 by 18 cells, and that counts score, level and lines."""

    section = (2, 0, 10, 18)
    labels: ClassVar[dict[str, str]] = {"score": "Score", "level": "Level", "lines": "Lines"}

    score: int
    level: int
    lines: int

    def _game_area_tiles(self) -> npt.NDArray[np.uint32]:
        # The well, wherever else the section was moved to.
        if self._tiles is None:
            tiles = self.pyboy.tilemap_background._area(slice(2, 12), slice(0, 18))
            self._tiles = np.asarray(tiles, dtype=np.uint32)
        return self._tiles
