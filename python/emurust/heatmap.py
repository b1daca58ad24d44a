"""Where a run has been, drawn over the maps of the game.

Maps whose place in the world is known are put there: those of the shipped cartridge over their
pictures, those of Pokemon Red and Blue as outlines. Others stand in rows below, as large as what
was visited of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from emurust.pictures import import_pillow
from emurust.tasks.files import known_maps
from emurust.visits import Visits

__all__ = ["draw_heatmap"]

_DATA = Path(__file__).parent / "data"
_WORLD_PICTURES = {"KITHWILD": _DATA / "cartridge_world.png"}
_PICTURE_CELL = 16
"""Pixels of a cell in a world picture."""

_HEAT = np.array(
    [[40, 20, 120], [140, 20, 140], [220, 50, 90], [250, 140, 50], [255, 235, 110]], np.float64
)
"""From hardly to often visited."""
_BACKGROUND = (24, 24, 32)
_GROUND = (70, 70, 82)
"""Of maps without a picture."""
_GAP = 2
"""Cells between maps that stand in rows."""


@dataclass(frozen=True)
class _Box:
    """Where a map is, in cells."""

    number: int
    name: str
    column: int
    row: int
    width: int
    height: int


def draw_heatmap(
    visits: Visits,
    *,
    cell: int = 8,
    map_offsets: dict[int, tuple[int, int]] | None = None,
    whole_world: bool = False,
) -> Any:
    """A Pillow image, mode RGB, of how often each place was visited.

    Colours go by the logarithm of the counts, from dark blue (once) over red to yellow (most).
    The legend below names the numbers.

    Args:
        visits: what was visited.
        cell: pixels of a place, 1 to 16.
        map_offsets: column and row of each map in the world, by map number, instead of those
            known for the game.
        whole_world: all of it, not only the part around what was visited.

    Raises:
        DependencyError: Pillow is not installed.
    """
    image_module = import_pillow()
    boxes, world = _layout(visits, map_offsets)
    known = {box.number: box for box in boxes}
    canvas = _ground(image_module, visits.rom_title, boxes, world, cell, map_offsets is None)
    heat = np.zeros((world[1], world[0]), np.int64)
    for number, column, row, count in visits.places.tolist():
        box = known[number]
        if column < box.width and row < box.height:
            heat[box.row + row, box.column + column] += count
    picture = image_module.fromarray(_heated(np.asarray(canvas), heat, cell))
    if not whole_world:
        picture = picture.crop(_interesting(heat, boxes, cell))
    return _with_legend(image_module, picture, visits, heat)


def _layout(
    visits: Visits, map_offsets: dict[int, tuple[int, int]] | None
) -> tuple[list[_Box], tuple[int, int]]:
    """Boxes of all maps, and width and height of the world in cells."""
    extent: dict[int, tuple[int, int]] = {}
    for number, column, row, _ in visits.places.tolist():
        width, height = extent.get(number, (0, 0))
        extent[number] = max(width, column + 1), max(height, row + 1)
    boxes = []
    if map_offsets is None:
        for one in known_maps(visits.rom_title):
            boxes.append(
                _Box(
                    one["id"], one.get("title", ""), one["x"], one["y"], one["width"], one["height"]
                )
            )
    else:
        boxes = [
            _Box(number, "", column, row, *extent[number])
            for number, (column, row) in map_offsets.items()
            if number in extent
        ]
    width = max((box.column + box.width for box in boxes), default=0)
    height = max((box.row + box.height for box in boxes), default=0)
    placed = {box.number for box in boxes}
    others = sorted(extent.keys() - placed)
    width = max(width, 120, *(extent[number][0] for number in others), 0)
    column, row, tallest = 0, height + (_GAP if boxes else 0), 0
    for number in others:
        own_width, own_height = extent[number]
        if column and column + own_width > width:
            column, row, tallest = 0, row + tallest + _GAP, 0
        boxes.append(_Box(number, f"map {number}", column, row, own_width, own_height))
        column += own_width + _GAP
        tallest = max(tallest, own_height)
        height = row + tallest
    return boxes, (max(width, 1), max(height, 1))


def _ground(
    image_module: Any,
    title: str,
    boxes: list[_Box],
    world: tuple[int, int],
    cell: int,
    with_picture: bool,
) -> Any:
    """The maps without heat, RGB."""
    from PIL import ImageDraw

    canvas = image_module.new("RGB", (world[0] * cell, world[1] * cell), _BACKGROUND)
    path = _WORLD_PICTURES.get(title) if with_picture else None
    if path is not None and path.is_file():
        with image_module.open(path) as opened:
            world_picture = opened.convert("L")
        size = (
            world_picture.width * cell // _PICTURE_CELL,
            world_picture.height * cell // _PICTURE_CELL,
        )
        world_picture = world_picture.resize(size, image_module.Resampling.BOX)
        # Dimmed, so that heat is seen on white ground too.
        grey = world_picture.point([48 + value // 2 for value in range(256)])
        coloured = image_module.merge("RGB", [grey] * 3)
        for box in boxes:
            if box.column * cell < size[0] and box.row * cell < size[1]:
                area = _pixels(box, cell)
                canvas.paste(coloured.crop(area), area[:2])
        return canvas
    draw = ImageDraw.Draw(canvas)
    for box in boxes:
        left, top, right, bottom = _pixels(box, cell)
        draw.rectangle((left, top, right - 1, bottom - 1), _GROUND, (110, 110, 126))
    return canvas


def _pixels(box: _Box, cell: int) -> tuple[int, int, int, int]:
    left, top = box.column * cell, box.row * cell
    return left, top, left + box.width * cell, top + box.height * cell


def _heated(
    ground: npt.NDArray[np.uint8], heat: npt.NDArray[np.int64], cell: int
) -> npt.NDArray[np.uint8]:
    """The ground with the heat laid over it."""
    colours = _colours(heat)
    large = np.repeat(np.repeat(colours, cell, 0), cell, 1)
    visited = np.repeat(np.repeat(heat > 0, cell, 0), cell, 1)[..., np.newaxis]
    mixed = np.where(visited, 0.3 * ground + 0.7 * large, ground)
    return np.asarray(mixed, np.uint8)


def _colours(heat: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The colour of each count, by its logarithm relative to the most."""
    most = max(2, int(heat.max(initial=0)))
    place = np.log(np.maximum(heat, 1)) / np.log(most) * (len(_HEAT) - 1)
    low = np.minimum(place.astype(np.int64), len(_HEAT) - 2)
    part = (place - low)[..., np.newaxis]
    colours: npt.NDArray[np.float64] = (1 - part) * _HEAT[low] + part * _HEAT[low + 1]
    return colours


def _interesting(
    heat: npt.NDArray[np.int64], boxes: list[_Box], cell: int
) -> tuple[int, int, int, int]:
    """The part with all maps that were visited."""
    visited = [
        box
        for box in boxes
        if heat[box.row : box.row + box.height, box.column : box.column + box.width].any()
    ] or boxes
    if not visited:
        return 0, 0, heat.shape[1] * cell, heat.shape[0] * cell
    areas = np.array([_pixels(box, cell) for box in visited])
    left, top = areas[:, 0].min(), areas[:, 1].min()
    right, bottom = areas[:, 2].max(), areas[:, 3].max()
    return int(left), int(top), int(right), int(bottom)


def _with_legend(
    image_module: Any, picture: Any, visits: Visits, heat: npt.NDArray[np.int64]
) -> Any:
    from PIL import ImageDraw

    most = int(heat.max(initial=0))
    text = (
        f"{visits.rom_title}: {visits.steps:,} steps, {len(visits.places):,} places; most {most:,}"
    )
    width = max(picture.width, 8 * len(text))
    whole = image_module.new("RGB", (width, picture.height + 36), _BACKGROUND)
    whole.paste(picture, (0, 0))
    draw = ImageDraw.Draw(whole)
    top = picture.height + 6
    bar = min(width - 12, 200)
    counts = np.exp(np.linspace(0, np.log(max(most, 2)), bar)).astype(np.int64)
    for x, colour in enumerate(_colours(counts[np.newaxis])[0].astype(int).tolist()):
        draw.line((6 + x, top, 6 + x, top + 7), tuple(colour))
    draw.text((6, top + 12), text, fill=(230, 230, 230))
    return whole
