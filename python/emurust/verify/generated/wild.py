"""Random bytes as a program."""

from __future__ import annotations

import numpy as np

from emurust.verify.asm import assemble
from emurust.verify.cartridge import build_cartridge
from emurust.verify.generated.case import MAPPERS, Case, Random
from emurust.verify.instructions import ILLEGAL_OPCODES

_COMMON_OPCODES = (
    *(0x00, 0x04, 0x05, 0x0C, 0x0D, 0x14, 0x1C, 0x24, 0x2C, 0x34, 0x3C, 0x3D, 0x2A, 0x22, 0x32),
    *(0x12, 0x1A, 0x7E, 0x77, 0x70, 0x46, 0x4E, 0x56, 0x80, 0x91, 0xA2, 0xB3, 0xAF, 0x09, 0x19),
    *(0x06, 0x0E, 0x16, 0x1E, 0x26, 0x2E, 0x36, 0x3E, 0x3E, 0x01, 0x11, 0x21, 0x31, 0xE0, 0xE0),
    *(0xE0, 0xF0, 0xF0, 0xE2, 0xF2, 0xEA, 0xFA, 0x08, 0xC5, 0xD5, 0xE5, 0xF5, 0xC1, 0xD1, 0xE1),
    *(0xF1, 0xC3, 0xCD, 0xC9, 0xC0, 0xC8, 0xD9, 0x18, 0x20, 0x28, 0x30, 0x38, 0xCB, 0xCB, 0xFB),
    *(0xFB, 0x76, 0x27, 0x2F, 0x37, 0x3F, 0xE8, 0xF8, 0xF9, 0xE9, 0xC7, 0xFF),
)


#: Continues at an address that depends on DIV and on what work RAM holds.
_RESTART = """
    LD SP,$DFF0
    LD A,($DFE0)
    ADD A,$35
    LD ($DFE0),A
    LD L,A
    LDH A,($04)
    XOR L
    AND $3F
    LD H,A
    LD A,5
    LDH ($FF),A
    DEC A
    LDH ($07),A
    LD A,$F0
    LDH ($06),A
    LDH A,($40)
    OR $80
    LDH ($40),A
    EI
    JP HL
"""


def wild(seed: int, frames: int = 60) -> Case:
    """Random bytes as a program, without illegal opcodes in ROM.

    It may run anything anywhere: registers, video RAM and the stack as code. VBlank and
    timer interrupts start it again elsewhere, so that loops end. Some programs lock the
    CPU sooner or later, which ends the comparison.
    """
    random = Random(7, seed)
    image = random.rng.integers(0, 256, size=0x8000, dtype=np.uint8)
    common = np.array(_COMMON_OPCODES, dtype=np.uint8)
    replace = random.rng.random(0x8000) < 0.6
    image[replace] = random.rng.choice(common, size=int(replace.sum()))
    image[np.isin(image, list(ILLEGAL_OPCODES))] = 0x00
    if random.below(2):
        image[image == 0x10] = 0x00
    # Interrupts must come through, or the first loop is the last.
    image[(image == 0xF3) & (random.rng.random(0x8000) < 0.95)] = 0xFB
    # Calls and jumps mostly stay in ROM.
    for offset in np.flatnonzero(np.isin(image, (0xC3, 0xCD, 0xC2, 0xCA, 0xC4, 0xCC))):
        if offset + 2 < 0x8000 and random.below(8):
            image[offset + 2] &= 0x7F
    # Rather many loads of pointers to RAM.
    for offset in np.flatnonzero(np.isin(image, (0x21, 0x11, 0x01, 0x31))):
        if offset + 2 < 0x8000 and random.below(4):
            image[offset + 2] = random.number((0xC0, 0xC8, 0xD0, 0xDF, 0xFF, 0x80, 0xFE, 0xA0))
    image[np.isin(image, list(ILLEGAL_OPCODES))] = 0x00
    image[0x100:0x104] = (0x00, 0xC3, 0x50, 0x01)
    for vector in (0x40, 0x50):
        image[vector : vector + 3] = (0xC3, 0x00, 0x02)  # JP 0200
    restart = np.frombuffer(assemble(_RESTART, 0x0200), dtype=np.uint8)
    image[0x150:0x153] = (0xC3, 0x00, 0x02)
    image[0x200 : 0x200 + len(restart)] = restart
    kind, ram = MAPPERS[seed % len(MAPPERS)]
    rom = build_cartridge(image.tobytes(), cartridge_type=kind, ram_size_code=ram)
    return Case(f"wild, seed {seed}", rom, frames, buttons=True)
