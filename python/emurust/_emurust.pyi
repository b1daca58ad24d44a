"""The compiled module; see rust/emurust-python/src."""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex, TypeAlias, final, overload

import numpy as np
import numpy.typing as npt

__all__ = [
    "ArrayOwner",
    "Episode",
    "Machine",
    "Memory",
    "PoolEngine",
    "Rom",
    "Task",
    "ViewOwner",
    "__version__",
    "episode_seed",
    "run_pool_worker",
    "start_index",
    "translator_unavailable",
]

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

def translator_unavailable() -> str | None:
    """Why native code cannot be had here; None if it can."""

@final
class Machine:
    """One Game Boy; `emurust.GameBoy` gives it PyBoy's vocabulary."""

    def __new__(
        cls,
        rom: Rom,
        *,
        boot_rom: bytes | bytearray | None = None,
        sound: bool = False,
        engine: str = "auto",
    ) -> Machine: ...
    def translate_now(self, well: bool) -> None:
        """Translates at once everything that has been seen running, well or quickly."""
    def tick(self, count: int = 1, render: bool = True, sample_sound: bool = False) -> None:
        """Runs `count` frames; `render` and `sample_sound` are for the last one."""
    def trace_tick(
        self, render: bool
    ) -> list[tuple[int, int, int, int, int, int, int, int, int, int, int]]:
        """Runs one frame as `tick(1, render)` does and returns the CPU before every
        instruction: (cycles, PC, ROM bank at 4000, A, F, B, C, D, E, HL, SP). Slow."""
    def run_to_stop(self, begin: bool, render: bool, sample_sound: bool) -> tuple[int, int] | None:
        """Runs up to the next stop, whose (bank, address) is returned, or to the end of the frame."""
    def set_stop(self, bank: int, address: int) -> None:
        """Puts a stop at an address of a bank (-1: the boot ROM)."""
    def clear_stop(self, bank: int, address: int) -> None:
        """Takes a stop away."""
    def handle_input(self) -> None:
        """Handles queued input without running a frame."""
    def idle_frame(self) -> None:
        """Counts a frame that is not run; its queued input takes effect."""
    def set_div(self, value: int) -> None:
        """Sets DIV."""
    def lock_clock(self, locked: bool) -> bool:
        """Stops the cartridge's clock or lets it run; false if it has none."""
    @property
    def rumbling(self) -> bool:
        """The cartridge's rumble motor is on."""
    def set_window_row(self, row: int) -> None:
        """Sets the row counter of the window."""
    def line_parameters(self) -> bytes:
        """SCX, SCY, WX, WY and bit 4 of LCDC for each of the 144 lines, as drawn."""
    def sound_samples(self) -> bytes:
        """Sound of the last sampled frame: signed bytes, left and right in turn, 48 kHz."""
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
    def peek_block(self, address: int, length: int) -> bytes:
        """The bytes from `address` on as `peek` gives them; after 0xFFFF comes 0."""
    @property
    def state_len(self) -> int:
        """Length of a state in bytes."""
    def save_state(self) -> bytes:
        """The machine's complete state."""
    def load_state(self, state: bytes | bytearray) -> None:
        """Restores a state of the same cartridge, also one of PyBoy's files; on an error nothing changes."""
    def save_pyboy_state(self) -> bytes:
        """The state as a file of PyBoy 2.8.1."""
    def load_pyboy_state(self, state: bytes | bytearray) -> None:
        """Restores a state file of PyBoy's, and leaves what it does not hold as it is."""
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
    def _panic(self, long_work: bool) -> None:
        """Panics while it holds the machine, so that tests see what becomes of a bug."""
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

_Watch: TypeAlias = int | str | tuple[int, int]

@final
class Task:
    """A task: what to read from a machine and how to score it."""

    @staticmethod
    def from_toml(text: str, file_name: str, symbols: tuple[str, str] | None = None) -> Task:
        """Reads a task file; `symbols` is the text of a `.sym` file and its name."""
    def with_options(
        self,
        *,
        observation: str | None = None,
        frame_skip: int | None = None,
        hold_frames: int | None = None,
        frame_stack: int | None = None,
        resolution: str | None = None,
        reward_weights: Mapping[str, float] | None = None,
        reward_scale: float | None = None,
        max_steps: int | None = None,
        watch: Sequence[_Watch] | None = None,
        map_offsets: Mapping[int, tuple[int, int]] | None = None,
        render: bool | None = None,
    ) -> Task:
        """The task with some things changed; see `emurust.tasks.load`."""
    def check_cartridge(self, rom: Rom) -> None:
        """Raises TaskCartridgeError unless the task is made for this cartridge."""
    @property
    def name(self) -> str:
        """The name that the file gives."""
    @property
    def description(self) -> str:
        """The file's own description."""
    @property
    def file_name(self) -> str:
        """The file that the task was read from."""
    @property
    def cartridge_titles(self) -> list[str]:
        """Titles of the cartridges that the task is made for; empty: any."""
    @property
    def has_world(self) -> bool:
        """The file has a world map, in which `map_offsets` places the maps."""
    @property
    def action_names(self) -> list[str]:
        """Names of the actions, in order."""
    @property
    def observation(self) -> str:
        """ "dict", "screen", "ram", "all" or "packed"."""
    @property
    def observation_layout(
        self,
    ) -> list[tuple[str, str, list[int], int, str, float, float]]:
        """(name, dtype, shape, offset, space, low, high) of each field of the record."""
    @property
    def observation_len(self) -> int:
        """Bytes of one observation record."""
    @property
    def info_layout(self) -> list[tuple[str, bool]]:
        """(name, is a reward term) of each info value."""
    @property
    def watch_layout(self) -> list[tuple[str, int, int]]:
        """(name, offset, length) of each entry of the watched RAM."""
    @property
    def frame_skip(self) -> int:
        """Frames of one step."""
    @property
    def hold_frames(self) -> int:
        """Frames for which an action's buttons are held."""
    @property
    def max_steps(self) -> int:
        """Steps until an episode is truncated; 0: never."""
    @property
    def reward_weights(self) -> dict[str, float]:
        """The weights, scaled, by reward term."""
    @property
    def start_states(self) -> list[tuple[str, str]]:
        """(name, path) of each start state of the file."""
    @property
    def default_start(self) -> str | None:
        """The name of the start state to take when none is asked for."""
    @property
    def has_start_script(self) -> bool:
        """The file has a script that leads from power-on to where episodes start."""
    def play_start_script(self, machine: Machine) -> None:
        """Plays that script on a machine that was just switched on."""

@final
class Episode:
    """One machine's play of a task."""

    def __new__(cls, task: Task) -> Episode: ...
    @property
    def task(self) -> Task:
        """The task."""
    @property
    def steps(self) -> int:
        """Steps since the episode began."""
    def begin(
        self, machine: Machine, seed: int
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
        """Begins an episode on the machine as it is; the observation record, info and watch."""
    def step(
        self, machine: Machine, action: int
    ) -> tuple[
        npt.NDArray[np.uint8],
        float,
        bool,
        bool,
        npt.NDArray[np.float32],
        npt.NDArray[np.uint8],
    ]:
        """Takes an action: (observation record, reward, terminated, truncated, info, watch)."""
    def save(self) -> bytes:
        """Everything that `load` needs to go on exactly, but the machine."""
    def load(self, state: bytes | bytearray) -> None:
        """Goes on from saved bytes; on an error nothing changes."""

@final
class ArrayOwner:
    """The base object of an array over a pool's memory."""

_Buffers: TypeAlias = tuple[
    npt.NDArray[np.uint8], npt.NDArray[np.float32], npt.NDArray[np.bool_], npt.NDArray[np.bool_]
]

@final
class PoolEngine:
    """The machinery of `emurust.Pool`."""

    @staticmethod
    def games(
        roms: Sequence[bytes],
        configs: Sequence[
            tuple[
                int,
                str,
                str,
                tuple[str, str] | None,
                dict[str, Any],
                Sequence[tuple[str, bytes | None]],
            ]
        ],
        assignment: Sequence[int],
        *,
        backend: str,
        workers: int | None,
        worker_command: Sequence[str],
        batch_size: int | None,
        autoreset: str,
        first_index: int,
        engine: str,
        buffers: _Buffers | None,
    ) -> PoolEngine: ...
    @staticmethod
    def dummies(
        machines: int,
        *,
        observation_len: int,
        episode_len: int,
        work: int,
        panic_action: int | None,
        backend: str,
        workers: int | None,
        worker_command: Sequence[str],
        batch_size: int | None,
        autoreset: str,
        first_index: int,
        buffers: _Buffers | None,
    ) -> PoolEngine: ...
    @property
    def observation_len(self) -> int: ...
    @property
    def num_actions(self) -> int: ...
    @property
    def info_names(self) -> list[str]: ...
    @property
    def num_workers(self) -> int: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def worker_ids(self) -> list[int]: ...
    @property
    def lost(self) -> list[int]: ...
    @property
    def closed(self) -> bool: ...
    @property
    def screen_len(self) -> int: ...
    def arrays(self) -> dict[str, npt.NDArray[Any]]: ...
    def batch_arrays(self) -> dict[str, npt.NDArray[Any]] | None: ...
    def step(self, actions: npt.NDArray[Any]) -> None: ...
    def send(self, actions: npt.NDArray[Any], machines: npt.NDArray[Any] | None = None) -> None: ...
    def recv(self, machines: npt.NDArray[np.int64]) -> None: ...
    def reset(
        self,
        seed: int | None = None,
        seeds: Sequence[int] | None = None,
        mask: Sequence[bool] | None = None,
    ) -> None: ...
    def recover(self) -> None: ...
    def get_state(self, index: int) -> bytes: ...
    def set_state(self, index: int, state: bytes) -> None: ...
    def streams(self) -> list[tuple[int, int]]: ...
    def episode_seeds(self) -> list[int | None]: ...
    def resume_streams(self, streams: Sequence[tuple[int, int]]) -> None: ...
    def fork(self, source: int, target: int) -> None: ...
    def set_start(
        self, index: int, name: str | None = None, state: bytes | None = None
    ) -> None: ...
    def ram(self, index: int) -> npt.NDArray[np.uint8]: ...
    def screens(self, out: npt.NDArray[np.uint8]) -> None: ...
    def close(self) -> None: ...

def run_pool_worker(worker: int, trainer: int) -> None: ...
def episode_seed(seed: int, index: int, episode: int) -> int: ...
def start_index(episode_seed: int, count: int) -> int: ...
