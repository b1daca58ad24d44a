"""Backgrounds, windows and sprites under changing registers."""

from __future__ import annotations

from emurust.verify.cartridge import assemble_cartridge
from emurust.verify.generated.case import Case, Random, db

SETUP_VIDEO = """
    XOR A
    LDH ($40),A
    LD HL,$8000
    LD BC,$2000
fill:
    LD A,L
    XOR H
    RLCA
    ADD A,H
    LD (HL+),A
    DEC BC
    LD A,B
    OR C
    JR NZ,fill
    LD HL,$FE00
    LD DE,sprites
    LD B,160
fillsprites:
    LD A,(DE)
    INC DE
    LD (HL+),A
    DEC B
    JR NZ,fillsprites
"""


def sprite_table(random: Random) -> str:
    """Forty sprites, many sharing lines and columns, some off the screen."""
    table = []
    rows = [random.between(0, 170) for _ in range(6)]
    columns = [random.between(0, 180) for _ in range(6)]
    for _ in range(40):
        y = random.number(rows) if random.below(3) else random.below(256)
        x = random.number(columns) if random.below(3) == 0 else random.below(176)
        table += [y, x, random.byte(), random.byte() & 0xF0]
    return "sprites:\n" + "\n".join(db(table[i : i + 16]) for i in range(0, len(table), 16))


def video_rules(seed: int, frames: int = 60) -> Case:
    """Backgrounds, windows and sprites under registers that change every frame and
    at chosen lines."""
    random = Random(3, seed)
    table = []
    for _ in range(32):
        window_y = random.number((0, 1, 20, 77, 100, 142, 143, 144, 255))
        window_x = random.number((0, 1, 3, 6, 7, 8, 15, 80, 159, 165, 166, 167, 200))
        table += [
            0x81 | random.byte() & 0x7E | (0x20 if random.below(3) else 0),
            random.byte(),
            random.byte(),
            window_y,
            window_x,
            random.byte(),
            random.byte(),
            random.byte(),
        ]
        if random.below(5) == 0:
            table[-8] &= 0xFE  # background off
    source = (
        f"""
    ORG $0040
    JP vblank
    ORG $0048
    JP line
    ORG $0150
    DI
    LD SP,$DFF0
{SETUP_VIDEO}
    XOR A
    LD ($C000),A
    LD A,$80
    LDH ($40),A
    LD A,{random.number((0x40, 0x44, 0x48, 0x60))}
    LDH ($41),A
    LD A,{random.between(0, 150)}
    LDH ($45),A
    LD A,$03
    LDH ($FF),A
    EI
wait:
    HALT
    NOP
    JR wait
vblank:
    PUSH AF
    PUSH HL
    CALL load
    LDH A,($45)
    ADD A,{random.number((1, 3, 7, 37))}
    AND $7F
    LDH ($45),A
    LD HL,$FE00
    LD A,($C000)
    ADD A,L
    LD L,A
    INC (HL)
    POP HL
    POP AF
    RETI
line:
    PUSH AF
    PUSH HL
    LDH A,($44)
    LD ($C001),A
    {random.pick(("CALL load", "LDH A,($43)" + chr(10) + "INC A" + chr(10) + "LDH ($43),A", "NOP"))}
    POP HL
    POP AF
    RETI
load:
    LD A,($C000)
    INC A
    AND $1F
    LD ($C000),A
    ADD A,A
    ADD A,A
    ADD A,A
    LD L,A
    LD H,table / 256
    LD A,(HL+)
    LDH ($40),A
    LD A,(HL+)
    LDH ($42),A
    LD A,(HL+)
    LDH ($43),A
    LD A,(HL+)
    LDH ($4A),A
    LD A,(HL+)
    LDH ($4B),A
    LD A,(HL+)
    LDH ($47),A
    LD A,(HL+)
    LDH ($48),A
    LD A,(HL+)
    LDH ($49),A
    RET
{sprite_table(random)}
    ORG $1000
table:
""".replace("table / 256", "$10")
        + "\n".join(db(table[i : i + 16]) for i in range(0, len(table), 16))
    )
    return Case(f"video rules, seed {seed}", assemble_cartridge(source), frames)
