"""`PyBoy`: a drop-in for `pyboy.PyBoy` of version 2.8, without a window."""

from __future__ import annotations

import heapq
import logging
import operator
import os
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn, SupportsIndex

import numpy as np
import numpy.typing as npt

from emurust import battery
from emurust._emurust import Machine
from emurust.buttons import BUTTONS
from emurust.errors import (
    RomNotFoundError,
    StateCorruptError,
    StateError,
)
from emurust.pyboy.api import constants
from emurust.pyboy.api.gameshark import GameShark
from emurust.pyboy.api.memory_scanner import MemoryScanner
from emurust.pyboy.api.palette import GREY, Palette
from emurust.pyboy.api.palette import NAMED_PALETTES as DMG_PALETTES
from emurust.pyboy.api.rumble import Rumble
from emurust.pyboy.api.screen import Screen
from emurust.pyboy.api.sgb import SGB
from emurust.pyboy.api.sound import Sound
from emurust.pyboy.api.sprite import Sprite
from emurust.pyboy.api.tile import Tile
from emurust.pyboy.api.tilemap import TileMap
from emurust.pyboy.boot import BOOT_FRAMES, read_boot_rom
from emurust.pyboy.hooks import Hooks
from emurust.pyboy.memory import PyBoyMemoryView
from emurust.pyboy.options import check_options, is_headless
from emurust.pyboy.plugins import wrapper_for
from emurust.pyboy.registers import PyBoyRegisterFile
from emurust.pyboy.symbols import SymbolTable, symbol_files
from emurust.pyboy.utils import (
    InvalidAssertionError,
    PyBoyAssertException,
    PyBoyException,
    PyBoyInvalidInputException,
    PyBoyInvalidOperationException,
    WindowEvent,
)
from emurust.rom import load_rom

__all__ = ["DMG_PALETTES", "PyBoy"]

_LOGGER = logging.getLogger("emurust.pyboy")

_FRAMES_PER_SECOND = 60
_FIRST_RELEASE = WindowEvent.RELEASE_ARROW_UP
_LAST_BUTTON = WindowEvent.RELEASE_BUTTON_START
#: What PyBoy's class had in version 1, and what it is called since.
_SINCE_VERSION_2 = {
    "botsupport_manager": "screen, tilemap_background, get_sprite and the like of PyBoy itself",
    "get_input": "events",
    "get_memory_value": "memory[address]",
    "get_screen_image": "screen.image",
    "get_screen_ndarray": "screen.ndarray",
    "mb": "memory, register_file and the like: PyBoy's inside is not here",
    "openai_gym": "emurust.envs, or game_wrapper",
    "override_memory_value": "memory[bank, address] = value",
    "screen_image": "screen.image",
    "set_memory_value": "memory[address] = value",
}
_CGB_PALETTES = (
    (0xFFFFFF, 0x7BFF31, 0x0063C5, 0x000000),
    (0xFFFFFF, 0xFF8484, 0x943A3A, 0x000000),
    (0xFFFFFF, 0xFF8484, 0x943A3A, 0x000000),
)


class PyBoy:
    """PyBoy's class on EmuRust's machine: same calls, same machine, same results.

    See the guide "Coming from PyBoy" for what differs; `docs/pyboy-names.md` has every
    name. What EmuRust cannot do raises `emurust.pyboy.utils.UnavailableError`.

    Args:
        gamerom: path of a ROM, or a binary file.
        ram_file, rtc_file: battery RAM and clock to start with, as binary files; by
            default the files next to the ROM (its name plus ``.ram``). The clock starts
            at zero and counts emulated time, so `rtc_file` is not read.
        window: "null" (or "headless", "dummy"). Others are without a window too, warn, and
            begin at real-time speed.
        symbols: path of a ``.sym`` or ``.map`` file; those next to the ROM are read too.
        bootrom: path of a 256-byte boot ROM. By default that of an installed PyBoy; if
            there is none, the frames that it takes pass without it, and nothing is drawn.
        sound_emulated: emulate the sound unit.
        cgb: must be False for cartridges with Game Boy Color features.
        gameshark: cheat codes, separated by commas.
        color_palette: four 24-bit RGB colours, lightest first.
        log_level: of the logger ``emurust.pyboy``.
        scale, sound_volume, no_input, title_status, cgb_color_palette: checked where PyBoy
            does, and without effect.

    Raises:
        RomNotFoundError, RomError: see `emurust.load_rom`. (The first is a
            FileNotFoundError.)
        UnavailableError: an option asks for something that EmuRust cannot do.
        KeyError: there is no such option or window.
    """

    def __init__(
        self,
        gamerom: str | os.PathLike[str] | IO[bytes],
        *,
        ram_file: IO[bytes] | None = None,
        rtc_file: IO[bytes] | None = None,
        window: str = "SDL2",
        scale: int = 3,
        symbols: str | os.PathLike[str] | None = None,
        bootrom: str | os.PathLike[str] | None = None,
        sound_volume: int = 100,
        sound_emulated: bool = True,
        sound_sample_rate: int | None = None,
        cgb: bool | None = None,
        gameshark: str | None = None,
        no_input: bool = False,
        log_level: str = "WARNING",
        color_palette: Sequence[int] = GREY,
        cgb_color_palette: Sequence[Sequence[int]] = _CGB_PALETTES,
        title_status: bool = False,
        serial_shared_memory: object = None,
        serial_interrupt_based: bool = False,
        sgb_border: bool = False,
        **kwargs: Any,
    ) -> None:
        self._closed = True  # Until there is something to stop.
        # Names of version 1.
        bootrom = kwargs.pop("bootrom_file", bootrom)
        window = kwargs.pop("window_type", window)
        kwargs.pop("sound", None)
        if gamerom is None:
            raise RomNotFoundError("no game ROM was given")
        is_path = isinstance(gamerom, str | os.PathLike)
        if not is_path and not hasattr(gamerom, "read"):
            raise PyBoyInvalidInputException(
                f"a game ROM is a path or a binary file, not {type(gamerom).__name__}"
            )
        rom = load_rom(gamerom)
        check_options(
            window=window,
            cgb=cgb,
            cgb_flag=rom.cgb_flag,
            sgb_border=sgb_border,
            is_sgb=rom.sgb_flag == 0x03,
            sound_volume=sound_volume,
            sound_sample_rate=sound_sample_rate,
            log_level=log_level,
            others={**kwargs, "serial_shared_memory": serial_shared_memory},
        )
        self.gamerom: str | None = os.fspath(gamerom) if is_path else None  # type: ignore[arg-type]
        self.cartridge_title: str = rom.title
        self._rom = rom
        boot_rom = read_boot_rom(bootrom)
        machine = self._machine = Machine(rom, boot_rom=boot_rom, sound=bool(sound_emulated))
        self._boot_frames_left = 0 if boot_rom is not None else BOOT_FRAMES
        # A PyBoy that has never drawn shows its first window one row off.
        machine.set_window_row(0)
        self._palette = Palette(color_palette)
        self._load_battery(ram_file)

        self._symbols = SymbolTable()
        for path in symbol_files(self.gamerom, symbols):
            self._symbols.read(path)

        self.memory = PyBoyMemoryView(machine)
        self.register_file = PyBoyRegisterFile(machine)
        self.screen = Screen(machine, self._palette)
        self.sound = Sound(machine)
        self.sgb = SGB()
        self.rumble = Rumble(machine, rom)
        self.memory_scanner = MemoryScanner(self.memory)
        self.gameshark = GameShark(self.memory)
        self._hooks = Hooks(machine, self.memory, self._symbols)

        self.paused = False
        self.title_status = title_status
        self.sgb_border = sgb_border
        self.window_title = "PyBoy"
        self._quitting = False
        self._events: list[WindowEvent] = []
        self._later: list[tuple[int, int]] = []
        self._palettes = cycle(DMG_PALETTES.values())
        self._target_speed = 0 if is_headless(window) else 1
        self._speed_before_pause = self._target_speed
        self._next_frame_time = time.perf_counter()

        self.tilemap_background = TileMap(self, "BACKGROUND")
        self.tilemap_window = TileMap(self, "WINDOW")
        self.game_wrapper = wrapper_for(self)
        for code in gameshark.split(",") if gameshark else ():
            self.gameshark.add(code.strip())
        self._closed = False

    def __getattr__(self, name: str) -> NoReturn:
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name in _SINCE_VERSION_2:
            message += f"; use {_SINCE_VERSION_2[name]}"
        raise AttributeError(message, name=name, obj=self)

    # -- time ------------------------------------------------------------------------

    @property
    def frame_count(self) -> int:
        """Frames run since this was made; states leave it alone."""
        return self._machine.frame_count

    def tick(self, count: SupportsIndex = 1, render: bool = True, sound: bool = True) -> bool:
        """Runs `count` frames.

        Args:
            count: frames, 0 or more.
            render: draw the last of them. The others are not drawn.
            sound: sample the sound of the last of them.

        Returns:
            False if no frame was to be run or a QUIT event came, otherwise True.

        Raises:
            PyBoyInvalidOperationException: `stop` was called.
            PyBoyInvalidInputException: `count` is negative or no integer.
            What a hook's callback raised, at the end of its frame, which is the last one.
        """
        if self._closed:
            raise PyBoyInvalidOperationException("this PyBoy was stopped; make a new one to go on")
        try:
            frames = operator.index(count)
        except TypeError:
            frames = -1
        if frames < 0:
            raise PyBoyInvalidInputException(
                f"count is a whole number of frames, 0 or more, not {count!r}"
            )
        try:
            self._run(frames, bool(render), bool(sound))
        finally:
            if render:
                self.screen._refresh()
            self.sound._invalidate()
            self.game_wrapper.post_tick()
        if self._target_speed > 0:
            self._wait()
        return frames > 0 and not self._quitting

    def _run(self, frames: int, render: bool, sound: bool) -> None:
        """Runs frames, as many at once as nothing has to be done between."""
        left = frames
        while left > 0:
            together = left if self._is_plain() else 1
            if self._later:
                together = max(1, min(together, self._later[0][0] - self.frame_count))
            left -= together
            is_last = left == 0
            if together > 1 or self._is_plain():
                self._machine.tick(together, render and is_last, sound and is_last)
            else:
                self._run_frame(render and is_last, sound and is_last)
            self._release_events()

    def _is_plain(self) -> bool:
        """Nothing but buttons happens at the start of a frame, and nothing within it."""
        return not (
            self._events
            or self._hooks
            or self.gameshark._cheats
            or self.paused
            or self._boot_frames_left
        )

    def _run_frame(self, render: bool, sound: bool) -> None:
        for event in self._events:
            self._handle(int(event))
        self._events.clear()
        machine = self._machine
        if self.paused:
            machine.handle_input()
            return
        if self.gameshark._cheats:
            machine.handle_input()
            self.gameshark._write()
        if self._boot_frames_left:
            self._boot_frames_left -= 1
            if render:
                machine.set_window_row(-1)
            machine.idle_frame()
        elif self._hooks:
            self._hooks.run_frame(render, sound)
        else:
            machine.tick(1, render, sound)

    def _wait(self) -> None:
        """PyBoy waits once a tick, whatever its count."""
        due = self._next_frame_time + 1 / (_FRAMES_PER_SECOND * self._target_speed)
        now = time.perf_counter()
        if due > now:
            time.sleep(due - now)
            self._next_frame_time = due
        else:
            self._next_frame_time = now

    def set_emulation_speed(self, target_speed: int) -> None:
        """Slows `tick` down: 1 is 60 calls a second, 0 is no limit."""
        self._target_speed = target_speed

    # -- input -----------------------------------------------------------------------

    def button(self, input: str, delay: int = 1) -> None:
        """Presses a button in the next frame and releases it `delay` frames later.

        Raises:
            PyBoyInvalidInputException: there is no such button.
        """
        number = self._button(input)
        self._machine.queue_button(number, True)
        self.send_input(_FIRST_RELEASE + number, delay)

    def button_press(self, input: str) -> None:
        """Presses a button from the next frame on, until it is released.

        Raises:
            PyBoyInvalidInputException: there is no such button.
        """
        self._machine.queue_button(self._button(input), True)

    def button_release(self, input: str) -> None:
        """Releases a button from the next frame on.

        Raises:
            PyBoyInvalidInputException: there is no such button.
        """
        self._machine.queue_button(self._button(input), False)

    def _button(self, name: str) -> int:
        try:
            return BUTTONS.index(name.lower())
        except (ValueError, AttributeError):
            raise PyBoyInvalidInputException(
                f"there is no button {name!r}; the buttons are {', '.join(BUTTONS)}"
            ) from None

    def send_input(self, event: int | WindowEvent, delay: int = 0) -> None:
        """Queues an event of `WindowEvent` for the next frame, or `delay` frames later.

        Buttons, QUIT, PAUSE, UNPAUSE, PAUSE_TOGGLE, STATE_SAVE, STATE_LOAD, CYCLE_PALETTE
        and RELEASE_SPEED_UP do what they do in PyBoy; the others need a window.

        Raises:
            PyBoyInvalidInputException: there is no such event, or the delay is negative.
        """
        try:
            number = int(event)
        except (TypeError, ValueError):
            raise PyBoyInvalidInputException(
                f"an event is one of WindowEvent, not {event!r}; PyBoy.button takes names"
            ) from None
        if not WindowEvent.QUIT <= number <= WindowEvent.DEBUG_GAME_AREA_TOGGLE:
            raise PyBoyInvalidInputException(f"there is no event {number}; see WindowEvent")
        if delay < 0:
            raise PyBoyInvalidInputException(f"a delay is 0 frames or more, not {delay}")
        if WindowEvent.QUIT < number <= _LAST_BUTTON:
            button, pressed = (number - 1) % len(BUTTONS), number < _FIRST_RELEASE
            self._machine.queue_button(button, pressed, delay)
        elif delay:
            heapq.heappush(self._later, (self.frame_count + delay, number))
        else:
            self._events.append(WindowEvent(number))

    @property
    def events(self) -> list[WindowEvent]:
        """Events for the next frame that are no buttons."""
        return self._events

    def _release_events(self) -> None:
        while self._later and self._later[0][0] <= self.frame_count:
            self._events.append(WindowEvent(heapq.heappop(self._later)[1]))

    def _handle(self, event: int) -> None:
        if event == WindowEvent.QUIT:
            self._quitting = True
        elif event == WindowEvent.PAUSE:
            self._set_paused(True)
        elif event == WindowEvent.UNPAUSE:
            self._set_paused(False)
        elif event == WindowEvent.PAUSE_TOGGLE:
            self._set_paused(not self.paused)
        elif event == WindowEvent.RELEASE_SPEED_UP:
            self._target_speed = 0 if self._target_speed else 1
        elif event == WindowEvent.CYCLE_PALETTE:
            self._cycle_palette()
        elif event in (WindowEvent.STATE_SAVE, WindowEvent.STATE_LOAD):
            self._quick_state(save=event == WindowEvent.STATE_SAVE)

    def _cycle_palette(self) -> None:
        self.set_color_palette(next(self._palettes))

    def _set_paused(self, paused: bool) -> None:
        if paused and not self.paused:
            self._speed_before_pause, self._target_speed = self._target_speed, 1
        elif self.paused and not paused:
            self._target_speed = self._speed_before_pause
        self.paused = paused

    def _quick_state(self, *, save: bool) -> None:
        if self.gamerom is None:
            _LOGGER.error("a ROM that is no file has no state next to it")
            return
        path = Path(self.gamerom + ".state")
        if save:
            path.write_bytes(self._machine.save_pyboy_state())
        elif path.is_file():
            self._load(path.read_bytes())
        else:
            _LOGGER.error("there is no state %s", path)

    # -- states ----------------------------------------------------------------------

    def save_state(self, file_like_object: IO[bytes]) -> None:
        """Writes the state to a binary file, in PyBoy 2.8.1's format.

        Raises:
            PyBoyInvalidInputException: it is a path or a text file.
        """
        _check_binary(file_like_object, "wb")
        file_like_object.write(self._machine.save_pyboy_state())
        if hasattr(file_like_object, "flush"):
            file_like_object.flush()

    def load_state(self, file_like_object: IO[bytes]) -> None:
        """Reads a state from a binary file: PyBoy's versions 7 to 29, or EmuRust's.

        Raises:
            PyBoyInvalidInputException: it is a path or a text file.
            PyBoyAssertException: it is no state, cut short or damaged; nothing changed.
            PyBoyException: it is of a machine with other options; nothing changed.
        """
        _check_binary(file_like_object, "rb")
        state = file_like_object.read()
        if not state:
            raise PyBoyAssertException(
                "there is nothing to read: the file is empty, or at its end (go back with seek(0))"
            )
        self._load(state)

    def _load(self, state: bytes) -> None:
        try:
            if state.startswith(b"EMURUST"):
                self._machine.load_state(state)
            else:
                self._machine.load_pyboy_state(state)
        except StateCorruptError as error:
            raise PyBoyAssertException(str(error)) from error
        except StateError as error:
            raise PyBoyException(str(error)) from error
        self._boot_frames_left = 0
        self.screen._refresh()

    # -- hooks and symbols -----------------------------------------------------------

    @property
    def rom_symbols(self) -> dict[int, dict[int, list[str]]]:
        """Names of the symbol files by bank and address."""
        return self._symbols.names

    @property
    def rom_symbols_inverse(self) -> dict[str, tuple[int, int]]:
        """Bank and address by name."""
        return self._symbols.places

    def symbol_lookup(self, symbol: str) -> tuple[int, int]:
        """Bank and address of a name in the symbol files.

        Raises:
            ValueError: there is no such name.
        """
        return self._symbols.lookup(symbol)

    def hook_register(
        self,
        bank: int | None,
        addr: int | str,
        callback: Callable[[Any], object],
        context: Any,
    ) -> None:
        """Calls ``callback(context)`` whenever the instruction at an address is to run.

        The callback sees the machine before the instruction and may change it. What it raises
        comes out of `tick` at the end of the frame. (PyBoy prints it and goes on.)

        Args:
            bank: of ROM or RAM, -1 for the boot ROM, None with the name of a symbol.
            addr: the address, 0x0000 to 0x7FFF or 0xA000 to 0xDFFF, or the symbol's name.

        Raises:
            ValueError: there is a hook already, or no such symbol.
            PyBoyOutOfBoundsException: no code can be run there.
        """
        self._hooks.register(bank, addr, callback, context)

    def hook_deregister(self, bank: int | None, addr: int | str) -> None:
        """Removes a hook.

        Raises:
            ValueError: there is none, or it is the one whose callback is running, or
                there is no such symbol.
        """
        self._hooks.deregister(bank, addr)

    # -- tiles and sprites -----------------------------------------------------------

    def get_tile(self, identifier: int) -> Tile:
        """The tile with a number from 0 to 383; see `Tile`.

        Raises:
            PyBoyOutOfBoundsException: there is no such tile.
        """
        return Tile(self._machine, self._palette, identifier)

    def get_sprite(self, sprite_index: int) -> Sprite:
        """The sprite at a place in OAM from 0 to 39; see `Sprite`.

        Raises:
            PyBoyOutOfBoundsException: there is no such sprite.
        """
        return Sprite(self._machine, self.memory._memory, self._palette, sprite_index)

    def get_sprite_by_tile_identifier(
        self, tile_identifiers: Iterable[int], on_screen: bool = True
    ) -> list[list[int]]:
        """For each tile number the indices of the sprites that show it.

        Args:
            tile_identifiers: the tile numbers.
            on_screen: leave out sprites that are not on the screen.
        """
        sprites = [
            sprite
            for sprite in map(self.get_sprite, range(constants.SPRITES))
            if sprite.on_screen or not on_screen
        ]
        return [
            [
                sprite.sprite_index
                for sprite in sprites
                for tile in sprite.tiles
                if tile.tile_identifier == identifier
            ]
            for identifier in tile_identifiers
        ]

    def game_area(self) -> npt.NDArray[np.uint32]:
        """The game area as a matrix of tile numbers: shape (height, width), uint32."""
        area: npt.NDArray[np.uint32] = self.game_wrapper.game_area()
        return area

    def game_area_dimensions(
        self, x: int, y: int, width: int, height: int, follow_scrolling: bool = True
    ) -> None:
        """Sets which part of the tile map, or with `follow_scrolling` of the screen, is the
        game area, in tiles."""
        self.game_wrapper._set_dimensions(x, y, width, height, follow_scrolling)

    def game_area_mapping(self, mapping: npt.ArrayLike | None, sprite_offset: int = 0) -> None:
        """Sets what tile numbers become in `game_area`.

        Args:
            mapping: 384 or 768 numbers, or None for the tile numbers themselves.
            sprite_offset: added to the numbers of sprites.

        Raises:
            AssertionError: it is no such list or array.
        """
        if mapping is None:
            mapping = list(range(constants.TILES_CGB))
        sizes = (constants.TILES, constants.TILES_CGB)
        if not isinstance(mapping, np.ndarray | list) or len(mapping) not in sizes:
            raise InvalidAssertionError(f"a mapping is a list or an array of {sizes} numbers")
        if not isinstance(sprite_offset, int):
            raise InvalidAssertionError(f"sprite_offset is an integer, not {sprite_offset!r}")
        self.game_wrapper.game_area_mapping(mapping, sprite_offset)

    def game_area_collision(self) -> npt.NDArray[np.uint32]:
        """Where one can go, of games whose wrapper knows.

        Raises:
            AttributeError: the game's wrapper does not.
        """
        area: npt.NDArray[np.uint32] = self.game_wrapper.game_area_collision()
        return area

    # -- the rest --------------------------------------------------------------------

    def set_color_palette(self, palette: Sequence[int]) -> None:
        """Takes four other 24-bit RGB colours, lightest first, from the next frame on.

        Raises:
            PyBoyInvalidInputException: they are not four 24-bit numbers.
        """
        self.screen._recolour()
        self._palette.set(palette)

    def rtc_lock_experimental(self, enable: bool) -> None:
        """Stops the cartridge's clock, or lets it run.

        Raises:
            PyBoyException: the cartridge has no clock.
        """
        if not self._machine.lock_clock(bool(enable)):
            raise PyBoyException("this cartridge has no clock")

    def printer_image(self) -> None:
        """None: there is no printer, and PyBoy without one returns None too."""

    def _lookup_symbol(self, symbol: str) -> tuple[int, int]:
        return self._symbols.lookup(symbol)

    def _cycles(self) -> int:
        return self._machine.cycles

    def _quit(self) -> None:
        self._quitting = True

    def stop(
        self,
        save: bool = True,
        ram_file: IO[bytes] | None = None,
        rtc_file: IO[bytes] | None = None,
    ) -> None:
        """Ends the machine; stopping it again does nothing.

        Args:
            save: keep the battery RAM of a cartridge that has a battery: in `ram_file`, or
                in the file next to the ROM (its name plus ``.ram``). A ROM that is no file
                has none.
            ram_file: where to, as a binary file.
            rtc_file: not written; see the constructor.

        Raises:
            SaveFileError: the RAM cannot be written; the machine goes on.
        """
        if self._closed:
            return
        self.game_wrapper.stop()
        if save and self._rom.has_battery:
            content = self._machine.cart_ram_bytes()
            if ram_file is not None:
                ram_file.write(content)
            elif self.gamerom is not None:
                battery.write_battery(Path(self.gamerom + ".ram"), content)
            else:
                _LOGGER.warning(
                    "the ROM is no file, so its battery RAM is kept nowhere; "
                    "give stop a ram_file, or save=False"
                )
        self._closed = True
        self._machine.close()

    def __enter__(self) -> PyBoy:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _load_battery(self, ram_file: IO[bytes] | None) -> None:
        if not self._rom.has_battery:
            return
        size = len(self._machine.cart_ram_bytes())
        if ram_file is not None:
            content: bytes | None = battery.fitting(ram_file.read(), size, "the given file")
        elif self.gamerom is not None:
            content = battery.read_battery(Path(self.gamerom + ".ram"), size)
        else:
            content = None
        if content is not None:
            self._machine.set_cart_ram(content)


def _check_binary(file: object, mode: str) -> None:
    if isinstance(file, str):
        raise PyBoyInvalidInputException(
            f"give a binary file, open with mode {mode!r}, not the path {file!r}"
        )
    if file.__class__.__name__ == "TextIOWrapper":
        raise PyBoyInvalidInputException(f"the file is open as text; open it with mode {mode!r}")
