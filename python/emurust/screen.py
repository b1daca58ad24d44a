"""The frame of a machine, as PyBoy's `pyboy.screen` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from emurust.errors import DependencyError

if TYPE_CHECKING:
    from PIL.Image import Image

    from emurust._emurust import Machine

__all__ = ["GREY_OF_SHADE", "SCREEN_HEIGHT", "SCREEN_WIDTH", "Screen", "rgb"]

SCREEN_HEIGHT = 144
SCREEN_WIDTH = 160

GREY_OF_SHADE = np.array([255, 153, 85, 0, 0], dtype=np.uint8)
"""The grey of each of `Screen.shades`; where nothing was drawn yet it is black."""


def rgb(shades: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Shades as red, green and blue in one more axis, (..., 3) uint8: a new array."""
    return np.repeat(GREY_OF_SHADE[shades][..., np.newaxis], 3, axis=-1)


class Screen:
    """The frame of one machine; reached as `GameBoy.screen`.

    The arrays are live: they show the latest rendered frame without being fetched
    again. Copy what must not change. While somebody holds `ndarray`, each rendered
    tick pays for filling it (a few microseconds); `shades` is cheaper.
    """

    raw_buffer_dims = (SCREEN_HEIGHT, SCREEN_WIDTH)
    raw_buffer_format = "RGBA"

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    @property
    def ndarray(self) -> npt.NDArray[np.uint8]:
        """Live view of the frame, shape (144, 160, 4), uint8: red, green, blue, alpha.

        The shades are 255, 153, 85 and 0; a pixel never drawn since power-on is 0 in all
        four. The array may be drawn into, as PyBoy's: the machine does not see it.
        """
        return self._machine.rgba()

    @property
    def shades(self) -> npt.NDArray[np.uint8]:
        """Live read-only view of the frame, shape (144, 160), uint8.

        0 is white and 3 black, after the palette registers; 4 is a pixel never drawn
        since power-on.
        """
        return self._machine.shades()

    @property
    def raw_buffer(self) -> memoryview:
        """The 92,160 bytes of `ndarray`."""
        return self.ndarray.data.cast("B")

    @property
    def image(self) -> Image:
        """The frame as a Pillow image, mode RGBA, size (160, 144); live as `ndarray`.

        Raises:
            DependencyError: Pillow is not installed.
        """
        try:
            from PIL import Image
        except ImportError:
            raise DependencyError(
                "screen.image needs Pillow; install it with: pip install 'emurust[image]'"
            ) from None
        size = (SCREEN_WIDTH, SCREEN_HEIGHT)
        return Image.frombuffer("RGBA", size, self.ndarray, "raw", "RGBA", 0, 1)
