"""Loading tasks: names, files, options, and what is said about wrong ones."""

from __future__ import annotations

import hashlib
import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from emurust import EmuRustError, GameBoy, Rom, load_rom
from emurust.tasks import (
    CartridgeWarning,
    Episode,
    TaskCartridgeError,
    TaskFileError,
    TaskNotFoundError,
    TaskOptionError,
    action_space,
    cartridges,
    check_cartridge,
    load,
    observation,
    observation_space,
    read_map_offsets,
    recipe,
    recognise,
    task_names,
    views,
)

RomBuilder = Callable[..., bytes]

MINIMAL = """\
name = "minimal"
actions.buttons = ["a"]
[variables]
x = "wX"
[[observation]]
name = "x"
kind = "value"
value = "x"
"""


@pytest.fixture
def gameboy() -> GameBoy:
    return GameBoy(None)


def test_every_shipped_task_loads() -> None:
    assert {"pokemon", "explore"} <= set(task_names())
    for name in task_names():
        task = load(name)
        assert task.name == name
        assert task.description


def test_the_pokemon_task_has_the_reward_of_pokemon_red_experiments() -> None:
    weights = load("pokemon").reward_weights
    given = {name: weight for name, weight in weights.items() if weight != 0}
    assert given == {"event": 4, "heal": 10, "badge": 10, "explore": 0.1, "stuck": -0.05}
    assert {"level", "opponent_level", "death", "seen", "caught"} <= weights.keys()


def test_task_files_by_path(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(MINIMAL.replace('"wX"', "0xC000"))
    assert load(path).name == "minimal"
    assert load(str(path)).action_names == ["a"]


def test_symbols(tmp_path: Path) -> None:
    path, symbols = tmp_path / "own.toml", tmp_path / "own.sym"
    path.write_text(MINIMAL)
    symbols.write_text("; a comment\n00:C123 wX\n")
    with pytest.raises(TaskFileError, match=r"own\.toml:4: variables\.x: .*symbol file"):
        load(path)
    assert load(path, symbols=symbols, watch=["wX"]).watch_layout == [("wX", 0, 1)]
    symbols.write_text("wX\n")
    with pytest.raises(TaskFileError, match=r"own\.sym:1: symbol"):
        load(path, symbols=symbols)
    with pytest.raises(TaskFileError, match="symbol file cannot be read"):
        load(path, symbols=tmp_path / "none.sym")


def test_unknown_tasks(tmp_path: Path) -> None:
    with pytest.raises(TaskNotFoundError, match=r"no task 'pokemno'; expected one of .*pokemon"):
        load("pokemno")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TaskFileError, match=r"binary\.toml: the task file cannot be read"):
        load(binary)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"observation": "pixels"},
            "observation: .*expected one of dict, screen, ram, all, packed",
        ),
        ({"resolution": "third"}, "resolution: .*expected full or half"),
        ({"frame_skip": 10_001}, "frame_skip: 10001 is out of range"),
        ({"frame_skip": -1}, "frame_skip: expected a whole number from 0 on, not -1"),
        ({"frame_skip": "many"}, "frame_skip: expected a whole number from 0 on, not 'many'"),
        ({"hold_frames": 25}, "hold_frames: 25 is out of range; expected 1 to 24"),
        ({"frame_stack": 0}, "frame_stack: 0 is out of range"),
        ({"reward_weights": {"levle": 1}}, "reward_weights: .*unknown; expected event, heal"),
        ({"reward_weights": {"event": float("inf")}}, "finite"),
        (
            {"reward_weights": {"event": 0, "heal": 0, "badge": 0, "explore": 0, "stuck": 0}},
            "every weight is zero",
        ),
        ({"reward_scale": 0}, "reward_scale: 0 is not a usable factor"),
        ({"watch": ["nothing"]}, "watch: .*neither a variable nor a symbol"),
        ({"watch": [0x0150]}, "watch: address 0x0150 is outside RAM"),
        ({"watch": [70_000]}, r"watch: expected a list of names, .*, not \[70000\]"),
        ({"map_offsets": {0: (9999, 0)}}, "too far out"),
        ({"map_offsets": {0: "left"}}, "map_offsets: expected a dict"),
        ({"map_offsets": {256: (0, 0)}}, "map_offsets: .* by map number, 0 to 255"),
        ({"render": "yes"}, "render: expected True or False, not 'yes'"),
        ({"reward_weights": {"event": "much"}}, "reward_weights: expected a dict of numbers"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TaskOptionError, match=message) as caught:
        load("pokemon", **options)
    assert isinstance(caught.value, EmuRustError)
    assert isinstance(caught.value, ValueError)


def test_recipes_pickle() -> None:
    original = recipe("pokemon", observation="packed", watch=["x"], reward_weights={"level": 1})
    copy = pickle.loads(pickle.dumps(original))
    assert copy == original
    assert copy.compile().reward_weights["level"] == 1
    changed = original.with_options(frame_skip=4)
    assert changed.compile().frame_skip == 4
    assert changed.compile().observation == "packed"
    assert original.compile().frame_skip == 24


def test_start_states(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    states = "[start.states]\nfirst = 'states/first.state'\nlost = 'lost.state'\n"
    path.write_text(MINIMAL.replace('"wX"', "0xC000") + states)
    (tmp_path / "states").mkdir()
    (tmp_path / "states" / "first.state").write_bytes(b"state")
    own = recipe(path)
    assert own.compile().start_states == [("first", "states/first.state"), ("lost", "lost.state")]
    assert own.start_state("first") == b"state"
    with pytest.raises(TaskFileError, match=r"own\.toml: start\.states\.lost: .* cannot be read"):
        own.start_state("lost")
    with pytest.raises(TaskOptionError, match=r"start_state: 'second' is unknown; expected first"):
        own.start_state("second")


def test_spaces_of_the_pokemon_task() -> None:
    space = observation_space(load("pokemon"))
    assert isinstance(space, spaces.Dict)
    assert space["screens"] == spaces.Box(0, 255, (72, 80, 3), np.uint8)
    assert space["health"] == spaces.Box(0, 1, (1,), np.float32)
    assert space["level"] == spaces.Box(-1, 1, (8,), np.float32)
    assert space["badges"] == spaces.MultiBinary(8)
    assert space["events"] == spaces.MultiBinary(2488)
    assert space["map"] == spaces.Box(0, 255, (48, 48, 1), np.uint8)
    assert isinstance(space["recent_actions"], spaces.MultiDiscrete)
    assert list(space["recent_actions"].nvec) == [7, 7, 7]
    assert action_space(load("pokemon")) == spaces.Discrete(7)


@pytest.mark.parametrize("kind", ["dict", "screen", "ram", "all", "packed"])
@pytest.mark.parametrize("name", ["pokemon", "explore"])
def test_observations_are_in_their_space(gameboy: GameBoy, kind: str, name: str) -> None:
    task = load(name, observation=kind)
    space = observation_space(task)
    episode = Episode(task)
    record, info, _ = episode.begin(gameboy._machine, 0)
    assert space.contains(observation(task, record))
    for action in range(7):
        record, reward, terminated, truncated, info, _ = episode.step(gameboy._machine, action)
        assert space.contains(observation(task, record))
    assert episode.steps == 7
    assert isinstance(reward, float)
    assert not terminated
    assert not truncated
    assert len(info) == len(task.info_layout)


def test_views_of_batches_share_memory() -> None:
    task = load("pokemon")
    batch = np.zeros((5, task.observation_len), np.uint8)
    fields = views(task, batch)
    assert fields["screens"].shape == (5, 72, 80, 3)
    fields["health"][3, 0] = 0.5
    assert views(task, batch[3])["health"][0] == np.float32(0.5)


def test_unknown_actions(gameboy: GameBoy) -> None:
    episode = Episode(load("explore"))
    episode.begin(gameboy._machine, 0)
    with pytest.raises(EmuRustError, match="action 7 does not exist; expected 0 to 6"):
        episode.step(gameboy._machine, 7)
    with pytest.raises(OverflowError):
        episode.step(gameboy._machine, -1)


def test_stopped_machines() -> None:
    gameboy = GameBoy(None)
    episode = Episode(load("explore"))
    machine = gameboy._machine
    gameboy.stop(save=False)
    with pytest.raises(EmuRustError, match="stopped"):
        episode.begin(machine, 0)


def test_episodes_go_on_from_saved_bytes(gameboy: GameBoy) -> None:
    task = load("pokemon")
    episode = Episode(task)
    episode.begin(gameboy._machine, 0)
    for action in range(7):
        episode.step(gameboy._machine, action)
    machine, saved = gameboy.get_state(), episode.save()
    expected = [episode.step(gameboy._machine, action) for action in range(7)]
    gameboy.set_state(machine)
    other = Episode(task)
    other.load(saved)
    for action, (record, *outcome, info, _) in enumerate(expected):
        again, *other_outcome, other_info, _ = other.step(gameboy._machine, action)
        assert other_outcome == outcome
        np.testing.assert_array_equal(again, record)
        np.testing.assert_array_equal(other_info, info)
    with pytest.raises(EmuRustError, match="other options"):
        Episode(load("pokemon", frame_stack=1)).load(saved)
    with pytest.raises(EmuRustError, match="truncated"):
        other.load(b"")


def test_maps_of_known_cartridges() -> None:
    shipped = recipe("pokemon", rom=load_rom(None)).options["map_offsets"]
    assert len(shipped) >= 3
    # In a world of 476 x 484 with a border of 20, the visited map's window stays inside.
    assert all(0 <= column < 436 and 0 <= row < 444 for column, row in shipped.values())
    assert "map_offsets" not in recipe("explore", rom=load_rom(None)).options


def test_map_files(tmp_path: Path) -> None:
    path = tmp_path / "maps.json"
    path.write_text(json.dumps({"maps": [{"id": 3, "x": 1, "y": 2, "name": "X"}]}))
    assert read_map_offsets(path) == {3: (1, 2)}
    regions = [{"id": "-1", "coordinates": [0, 0]}, {"id": "7", "coordinates": [5, 6]}]
    path.write_text(json.dumps({"regions": regions}))
    assert recipe("pokemon", map_offsets=path).options["map_offsets"] == {7: (5, 6)}
    for wrong in ("[]", "{}", "no json", '{"maps": [{"id": 1}]}', '{"regions": [{"id": "q"}]}'):
        path.write_text(wrong)
        with pytest.raises(TaskFileError, match=r"maps\.json: not a map file"):
            read_map_offsets(path)


def test_the_maps_of_pokemon_red_fit_together() -> None:
    """Maps of the open world touch, and do not overlap."""
    from emurust.tasks import files

    maps = json.loads(files._POKEMON_MAPS.read_text())["maps"]
    taken: dict[tuple[int, int], int] = {}
    for entry in maps:
        assert 0 <= entry["x"] <= 436 - entry["width"]
        assert 0 <= entry["y"] <= 444 - entry["height"]
        for x in range(entry["x"], entry["x"] + entry["width"]):
            for y in range(entry["y"], entry["y"] + entry["height"]):
                other = taken.setdefault((x, y), entry["id"])
                assert other == entry["id"], f"maps {other} and {entry['id']} overlap at {x}, {y}"


class TestCartridges:
    """Telling whether a task fits a cartridge."""

    def rom(self, build_rom: RomBuilder, title: bytes, **options: Any) -> Rom:
        return load_rom(build_rom(title=title, **options))

    def test_the_shipped_cartridge_fits(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_cartridge(load("pokemon"), load_rom(None))

    def test_another_game_does_not(self, build_rom: RomBuilder) -> None:
        with pytest.raises(TaskCartridgeError, match=r"POKEMON RED.*this one is titled \"TETRIS\""):
            check_cartridge(load("pokemon"), self.rom(build_rom, b"TETRIS"))

    def test_a_false_title_does_not(self, build_rom: RomBuilder) -> None:
        with pytest.raises(TaskCartridgeError, match="is not that game: expected 1 MiB"):
            check_cartridge(load("pokemon"), self.rom(build_rom, b"POKEMON RED"))

    def test_another_version_is_told_apart(self, build_rom: RomBuilder) -> None:
        rom = self.rom(build_rom, b"POKEMON BLUE", cartridge_type=0x13, banks=64, ram_code=3)
        with pytest.warns(CartridgeWarning, match="not the world"):
            check_cartridge(load("pokemon"), rom)

    def test_in_words(self, build_rom: RomBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
        assert recognise(load_rom(None)) == "Kithwild, which comes with EmuRust"
        assert "not the one" in str(recognise(self.rom(build_rom, b"KITHWILD")))
        assert recognise(self.rom(build_rom, b"TETRIS")) is None
        red = self.rom(build_rom, b"POKEMON RED", cartridge_type=0x13, banks=64, ram_code=3)
        assert recognise(red) == "titled as Pokemon Red, but not the world (USA, Europe) version"
        sha1 = hashlib.sha1(red.image(), usedforsecurity=False).hexdigest()
        monkeypatch.setitem(cartridges._KNOWN, "POKEMON RED", sha1)
        assert recognise(red) == "Pokemon Red, the world (USA, Europe) version"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_cartridge(load("pokemon"), red)

    def test_tasks_without_titles_fit_all(self, build_rom: RomBuilder, tmp_path: Path) -> None:
        path = tmp_path / "own.toml"
        path.write_text(MINIMAL.replace('"wX"', "0xC000"))
        check_cartridge(load(path), self.rom(build_rom, b"POKEMON RED"))
