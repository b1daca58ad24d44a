"""Whatever is wrong gets its own exception, and a message that says what would be right."""

from __future__ import annotations

import inspect
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from emurust import GameBoy, errors, load_rom
from emurust.errors import (
    AddressError,
    ArgumentError,
    ArgumentTypeError,
    BankError,
    BootRomError,
    ButtonError,
    ClosedError,
    DependencyError,
    EmuRustError,
    InternalError,
    RomError,
    RomNotFoundError,
    RomReadError,
    RomSizeError,
    StateCorruptError,
    StateError,
    StateMismatchError,
    StateVersionError,
    UnsupportedMapperError,
)

if TYPE_CHECKING:
    from conftest import RomBuilder


@pytest.fixture
def gameboy(joypad_rom: bytes) -> GameBoy:
    gameboy = GameBoy(joypad_rom)
    gameboy.tick(3)
    return gameboy


def test_all_exceptions_have_the_base_and_a_builtin() -> None:
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert issubclass(kind, EmuRustError)
        assert inspect.getdoc(kind)
        if kind is not EmuRustError:
            builtin = [base for base in kind.__mro__ if base.__module__ == "builtins"]
            assert builtin[0] not in (Exception, BaseException, object), name


class TestRoms:
    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(RomNotFoundError, match="there is no ROM file at .*missing.gb"):
            GameBoy(tmp_path / "missing.gb")
        with pytest.raises(FileNotFoundError):
            GameBoy(str(tmp_path / "missing.gb"))

    def test_directory(self, tmp_path: Path) -> None:
        with pytest.raises(RomReadError, match="is a directory; give the path of a ROM file"):
            GameBoy(tmp_path)

    def test_unreadable_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(path: Path) -> bytes:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "read_bytes", refuse)
        with pytest.raises(RomReadError, match="game.gb cannot be read: Permission denied"):
            GameBoy(tmp_path / "game.gb")

    @pytest.mark.parametrize("source", [5, 1.5, object(), ["a.gb"]])
    def test_neither_path_nor_bytes(self, source: Any) -> None:
        with pytest.raises(ArgumentTypeError, match=r"a ROM is a path, bytes, a binary file or"):
            GameBoy(source)

    def test_text_file(self) -> None:
        with pytest.raises(ArgumentTypeError, match="open as text; open it with mode 'rb'"):
            GameBoy(io.StringIO("text"))  # type: ignore[arg-type]

    def test_empty(self) -> None:
        with pytest.raises(RomError, match="the ROM is empty"):
            GameBoy(b"")

    @pytest.mark.parametrize("length", [1, 0x14F, 0x4001, 0x7FFF])
    def test_length_of_no_rom(self, length: int) -> None:
        with pytest.raises(RomSizeError, match=f"the ROM has {length} bytes, which is not a"):
            GameBoy(bytes(length))

    def test_not_a_rom(self) -> None:
        with pytest.raises(RomError, match="header checksum mismatch.*is not a Game Boy ROM"):
            GameBoy(b"\x55" * 0x8000)

    def test_truncated(self, build_rom: RomBuilder) -> None:
        with pytest.raises(
            RomSizeError, match="the header promises 131072 bytes .* there are only 65536"
        ):
            GameBoy(build_rom(banks=8)[:0x10000])

    def test_longer_than_promised_is_fine(self, build_rom: RomBuilder) -> None:
        assert GameBoy(build_rom(banks=4, size_code=0, cartridge_type=1)).tick()

    @pytest.mark.parametrize(
        ("code", "name"),
        [(0x0B, "MMM01"), (0x20, "MBC6"), (0x22, "MBC7"), (0xFC, "Camera"), (0xFE, "HuC3")],
    )
    def test_unsupported_mapper_is_named(self, build_rom: RomBuilder, code: int, name: str) -> None:
        with pytest.raises(
            UnsupportedMapperError, match=f"0x{code:02X} .*{name}.* is not supported; supported"
        ):
            GameBoy(build_rom(cartridge_type=code))

    def test_ram_size_without_meaning(self, build_rom: RomBuilder) -> None:
        with pytest.raises(RomError, match="RAM size code 0x07 at 0x0149 is not one of"):
            GameBoy(build_rom(ram_code=7))

    def test_the_file_is_named(self, build_rom: RomBuilder, tmp_path: Path) -> None:
        path = tmp_path / "camera.gb"
        path.write_bytes(build_rom(cartridge_type=0xFC))
        with pytest.raises(UnsupportedMapperError, match=r"camera\.gb: cartridge type 0xFC"):
            load_rom(path)


class TestBootRoms:
    @pytest.mark.parametrize("length", [0, 255, 2304])
    def test_wrong_length(self, joypad_rom: bytes, length: int) -> None:
        with pytest.raises(BootRomError, match=f"has exactly 256 bytes, this one has {length}"):
            GameBoy(joypad_rom, bootrom=bytes(length))

    def test_missing_file(self, joypad_rom: bytes, tmp_path: Path) -> None:
        with pytest.raises(BootRomError, match="cannot be read: No such file"):
            GameBoy(joypad_rom, bootrom=tmp_path / "boot.bin")

    def test_wrong_type(self, joypad_rom: bytes) -> None:
        with pytest.raises(ArgumentTypeError, match="a boot ROM is a path or bytes, not int"):
            GameBoy(joypad_rom, bootrom=3)  # type: ignore[arg-type]


class TestCounts:
    @pytest.mark.parametrize("count", [-1, -(10**30), 2**63])
    def test_out_of_range(self, gameboy: GameBoy, count: int) -> None:
        with pytest.raises(ArgumentError, match=f"count must be 0 to .* frames, not {count}"):
            gameboy.tick(count)
        assert gameboy.frame_count == 3

    @pytest.mark.parametrize("count", [1.0, "1", None])
    def test_no_integer(self, gameboy: GameBoy, count: Any) -> None:
        with pytest.raises(ArgumentTypeError, match="count must be a whole number of frames"):
            gameboy.tick(count)

    def test_delays(self, gameboy: GameBoy) -> None:
        with pytest.raises(ArgumentError, match="delay must be 0 to .* frames, not -1"):
            gameboy.button("a", -1)
        with pytest.raises(ArgumentError, match="delay must be 0 to .* frames, not 4294967296"):
            gameboy.button("a", 2**32)
        with pytest.raises(ArgumentTypeError, match="delay must be a whole number"):
            gameboy.button("a", 0.5)  # type: ignore[arg-type]
        # Nothing of the refused calls was queued.
        before = gameboy.fork()
        gameboy.tick(5)
        before.tick(5)
        assert gameboy.get_state() == before.get_state()

    def test_speed(self, gameboy: GameBoy) -> None:
        with pytest.raises(ArgumentError, match="the speed is 0 .no limit. or more, not -1"):
            gameboy.set_emulation_speed(-1)
        with pytest.raises(ArgumentError, match="not nan"):
            gameboy.set_emulation_speed(float("nan"))


class TestButtons:
    @pytest.mark.parametrize("method", ["button", "button_press", "button_release"])
    def test_unknown(self, gameboy: GameBoy, method: str) -> None:
        with pytest.raises(
            ButtonError,
            match="there is no button 'l'; the buttons are up, down, right, left, a, b, select, s",
        ):
            getattr(gameboy, method)("l")

    def test_no_string(self, gameboy: GameBoy) -> None:
        with pytest.raises(ArgumentTypeError, match="a button is named by a string, not int"):
            gameboy.button_press(4)  # type: ignore[arg-type]

    @pytest.mark.parametrize("event", [0, 17, -1])
    def test_events(self, gameboy: GameBoy, event: int) -> None:
        with pytest.raises(ArgumentError, match=f"event {event} is not one of the button events"):
            gameboy.send_input(event)


class TestAddresses:
    @pytest.mark.parametrize("address", [-1, 0x10000, 2**70, -(2**70)])
    def test_outside(self, gameboy: GameBoy, address: int) -> None:
        with pytest.raises(AddressError, match="address .*out.*"):
            gameboy.memory[address]
        with pytest.raises(IndexError):
            gameboy.memory[address] = 1

    @pytest.mark.parametrize(
        ("key", "message"),
        [
            (slice(0xC000, None), "needs both its start and its stop"),
            (slice(None, 0xC000), "needs both its start and its stop"),
            (slice(0xC001, 0xC000), "the slice's start 0xC001 must be below its stop 0xC000"),
            (slice(0xC000, 0xC000), "must be below its stop"),
            (slice(-5, 5), "slice address -0x0005 is outside 0x0000 to 0xFFFF"),
            (slice(0xFFF0, 0x10001), "slice address 0x10001 is outside 0x0000 to 0x10000"),
        ],
    )
    def test_slices(self, gameboy: GameBoy, key: slice, message: str) -> None:
        with pytest.raises(AddressError, match=message):
            gameboy.memory[key]
        with pytest.raises(AddressError, match=message):
            gameboy.memory[key] = 1

    @pytest.mark.parametrize("step", [0, -1])
    def test_steps(self, gameboy: GameBoy, step: int) -> None:
        with pytest.raises(ArgumentError, match=f"step must be at least 1, not {step}"):
            gameboy.memory[0xC000:0xC010:step]

    @pytest.mark.parametrize(
        ("key", "message"),
        [
            ((4, 0x4000), "this cartridge's ROM has banks 0 to 3, not 4"),
            ((-2, 0x4000), "this cartridge's ROM has banks 0 to 3, not -2"),
            ((4, 0xA000), "this cartridge's RAM has banks 0 to 3, not 4"),
            ((1, 0x8000), "video RAM of an original Game Boy has banks 0 to 0, not 1"),
            ((2, 0xD000), "work RAM of an original Game Boy has banks 0 to 1, not 2"),
            ((0, 0xE000), "address 0xE000 has no banks; leave the bank out"),
            ((0, 0xFF80), "address 0xFF80 has no banks"),
            ((-1, 0x0000), "bank -1 is the boot ROM, and this machine was made without one"),
        ],
    )
    def test_banks(self, gameboy: GameBoy, key: Any, message: str) -> None:
        with pytest.raises(BankError, match=message):
            gameboy.memory[key]
        with pytest.raises(BankError, match=message):
            gameboy.memory[key] = 1

    @pytest.mark.parametrize(
        ("start", "stop"),
        [(0x3FFF, 0x4001), (0x7FFF, 0x8001), (0x9FFF, 0xA001), (0xBFFF, 0xC001), (0xCFFF, 0xD001)],
    )
    def test_slices_that_leave_a_bank(self, gameboy: GameBoy, start: int, stop: int) -> None:
        with pytest.raises(AddressError, match="a slice of a bank must stay inside it"):
            gameboy.memory[0, start:stop]

    @pytest.mark.parametrize("key", ["PC", 1.5, None, (1, 2, 3), (), ("a", 1), (1, "a")])
    def test_types(self, gameboy: GameBoy, key: Any) -> None:
        with pytest.raises(ArgumentTypeError, match=r"integer|takes an address"):
            gameboy.memory[key]

    def test_boot_rom_cannot_be_written(self, joypad_rom: bytes) -> None:
        gameboy = GameBoy(joypad_rom, bootrom=bytes(256))
        with pytest.raises(ArgumentError, match="make a new GameBoy with another bootrom"):
            gameboy.memory[-1, 0] = 1
        with pytest.raises(AddressError, match="leaves the boot ROM"):
            gameboy.memory[-1, 0x100]


class TestValues:
    @pytest.mark.parametrize("value", [-1, 256, 2**70])
    def test_no_byte(self, gameboy: GameBoy, value: int) -> None:
        for key in (0xC000, slice(0xC000, 0xC001), (0, 0xC000)):
            with pytest.raises(ArgumentError, match=f"a byte is 0 to 255, not {value}"):
                gameboy.memory[key] = value
        with pytest.raises(ArgumentError, match="a byte is 0 to 255"):
            gameboy.memory[0xC000:0xC002] = [0, value]
        assert gameboy.memory[0xC100:0xC102] == [0, 0]

    @pytest.mark.parametrize("value", ["a", 1.0, None])
    def test_types(self, gameboy: GameBoy, value: Any) -> None:
        with pytest.raises(ArgumentTypeError, match="a byte must be an integer, not"):
            gameboy.memory[0xC000] = value
        with pytest.raises(ArgumentTypeError, match="integer"):
            gameboy.memory[0xC000:0xC001] = value
        with pytest.raises(ArgumentTypeError, match="register A takes an integer, not"):
            gameboy.register_file.A = value

    @pytest.mark.parametrize("values", [[], [1], [1, 2, 3], b"abc"])
    def test_lengths(self, gameboy: GameBoy, values: Any) -> None:
        with pytest.raises(
            ArgumentError, match=f"the slice has 2 addresses, but {len(values)} values were given"
        ):
            gameboy.memory[0xC000:0xC002] = values

    def test_a_refused_write_changes_nothing(self, gameboy: GameBoy) -> None:
        state = gameboy.get_state()
        with pytest.raises(ArgumentError):
            gameboy.memory[0xC000:0xC004] = [1, 2, 3, 256]
        assert gameboy.get_state() == state


class TestStates:
    def test_other_rom(self, gameboy: GameBoy, build_rom: RomBuilder) -> None:
        state = GameBoy(build_rom()).get_state()
        self.refused(gameboy, state, StateMismatchError, "belongs to another cartridge")

    def test_other_sound_option(self, gameboy: GameBoy, joypad_rom: bytes) -> None:
        state = GameBoy(joypad_rom, sound=True).get_state()
        self.refused(gameboy, state, StateMismatchError, "sound=true, this machine has sound=false")

    def test_truncated(self, gameboy: GameBoy) -> None:
        state = gameboy.get_state()
        for length in (8, 12, 30, len(state) // 2, len(state) - 1):
            self.refused(gameboy, state[:length], StateCorruptError, "truncated, damaged or")

    def test_trailing_bytes(self, gameboy: GameBoy) -> None:
        self.refused(gameboy, gameboy.get_state() + b"\0", StateCorruptError, "damaged")

    @pytest.mark.parametrize("state", [b"", b"PyBoy", bytes(100_000)])
    def test_no_state(self, gameboy: GameBoy, state: bytes) -> None:
        self.refused(gameboy, state, StateCorruptError, "this is no saved state")

    def test_every_corner_of_a_corrupt_state(self, gameboy: GameBoy) -> None:
        state = gameboy.get_state()
        rng = np.random.default_rng(0)
        for position in [*range(24, 40), *rng.integers(24, len(state), 200).tolist()]:
            damaged = bytearray(state)
            damaged[position] ^= 1 << int(rng.integers(8))
            self.refused(gameboy, bytes(damaged), StateCorruptError, "damaged")

    def test_other_version(self, gameboy: GameBoy) -> None:
        state = bytearray(gameboy.get_state())
        state[8] += 1
        self.refused(gameboy, bytes(state), StateVersionError, r"has format version \d+, this bui")

    @pytest.mark.parametrize("state", ["text", 3, None, [1, 2]])
    def test_types(self, gameboy: GameBoy, state: Any) -> None:
        with pytest.raises(ArgumentTypeError, match="a state is bytes, not"):
            gameboy.set_state(state)

    def test_files(self, gameboy: GameBoy) -> None:
        with pytest.raises(ArgumentTypeError, match="give a binary file, open with mode 'wb', not"):
            gameboy.save_state("a.state")  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="give a binary file, open with mode 'rb', not"):
            gameboy.load_state("a.state")  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="open as text; open it with mode 'wb'"):
            gameboy.save_state(io.StringIO())  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="open as text; open it with mode 'rb'"):
            gameboy.load_state(io.StringIO())  # type: ignore[arg-type]

    def refused(self, gameboy: GameBoy, state: bytes, kind: type[StateError], message: str) -> None:
        before = gameboy.get_state()
        with pytest.raises(kind, match=message):
            gameboy.set_state(state)
        assert gameboy.get_state() == before, "a refused state changed the machine"


class TestClosed:
    def test_every_use(self, gameboy: GameBoy) -> None:
        state = gameboy.get_state()
        gameboy.stop()
        uses = [
            lambda: gameboy.tick(),
            lambda: gameboy.button("a"),
            lambda: gameboy.button_press("a"),
            lambda: gameboy.button_release("a"),
            lambda: gameboy.send_input(1),
            lambda: gameboy.memory[0xC000],
            lambda: gameboy.memory[0, 0xC000],
            lambda: gameboy.memory.__setitem__(0xC000, 1),
            lambda: gameboy.register_file.A,
            lambda: setattr(gameboy.register_file, "A", 1),
            lambda: gameboy.screen.ndarray,
            lambda: gameboy.screen.shades,
            lambda: gameboy.screen.image,
            lambda: gameboy.wram,
            lambda: gameboy.cart_ram,
            lambda: gameboy.get_state(),
            lambda: gameboy.set_state(state),
            lambda: gameboy.save_state(io.BytesIO()),
            lambda: gameboy.load_state(io.BytesIO(state)),
            lambda: gameboy.fork(),
            lambda: gameboy.__reduce__(),
            lambda: gameboy.__enter__(),
        ]
        for use in uses:
            with pytest.raises(ClosedError, match="was stopped; make a new one to go on"):
                use()


def test_missing_pillow(gameboy: GameBoy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(DependencyError, match=r"pip install 'emurust\[image\]'"):
        gameboy.screen.image  # noqa: B018


def test_register_names(gameboy: GameBoy) -> None:
    with pytest.raises(ArgumentError, match="there is no register AF; the registers are A F B"):
        gameboy._machine.set_register("AF", 1)


@pytest.mark.parametrize("long_work", [False, True])
def test_a_bug_is_an_exception_and_spoils_only_its_machine(
    gameboy: GameBoy, long_work: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    view, fork = gameboy.wram, gameboy.fork()
    with pytest.raises(InternalError, match="a bug in EmuRust, please report .*asked to panic"):
        gameboy._machine._panic(long_work)
    for use in (gameboy.tick, gameboy.get_state, lambda: gameboy.memory[0xC000], gameboy.stop):
        with pytest.raises(InternalError, match="left this machine unusable; make a new one"):
            use()
    assert view.sum() >= 0
    assert fork.tick(3)
    assert "asked to panic" in capfd.readouterr().err


def test_errors_are_caught_by_their_base(joypad_rom: bytes) -> None:
    with pytest.raises(EmuRustError):
        GameBoy(joypad_rom[:100])
    assert issubclass(InternalError, RuntimeError)
