"""``emurust play``: a ROM in a window."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from emurust.errors import ArgumentError
from emurust.gameboy import GameBoy
from emurust.window import KEYS, Window

__all__ = ["main"]


def main(argv: Sequence[str]) -> int:
    """Plays a ROM with the keyboard until the window is closed."""
    keys = ", ".join(f"{key} = {button}" for key, button in KEYS.items() if key != button)
    parser = argparse.ArgumentParser(
        prog="emurust play",
        description="Plays a ROM in a window. Without sound. The battery RAM of your own ROM "
        "is kept next to it, in a file with the ROM's name plus .ram.",
        epilog=f"keys: the arrows; {keys}; escape ends",
    )
    parser.add_argument("rom", nargs="?", help="the ROM; the shipped cartridge by default")
    parser.add_argument("--scale", type=int, default=4, help="size of a pixel (%(default)s)")
    parser.add_argument("--frames", type=int, help="end after so many frames")
    options = parser.parse_args(argv)
    if not 1 <= options.scale <= 20:
        raise ArgumentError(f"--scale must be 1 to 20, not {options.scale}")
    with GameBoy(options.rom) as gameboy:
        window = Window(gameboy.cartridge_title, options.scale)
        try:
            while not window.closed_by_user and gameboy.frame_count != options.frames:
                for button, pressed in window.events():
                    if pressed:
                        gameboy.button_press(button)
                    else:
                        gameboy.button_release(button)
                gameboy.tick()
                window.show(gameboy.screen.shades)
        finally:
            window.close()
    return 0
