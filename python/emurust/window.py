"""A window that shows a machine's frames and reads the keyboard, through pygame-ce."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from emurust.errors import DependencyError
from emurust.gameboy import FRAMES_PER_SECOND
from emurust.screen import SCREEN_HEIGHT, SCREEN_WIDTH, rgb

__all__ = ["KEYS", "Window"]

KEYS = {
    "up": "up",
    "down": "down",
    "right": "right",
    "left": "left",
    "z": "a",
    "x": "b",
    "backspace": "select",
    "return": "start",
}
"""The button of each key, by pygame's key names."""


def _import_pygame() -> Any:
    try:
        import pygame
    except ImportError:
        raise DependencyError(
            "a window needs pygame-ce; install it with: pip install 'emurust[play]'"
        ) from None
    return pygame


class Window:
    """One window, with the machine's 160 x 144 pixels enlarged.

    Args:
        title: what its title bar says.
        scale: size of a pixel on the screen.
        speed: how fast frames are shown, in times the real machine's; 0: as fast as it goes.

    Raises:
        DependencyError: pygame-ce is not installed, or there is no display.
    """

    def __init__(self, title: str, scale: int = 4, speed: float = 1.0) -> None:
        self._pygame = pygame = _import_pygame()
        try:
            pygame.display.init()
            self._size = (SCREEN_WIDTH * scale, SCREEN_HEIGHT * scale)
            self._display = pygame.display.set_mode(self._size)
        except pygame.error as error:
            raise DependencyError(f"no window could be opened: {error}") from error
        pygame.display.set_caption(title)
        self._surface = pygame.Surface((SCREEN_WIDTH, SCREEN_HEIGHT))
        self._clock = pygame.time.Clock()
        self._frames_per_second = speed * FRAMES_PER_SECOND
        self.closed_by_user = False

    def show(self, shades: npt.NDArray[np.uint8]) -> None:
        """Shows a frame, (144, 160) shades, and waits until the next one is due."""
        self._pygame.surfarray.blit_array(self._surface, rgb(shades.T))
        self._pygame.transform.scale(self._surface, self._size, self._display)
        self._pygame.display.flip()
        self._pygame.event.pump()
        self._clock.tick(self._frames_per_second)

    def events(self) -> Iterator[tuple[str, bool]]:
        """Buttons pressed (True) and released (False) since the last call.

        Escape or closing the window sets `closed_by_user`.
        """
        pygame = self._pygame
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                self.closed_by_user = True
            elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
                key = pygame.key.name(event.key)
                if key == "escape":
                    self.closed_by_user = True
                elif key in KEYS:
                    yield KEYS[key], event.type == pygame.KEYDOWN

    def close(self) -> None:
        """Closes the window."""
        self._pygame.display.quit()
