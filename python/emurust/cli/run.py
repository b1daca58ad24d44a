"""``emurust run``: a ROM without a window."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from emurust.cli.progress import Progress
from emurust.errors import ArgumentError, SaveFileError
from emurust.gameboy import GameBoy
from emurust.pictures import import_pillow, open_film, picture, save_picture
from emurust.rom import load_rom

if TYPE_CHECKING:
    from emurust.verify.inputs import Script

__all__ = ["main"]

_CHUNK_FRAMES = 600

_BUTTON_HELP = """\
a file of buttons has one event a line, FRAME press|release|tap BUTTON [FRAMES]:
  120 tap start        # down for 8 frames from frame 120 on
  300 tap a 20         # for 20 frames
  400 press right      # until released
  460 release right
buttons: up down right left a b select start; '#' starts a comment"""


def main(argv: Sequence[str]) -> int:
    """Runs a ROM for some frames, with scripted buttons, and keeps pictures of it."""
    parser = argparse.ArgumentParser(
        prog="emurust run",
        description="Runs a ROM without a window. Battery RAM files are left alone.",
        epilog=_BUTTON_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("rom", nargs="?", help="the ROM; the shipped cartridge by default")
    parser.add_argument("--frames", type=int, default=600, help="frames to run (%(default)s)")
    parser.add_argument("--buttons", type=Path, metavar="FILE", help="buttons to press, see below")
    parser.add_argument("--sound", action="store_true", help="emulate the sound unit")
    parser.add_argument("--screenshot", type=Path, metavar="PNG", help="the last frame")
    parser.add_argument("--gif", type=Path, metavar="GIF", help="a film of the run (or .mp4)")
    parser.add_argument(
        "--gif-every", type=int, default=4, metavar="N", help="film every Nth frame (%(default)s)"
    )
    parser.add_argument("--state", type=Path, metavar="FILE", help="save the state at the end")
    options = parser.parse_args(argv)
    if options.frames < 1:
        raise ArgumentError(f"--frames must be 1 or more, not {options.frames}")
    if options.gif_every < 1:
        raise ArgumentError(f"--gif-every must be 1 or more, not {options.gif_every}")
    if options.screenshot:
        import_pillow()  # Missing is better found before the run than after it.

    script = _read_script(options.buttons, options.frames)
    every = options.gif_every if options.gif else None
    film = open_film(options.gif, every=options.gif_every) if options.gif else None
    with GameBoy(load_rom(options.rom), sound=options.sound) as gameboy:
        with Progress(options.frames, "frames") as progress:
            for _ in _played(gameboy, script, options.frames, every):
                progress.update(gameboy.frame_count)
                if film is not None and gameboy.frame_count % options.gif_every == 0:
                    film.add(gameboy.screen.shades)
        if options.screenshot:
            save_picture(picture(gameboy.screen.shades), options.screenshot)
        if film is not None:
            if options.frames < options.gif_every:
                film.add(gameboy.screen.shades)
            film.close()
        if options.state:
            try:
                options.state.write_bytes(gameboy.get_state())
            except OSError as error:
                raise SaveFileError(
                    f"the state {options.state} cannot be written: {error.strerror}"
                ) from error
        print(f"{gameboy.frame_count:,} frames, {gameboy.cycles:,} cycles")
        print(gameboy.register_file)
    return 0


def _played(
    gameboy: GameBoy, script: Script | None, frames: int, every: int | None
) -> Iterator[None]:
    """Runs the frames; yields now and then, and after each frame to be filmed."""
    done = 0
    while done < frames:
        for action, button in script[done] if script is not None else ():
            if action == "press":
                gameboy.button_press(button)
            else:
                gameboy.button_release(button)
        stop = min(frames, done + _CHUNK_FRAMES)
        if every is not None:
            stop = min(stop, done - done % every + every)
        if script is not None:
            stop = next((f for f in range(done + 1, stop) if script[f]), stop)
        gameboy.tick(stop - done)
        done = stop
        yield


def _read_script(path: Path | None, frames: int) -> Script | None:
    if path is None:
        return None
    from emurust.verify.inputs import read_buttons

    try:
        return read_buttons(path, frames)
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"the file of buttons {path} cannot be read: {error}") from error
