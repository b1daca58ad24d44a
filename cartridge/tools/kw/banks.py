"""Placing data in the ROM's data banks."""

import json

from .source import AssetError

FIRST, LAST = 5, 15


class Banks:
    def __init__(self):
        self.data = {b: bytearray() for b in range(FIRST, LAST + 1)}

    def add(self, blob, group=FIRST):
        """Put blob in the first bank from `group` on with room; (bank, address)."""
        for bank in range(group, LAST + 1):
            used = self.data[bank]
            if len(used) + len(blob) <= 0x4000:
                address = 0x4000 + len(used)
                used.extend(blob)
                return bank, address
        raise AssetError("the data banks are full")

    def usage(self):
        return [(b, len(d)) for b, d in self.data.items() if d]

    def write(self, path):
        with open(path, "w") as f:
            json.dump({str(b): d.hex() for b, d in self.data.items() if d}, f)
