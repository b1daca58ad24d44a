"""Live, read-only views of the state inside a running PyBoy 2.8.1.

PyBoy's public API reads memory one bus access at a time (about a millisecond for
the whole address space, with side effects on some registers) and writes a save
state in tens of milliseconds. Comparing every frame that way costs many times
the emulation itself. PyBoy's parts are Cython extension types whose memory layout
is fixed by the ``.pxd`` files in the wheel, so this module maps those structures
with :mod:`ctypes` and reads them in place: no side effects, microseconds per frame,
and fields that no save state holds (the window line counter, for one).

The layout belongs to one PyBoy version. :func:`attach` therefore refuses any other
version and checks every structure's size against its type's (callers then fall back
to the public API), and :meth:`PyBoyStructs.check_against` compares the views with a
save state that PyBoy itself wrote. The memories are read-only; of the structures only
the tracer writes two debugger fields.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from emurust.verify.errors import StructLayoutError
from emurust.verify.pyboy_layout import (
    FLAGS,
    PLAIN,
    SOUND_FLAGS,
    SOUND_PLAIN,
    SUPPORTED_PYBOY,
    Cartridge,
    Cpu,
    Interaction,
    Lcd,
    LcdcRegister,
    Mbc1,
    Motherboard,
    NoiseChannel,
    PaletteRegister,
    Ram,
    Renderer,
    Rtc,
    Serial,
    Sound,
    StatRegister,
    SweepChannel,
    Timer,
    ToneChannel,
    WaveChannel,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emurust.verify.pyboy_state import PyBoyState

#: Names and a function that returns their values, for one part.
_Reader = tuple[tuple[str, ...], Callable[[], tuple[int, ...]]]


def _referent(owner: object, type_name: str) -> Any:
    """The one object of type ``type_name`` that ``owner`` refers to."""
    found = [item for item in gc.get_referents(owner) if type(item).__name__ == type_name]
    if len(found) != 1:
        raise StructLayoutError(
            f"expected one {type_name} inside PyBoy's {type(owner).__name__}, found {len(found)}"
        )
    return found[0]


def _view_u8(array: Any) -> NDArray[np.uint8]:
    view: NDArray[np.uint8] = np.frombuffer(array, dtype=np.uint8)
    view.flags.writeable = False
    return view


def _view_address(address: int, length: int) -> NDArray[np.uint8]:
    if not address:
        raise StructLayoutError("PyBoy has not allocated a buffer that this version should have")
    return _view_u8((ctypes.c_uint8 * length).from_address(address))


class PyBoyStructs:
    """Views into one PyBoy instance; valid only while that instance lives.

    Attributes are ctypes structures named after PyBoy's parts, and read-only
    numpy arrays (``uint8``) of its memories: ``vram`` (8192), ``wram`` (8192),
    ``oam`` (160), ``hram`` (127), ``unusable`` (96 bytes at FEA0), ``io`` (76),
    ``cart_ram`` (8192 per bank) and ``wave_ram`` (16). All change as PyBoy runs.
    """

    def __init__(self, pyboy: Any) -> None:
        motherboard = _referent(pyboy, "Motherboard")
        self._keep_alive = [pyboy, motherboard]
        self.mb = self._map(Motherboard, motherboard)

        def part(type_name: str, pointer: int | None, owner: object = motherboard) -> Any:
            item = _referent(owner, type_name)
            if id(item) != pointer:
                raise StructLayoutError(f"{type_name} is not where this layout expects it")
            self._keep_alive.append(item)
            return item

        self.cpu = self._map(Cpu, part("CPU", self.mb.cpu))
        ram = part("RAM", self.mb.ram)
        self.ram = self._map(Ram, ram)
        self.timer = self._map(Timer, part("Timer", self.mb.timer))
        self.serial = self._map(Serial, part("Serial", self.mb.serial))
        self.interaction = self._map(Interaction, part("Interaction", self.mb.interaction))
        lcd = part("LCD", self.mb.lcd)
        self.lcd = self._map(Lcd, lcd)
        self.stat = self._map(StatRegister, part("STATRegister", self.lcd._STAT, lcd))
        self.lcdc = self._map(LcdcRegister, part("LCDCRegister", self.lcd._LCDC, lcd))
        self.bgp = PaletteRegister.from_address(self.lcd.BGP)
        self.obp0 = PaletteRegister.from_address(self.lcd.OBP0)
        self.obp1 = PaletteRegister.from_address(self.lcd.OBP1)
        self.renderer = self._map(Renderer, part("Renderer", self.lcd.renderer, lcd))
        sound = part("Sound", self.mb.sound)
        self.sound = self._map(Sound, sound)
        self.sweep = self._map(SweepChannel, part("SweepChannel", self.sound.sweepchannel, sound))
        self.tone = self._map(ToneChannel, part("ToneChannel", self.sound.tonechannel, sound))
        self.wave = self._map(WaveChannel, part("WaveChannel", self.sound.wavechannel, sound))
        self.noise = self._map(NoiseChannel, part("NoiseChannel", self.sound.noisechannel, sound))

        cartridge = next(
            (item for item in gc.get_referents(motherboard) if id(item) == self.mb.cartridge), None
        )
        if cartridge is None:
            raise StructLayoutError("PyBoy's cartridge is not where this layout expects it")
        self._keep_alive.append(cartridge)
        self.cartridge_type = type(cartridge).__name__
        self.mbc1 = self._map(Mbc1, cartridge) if self.cartridge_type == "MBC1" else None
        self.cartridge = (
            self.mbc1.base if self.mbc1 is not None else self._map(Cartridge, cartridge)
        )
        self.rtc = (
            self._map(Rtc, part("RTC", self.cartridge.rtc, cartridge))
            if self.cartridge.rtc_enabled
            else None
        )

        self.vram = _view_u8(self.lcd.VRAM0)
        self.oam = _view_u8(self.lcd.OAM)
        self.line_parameters = _view_u8(self.lcd._scanlineparameters)
        self.wram = _view_address(self.ram.internal_ram0.data, 8192)
        self.unusable = _view_u8(self.ram.non_io_internal_ram0)
        self.io = _view_u8(self.ram.io_ports)
        self.hram = _view_u8(self.ram.internal_ram1)
        self.cart_ram = _view_address(
            self.cartridge.rambanks.data, 8192 * self.cartridge.external_ram_count
        )
        self.wave_ram = _view_u8(self.wave.wavetable)
        self._plain = self._readers(PLAIN)
        self._flags = self._readers(FLAGS)
        self._sound_plain = self._readers(SOUND_PLAIN)
        self._sound_flags = self._readers(SOUND_FLAGS)

    @staticmethod
    def _map(structure: Any, item: object) -> Any:
        expected = type(item).__basicsize__
        if ctypes.sizeof(structure) != expected:
            raise StructLayoutError(
                f"PyBoy's {type(item).__name__} has {expected} bytes, this layout "
                f"{ctypes.sizeof(structure)}; it was written for PyBoy {SUPPORTED_PYBOY}"
            )
        return structure.from_address(id(item))

    def check_against(self, state: PyBoyState) -> None:
        """Raise :class:`StructLayoutError` unless a save state says the same.

        ``state`` must have been saved from this instance with no frame run since.
        """
        expected = state.ints
        for name, value in self.ints().items():
            if name in expected and expected[name] != value:
                raise StructLayoutError(
                    f"PyBoy's save state has {name} = {expected[name]}, its memory {value}"
                )
        for name, view in self.arrays().items():
            if name in state.arrays and not np.array_equal(state.arrays[name], view):
                raise StructLayoutError(f"PyBoy's save state and its memory differ in {name}")

    def arrays(self) -> dict[str, NDArray[np.uint8]]:
        """Every memory by its field name (live views)."""
        return {
            "vram": self.vram,
            "wram": self.wram,
            "oam": self.oam,
            "hram": self.hram,
            "unusable": self.unusable,
            "cart_ram": self.cart_ram,
            "wave_ram": self.wave_ram,
            "line_parameters": self.line_parameters,
        }

    def ints(self, *, sound: bool = True) -> dict[str, int]:
        """Every scalar by its field name; see :mod:`emurust.verify.fields`.

        Args:
            sound: include the sound unit's.
        """
        values: dict[str, int] = {}
        for names, get in self._plain:
            values.update(zip(names, get(), strict=False))
        for names, get in self._flags:
            values.update(zip(names, map(bool, get()), strict=False))
        values["joyp"] = self.ram.io_ports[0]
        values["if"] &= 0x1F
        values["joypad_directions"] &= 0x0F
        values["joypad_buttons"] &= 0x0F
        if sound:
            self._add_sound(values)
        return values

    def _add_sound(self, values: dict[str, int]) -> None:
        for names, get in self._sound_plain:
            values.update(zip(names, get(), strict=False))
        for names, get in self._sound_flags:
            values.update(zip(names, map(bool, get()), strict=False))
        sound = self.sound
        values["sound_next_step"] = int(sound.cycles_target_512Hz)
        values["nr51"] = (
            sound.noise_left
            | sound.wave_left
            | sound.tone_left
            | sound.sweep_left
            | sound.noise_right
            | sound.wave_right
            | sound.tone_right
            | sound.sweep_right
        )

    def _readers(self, table: dict[str, dict[str, str]]) -> list[_Reader]:
        """Functions that read all of a table's attributes of one part at once."""
        readers: list[_Reader] = []
        for part, attributes in table.items():
            structure = getattr(self, part)
            if structure is not None:
                names = list(attributes.values())
                # attrgetter returns a tuple only for two attributes and more.
                get = attrgetter(*names, *names[:1] if len(names) == 1 else ())
                readers.append((tuple(attributes), partial(get, structure)))
        return readers


def attach(pyboy: Any, version: str) -> PyBoyStructs:
    """Map a live PyBoy instance.

    Raises:
        StructLayoutError: another PyBoy version, or a layout that does not fit.
    """
    if version != SUPPORTED_PYBOY:
        raise StructLayoutError(
            f"live views know the layout of PyBoy {SUPPORTED_PYBOY}, this one is {version}"
        )
    return PyBoyStructs(pyboy)
