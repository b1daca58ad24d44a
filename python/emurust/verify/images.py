"""Pictures of a difference, without depending on an image library."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file of ``pixels``, shape (height, width, 4), RGBA."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + width * 4), dtype=np.uint8)  # filter type 0 before each row
    rows[:, 1:] = pixels.reshape(height, width * 4)

    def chunk(kind: bytes, body: bytes) -> bytes:
        checksum = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6))
        + chunk(b"IEND", b"")
    )


def side_by_side(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Both pictures and, to their right, where they differ (red)."""
    height, width, _ = left.shape
    gap = 4
    sheet = np.full((height, width * 3 + gap * 2, 4), 128, dtype=np.uint8)
    sheet[:, :, 3] = 255
    sheet[:, :width] = left
    sheet[:, width + gap : 2 * width + gap] = right
    differing = (left != right).any(axis=2)
    marked = left // 4 + 160
    marked[differing] = (255, 0, 0, 255)
    marked[:, :, 3] = 255
    sheet[:, 2 * (width + gap) :] = marked
    return sheet


def write_comparison(path: Path, left: NDArray[np.uint8], right: NDArray[np.uint8]) -> None:
    """Write :func:`side_by_side` as a PNG file."""
    path.write_bytes(encode_png(side_by_side(left, right)))


def as_text(pixels: NDArray[np.uint8], columns: int = 80) -> str:
    """The picture as characters, two rows of pixels per line of text."""
    step = max(1, pixels.shape[1] // columns)
    grey = pixels[:: 2 * step, ::step, 0]
    alpha = pixels[:: 2 * step, ::step, 3]
    ramp = "@#+ "
    lines = []
    for row, row_alpha in zip(grey, alpha, strict=True):
        lines.append(
            "".join(
                ramp[int(value) * 3 // 255] if opaque else "?"
                for value, opaque in zip(row, row_alpha, strict=True)
            )
        )
    return "\n".join(lines)
