"""PyBoy's state files, read and written, against PyBoy itself."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest

import emurust
from emurust import GameBoy, Pool, shipped_cartridge
from emurust.cli import main
from emurust.cli.convert_state import convert_state
from emurust.errors import StateCorruptError, StateMismatchError


def _sibling(name: str) -> ModuleType:
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"dropin_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


exchange = _sibling("exchange")
old_versions = _sibling("old_versions")

GAMES = [
    "shipped",
    "2048gb.gb",
    "tobutobugirl.gb",
    "dawn-will-come.gb",
    "el-dueloroso.gb",
    "ucity.gbc",
    "libbet.gb",
    "porklike-gb.gb",
]


@pytest.fixture(params=GAMES)
def game(request: pytest.FixtureRequest) -> bytes:
    if request.param == "shipped":
        return shipped_cartridge().read_bytes()
    roms: Path = request.getfixturevalue("roms")
    return (roms / "homebrew" / request.param).read_bytes()


@pytest.fixture
def pyboys(pyboy_class: Any) -> Iterator[Any]:
    """Makes PyBoys, and stops them."""
    with ExitStack() as stack:

        def make(maker: Any, rom: bytes, sound: bool) -> Any:
            pyboy = maker(pyboy_class, rom, sound=sound)
            stack.callback(pyboy.stop, save=False)
            return pyboy

        yield make


@pytest.mark.parametrize("sound", [False, True], ids=["silent", "sound"])
def test_states_travel_both_ways(game: bytes, sound: bool, pyboys: Any) -> None:
    rng = random.Random(f"{len(game)}{sound}")
    master = pyboys(exchange.fresh_pyboy, game, sound)
    there = pyboys(exchange.warm_pyboy, game, sound)
    with GameBoy(game, sound=sound) as gameboy:
        for moment in range(3):
            for _ in range(rng.randrange(30, 200)):
                exchange.press_randomly(rng, master)
                master.tick(1, rng.random() < 0.3, False)
            if moment == 0:
                # Past the boot program, which this machine does not have.
                master.tick(70, False, False)
            state = exchange.saved(master)
            # From PyBoy to here ...
            gameboy.set_state(state)
            there.load_state(exchange.io.BytesIO(state))
            assert not exchange.differences(gameboy.get_state("pyboy"), state, game)
            exchange.run_together(gameboy, there, game, rng, 180, sound=sound)
            # ... and back.
            there.load_state(exchange.io.BytesIO(gameboy.get_state("pyboy")))
            exchange.run_together(gameboy, there, game, rng, 120, sound=sound)
            assert not gameboy._debug_state()["lcd_irregular"]


def test_a_state_fits_a_machine_with_the_other_sound_setting(pyboys: Any) -> None:
    game = shipped_cartridge().read_bytes()
    rng = random.Random(1)
    for saved_with, loaded_with in ((True, False), (False, True)):
        master = pyboys(exchange.fresh_pyboy, game, saved_with)
        master.tick(200, False, False)
        state = exchange.saved(master)
        there = pyboys(exchange.warm_pyboy, game, loaded_with)
        there.load_state(exchange.io.BytesIO(state))
        with GameBoy(game, sound=loaded_with) as gameboy:
            gameboy.set_state(state)
            if loaded_with:
                exchange.run_together(gameboy, there, game, rng, 120, sound=True)
                again = gameboy.get_state()
                gameboy.set_state(again)
            else:
                for _ in range(120):
                    gameboy.tick(1, False)
                    there.tick(1, False, False)
                assert gameboy.cycles == there._cycles()
                assert bytes(gameboy.wram) == bytes(there.memory[0xC000:0xE000])


CARTRIDGES = [
    (0x00, 0, "ROM"),
    (0x03, 3, "MBC1"),
    (0x06, 0, "MBC2"),
    (0x10, 3, "MBC3 with clock"),
    (0x13, 3, "MBC3"),
    (0x1B, 4, "MBC5"),
    (0x1E, 5, "MBC5 with rumble"),
]


# Between 15 and 22 only sound differs, and the others in nothing that it touches.
@pytest.mark.parametrize(
    ("version", "sound"),
    [
        *((version, False) for version in old_versions.VERSIONS if version <= 21),
        *((version, True) for version in (7, 12, 13, 14, 15, *range(21, 29))),
    ],
)
def test_old_versions_mean_what_a_new_pyboy_makes_of_them(
    version: int, sound: bool, pyboys: Any
) -> None:
    """PyBoy 2.8.1, just switched on, loads the file with the bytes that it misses."""
    game = shipped_cartridge().read_bytes()
    rng = random.Random(version)
    master = pyboys(exchange.fresh_pyboy, game, sound)
    master.tick(100, False, False)
    for _ in range(2):
        for _ in range(rng.randrange(60, 150)):
            exchange.press_randomly(rng, master)
            master.tick(1, False, False)
        state = exchange.saved(master)
        there = pyboys(exchange.fresh_pyboy, game, sound)
        there.load_state(
            exchange.io.BytesIO(old_versions.downgrade(state, game, version, repaired=True))
        )
        with GameBoy(game, sound=sound) as gameboy:
            gameboy.tick(10)
            gameboy.set_state(old_versions.downgrade(state, game, version))
            exchange.run_together(gameboy, there, game, rng, 120, sound=sound, skip_pictures=3)


# A version of each way in which mappers are saved.
@pytest.mark.parametrize("version", [7, 12, 14, 20, 28, 29])
@pytest.mark.parametrize(("kind", "ram_code", "name"), CARTRIDGES, ids=lambda value: str(value))
def test_every_version_of_every_mapper(
    version: int, kind: int, ram_code: int, name: str, build_rom: Any, pyboys: Any
) -> None:
    # Counts in work RAM, writes to the mapper and to cartridge RAM.
    code = bytes.fromhex(
        "3E0AEA0000 3E02EA0021EA0040 21 00C0 34 7E EA00A0 E090 EA0021 E606 EA0040 2C 18EE"
    )
    game = build_rom(code, cartridge_type=kind, banks=8, ram_code=ram_code)
    rng = random.Random(version)
    master = pyboys(exchange.fresh_pyboy, game, False)
    master.tick(rng.randrange(70, 90), False, False)
    state = exchange.saved(master)
    there = pyboys(exchange.fresh_pyboy, game, False)
    if version == 29:
        repaired = old = state
    else:
        repaired = old_versions.downgrade(state, game, version, repaired=True)
        old = old_versions.downgrade(state, game, version)
    there.load_state(exchange.io.BytesIO(repaired))
    with GameBoy(game, sound=False) as gameboy:
        gameboy.set_state(old)
        exchange.run_together(
            gameboy, there, game, rng, 12, sound=False, check_every=6, skip_pictures=3
        )


OLD_PYBOYS = {"2.2.2": 11, "2.3.0": 11, "2.4.1": 12, "2.5.3": 14, "2.6.1": 15, "2.7.0": 15}
SAVE_WITH_OLD_PYBOY = """
import random, sys
sys.path.insert(0, sys.argv[1])
import pyboy
options = {"sound_emulated": sys.argv[4] == "1"} if sys.argv[5] >= "2.5" else {}
pb = pyboy.PyBoy(sys.argv[2], window="null", cgb=False, log_level="CRITICAL", **options)
pb.set_emulation_speed(0)
rng = random.Random(sys.argv[5])
for moment in range(3):
    for _ in range(rng.randrange(100, 400)):
        if rng.random() < 0.1:
            pb.button(rng.choice("a b start select left right up down".split()))
        pb.tick()
    with open(f"{sys.argv[3]}/{moment}", "wb") as file:
        pb.save_state(file)
"""


@pytest.mark.slow
@pytest.mark.parametrize("sound", [False, True], ids=["silent", "sound"])
@pytest.mark.parametrize(("release", "version"), OLD_PYBOYS.items())
def test_states_that_old_pyboys_wrote(
    release: str, version: int, sound: bool, pyboys: Any, tmp_path: Path
) -> None:
    """Needs the package index, and old wheels for this Python."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary"]
    target = tmp_path / "old"
    install = [*command, ":all:", "--target", str(target), f"pyboy=={release}"]
    if subprocess.run(install, check=False, capture_output=True).returncode:
        pytest.skip(f"PyBoy {release} cannot be installed here")
    game_path = tmp_path / "game.gb"
    game = shipped_cartridge().read_bytes()
    game_path.write_bytes(game)
    arguments = [str(target), str(game_path), str(tmp_path), str(int(sound)), release]
    save = [sys.executable, "-W", "ignore", "-c", SAVE_WITH_OLD_PYBOY, *arguments]
    subprocess.run(save, check=True, capture_output=True)
    template = exchange.saved(pyboys(exchange.fresh_pyboy, game, sound))
    rng = random.Random(release)
    for moment in range(3):
        old = (tmp_path / str(moment)).read_bytes()
        assert old[0] == version
        repaired = old_versions.repair(old, template, game, has_nr50=release == "2.7.0")
        there = pyboys(exchange.fresh_pyboy, game, sound)
        there.load_state(exchange.io.BytesIO(repaired))
        with GameBoy(game, sound=sound) as gameboy:
            gameboy.set_state(old)
            exchange.run_together(gameboy, there, game, rng, 600, sound=sound, skip_pictures=3)
            # Converted once, it goes on alike in PyBoy itself.
            gameboy.set_state(old)
            there = pyboys(exchange.fresh_pyboy, game, sound)
            there.load_state(exchange.io.BytesIO(convert_state(old, gameboy.rom)))
            exchange.run_together(gameboy, there, game, rng, 300, sound=sound, skip_pictures=3)


def test_the_command_converts_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with GameBoy(None) as gameboy:
        gameboy.tick(50)
        ours, theirs = gameboy.get_state(), gameboy.get_state("pyboy")
    game = shipped_cartridge().read_bytes()
    old = tmp_path / "old.state"
    old.write_bytes(old_versions.downgrade(theirs, game, 12))
    out = tmp_path / "new" / "out"
    assert main(["convert-state", str(old), "-o", f"{out}/"]) == 0
    assert (out / "old.state").read_bytes()[0] == 29
    assert "PyBoy version 12 -> " in capsys.readouterr().out
    mine = tmp_path / "mine.state"
    mine.write_bytes(ours)
    assert main(["convert-state", str(mine), "--in-place"]) == 0
    assert mine.read_bytes() == theirs
    assert main(["convert-state", str(mine), "--to", "emurust", "--in-place"]) == 0
    assert mine.read_bytes().startswith(b"EMURUST")

    broken = tmp_path / "broken.state"
    broken.write_bytes(theirs[:-1])
    arguments = ["convert-state", str(broken), str(mine), "--output", str(out)]
    assert main(arguments) == 1
    assert "broken.state: the state has" in capsys.readouterr().err
    assert not (out / "broken.state").exists()
    assert (out / "mine.state").exists()
    missing = str(tmp_path / "missing.state")
    assert main(["convert-state", missing, "--output", str(out / "x")]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert main(["convert-state", str(mine), missing, "--output", str(out / "mine.state")]) == 1
    assert "is no directory" in capsys.readouterr().err


def test_start_states_may_be_pyboys(tmp_path: Path) -> None:
    with GameBoy(None) as gameboy:
        gameboy.set_state((shipped_cartridge().parent / "states" / "leader-3.state").read_bytes())
        theirs = gameboy.get_state("pyboy")
    path = tmp_path / "leader.state"
    path.write_bytes(old_versions.downgrade(theirs, shipped_cartridge().read_bytes(), 9))
    with Pool(num_envs=2, start_states=[path, theirs]) as pool:
        observations, _ = pool.reset(1)
        assert isinstance(observations, dict)
        np.testing.assert_array_equal(observations["badges"].sum(axis=1), [2, 2])
    env = gymnasium.make("EmuRust-Pokemon", start_state=path)
    observation, _ = env.reset(seed=1)
    assert observation["badges"].sum() == 2
    env.close()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda s: s[:1000], StateCorruptError),
        (lambda s: s + b"\0", StateCorruptError),
        (lambda s: b"PK\3\4" + s, StateCorruptError),
        (lambda s: b"\x06" + s[1:], StateCorruptError),
        (lambda s: s[:5] + b"\1" + s[6:], StateMismatchError),
        (lambda s: s[:1] + b"\1" + s[2:], StateMismatchError),
        (lambda s: s[:9169] + b"\0\2" + s[9171:], StateMismatchError),
        (lambda s: s[:25] + bytes(8) + s[33:], StateCorruptError),
    ],
)
def test_what_is_no_state_is_refused_and_changes_nothing(
    change: Callable[[bytes], bytes], error: type[Exception]
) -> None:
    with GameBoy(None) as gameboy:
        gameboy.tick(20)
        before = gameboy.get_state()
        broken = change(gameboy.get_state("pyboy"))
        with pytest.raises(error):
            gameboy.set_state(broken)
        assert gameboy.get_state() == before


def test_formats_have_names() -> None:
    with GameBoy(None) as gameboy, pytest.raises(emurust.EmuRustError, match="bess"):
        gameboy.get_state("bess")  # type: ignore[arg-type]
