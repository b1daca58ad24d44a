"""``emurust heatmap``: where a run has been."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from emurust.errors import ArgumentError
from emurust.heatmap import draw_heatmap
from emurust.pictures import save_picture
from emurust.tasks import read_map_offsets
from emurust.visits import read_visits

__all__ = ["main"]


def main(argv: Sequence[str]) -> int:
    """Draws the visited places of a run."""
    parser = argparse.ArgumentParser(
        prog="emurust heatmap",
        description="Draws how often each place was visited, over the maps of the shipped "
        "cartridge, or for other games over plain coordinates.",
        epilog="The log is written by emurust.visits.VisitLog.",
    )
    parser.add_argument("log", type=Path, help="the log of a run")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="PNG")
    parser.add_argument("--cell", type=int, default=8, help="pixels of a place (%(default)s)")
    parser.add_argument(
        "--maps",
        type=Path,
        metavar="JSON",
        help="where the maps are in the world, such as PokemonRedExperiments' map_data.json; "
        "by default what is known of the game",
    )
    parser.add_argument("--whole", action="store_true", help="the whole world, visited or not")
    options = parser.parse_args(argv)
    if not 1 <= options.cell <= 16:
        raise ArgumentError(f"--cell must be 1 to 16, not {options.cell}")
    if options.output.suffix.lower() != ".png":
        raise ArgumentError(f"--output must end in .png: {options.output}")
    visits = read_visits(options.log)
    picture = draw_heatmap(
        visits,
        cell=options.cell,
        map_offsets=None if options.maps is None else read_map_offsets(options.maps),
        whole_world=options.whole,
    )
    save_picture(picture, options.output)
    print(
        f"{options.output}: {picture.width} x {picture.height}, {visits.steps:,} steps, "
        f"{len(visits.places):,} places"
    )
    return 0
