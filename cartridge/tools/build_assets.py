#!/usr/bin/env python3
"""Convert the readable assets in data/ to ROM data.

Writes into the build directory: assets.h (constants for the C sources),
data.json (bytes for the data banks, read by link_rom.py),
cartridge_maps.json (map geometry for Python) and cartridge_world.png (all maps
in one picture). Standard library only.
Mistakes in an asset are reported with file and line.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kw import graphics, music, source, tables, world, world_picture
from kw.banks import Banks


def main(data_dir, out_dir):
    os.makedirs(out_dir, exist_ok=True)
    banks = Banks()
    header = source.Header()
    texts = world.Texts()
    graphics.build(data_dir, banks, header)
    game = tables.build(data_dir, banks, header, texts)
    game.music = music.build(data_dir, banks, header)
    built, maps_json = world.build(data_dir, banks, header, texts, game)
    texts.place(banks, header)
    header.write(os.path.join(out_dir, "assets.h"))
    banks.write(os.path.join(out_dir, "data.json"))
    with open(os.path.join(out_dir, "cartridge_maps.json"), "w") as f:
        f.write(json.dumps(maps_json, indent=1, sort_keys=True) + "\n")
    with open(os.path.join(out_dir, "cartridge_world.png"), "wb") as f:
        f.write(world_picture.png(world_picture.draw(built)))
    print("data: " + ", ".join(f"bank {b}: {n} bytes" for b, n in banks.usage()))


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2])
    except source.AssetError as e:
        sys.exit(f"error: {e}")
