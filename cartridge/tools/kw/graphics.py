"""Font, frame, cells, object sprites: ASCII art to 2-bit tiles."""

import glob
import os

from .source import AssetError, Lines

SHADES = {".": 0, ":": 1, "o": 2, "#": 3}
# objects: colour 0 is transparent
OBJECT_SHADES = {" ": 0, ".": 1, "o": 2, "#": 3}

FLAGS = {"walk": 1, "grass": 2, "ledge": 4, "water": 8, "counter": 16, "door": 32}


def encode_tile(rows, shades, fail):
    """Eight strings of eight characters to sixteen bytes."""
    out = bytearray()
    for row in rows:
        low = high = 0
        for char in row:
            if char not in shades:
                fail(f"unknown shade {char!r}")
            shade = shades[char]
            low = low << 1 | shade & 1
            high = high << 1 | shade >> 1
        out += bytes((low, high))
    return bytes(out)


def cut(rows, x, y, w=8, h=8):
    return [row[x : x + w] for row in rows[y : y + h]]


def font(path):
    """96 glyph tiles from space on."""
    lines = Lines(path)
    glyphs = {" ": ["........"] * 8}
    while (line := lines.next()) is not None:
        if not line.startswith("chars "):
            lines.fail("expected a 'chars' line")
        chars = line[6:].strip()
        rows = lines.rows(8, 6 * len(chars) - 1)
        for i, char in enumerate(chars):
            glyphs[char] = ["." + row[6 * i : 6 * i + 5] + ".." for row in rows]
    out = b""
    for code in range(0x20, 0x80):
        out += encode_tile(glyphs.get(chr(code), ["........"] * 8), SHADES, lines.fail)
    return out


def glyph_rows(path, wanted):
    """The 5x7 pattern of some letters of font.txt, as sets of pixels."""
    lines, found = Lines(path), {}
    while (line := lines.next()) is not None:
        chars = line[6:].strip()
        rows = lines.rows(8, 6 * len(chars) - 1)
        for i, char in enumerate(chars):
            if char in wanted:
                found[char] = {
                    (x, y) for y in range(7) for x in range(5) if rows[y][6 * i + x] == "#"
                }
    return found


def logo(path, word):
    """The title as 16 x 4 tiles: letters three times as large, rounded, with
    an outline, shaded from top to bottom, on a shadow."""
    glyphs, width, height = glyph_rows(path, word), 128, 32
    solid = set()
    for i, char in enumerate(word):
        g = glyphs[char]
        for gx in range(5):
            for gy in range(7):
                for sx in range(3):
                    for sy in range(3):
                        on = (gx, gy) in g
                        # round the corners: a corner pixel follows its two neighbours
                        if sx != 1 and sy != 1:
                            a, b = (gx + sx - 1, gy) in g, (gx, gy + sy - 1) in g
                            if on and not a and not b:
                                on = (gx + sx - 1, gy + sy - 1) in g
                            elif not on and a and b:
                                on = True
                        if on:
                            solid.add((16 * i + 3 * gx + sx, 5 + 3 * gy + sy))
    near = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    outline = {(x + dx, y + dy) for x, y in solid for dx, dy in near}
    rows = []
    for y in range(height):
        row = ""
        for x in range(width):
            if (x, y) in solid:
                level = (y - 5) / 21
                row += (
                    "."
                    if level < 0.3
                    else ":"
                    if (level < 0.42 and (x + y) & 1) or level < 0.36
                    else ":"
                    if level < 0.66 or (level < 0.75 and (x + y) & 1)
                    else "o"
                )
            elif (x, y) in outline:
                row += "#"
            elif (x - 2, y - 2) in outline:
                row += "o"
            else:
                row += "."
        rows.append(row)
    return b"".join(
        encode_tile(cut(rows, x, y), SHADES, None)
        for y in range(0, height, 8)
        for x in range(0, width, 8)
    )


def frame(path, header):
    lines = Lines(path)
    out, number = b"", 0xE0
    while (words := lines.words()) is not None:
        if words[0] != "tile" or len(words) != 2:
            lines.fail("expected 'tile NAME'")
        out += encode_tile(lines.rows(8, 8), SHADES, lines.fail)
        header.define(words[1], f"0x{number:02X}")
        number += 1
    if number > 0x100:
        raise AssetError(f"{path}: more than 32 tiles")
    return out


class Tileset:
    def __init__(self, path):
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.cells = {}  # name -> index
        self.chars = {}  # map character -> name
        self.flags = []
        self.art = {}
        self.metatiles = b""
        tiles = {}
        lines = Lines(path)
        while (words := lines.words()) is not None:
            if words[0] != "cell" or len(words) < 3 or len(words[2]) != 1:
                lines.fail("expected 'cell NAME CHAR flags...'")
            name, char, rest = words[1], words[2], words[3:]
            if name in self.cells or (char != "-" and char in self.chars):
                lines.fail(f"cell {name} or character {char!r} used twice")
            under = None
            if "over" in rest:
                i = rest.index("over")
                under = rest[i + 1]
                del rest[i : i + 2]
                if under not in self.art:
                    lines.fail(f"unknown cell {under} to draw over")
            value = 0
            for flag in rest:
                if flag not in FLAGS:
                    lines.fail(f"unknown flag {flag!r}")
                value |= FLAGS[flag]
            rows = lines.rows(16, 16)
            if under:
                rows = [
                    "".join(a if a != " " else b for a, b in zip(r, u))
                    for r, u in zip(rows, self.art[under])
                ]
            self.art[name] = rows
            self.cells[name] = len(self.flags)
            if char != "-":
                self.chars[char] = name
            self.flags.append(value)
            for y in (0, 8):
                for x in (0, 8):
                    tile = encode_tile(cut(rows, x, y), SHADES, lines.fail)
                    self.metatiles += bytes((tiles.setdefault(tile, len(tiles)),))
        if len(tiles) > 128 or len(self.flags) > 64:
            raise AssetError(
                f"{path}: {len(tiles)} tiles (at most 128), {len(self.flags)} cells (at most 64)"
            )
        self.tiles = b"".join(tiles)

    def blob(self):
        """128 tiles, 64 metatiles, 64 flag bytes."""
        return (
            self.tiles.ljust(2048, b"\0")
            + self.metatiles.ljust(256, b"\0")
            + bytes(self.flags).ljust(64, b"\0")
        )


def sprites(path, header, banks):
    """Object sprites. Tiles in 8x16 order: left half, right half.

    Six frames (down, down step, up, up step, left, left step) for 'walker',
    three for 'person', one for 'thing'.
    """
    lines = Lines(path)
    frames = {"walker": 6, "person": 3, "thing": 1}
    table = b""
    names = {}
    header.sprite_tiles = {}
    while (words := lines.words()) is not None:
        if len(words) != 2 or words[0] not in frames:
            lines.fail("expected 'walker|person|thing NAME'")
        kind, name = words
        data = b""
        for _ in range(frames[kind]):
            if (lines.next() or "").strip() != "frame":
                lines.fail("expected 'frame'")
            rows = lines.rows(16, 16)
            for x in (0, 8):
                for y in (0, 8):
                    data += encode_tile(cut(rows, x, y), OBJECT_SHADES, lines.fail)
        bank, address = banks.add(data)
        header.define("SPRITE_" + name, len(names))
        header.sprite_tiles[name] = 4 * frames[kind]
        names[name] = len(names)
        table += bytes((bank, address & 255, address >> 8, frames[kind]))
    header.place("SPRITE_TABLE", banks.add(table))
    return names


def build(data_dir, banks, header):
    header.place("FONT_TILES", banks.add(font(os.path.join(data_dir, "font.txt"))))
    header.place(
        "FRAME_TILES",
        banks.add(frame(os.path.join(data_dir, "frame.txt"), header).ljust(512, b"\0")),
    )
    header.place("LOGO_TILES", banks.add(logo(os.path.join(data_dir, "font.txt"), "KITHWILD")))
    header.sprites = sprites(os.path.join(data_dir, "sprites.txt"), header, banks)
    header.tilesets = {}
    table = b""
    for path in sorted(glob.glob(os.path.join(data_dir, "tiles", "*.txt"))):
        tileset = Tileset(path)
        header.define("TILESET_" + tileset.name, len(header.tilesets))
        header.tilesets[tileset.name] = tileset
        bank, address = banks.add(tileset.blob())
        table += bytes((bank, address & 255, address >> 8))
    header.place("TILESET_TABLE", banks.add(table))
