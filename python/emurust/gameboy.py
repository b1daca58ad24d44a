"""`GameBoy`: one machine, with PyBoy's vocabulary."""

from __future__ import annotations

import io
import operator
import os
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from emurust import battery
from emurust._emurust import Machine, Memory, Rom
from emurust.buttons import button_number, event_button
from emurust.engine import EngineName, chosen_engine
from emurust.errors import (
    ArgumentError,
    ArgumentTypeError,
    BootRomError,
    ClosedError,
    SaveFileError,
)
from emurust.registers import RegisterFile
from emurust.rom import RomSource, load_rom, rom_path
from emurust.screen import Screen

__all__ = ["GameBoy"]

FRAMES_PER_SECOND = 4_194_304 / 70_224
"""Frames that an original Game Boy shows in a second, about 59.73."""

_LAST_COUNT = 2**63 - 1
_LAST_DELAY = 2**32 - 1


class BinaryWriter(Protocol):
    """A file opened for writing bytes."""

    def write(self, data: bytes, /) -> object: ...


Views: TypeAlias = npt.NDArray[np.uint8]

StateFormat: TypeAlias = Literal["emurust", "pyboy"]
"""Our own states, complete and checked, or those that PyBoy 2.8.1 reads and writes."""


class GameBoy:
    """An original Game Boy (DMG), the machine of PyBoy 2.8.1 bit for bit.

    A script written for ``pyboy.PyBoy(rom, window="null", cgb=False)`` drives it with
    the same calls. All methods may be called from several threads; running frames
    releases the GIL.

    The RAM views (`wram`, `vram`, `oam`, `hram`, `cart_ram`, and those of `screen`) are
    read-only uint8 arrays that are live: they show the machine after the latest call
    without being fetched again, and reading them copies nothing. An area costs nothing
    until it is asked for, and then a fraction of a microsecond per call while an array
    of it is held. Read while another thread is running the machine, a view may be
    partly from before that call and partly from after it. It stays valid after `stop`.

    A `GameBoy` pickles as bytes (ROM, options and state; queued input and `frame_count`
    are left out) and is a context manager that stops it at the end.

    Args:
        rom: a path, the ROM's bytes, a binary file, or None for the shipped cartridge.
        bootrom: 256 bytes (or a path to them) of a boot ROM to start from power-on.
            None starts where PyBoy's boot ROM hands over to the cartridge: same
            registers, cycle count, DIV, LCD position and sound, but video RAM is zero
            instead of holding the boot ROM's drawing.
        sound: emulate the sound unit (PyBoy's ``sound_emulated``). Without it the sound
            registers read as 0 and time runs the same.
        ram_file: battery RAM to start with, as a path or a binary file. By default,
            for a ROM given by path, the file next to it: its name plus ``.ram``.

        engine: ``"translator"``, ``"interpreter"`` or ``"auto"``: see `emurust.engine`. By
            default the environment variable ``EMURUST_ENGINE``, or ``"auto"``. The
            machine is the same with each.

    Raises:
        RomNotFoundError, RomReadError, RomSizeError, UnsupportedMapperError, RomError:
            see `emurust.load_rom`.
        BootRomError: the boot ROM is not 256 bytes.
        SaveFileError: the battery RAM does not fit the cartridge or cannot be read.
    """

    def __init__(
        self,
        rom: RomSource | Rom = None,
        *,
        bootrom: str | os.PathLike[str] | bytes | None = None,
        sound: bool = False,
        ram_file: str | os.PathLike[str] | IO[bytes] | None = None,
        engine: EngineName | None = None,
    ) -> None:
        cartridge = rom if isinstance(rom, Rom) else load_rom(rom)
        path = None if isinstance(rom, Rom) else rom_path(rom)
        machine = Machine(
            cartridge,
            boot_rom=_read_boot_rom(bootrom),
            sound=bool(sound),
            engine=chosen_engine(engine),
        )
        self._attach(cartridge, machine)
        if cartridge.has_battery:
            if ram_file is not None:
                self._load_battery(ram_file)
            elif path is not None:
                self._battery_path = battery.battery_path(path)
                self._load_battery(self._battery_path)

    _battery_path: Path | None = None

    def _attach(self, rom: Rom, machine: Machine) -> None:
        self._rom = rom
        self._machine = machine
        self._emulation_speed: float = 0.0
        self._next_frame_time: float = 0.0
        self._screen = Screen(machine)
        self._memory = Memory(machine)
        self._register_file = RegisterFile(machine)

    @classmethod
    def _over(cls, rom: Rom, machine: Machine) -> GameBoy:
        gameboy = cls.__new__(cls)
        gameboy._attach(rom, machine)
        return gameboy

    # -- time ------------------------------------------------------------------------

    def tick(self, count: SupportsIndex = 1, render: bool = True, sound: bool = False) -> bool:
        """Runs `count` frames.

        Args:
            count: frames to run, 0 or more.
            render: draw the last of them into `screen`. The others are not drawn.
            sound: sample the sound of the last of them.

        Returns:
            True, or False if no frame was to be run (as PyBoy does).

        Raises:
            ArgumentError, ArgumentTypeError: `count` is negative or no integer.
            ClosedError: the machine was stopped.
        """
        frames = _whole(count, "count", _LAST_COUNT)
        self._machine.tick(frames, bool(render), bool(sound))
        if self._emulation_speed > 0.0:
            self._wait(frames)
        return frames > 0

    def set_emulation_speed(self, target_speed: float) -> None:
        """Slows `tick` down to a multiple of the real machine's speed.

        Args:
            target_speed: 1 is a real Game Boy's speed, 0 (the default) is no limit.

        Raises:
            ArgumentError: it is negative.
        """
        if not target_speed >= 0:
            raise ArgumentError(f"the speed is 0 (no limit) or more, not {target_speed}")
        self._emulation_speed = float(target_speed)
        self._next_frame_time = time.perf_counter()

    def _wait(self, frames: int) -> None:
        now = time.perf_counter()
        due = self._next_frame_time + frames / (FRAMES_PER_SECOND * self._emulation_speed)
        if due > now:
            time.sleep(due - now)
        # A late frame is not made up for by hurrying later ones.
        self._next_frame_time = max(due, now)

    @property
    def frame_count(self) -> int:
        """Frames run since the machine was made; states leave it alone."""
        return self._machine.frame_count

    @property
    def cycles(self) -> int:
        """T-cycles of the CPU since power-on, 4,194,304 a second."""
        return self._machine.cycles

    # -- input -----------------------------------------------------------------------

    def button(self, input: str, delay: SupportsIndex = 1) -> None:
        """Presses a button in the next frame and releases it `delay` frames later.

        Args:
            input: ``"up"``, ``"down"``, ``"right"``, ``"left"``, ``"a"``, ``"b"``,
                ``"select"`` or ``"start"``, in any case.
            delay: frames during which the button is down.

        Raises:
            ButtonError: there is no such button.
            ArgumentError, ArgumentTypeError: `delay` is negative or no integer.
            ClosedError: the machine was stopped.
        """
        number = button_number(input)
        frames = _whole(delay, "delay", _LAST_DELAY)
        self._machine.queue_button(number, True)
        self._machine.queue_button(number, False, frames)

    def button_press(self, input: str) -> None:
        """Presses a button from the next frame on, until it is released.

        Raises:
            ButtonError: there is no such button.
            ClosedError: the machine was stopped.
        """
        self._machine.queue_button(button_number(input), True)

    def button_release(self, input: str) -> None:
        """Releases a button from the next frame on.

        Raises:
            ButtonError: there is no such button.
            ClosedError: the machine was stopped.
        """
        self._machine.queue_button(button_number(input), False)

    def send_input(self, event: int, delay: SupportsIndex = 0) -> None:
        """Queues one button event, by its number in PyBoy's or our `WindowEvent`.

        Args:
            event: 1 to 8 press and 9 to 16 release up, down, right, left, a, b, select
                and start.
            delay: frames until it takes effect, from the next one on.

        Raises:
            ArgumentError, ArgumentTypeError: no such event, or a negative delay.
            ClosedError: the machine was stopped.
        """
        number, pressed = event_button(event)
        self._machine.queue_button(number, pressed, _whole(delay, "delay", _LAST_DELAY))

    # -- what it holds ---------------------------------------------------------------

    @property
    def memory(self) -> Memory:
        """Memory as the CPU sees it, ``memory[addr]``, and by bank, ``memory[bank, addr]``.

        Reads give an int, or a list of ints for a slice; see `Memory`.
        """
        return self._memory

    @property
    def register_file(self) -> RegisterFile:
        """The CPU registers A F B C D E HL SP PC, to read and write."""
        return self._register_file

    @property
    def screen(self) -> Screen:
        """The frame, as arrays and as an image."""
        return self._screen

    @property
    def wram(self) -> Views:
        """Live read-only view of work RAM, 0xC000 to 0xDFFF: (8192,) uint8."""
        return self._machine.wram()

    @property
    def vram(self) -> Views:
        """Live read-only view of video RAM, 0x8000 to 0x9FFF: (8192,) uint8."""
        return self._machine.vram()

    @property
    def oam(self) -> Views:
        """Live read-only view of object memory, 0xFE00 to 0xFE9F: (160,) uint8."""
        return self._machine.oam()

    @property
    def hram(self) -> Views:
        """Live read-only view of high RAM, 0xFF80 to 0xFFFE: (127,) uint8."""
        return self._machine.hram()

    @property
    def cart_ram(self) -> Views:
        """Live read-only view of cartridge RAM: (8192 * banks,) uint8, bank after bank."""
        return self._machine.cart_ram()

    @property
    def rom(self) -> Rom:
        """The cartridge: header fields and image."""
        return self._rom

    @property
    def cartridge_title(self) -> str:
        """The title in the cartridge's header, up to the first zero byte."""
        return self._rom.title

    # -- states ----------------------------------------------------------------------

    def get_state(self, format: StateFormat = "emurust") -> bytes:
        """The machine's complete state.

        `frame_count` and queued input are not part of it, as in PyBoy.

        Args:
            format: ``"emurust"``, versioned and checked when loaded, or ``"pyboy"``: a
                state file of PyBoy 2.8.1 (version 29), which goes on from it alike.

        Raises:
            ArgumentError: there is no such format.
            ClosedError: the machine was stopped.
        """
        if format == "emurust":
            return self._machine.save_state()
        if format == "pyboy":
            return self._machine.save_pyboy_state()
        raise ArgumentError(f'the format of a state is "emurust" or "pyboy", not {format!r}')

    def set_state(self, state: bytes | bytearray | memoryview) -> None:
        """Continues from a state of the same cartridge.

        PyBoy's state files of versions 7 to 29 are read too, and continued as by a
        PyBoy 2.8.1 just switched on, with any `sound` option on either side. They do not
        say which cartridge they are of.

        Raises:
            StateCorruptError: the bytes are no state, cut short or damaged.
            StateVersionError: another version of EmuRust wrote it.
            StateMismatchError: it is of another cartridge, of another `sound` option, or of
                a PyBoy whose options are not available here.
            ClosedError: the machine was stopped.
        """
        if not isinstance(state, bytes | bytearray | memoryview):
            raise ArgumentTypeError(f"a state is bytes, not {type(state).__name__}")
        self._machine.load_state(bytes(state))

    def save_state(self, file_like_object: BinaryWriter, format: StateFormat = "emurust") -> None:
        """Writes the state to a binary file; see `get_state`.

        Raises:
            ArgumentError: there is no such format.
            ArgumentTypeError: it is a path or a text file.
            ClosedError: the machine was stopped.
        """
        _check_binary(file_like_object, "write", "wb")
        file_like_object.write(self.get_state(format))

    def load_state(self, file_like_object: IO[bytes]) -> None:
        """Reads the state from a binary file; see `set_state`.

        Raises:
            ArgumentTypeError: it is a path or a text file.
            StateCorruptError, StateVersionError, StateMismatchError: see `set_state`.
            ClosedError: the machine was stopped.
        """
        _check_binary(file_like_object, "read", "rb")
        self.set_state(file_like_object.read())

    def fork(self) -> GameBoy:
        """An independent machine in the same state, in microseconds.

        Queued input and `frame_count` are copied too. The ROM is shared. The fork never
        writes battery RAM to a file by itself.

        Raises:
            ClosedError: the machine was stopped.
        """
        return GameBoy._over(self._rom, self._machine.fork())

    def __deepcopy__(self, memo: dict[int, object]) -> GameBoy:
        return self.fork()

    def __reduce__(self) -> tuple[object, ...]:
        machine = self._machine
        image, patched = self._rom.image(), machine.rom_image()
        options = (machine.boot_rom, machine.sound)
        return _unpickle, (
            image,
            None if patched == image else patched,
            *options,
            self.get_state(),
        )

    def _debug_state(self) -> dict[str, int]:
        """Inner values by name, for `emurust.verify`."""
        return dict(self._machine.internals())

    # -- the end ---------------------------------------------------------------------

    def stop(
        self, save: bool = True, ram_file: str | os.PathLike[str] | BinaryWriter | None = None
    ) -> None:
        """Ends the machine. Stopping it again does nothing.

        Args:
            save: keep the battery RAM of a cartridge that has a battery. For a ROM given
                by path it goes to the file next to it (the ROM's name plus ``.ram``),
                through a temporary file, fsync and a rename; otherwise nowhere, unless
                `ram_file` says where.
            ram_file: where to write the battery RAM instead, as a path or a binary file.

        Raises:
            SaveFileError: the file cannot be written. The machine goes on, so that its
                RAM can be saved elsewhere.
        """
        if self._machine.closed:
            return
        if save and self._rom.has_battery:
            target = self._battery_path if ram_file is None else ram_file
            content = self._machine.cart_ram_bytes()
            if isinstance(target, str | os.PathLike):
                battery.write_battery(Path(target), content)
            elif target is not None:
                _check_binary(target, "write", "wb")
                target.write(content)
        self._machine.close()

    @property
    def stopped(self) -> bool:
        """`stop` was called."""
        return self._machine.closed

    def __enter__(self) -> GameBoy:
        if self._machine.closed:
            raise ClosedError("this GameBoy was stopped; make a new one to go on")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        if self._machine.closed:
            return f"<emurust.GameBoy {self.cartridge_title!r}, stopped>"
        return f"<emurust.GameBoy {self.cartridge_title!r}, frame {self.frame_count}>"

    def _load_battery(self, source: str | os.PathLike[str] | IO[bytes]) -> None:
        size = len(self._machine.cart_ram_bytes())
        if isinstance(source, str | os.PathLike):
            content = battery.read_battery(Path(source), size)
            if content is None and Path(source) != self._battery_path:
                raise SaveFileError(f"there is no battery RAM file at {source}")
        else:
            _check_binary(source, "read", "rb")
            content = battery.fitting(source.read(), size, "the given file")
        if content is not None:
            self._machine.set_cart_ram(content)


def _unpickle(
    image: bytes, patched: bytes | None, boot_rom: bytes | None, sound: bool, state: bytes
) -> GameBoy:
    rom = Rom(image)
    machine = Machine(rom, boot_rom=boot_rom, sound=sound, engine=chosen_engine(None))
    if patched is not None:
        machine.patch_rom(0, patched)
    machine.load_state(state)
    return GameBoy._over(rom, machine)


def _whole(value: SupportsIndex, name: str, last: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(
            f"{name} must be a whole number of frames, not {type(value).__name__}"
        ) from None
    if not 0 <= number <= last:
        raise ArgumentError(f"{name} must be 0 to {last} frames, not {number}")
    return number


def _read_boot_rom(source: str | os.PathLike[str] | bytes | None) -> bytes | None:
    if source is None or isinstance(source, bytes):
        return source
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise BootRomError(f"the boot ROM {source} cannot be read: {error.strerror}") from error
    except TypeError:
        raise ArgumentTypeError(
            f"a boot ROM is a path or bytes, not {type(source).__name__}"
        ) from None


def _check_binary(file: object, method: str, mode: str) -> None:
    if isinstance(file, io.TextIOBase):
        raise ArgumentTypeError(f"the file is open as text; open it with mode {mode!r}")
    if not hasattr(file, method):
        raise ArgumentTypeError(
            f"give a binary file, open with mode {mode!r}, not {type(file).__name__}"
        )
