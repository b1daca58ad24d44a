"""The whole world as one picture, every map at its place: 16 x 16 pixels a cell."""

import struct
import zlib

from .graphics import SHADES

CELL = 16
# Grey 3 of a 2-bit picture is white. Where there is no map: 2, so that maps stand out.
EMPTY = 2


def draw(world):
    """Rows of greys, 0 black to 3 white; people and things are not drawn, they come and go."""
    offsets = world.layout()
    width = max(offsets[m.name][0] + m.width for m in world.order)
    height = max(offsets[m.name][1] + m.height for m in world.order)
    rows = [bytearray([EMPTY]) * (CELL * width) for _ in range(CELL * height)]
    for m in world.order:
        names = list(m.tileset.cells)
        left, top = offsets[m.name]
        for y, cells in enumerate(m.rows):
            for x, cell in enumerate(cells):
                at = CELL * (left + x)
                for line, pixels in enumerate(m.tileset.art[names[cell]]):
                    row = rows[CELL * (top + y) + line]
                    row[at : at + CELL] = bytes(3 - SHADES[pixel] for pixel in pixels)
    return rows


def png(rows):
    """A greyscale PNG of 2 bits a pixel; the rows' length is a multiple of 4."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    raw = bytearray()
    for row in rows:
        raw.append(0)
        for i in range(0, len(row), 4):
            raw.append(row[i] << 6 | row[i + 1] << 4 | row[i + 2] << 2 | row[i + 3])
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 2, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(raw), 9))
        + chunk(b"IEND", b"")
    )
