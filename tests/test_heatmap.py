"""Logs of visited places, and the pictures of them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import emurust
from emurust import Pool, load_rom
from emurust.cli import main
from emurust.errors import ArgumentError, LogFileError
from emurust.heatmap import draw_heatmap
from emurust.vector import PokemonVectorEnv
from emurust.visits import VisitLog, Visits, read_visits

Capture = pytest.CaptureFixture[str]


def counted(visits: Visits) -> dict[tuple[int, int, int], int]:
    return {(m, x, y): count for m, x, y, count in visits.places.tolist()}


def test_a_pools_run_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "run.visits"
    rng = np.random.default_rng(2)
    expected: dict[tuple[int, int, int], int] = {}
    starts = ["first-town", "leader-1", "leader-4"]
    with (
        Pool(num_envs=3, start_states=starts, observation="ram") as pool,
        # So small that it is written in the middle of steps.
        VisitLog(path, capacity=7) as log,
    ):
        pool.reset(1)
        for _ in range(30):
            *_, infos = pool.step(rng.integers(0, 4, 3))
            log.add(infos)
            for index in range(3):
                ram = pool.ram(index)
                place = int(ram[0xD35E]), int(ram[0xD362]), int(ram[0xD361])
                expected[place] = expected.get(place, 0) + 1
    visits = read_visits(path)
    assert counted(visits) == expected
    assert visits.steps == 90
    assert visits.rom_title == "KITHWILD"
    assert len(expected) > 10


def test_single_and_vector_environments_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "run.visits"
    env = gymnasium.make("EmuRust-Pokemon", start_state="first-town")
    envs = PokemonVectorEnv(2, start_state="first-town")
    with VisitLog(path) as log:
        log.add(env.reset(seed=1)[1])
        log.add(env.step(4)[4])
        log.add(envs.reset(seed=1)[1])
    envs.close()
    assert list(counted(read_visits(path)).values()) == [4]
    # A later run is added; what a killed one left unfinished is not.
    with path.open("ab") as file:
        file.write(b'{"steps":')
    with VisitLog(path) as log:
        log.add(env.step(4)[4])
    assert read_visits(path).steps == 5


def test_machines_whose_task_does_not_say_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "run.visits"
    nan = float("nan")
    with VisitLog(path) as log:
        log.add({"map": np.array([1, nan]), "x": np.array([2, 3]), "y": np.array([4, nan])})
    assert counted(read_visits(path)) == {(1, 2, 4): 1}


def test_adding_costs_next_to_nothing(tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 200, (512, 14)).astype(np.float32)
    infos = {name: values[:, column] for column, name in enumerate(("map", "x", "y"))}
    with VisitLog(tmp_path / "run.visits") as log:
        log.add(infos)
        start = time.perf_counter()
        for _ in range(200):
            log.add(infos)
        # Some 20 us; a step of as many machines takes 50 ms.
        assert (time.perf_counter() - start) / 200 < 0.002


def log_of(path: Path, title: str, visits: list[list[int]]) -> Path:
    header = {"emurust": "visits", "format": 1, "rom": {"title": title, "sha1": "0" * 40}}
    steps = sum(row[3] for row in visits)
    path.write_text(
        json.dumps(header) + "\n" + json.dumps({"steps": steps, "visits": visits}) + "\n"
    )
    return path


@pytest.fixture
def image() -> Any:
    return pytest.importorskip("PIL.Image")


def test_over_the_maps_of_the_shipped_cartridge(tmp_path: Path, image: Any) -> None:
    data = Path(emurust.shipped_cartridge()).parent
    maps = {
        one["id"]: one for one in json.loads((data / "cartridge_maps.json").read_text())["maps"]
    }
    visits = [[0, 5, 7, 1], [1, 3, 2, 1000], [50, 4, 4, 30]]
    log = log_of(tmp_path / "run.visits", "KITHWILD", visits)
    whole = np.asarray(draw_heatmap(read_visits(log), cell=8, whole_world=True), np.int64)
    empty = log_of(tmp_path / "none.visits", "KITHWILD", [])
    ground = np.asarray(draw_heatmap(read_visits(empty), cell=8, whole_world=True), np.int64)
    different = (whole != ground).any(axis=2)
    expected = np.zeros_like(different)
    for number, x, y, _ in visits:
        column, row = maps[number]["x"] + x, maps[number]["y"] + y
        expected[8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = True
    height = 8 * max(one["y"] + one["height"] for one in maps.values())
    assert (different[:height] & ~expected[:height]).sum() == 0
    assert different[:height].sum() > 0.95 * expected[:height].sum()

    # The often visited place is brighter, and the ground is the map's picture.
    def brightness(number: int, x: int, y: int) -> float:
        column, row = maps[number]["x"] + x, maps[number]["y"] + y
        return float(whole[8 * row : 8 * row + 8, 8 * column : 8 * column + 8].mean())

    assert brightness(1, 3, 2) > brightness(50, 4, 4) > brightness(0, 5, 7)
    with image.open(data / "cartridge_world.png") as opened:
        size = opened.width // 2, opened.height // 2
        world = np.asarray(opened.convert("L").resize(size, image.Resampling.BOX), np.int64)
    town = maps[2]
    area = np.s_[
        8 * town["y"] : 8 * (town["y"] + town["height"]),
        8 * town["x"] : 8 * (town["x"] + town["width"]),
    ]
    assert np.corrcoef(world[area].ravel(), ground[area][..., 0].ravel())[0, 1] > 0.99


def test_over_plain_coordinates(tmp_path: Path) -> None:
    """Pokemon Red: towns and routes at their places, other maps in rows below the world."""
    # Pallet Town, Route 1 north of it, and two maps whose places are not known.
    visits = [[0, 10, 3, 9], [12, 10, 30, 5], [37, 2, 6, 4], [40, 5, 11, 2]]
    log = log_of(tmp_path / "red.visits", "POKEMON RED", visits)
    whole = np.asarray(draw_heatmap(read_visits(log), cell=1, whole_world=True), np.int64)
    empty = log_of(tmp_path / "none.visits", "POKEMON RED", [])
    ground = np.asarray(draw_heatmap(read_visits(empty), cell=1, whole_world=True), np.int64)
    height = ground.shape[0] - 36
    places = np.argwhere((whole[:height, : ground.shape[1]] != ground[:height]).any(axis=2))
    maps = json.loads(
        (Path(emurust.tasks.__file__).parent / "maps" / "pokemon_red.json").read_text()
    )["maps"]
    offsets = {one["id"]: (one["x"], one["y"]) for one in maps}
    expected = [[offsets[m][1] + y, offsets[m][0] + x] for m, x, y, _ in visits[:2]]
    assert sorted(places.tolist()) == sorted(expected)
    # As large as what was visited of them: 3 x 7 and 6 x 12 places.
    assert whole.shape[0] == ground.shape[0] + 2 + 12


def test_other_places_for_maps(tmp_path: Path) -> None:
    log = log_of(tmp_path / "run.visits", "KITHWILD", [[0, 5, 7, 1], [1, 3, 2, 9]])
    offsets = {0: (0, 0), 1: (50, 10)}
    picture = draw_heatmap(read_visits(log), cell=1, map_offsets=offsets)
    assert picture.height == 10 + 3 + 36


def test_the_command(tmp_path: Path, capsys: Capture, image: Any) -> None:
    log = log_of(tmp_path / "run.visits", "KITHWILD", [[0, 5, 7, 1]])
    path = tmp_path / "map.png"
    assert main(["heatmap", str(log), "-o", str(path), "--cell", "4"]) == 0
    out = capsys.readouterr().out
    with image.open(path) as picture:
        assert f": {picture.width} x {picture.height}, 1 steps, 1 places" in out
        assert picture.format == "PNG"
    maps = tmp_path / "maps.json"
    maps.write_text(
        '{"regions": [{"id": "-1", "coordinates": [0, 0]}, {"id": "0", "coordinates": [3, 4]}]}'
    )
    assert main(["heatmap", str(log), "-o", str(path), "--maps", str(maps), "--whole"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.visits", "-o", "x.png"], "missing.visits cannot be read: No such file"),
        (["LOG", "-o", "x.gif"], "--output must end in .png"),
        (["LOG", "-o", "x.png", "--cell", "99"], "--cell must be 1 to 16, not 99"),
        (["LOG", "-o", "none/x.png"], "x.png cannot be written"),
        (["LOG", "-o", "x.png", "--maps", "LOG"], "not a map file"),
    ],
)
def test_wrong_usage(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    log_of(tmp_path / "LOG", "KITHWILD", [[0, 5, 7, 1]])
    assert main(["heatmap", *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"visits": [[1, 2, 3]]}', ":2: the line is damaged"),
        ('{"visits": [[1, 2, 256, 1]]}', r":2: a visit is \[map, column, row, count\]"),
        ('{"visits": [[1, 2, 3, -1]]}', ":2: a visit is"),
        ('{"steps": 3}', ":2: the line is damaged"),
        ("visits", ":2: not a line of JSON"),
    ],
)
def test_damaged_logs(line: str, message: str, tmp_path: Path) -> None:
    path = log_of(tmp_path / "run.visits", "KITHWILD", [])
    path.write_text(path.read_text().splitlines()[0] + "\n" + line + "\n")
    with pytest.raises(LogFileError, match=message):
        read_visits(path)


def test_what_cannot_be_logged(tmp_path: Path, joypad_rom: bytes) -> None:
    path = tmp_path / "run.visits"
    with VisitLog(path) as log:
        with pytest.raises(ArgumentError, match="no 'map'; a log of visits needs map, x, y"):
            log.add({"steps": 3})
        log.add({"map": 1.0, "x": 2.0, "y": 3.0})
        log.close()
        log.close()
    with pytest.raises(LogFileError, match="is there with another rom"):
        VisitLog(path, load_rom(joypad_rom))
    with pytest.raises(ArgumentError, match="capacity must be 1 or more"):
        VisitLog(path, capacity=0)
    log = VisitLog(path)
    log.add({"map": 300.0, "x": 2.0, "y": 3.0})
    with pytest.raises(ArgumentError, match="not all 0 to 255"):
        log.flush()
    log.close()
    assert read_visits(path).steps == 1
