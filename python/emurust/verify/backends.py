"""PyBoy and EmuRust behind the same protocol."""

from __future__ import annotations

import importlib
import importlib.util
import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from emurust.engine import chosen_engine
from emurust.verify import fields
from emurust.verify.errors import ReferenceMissingError, StructLayoutError, VerifyError
from emurust.verify.protocol import Input, Snapshot, TraceEntry
from emurust.verify.pyboy_layout import SUPPORTED_PYBOY
from emurust.verify.pyboy_state import PyBoyState, parse
from emurust.verify.pyboy_structs import PyBoyStructs, attach

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Frames PyBoy's own boot program takes; the 65th ends inside the cartridge.
BOOT_FRAMES = 65

#: Bytes of video RAM that only a boot ROM's drawing fills: tiles 1-6 and their map.
BOOT_LOGO_VRAM = np.zeros(8192, dtype=bool)
BOOT_LOGO_VRAM[0x0010:0x0070] = True
BOOT_LOGO_VRAM[0x1908:0x194D] = True

#: Frames after which everything seen running is translated, and whether with the care
#: that only hot code gets otherwise. With the engine "translator" only: short runs meet
#: all kinds of native code then.
TRANSLATED_AFTER = {20: False, 90: True, 180: False, 300: True, 900: True}

#: Bus ranges read by ``bus_snapshot``, in this order on both sides. Cartridge RAM is
#: left out: with a clock register selected a read there makes PyBoy consult the host.
BUS_RANGES = ((0x0000, 0x0100), (0x3FF0, 0x4010), (0x7FF0, 0xA000), (0xC000, 0x10000))


_LCD_ITEMS = tuple(fields.LCD_REGISTERS.items())


def reference_version() -> str:
    """The installed PyBoy's version.

    Raises:
        ReferenceMissingError: PyBoy is not installed.
    """
    if importlib.util.find_spec("pyboy") is None:
        raise ReferenceMissingError(
            "verification compares with PyBoy, which is not installed; "
            f"install it with: pip install pyboy=={SUPPORTED_PYBOY}"
        )
    from importlib.metadata import version

    return version("pyboy")


def warn_about_version() -> None:
    """Warn when the installed PyBoy is not the version EmuRust reproduces."""
    found = reference_version()
    if found != SUPPORTED_PYBOY:
        warnings.warn(
            f"EmuRust reproduces PyBoy {SUPPORTED_PYBOY}; PyBoy {found} is installed, "
            "so differences may be PyBoy's own",
            stacklevel=2,
        )


def boot_rom_image() -> bytes:
    """The DMG boot program that the installed PyBoy ships (256 bytes)."""
    reference_version()
    spec = importlib.util.find_spec("pyboy")
    if spec is None or not spec.submodule_search_locations:
        raise ReferenceMissingError("the installed PyBoy has no files of its own")
    return (Path(spec.submodule_search_locations[0]) / "core" / "bootrom_dmg.bin").read_bytes()


def import_pyboy() -> Any:
    """PyBoy's module.

    Raises:
        ReferenceMissingError: PyBoy is not installed.
    """
    reference_version()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SDL2's notice about its own binaries
        return importlib.import_module("pyboy")


class PyBoyMachine:
    """The reference: PyBoy in DMG mode, without window, files or speed limit.

    Args:
        rom: the cartridge image.
        sound: PyBoy's ``sound_emulated``.
        boot: start at power-on; otherwise at the end of the frame in which PyBoy's
            boot program hands over (its 65th), where EmuRust without boot ROM is
            after one frame.
        live_views: read PyBoy's memory in place (see :mod:`.pyboy_structs`); False
            uses the public API only.
    """

    def __init__(
        self, rom: bytes, *, sound: bool = False, boot: bool = True, live_views: bool = True
    ) -> None:
        self._module = import_pyboy()
        self._rom = rom
        self._sound = sound
        self._boot = boot
        self._live_views = live_views
        self.pyboy: Any = None
        self.structs: PyBoyStructs | None = None
        self.reset()

    @property
    def name(self) -> str:
        return "PyBoy"

    @property
    def setting(self) -> fields.Setting:
        mapper = self.structs.cartridge_type if self.structs is not None else ""
        return fields.Setting(sound=self._sound, mapper=mapper)

    #: Whether the live views were once compared with a save state in this process.
    _views_checked = False

    def reset(self) -> None:
        self.close()
        self._steps = 0
        try:
            self.pyboy = self._module.PyBoy(
                io.BytesIO(self._rom),
                window="null",
                cgb=False,
                sound_emulated=self._sound,
                log_level="CRITICAL",
            )
        except Exception as error:  # PyBoy raises its own and built-in exceptions
            raise VerifyError(f"PyBoy does not run this cartridge: {error}") from error
        self.pyboy.set_emulation_speed(0)
        self.structs = None
        if self._live_views:
            try:
                self.structs = attach(self.pyboy, reference_version())
            except StructLayoutError as error:
                warnings.warn(f"{error}; comparing through PyBoy's API, slowly", stacklevel=2)
                self._live_views = False
        if not self._boot:
            # One boot frame is drawn: a PyBoy that has never drawn one shows the
            # window one row off in the first picture (see .history).
            self.pyboy.tick(BOOT_FRAMES - 5, True, False)
            self.pyboy.tick(5, False, False)

    def step(self, inputs: Sequence[Input], *, observe: bool) -> None:
        pyboy = self.pyboy
        for action, button in inputs:
            if action == "press":
                pyboy.button_press(button)
            else:
                pyboy.button_release(button)
        pyboy.tick(1, observe, observe and self._sound)
        self._steps += 1
        if self._steps == BOOT_FRAMES + 1 and not PyBoyMachine._views_checked:
            self._check_views()

    def _check_views(self) -> None:
        """Once per process: what is read in place is what PyBoy itself would save."""
        if self.structs is not None:
            self.structs.check_against(self.saved_state())
        PyBoyMachine._views_checked = True

    def snapshot(self) -> Snapshot:
        if self.structs is not None:
            return Snapshot(self.structs.ints(sound=self._sound), self.structs.arrays())
        return self._public_snapshot()

    def _public_snapshot(self) -> Snapshot:
        """What the API can tell without side effects, in about a millisecond."""
        pyboy = self.pyboy
        memory = pyboy.memory
        registers = pyboy.register_file
        ints = {name: getattr(registers, name.upper()) for name in fields.REGISTERS}
        ints["cycles"] = pyboy._cycles()
        ints["ie"] = memory[0xFFFF]
        ints["if"] = memory[0xFF0F] & 0x1F

        def banked(bank: int, start: int, end: int) -> list[int]:
            # PyBoy's banked slices cannot include the last byte of an area.
            return [*memory[bank, start : end - 1], memory[bank, end - 1]]

        ram_banks = self._ram_banks()
        areas = {
            "vram": banked(0, 0x8000, 0xA000),
            "wram": memory[0xC000:0xE000],
            "unusable": memory[0xFEA0:0xFF00],
            "hram": memory[0xFF80:0xFFFF],
            "cart_ram": [
                byte for bank in range(ram_banks) for byte in banked(bank, 0xA000, 0xC000)
            ],
        }
        return Snapshot(
            ints, {name: np.array(values, dtype=np.uint8) for name, values in areas.items()}
        )

    def _ram_banks(self) -> int:
        return {3: 4, 4: 16, 5: 8}.get(self._rom[0x149], 1)

    def bus_snapshot(self) -> Snapshot:
        return _read_bus(self.pyboy.memory)

    def observation(self) -> NDArray[np.uint8]:
        screen: NDArray[np.uint8] = self.pyboy.screen.ndarray
        return screen

    def save_state(self) -> bytes:
        """PyBoy's own save-state bytes (about 25 ms)."""
        buffer = io.BytesIO()
        self.pyboy.save_state(buffer)
        return buffer.getvalue()

    def saved_state(self) -> PyBoyState:
        """PyBoy's own save state, parsed."""
        return parse(self.save_state(), self._rom)

    def trace_step(self, inputs: Sequence[Input], *, observe: bool) -> list[TraceEntry]:
        from emurust.verify.pyboy_trace import trace_frame

        return trace_frame(self, self._rom, inputs, observe=observe)

    def close(self) -> None:
        if self.pyboy is not None:
            self.structs = None
            self.pyboy.stop(save=False)
            self.pyboy = None


class EmuRustMachine:
    """EmuRust through its public Python class.

    Args:
        rom: the cartridge image.
        sound: emulate sound.
        boot: run PyBoy's boot program from power-on, so that everything can be
            compared from the first cycle; otherwise start as users do, at hand-over,
            and run the one frame that PyBoy's 65th is.
    """

    #: A trace holds every instruction (see :func:`.bisect.first_parting`).
    traces_everything = True

    def __init__(self, rom: bytes, *, sound: bool = False, boot: bool = True) -> None:
        self._rom = rom
        self._sound = sound
        self._boot = boot
        self._gameboy_class = importlib.import_module("emurust").GameBoy
        self.gameboy: Any = None
        self.reset()

    @property
    def name(self) -> str:
        return "EmuRust"

    def reset(self) -> None:
        self.close()
        boot_rom = boot_rom_image() if self._boot else None
        self.gameboy = self._gameboy_class(self._rom, bootrom=boot_rom, sound=self._sound)
        self._debug_state = getattr(self.gameboy, "_debug_state", None)
        self._steps = 0
        if not self._boot:
            self.gameboy.tick(1, False, False)

    def step(self, inputs: Sequence[Input], *, observe: bool) -> None:
        self._queue(inputs)
        self.gameboy.tick(1, observe, observe and self._sound)
        self._steps += 1
        well = TRANSLATED_AFTER.get(self._steps)
        if well is not None and chosen_engine(None) == "translator":
            self.gameboy._machine.translate_now(well)

    def _queue(self, inputs: Sequence[Input]) -> None:
        gameboy = self.gameboy
        for action, button in inputs:
            if action == "press":
                gameboy.button_press(button)
            else:
                gameboy.button_release(button)

    def snapshot(self) -> Snapshot:
        gameboy = self.gameboy
        registers = gameboy.register_file
        ints: dict[str, int] = {name: getattr(registers, name.upper()) for name in fields.REGISTERS}
        ints["cycles"] = gameboy.cycles
        if self._debug_state is not None:
            debug: Mapping[str, int] = self._debug_state()
            names = fields.EMURUST_NAMES
            ints.update((names.get(name, name), value) for name, value in debug.items())
        memory = gameboy.memory
        lcd = memory[0xFF42:0xFF4C]
        ints.update((name, lcd[address - 0xFF42]) for address, name in _LCD_ITEMS)
        arrays = {
            "vram": gameboy.vram,
            "wram": gameboy.wram,
            "oam": gameboy.oam,
            "hram": gameboy.hram,
            "cart_ram": gameboy.cart_ram,
            "unusable": np.array(memory[0xFEA0:0xFF00], dtype=np.uint8),
        }
        return Snapshot(ints, arrays)

    def bus_snapshot(self) -> Snapshot:
        return _read_bus(self.gameboy.memory)

    def observation(self) -> NDArray[np.uint8]:
        screen: NDArray[np.uint8] = self.gameboy.screen.ndarray
        return screen

    @property
    def locked(self) -> bool:
        """An illegal opcode was executed."""
        return bool(self._debug_state()["locked"]) if self._debug_state is not None else False

    def write_boot_logo(self, vram: NDArray[np.uint8]) -> None:
        """Draw what a boot ROM would have drawn, to compare everything from here on."""
        for offset in np.flatnonzero(vram != self.gameboy.vram):
            self.gameboy.memory[0x8000 + int(offset)] = int(vram[offset])

    def trace_step(self, inputs: Sequence[Input], *, observe: bool) -> list[TraceEntry]:
        trace_tick = getattr(self.gameboy._machine, "trace_tick", None)
        if trace_tick is None:
            raise VerifyError("this build has no instruction trace")
        self._queue(inputs)
        names = ("a", "f", "b", "c", "d", "e", "hl", "sp")
        return [
            TraceEntry(entry[0], entry[1], entry[2], dict(zip(names, entry[3:], strict=True)))
            for entry in trace_tick(observe)
        ]

    def close(self) -> None:
        if self.gameboy is not None:
            self.gameboy.stop(save=False)
            self.gameboy = None


def _read_bus(memory: Any) -> Snapshot:
    arrays = {
        f"bus_{start:04X}": np.array(list(memory[start:end]), dtype=np.uint8)
        for start, end in BUS_RANGES
    }
    return Snapshot({}, arrays)
