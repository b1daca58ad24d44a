"""Every public name of PyBoy and its state in `emurust.pyboy`, found by looking at both.

python -m emurust.verify.pyboy_names > docs/pyboy-names.md
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import tempfile
import warnings
from pathlib import Path
from typing import Any

from emurust.rom import read_rom
from emurust.verify.errors import VerifyError

__all__ = ["NOTES", "table"]

_HEAD = """\
# Every public name of PyBoy {version}, and its state in `emurust.pyboy`

Made by `python -m emurust.verify.pyboy_names`, which looks at both classes; a test checks
that it is up to date. "same" means that the name is there and does the same. See
[coming-from-pyboy.md](coming-from-pyboy.md).

| name | state here |
| --- | --- |
"""

_NEVER_SET = "missing: an attribute that PyBoy declares and never sets"
_COLOR_ONLY = "raises: it needs a Game Boy Color, and raises in PyBoy without one too"

#: Titles of the games that PyBoy wraps.
_WRAPPED = {
    "Tetris": "TETRIS",
    "Super Mario Land": "SUPER MARIOLAND",
    "Super Mario Bros. Deluxe": "MARIO DELUXAHY",
    "Kirby's Dream Land": "KIRBY DREAM LAN",
    "Pandora's Blocks": "DMGTRIS",
    "2048": "2048",
    "Pokemon Pinball": "POKEPINBALLVPH",
    "Pokemon Red and Blue": "POKEMON RED",
}
_SYMBOLS_OF_2048 = ("board", "score", "state", "winner")
_TITLE, _CHECKSUM = range(0x134, 0x144), 0x14D

#: What is to be said of names that are not simply the same.
NOTES: dict[str, str] = {
    "PyBoy(rtc_file=)": "ignored: the clock counts emulated time from zero",
    "PyBoy(window=)": '"null", "headless" and "dummy" are the same; others show nothing and warn',
    "PyBoy(scale=)": "ignored: there is no window",
    "PyBoy(sound_volume=)": "checked, and ignored: nothing is played",
    "PyBoy(sound_sample_rate=)": "48000 only; others raise UnavailableError",
    "PyBoy(cgb=)": "False only; Game Boy Color raises UnavailableError",
    "PyBoy(no_input=)": "ignored: no window sends input",
    "PyBoy(cgb_color_palette=)": "ignored: it is for Game Boy Color",
    "PyBoy(title_status=)": "ignored: there is no window",
    "PyBoy(serial_shared_memory=)": "raises UnavailableError: machines are not connected",
    "PyBoy(serial_interrupt_based=)": "ignored: it is for the above",
    "PyBoy(sgb_border=)": "raises UnavailableError where PyBoy would draw a border",
    "PyBoy(bootrom=)": "same; without it PyBoy's own if installed, or 64 frames without a program",
    "PyBoy.events": "same, without buttons, which go straight to the machine",
    "PyBoy.game_wrapper": "same for all games that PyBoy wraps; Pokemon's maps and events by "
    "number, not by name; no area of Super Mario Bros. Deluxe, which needs a Game Boy Color",
    "PyBoy.game_area_collision": "same: of Pokemon; AttributeError with the generic wrapper",
    "PyBoy.printer_image": "always None: there is no printer",
    "PyBoy.sgb_border": "what the constructor was given",
    "PyBoy.window_title": 'always "PyBoy"',
    "PyBoy.stop": "same, without `.rtc` files",
    "PyBoy.load_state": "same, and versions 8 to 28; nothing changes on an error",
    "PyBoy.hook_register": "same; places at which PyBoy would hang are refused",
    "PyBoy.memory": "same; banked slices may include the last byte of a bank",
    "sgb.border_data": "same as without a border: three times None",
    "sgb.get_border_buffer": "raises UnavailableError",
    "sgb.get_composited_frame": "raises UnavailableError",
    "sgb.mb": "missing: PyBoy's inside",
    "sound.raw_buffer_dims": _NEVER_SET,
    "Tile.image": "same, with the picture that PyBoy's lacks",
    "Super Mario Bros. Deluxe.game_area": _COLOR_ONLY,
    "Super Mario Bros. Deluxe.game_area_annotations": _COLOR_ONLY,
    "Super Mario Bros. Deluxe.game_area_background": _COLOR_ONLY,
    "Super Mario Bros. Deluxe.object_slots": _COLOR_ONLY,
    "Pokemon Pinball.current_map_completed": "same: always True",
    "Pokemon Pinball.evolution_count": _NEVER_SET,
    "Pokemon Pinball.slots_entered": _NEVER_SET,
    "Pokemon Pinball.slots_opened": _NEVER_SET,
    **{
        f"Pokemon Red and Blue.{name}": "same, with names from the ROM"
        for name in (
            *("add_pokemon", "remove_item", "set_inventory", "set_item", "set_party"),
            *("start_trainer_battle", "start_wild_battle"),
        )
    },
    **{
        f"Pokemon Red and Blue.{name}": "same, with numbers; names raise UnavailableError"
        for name in ("reset_event_flag", "set_event_flag", "warp")
    },
    "utils.IntIOInterface": "missing: PyBoy's inside",
    "utils.IntIOWrapper": "missing: PyBoy's inside",
    "utils.WindowEventMouse": "missing: there is no mouse",
    "utils.free": "missing: PyBoy's inside",
    "utils.malloc": "missing: PyBoy's inside",
}


def _public(item: object) -> list[str]:
    return sorted(name for name in dir(item) if not name.startswith("_"))


def _pyboy(package: Any, image: bytes) -> Any:
    with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as directory:
        # The wrapper of 2048 looks for these.
        symbols = Path(directory) / "game.sym"
        symbols.write_text("".join(f"00:C000 _{name}\n" for name in _SYMBOLS_OF_2048))
        return package.PyBoy(
            io.BytesIO(image),
            window="null",
            cgb=False,
            log_level="CRITICAL",
            symbols=str(symbols),
        )


def _titled(title: str) -> bytes:
    """The shipped cartridge with another title."""
    image = bytearray(read_rom(None))
    image[_TITLE.start : _TITLE.stop] = title.encode().ljust(len(_TITLE), b"\0")
    image[_CHECKSUM] = -sum(byte + 1 for byte in image[_TITLE.start : _CHECKSUM]) & 0xFF
    return bytes(image)


def _wrappers(package: Any) -> dict[str, list[str]]:
    """By game, what its wrapper has that the generic one lacks, or that there is a note on."""
    generic = set(_public(_pyboy(package, read_rom(None)).game_wrapper))
    names = {}
    for game, title in _WRAPPED.items():
        wrapper = _pyboy(package, _titled(title)).game_wrapper
        own = [
            name for name in _public(wrapper) if f"{game}.{name}" in NOTES or name not in generic
        ]
        names[game] = own
    return names


def _objects(package: Any) -> dict[str, object]:
    """The things that have names, by what they are called in the table."""
    pyboy = _pyboy(package, read_rom(None))
    pyboy.tick(70, True)
    prefix = package.__name__
    return {
        "PyBoy": pyboy,
        **{
            name: getattr(pyboy, name)
            for name in (
                "screen",
                "sound",
                "sgb",
                "rumble",
                "memory_scanner",
                "register_file",
                "tilemap_background",
                "gameshark",
                "game_wrapper",
            )
        },
        "Tile": pyboy.get_tile(1),
        "Sprite": pyboy.get_sprite(1),
        "utils": importlib.import_module(f"{prefix}.utils"),
        "api.constants": importlib.import_module(f"{prefix}.api.constants"),
        "api.memory_scanner": importlib.import_module(f"{prefix}.api.memory_scanner"),
    }


def _options(package: Any) -> list[str]:
    """The constructor's keyword arguments, from the source that both packages ship:
    compiled classes have no signature."""
    source = Path(package.__file__).with_name("pyboy.py").read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__" and node.args.kwonlyargs:
            return [argument.arg for argument in node.args.kwonlyargs]
    raise VerifyError(f"{package.__name__} has no constructor with keyword arguments")


def _names(package: Any) -> list[str]:
    names = [f"PyBoy({option}=)" for option in _options(package)]
    for owner, item in _objects(package).items():
        # Modules also show what they import.
        module = inspect.ismodule(item)
        for name in _public(item):
            value = getattr(item, name, None) if module else None
            if not inspect.ismodule(value) and name not in ("annotations", "np", "logger"):
                names.append(f"{owner}.{name}")
    for game, own in _wrappers(package).items():
        names.extend(f"{game}.{name}" for name in own)
    return names


def states() -> dict[str, str]:
    """The state of each of PyBoy's names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = _names(importlib.import_module("pyboy"))
    ours = set(_names(importlib.import_module("emurust.pyboy")))
    return {name: NOTES.get(name, "same" if name in ours else "missing") for name in theirs}


def table() -> str:
    """The table as a Markdown page."""
    from importlib.metadata import version

    rows = "".join(f"| `{name}` | {state} |\n" for name, state in states().items())
    return _HEAD.format(version=version("pyboy")) + rows


if __name__ == "__main__":
    print(table(), end="")
