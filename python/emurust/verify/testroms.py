"""Whether a test ROM says that it passed.

For reading results only: EmuRust must do what PyBoy does, pass or fail alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from emurust.verify.protocol import Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Result = Literal["passed", "failed", "unknown"]

#: Mooneye's ROMs end with these Fibonacci numbers in the registers when they pass.
_MOONEYE_PASS = {"b": 3, "c": 5, "d": 8, "e": 13, "hl": 0x1522}
_MOONEYE_FAIL = {"b": 0x42, "c": 0x42, "d": 0x42, "e": 0x42, "hl": 0x4242}

_TILE_MAP = slice(0x1800, 0x2000)
_BLARGG_SIGNATURE = bytes((0xDE, 0xB0, 0x61))


def result(snapshot: Snapshot) -> Result:
    """What the program in this state says about itself.

    Understands Mooneye's registers, Blargg's status bytes in cartridge RAM, and the
    words "Passed" and "Failed" on the screen when tile numbers are ASCII. ROMs whose
    result is a picture say nothing.
    """
    ints = snapshot.ints
    if all(ints.get(name) == value for name, value in _MOONEYE_PASS.items()):
        return "passed"
    if all(ints.get(name) == value for name, value in _MOONEYE_FAIL.items()):
        return "failed"
    cart_ram = snapshot.arrays.get("cart_ram")
    if cart_ram is not None and cart_ram[1:4].tobytes() == _BLARGG_SIGNATURE:
        status = int(cart_ram[0])
        if status < 0x80:
            return "failed" if status else "passed"
    text = screen_text(snapshot.arrays["vram"]).lower()
    if "failed" in text or "fail:" in text:
        return "failed"
    if "passed" in text or "test ok" in text:
        return "passed"
    return "unknown"


def screen_text(vram: NDArray[np.uint8]) -> str:
    """Both tile maps read as ASCII."""
    return "".join(chr(tile & 0x7F) for tile in vram[_TILE_MAP].tolist())
