"""The shipped cartridge: header, reproducible build, RAM-map variables."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "python" / "emurust" / "data"
ROM = DATA / "cartridge.gb"
SDCC_VERSION = "4.2.0"

LOGO = slice(0x104, 0x134)
CURRENT_MAP, X, Y, FACING = 0xD35E, 0xD362, 0xD361, 0xC109
IN_BATTLE, PARTY_COUNT, BADGES = 0xD057, 0xD163, 0xD356


@pytest.fixture(scope="module")
def rom() -> bytes:
    return ROM.read_bytes()


@pytest.fixture(scope="module")
def maps() -> dict:
    return json.loads((DATA / "cartridge_maps.json").read_text())


def test_header(rom):
    assert len(rom) == 256 * 1024
    assert rom[0x134:0x144].rstrip(b"\0") == b"KITHWILD"
    assert rom[0x147] == 0x13, "MBC3 with RAM and battery"
    assert 32 * 1024 << rom[0x148] == len(rom)
    assert rom[0x149] == 3, "32 KiB of RAM"
    check = 0
    for value in rom[0x134:0x14D]:
        check = (check - value - 1) & 0xFF
    assert rom[0x14D] == check
    total = (sum(rom) - rom[0x14E] - rom[0x14F]) & 0xFFFF
    assert rom[0x14E] << 8 | rom[0x14F] == total


def test_logo_area_is_our_own(rom):
    # The console maker's logo starts CE ED and is stored in 48 bytes; ours is readable text.
    area = rom[LOGO]
    assert area.isascii()
    assert area.decode("ascii").isprintable()
    assert b"EMURUST" in area


def test_committed_rom_is_what_the_source_builds(tmp_path, rom):
    sdcc, make = shutil.which("sdcc"), shutil.which("make")
    if not sdcc or not make or not shutil.which("sdldgb"):
        pytest.skip("SDCC's sm83 tools or make are not installed")
    version = subprocess.run([sdcc, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\d+\.\d+\.\d+", version)
    if not found or found.group() != SDCC_VERSION:
        pytest.skip(f"the ROM is built with SDCC {SDCC_VERSION}, here is {found and found.group()}")
    source = tmp_path / "cartridge"
    shutil.copytree(
        ROOT / "cartridge", source, ignore=shutil.ignore_patterns("build", "__pycache__")
    )
    out = tmp_path / "out"
    result = subprocess.run([make, "-C", str(source), f"OUT={out}"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert (out / "cartridge.gb").read_bytes() == rom
    for name in ("cartridge.sym", "cartridge_maps.json"):
        assert (out / name).read_text() == (DATA / name).read_text()


def test_world_picture_is_what_the_source_draws(tmp_path, maps):
    image = pytest.importorskip("PIL.Image")
    tool = ROOT / "cartridge" / "tools" / "build_assets.py"
    subprocess.run(
        [sys.executable, str(tool), str(ROOT / "cartridge/data"), str(tmp_path)], check=True
    )
    assert (tmp_path / "cartridge_maps.json").read_text() == (
        DATA / "cartridge_maps.json"
    ).read_text()
    # Pixels, as other versions of zlib pack the same picture otherwise.
    built = image.open(tmp_path / "cartridge_world.png").convert("L")
    committed = image.open(DATA / "cartridge_world.png").convert("L")
    assert built.size == committed.size == (16 * maps["width"], 16 * maps["height"])
    assert built.tobytes() == committed.tobytes()


def test_map_geometry(maps):
    assert len(maps["maps"]) >= 12
    walkable = sum(row.count("1") for m in maps["maps"] for row in m["walkable"])
    assert walkable >= 1500
    seen = set()
    for m in maps["maps"]:
        assert len(m["walkable"]) == m["height"]
        assert all(len(row) == m["width"] for row in m["walkable"])
        for y in range(m["height"]):
            for x in range(m["width"]):
                place = m["x"] + x, m["y"] + y
                assert place not in seen, f"{m['name']} overlaps another map"
                seen.add(place)
    assert max(x for x, _ in seen) < maps["width"]
    assert max(y for _, y in seen) < maps["height"]


def test_event_flags_are_in_the_observed_range(maps):
    flags = list(maps["events"].values())
    assert len(set(flags)) == len(flags)
    assert max(flags) < 311 * 8
    assert (0xD754 - 0xD747) * 8 not in flags, "public reward functions leave this bit out"


class Machine:
    def __init__(self):
        pyboy = pytest.importorskip("pyboy")
        self.gb = pyboy.PyBoy(str(ROM), window="null", sound_emulated=False, cgb=False)
        self.gb.set_emulation_speed(0)

    def press(self, button):
        """One action of the training environments: 8 frames down, 24 in all."""
        self.gb.button_press(button)
        self.gb.tick(8, False)
        self.gb.button_release(button)
        self.gb.tick(16, False)

    def byte(self, address):
        return self.gb.memory[address]

    def place(self):
        return self.byte(CURRENT_MAP), self.byte(X), self.byte(Y)


@pytest.fixture
def new_game(tmp_path, monkeypatch):
    machine = Machine()
    machine.gb.tick(240, False)
    for button in ("start", "a", "a"):
        machine.press(button)
        machine.gb.tick(40, False)
    yield machine
    machine.gb.stop(save=False)


def test_walking_changes_coordinates_and_facing(new_game, maps):
    house = next(m for m in maps["maps"] if m["name"] == "HERO_HOUSE")
    m = new_game
    assert m.place() == (house["id"], 1, 2)
    assert m.byte(PARTY_COUNT) == 0
    assert m.byte(BADGES) == 0
    assert m.byte(IN_BATTLE) == 0
    # width and height are in blocks of two steps
    assert (m.byte(0xD369) * 2, m.byte(0xD368) * 2) == (house["width"], house["height"])
    # one press from a standing position is one step, whatever the direction before
    for button, facing, place in (
        ("right", 12, (2, 2)),
        ("right", 12, (3, 2)),
        ("left", 8, (2, 2)),
        ("left", 8, (1, 2)),
        ("left", 8, (0, 2)),
        ("left", 8, (0, 2)),
        ("down", 0, (0, 3)),
        ("up", 4, (0, 2)),
        ("up", 4, (0, 2)),
    ):
        m.press(button)
        assert m.byte(FACING) == facing
        assert m.place()[1:] == place, button
    frames = m.byte(0xDA45), m.byte(0xDA44)
    m.gb.tick(30, False)
    assert (m.byte(0xDA45), m.byte(0xDA44)) != frames, "the play time runs"


def test_taking_a_starter(new_game, maps):
    m = new_game
    m.press("down")  # faces the table
    for _ in range(12):
        m.press("a")
        if m.byte(PARTY_COUNT):
            break
    m.gb.tick(60, False)
    assert m.byte(PARTY_COUNT) == 1
    species = m.byte(0xD164)
    assert maps["species"][str(species)] == "FERNIP"
    assert m.byte(0xD165) == 0xFF, "the species list ends with FF"
    assert m.byte(0xD16B) == species
    hp = m.byte(0xD16C) << 8 | m.byte(0xD16D)
    assert hp == m.byte(0xD18D) << 8 | m.byte(0xD18E)
    assert 15 < hp < 60
    assert m.byte(0xD18C) == 7, "level"
    owned = m.byte(0xD2F7 + (species - 1) // 8)
    assert owned >> (species - 1) % 8 & 1
    flag = maps["events"]["GOT_STARTER"]
    assert m.byte(0xD747 + flag // 8) >> flag % 8 & 1
    for _ in range(4):
        m.press("b")
    before = m.place()
    m.press("left")
    assert m.place() != before, "the hero walks again"
