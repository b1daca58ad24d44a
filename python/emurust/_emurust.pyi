"""The compiled module; see rust/emurust-python/src."""

from typing import SupportsIndex, final, overload

import numpy as np
import numpy.typing as npt

__all__ = ["Machine", "Memory", "Rom", "ViewOwner", "__version__"]

__version__: str

@final
class Rom:
    """A checked cartridge image."""

    def __new__(cls, image: bytes | bytearray) -> Rom: ...
    def image(self) -> bytes:
        """The whole image."""
    @property
    def fingerprint(self) -> int:
        """A 64-bit hash of the image (FNV-1a), by which a state knows its cartridge."""
    @property
    def title(self) -> str:
        """Title in the header, up to its first zero byte."""
    @property
    def cartridge_type(self) -> int:
        """The byte at 0x0147."""
    @property
    def mapper(self) -> str:
        """The mapper's usual name, such as "MBC3"."""
    @property
    def has_ram(self) -> bool: ...
    @property
    def has_battery(self) -> bool: ...
    @property
    def has_rtc(self) -> bool: ...
    @property
    def has_rumble(self) -> bool: ...
    @property
    def rom_banks(self) -> int:
        """Number of 16 KiB banks in the image."""
    @property
    def declared_rom_banks(self) -> int | None:
        """Number of 16 KiB banks that the header promises; None for an unknown code."""
    @property
    def ram_banks(self) -> int:
        """Number of 8 KiB cartridge RAM banks the machine has for this cartridge."""
    @property
    def ram_size_code(self) -> int:
        """The byte at 0x0149."""
    @property
    def cgb_flag(self) -> int:
        """The byte at 0x0143; bit 7 set: has Game Boy Color features."""
    @property
    def sgb_flag(self) -> int:
        """The byte at 0x0146; 0x03: has Super Game Boy features."""
    @property
    def version(self) -> int:
        """The mask ROM version at 0x014C."""
    @property
    def header_checksum(self) -> int:
        """The header checksum at 0x014D, which is right in every `Rom`."""
    @property
    def global_checksum(self) -> int:
        """The checksum at 0x014E, 16 bits."""
    @property
    def computed_global_checksum(self) -> int:
        """What the checksum at 0x014E should be, 16 bits."""

@final
class Machine:
    """One Game Boy; `emurust.GameBoy` gives it PyBoy's vocabulary."""

    def __new__(
        cls, rom: Rom, *, boot_rom: bytes | bytearray | None = None, sound: bool = False
    ) -> Machine: ...
    def tick(self, count: int = 1, render: bool = True, sample_sound: bool = False) -> None:
        """Runs `count` frames; `render` and `sample_sound` are for the last one."""
    def queue_button(self, number: int, pressed: bool, delay: int = 0) -> None:
        """Queues a press or release for the next frame, or for `delay` frames later."""
    @property
    def frame_count(self) -> int:
        """Frames run so far; not part of a state."""
    @property
    def cycles(self) -> int:
        """T-cycles (1 / 4194304 s) of the CPU since power-on."""
    @property
    def ime(self) -> bool:
        """Interrupts are enabled."""
    @property
    def halted(self) -> bool:
        """The CPU waits in HALT."""
    @property
    def locked(self) -> bool:
        """The CPU executed an illegal opcode and runs no more; frames go on."""
    @property
    def sound(self) -> bool:
        """Emulates the sound unit."""
    @property
    def boot_rom(self) -> bytes | None:
        """The boot ROM it was made with."""
    def registers(self) -> tuple[int, int, int, int, int, int, int, int, int]:
        """(A, F, B, C, D, E, HL, SP, PC)"""
    def set_register(self, name: str, value: int) -> None:
        """Sets one register by its name to the low bits of `value`."""
    def peek(self, address: int) -> int:
        """The byte at `address` as the bus would give it, without side effects."""
    @property
    def state_len(self) -> int:
        """Length of a state in bytes."""
    def save_state(self) -> bytes:
        """The machine's complete state."""
    def load_state(self, state: bytes | bytearray) -> None:
        """Restores a state of the same cartridge; on an error nothing changes."""
    def fork(self) -> Machine:
        """An independent machine in the same state, with the same queued input."""
    def rom_image(self) -> bytes:
        """The cartridge's image with what was written over it in this machine."""
    def patch_rom(self, offset: int, content: bytes | bytearray) -> None:
        """Overwrites the cartridge's image from `offset` on, in this machine only."""
    def internals(self) -> list[tuple[str, int]]:
        """The machine's inner values by name, for comparison with a reference."""
    def cart_ram_bytes(self) -> bytes:
        """All cartridge RAM banks, one after the other."""
    def set_cart_ram(self, content: bytes | bytearray) -> None:
        """Replaces all cartridge RAM banks."""
    def shades(self) -> npt.NDArray[np.uint8]:
        """Live read-only view of the frame: (144, 160) uint8, 0 to 3, 4 never drawn."""
    def rgba(self) -> npt.NDArray[np.uint8]:
        """Live view of the frame in PyBoy's colours: (144, 160, 4) uint8 RGBA."""
    def wram(self) -> npt.NDArray[np.uint8]:
        """Live read-only view of work RAM from 0xC000: (8192,) uint8."""
    def vram(self) -> npt.NDArray[np.uint8]:
        """Live read-only view of video RAM from 0x8000: (8192,) uint8."""
    def oam(self) -> npt.NDArray[np.uint8]:
        """Live read-only view of object memory from 0xFE00: (160,) uint8."""
    def hram(self) -> npt.NDArray[np.uint8]:
        """Live read-only view of high RAM from 0xFF80: (127,) uint8."""
    def cart_ram(self) -> npt.NDArray[np.uint8]:
        """Live read-only view of cartridge RAM: (8192 * banks,) uint8, bank after bank."""
    def close(self) -> None:
        """Ends the machine and frees its memory; views keep what they last showed."""
    @property
    def closed(self) -> bool:
        """close() was called."""

@final
class Memory:
    """The 64 KiB that the CPU sees, and the banks behind them."""

    def __new__(cls, machine: Machine) -> Memory: ...
    @overload
    def __getitem__(self, key: SupportsIndex | tuple[SupportsIndex, SupportsIndex], /) -> int: ...
    @overload
    def __getitem__(self, key: slice | tuple[SupportsIndex, slice], /) -> list[int]: ...
    @overload
    def __setitem__(
        self, key: SupportsIndex | tuple[SupportsIndex, SupportsIndex], value: SupportsIndex, /
    ) -> None: ...
    @overload
    def __setitem__(
        self,
        key: slice | tuple[SupportsIndex, slice],
        value: SupportsIndex | list[int] | bytes | npt.NDArray[np.integer],
        /,
    ) -> None: ...
    def __delitem__(self, key: object, /) -> None: ...

@final
class ViewOwner:
    """The base object of an array: keeps the array's memory."""
