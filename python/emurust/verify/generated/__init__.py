"""Test programs made on the spot: single instructions, and parts against each other.

Each generator turns a seed into a complete cartridge image. The programs keep what
they read in work RAM, so comparing the two machines frame by frame compares every
value read at every moment. All randomness comes from the seed.
"""

from __future__ import annotations

from collections.abc import Callable

from emurust.verify.generated.cartridges import clock, mappers, memory_map
from emurust.verify.generated.case import Case
from emurust.verify.generated.chaos import chaos
from emurust.verify.generated.interrupts import interrupt_timing
from emurust.verify.generated.single import single_instructions
from emurust.verify.generated.video import video_rules
from emurust.verify.generated.wild import wild

__all__ = [
    "INTERACTION_GENERATORS",
    "PROPERTY_GENERATORS",
    "Case",
    "chaos",
    "clock",
    "interrupt_timing",
    "mappers",
    "memory_map",
    "single_instructions",
    "video_rules",
    "wild",
]

#: Generators of level 1 and 2 by name; each takes a seed.
PROPERTY_GENERATORS: dict[str, Callable[[int], Case]] = {
    "single instructions": single_instructions,
    "memory map": memory_map,
    "mappers": mappers,
}
INTERACTION_GENERATORS: dict[str, Callable[[int], Case]] = {
    "chaos": chaos,
    "video rules": video_rules,
    "interrupt timing": interrupt_timing,
    "clock": clock,
    "wild": wild,
}
