"""HALT, EI and DI at every distance from interrupts."""

from __future__ import annotations

from emurust.verify.cartridge import assemble_cartridge
from emurust.verify.generated.case import Case, Random
from emurust.verify.generated.video import sprite_table


def interrupt_timing(seed: int, frames: int = 40) -> Case:
    """HALT, EI and DI at every distance from timer, LCD and serial interrupts.

    The handlers note DIV and the interrupted address, so a difference of one cycle in
    when an interrupt is taken shows.
    """
    random = Random(4, seed)
    lines: list[str] = []
    for vector in range(0x40, 0x68, 8):
        lines += [f"ORG ${vector:04X}", "PUSH AF", f"LD A,${vector:02X}", "JP note"]
    lines += [
        "ORG $0150",
        "DI",
        "LD SP,$DFF0",
        "LD DE,$D000",
        "JP start",
        "note:",
        "LD (DE),A",
        "INC DE",
        "LDH A,($04)",
        "LD (DE),A",
        "INC DE",
        "LDH A,($05)",
        "LD (DE),A",
        "INC DE",
        "PUSH HL",
        "LD HL,SP+4",
        "LD A,(HL)",
        "LD (DE),A",
        "INC DE",
        "LD A,D",
        "AND $D7",
        "OR $D0",
        "LD D,A",
        "POP HL",
        "POP AF",
        random.pick(("RETI", "EI\nRET", "RETI")),
        "start:",
    ]
    source = random.pick(("timer", "timer", "stat", "serial", "mixed"))
    enable = {"timer": 0x04, "stat": 0x02, "serial": 0x08, "mixed": 0x0F}[source]
    if random.below(2):
        # Sprites move mode 0 off the grid of four cycles, and HALT with it.
        lines += [
            "LD HL,$FE00",
            "LD BC,sprites",
            "copy:",
            "LD A,(BC)",
            "LD (HL+),A",
            "INC BC",
            "LD A,L",
            "CP 160",
            "JR NZ,copy",
            f"LD A,${random.number((0x93, 0x97, 0xB3)):02X}",
            "LDH ($40),A",
            f"LD A,{random.below(256)}",
            "LDH ($43),A",
        ]
    control = random.number((4, 5, 5, 6, 7))
    lines += [
        f"LD A,${control:02X}\nLDH ($07),A",
        # Not faster than the handler, which would leave no time for anything else.
        f"LD A,${random.number((0x00, 0xC0, 0xE0) if control == 5 else (0, 0xF0, 0xFE)):02X}",
        "LDH ($06),A",
        f"LD A,${random.number((0x08, 0x10, 0x20, 0x28, 0x40, 0x48, 0x78)):02X}\nLDH ($41),A",
        f"LD A,{random.below(154)}\nLDH ($45),A",
        f"LD A,${enable | 1:02X}\nLDH ($FF),A",
        "main:",
    ]
    for _ in range(120):
        lines += ["XOR A", "LDH ($04),A"] if random.below(3) == 0 else []
        lines += [f"LD A,${random.number((0xFE, 0xFF, 0xF8)):02X}", "LDH ($05),A"]
        if source in ("serial", "mixed"):
            lines += ["LD A,$81", "LDH ($02),A"]
        lines += ["NOP"] * random.below(24)
        lines += random.pick(
            (
                "EI\nHALT",
                "EI\nHALT\nNOP",
                "EI\nNOP\nHALT",
                "HALT",
                "DI\nHALT\nEI",
                "EI\nDI",
                "EI\nLDH ($43),A\nHALT",
                "EI\nLDH A,($0F)",
                "DI\nXOR A\nLDH ($0F),A\nEI",
                "LDH A,($0F)\nOR $04\nLDH ($0F),A",
                "EI\nPUSH BC\nPOP BC\nHALT",
            )
        ).split("\n")
        lines += ["NOP"] * random.below(4)
    lines += ["JP main", sprite_table(random)]
    return Case(
        f"interrupt timing ({source}), seed {seed}", assemble_cartridge("\n".join(lines)), frames
    )
