"""The address space and the cartridges: mappers, their RAM and their clock."""

from __future__ import annotations

from emurust.verify.cartridge import assemble_cartridge
from emurust.verify.generated.case import MAPPERS, Case, Random

#: Cartridges with their sizes as files may have them: type, RAM code, banks in the file.
_CARTRIDGES = (
    *((0x00, 0, 2), (0x00, 2, 2), (0x08, 2, 4), (0x09, 2, 2), (0x00, 0, 8)),
    *((0x01, 0, 4), (0x02, 2, 8), (0x03, 3, 32), (0x03, 2, 64), (0x03, 3, 128), (0x03, 4, 64)),
    *((0x05, 0, 4), (0x06, 0, 16), (0x06, 3, 16)),
    *((0x11, 0, 8), (0x12, 2, 16), (0x13, 3, 128), (0x13, 5, 64), (0x13, 3, 256), (0x13, 0, 4)),
    *((0x19, 0, 8), (0x1A, 2, 16), (0x1B, 4, 64), (0x1B, 5, 512), (0x1C, 0, 4), (0x1E, 3, 32)),
)


def memory_map(seed: int, frames: int = 8) -> Case:
    """Reads and writes all over the address space, with each mapper in turn."""
    random = Random(5, seed)
    kind, ram = MAPPERS[seed % len(MAPPERS)]
    lines = ["ORG $0150", "DI", "LD SP,$DFF0", "LD HL,$D000", "XOR A", "LDH ($FF),A"]
    for _ in range(500):
        roll = random.below(10)
        if roll < 4:
            address = random.below(0x10000)
            lines.append(f"LD A,(${address:04X})")
        elif roll < 7:
            address = random.below(0xFF00)
            if 0xD000 <= address < 0xE000 or 0xF000 <= address < 0xFE00:
                address -= 0x1000  # results and stack live there
            lines += [f"LD A,${random.byte():02X}", f"LD (${address:04X}),A"]
        elif roll < 9:
            area = random.number((0x0000, 0x1000, 0x2000, 0x2100, 0x3000, 0x4000, 0x6000))
            value = random.number(
                (0x00, 0x01, 0x0A, 0x0A, 0x02, 0x03, 0x07, 0x08, 0x0C, 0x10, 0xFF)
            )
            lines += [f"LD A,${value:02X}", f"LD (${area + random.below(0x100):04X}),A"]
        else:
            lines += [f"LD A,(${random.between(0x4000, 0xBFFF):04X})"]
        lines += ["LD (HL+),A", "RES 5,H"]
    lines += ["JP $0150"]
    rom = bytearray(
        assemble_cartridge(
            "\n".join(lines), cartridge_type=kind, ram_size_code=ram, banks=2 if kind == 8 else 32
        )
    )
    for bank in range(1, len(rom) // 0x4000):
        for offset in range(0, 0x4000, 0x100):
            rom[bank * 0x4000 + offset] = bank
            rom[bank * 0x4000 + offset + 1] = offset >> 8
    return Case(f"memory map, type {kind:02X}, seed {seed}", bytes(rom), frames)


def clock(seed: int, frames: int = 200) -> Case:
    """An MBC3's clock: latched, set to corner values, stopped, read, by the program."""
    random = Random(6, seed)
    lines = ["ORG $0150", "DI", "LD SP,$DFF0", "LD A,$0A", "LD ($0000),A", "LD DE,$D000", "again:"]
    for _ in range(60):
        roll = random.below(8)
        register = random.number((0x08, 0x09, 0x0A, 0x0B, 0x0C))
        if roll < 2:
            values = {
                0x08: (0, 58, 59, 60, 63, 255),
                0x09: (0, 59, 60, 63),
                0x0A: (0, 23, 24, 31),
                0x0B: (0, 254, 255),
                0x0C: (0, 1, 0x40, 0x80, 0xC1, 0x81),
            }[register]
            lines += [f"LD A,${register:02X}", "LD ($4000),A"]
            lines += [
                f"LD A,{random.number(values)}",
                f"LD (${random.between(0xA000, 0xBFFF):04X}),A",
            ]
        elif roll < 5:
            for value in random.number_list(((0, 1), (0, 1), (1,), (0,), (0, 2), (1, 0, 1))):
                lines += [f"LD A,{value}", f"LD (${random.between(0x6000, 0x7FFF):04X}),A"]
        elif roll == 5:
            # Long enough for seconds to pass within the program's frames.
            outer, inner = f"outer{len(lines)}", f"inner{len(lines)}"
            slow = random.below(3) == 0
            lines += [
                f"LD BC,${random.between(0x10, 0x180 if slow else 0x1FFF):04X}",
                f"{outer}:",
                "XOR A",
                f"{inner}:",
                "DEC A",
                f"JR NZ,{inner}" if slow else "NOP",
                "DEC BC",
                "LD A,B",
                "OR C",
                f"JR NZ,{outer}",
            ]
        for read in (0x08, 0x09, 0x0A, 0x0B, 0x0C):
            if random.below(3):
                lines += [f"LD A,${read:02X}", "LD ($4000),A"]
                lines += ["LD A,($A000)", "LD (DE),A", "INC E"]
        if random.below(6) == 0:
            lines += [f"LD A,{random.number((0, 0x0A, 0x0A))}", "LD ($0000),A"]
        if random.below(6) == 0:
            lines += [f"LD A,{random.below(8)}", "LD ($4000),A", "LD A,E", "LD ($A010),A"]
    lines += ["LD A,$0A", "LD ($0000),A", "JP again"]
    kind = random.number((0x0F, 0x10, 0x10))
    rom = assemble_cartridge(
        "\n".join(lines), cartridge_type=kind, ram_size_code=3 if kind == 0x10 else 0, banks=4
    )
    return Case(f"clock, seed {seed}", rom, frames)


def mappers(seed: int, frames: int = 6) -> Case:
    """Bank switching of every cartridge type, with reads on both sides of each switch.

    Also runs code across the end of the fixed bank, where PyBoy fetches from
    elsewhere, and multicarts.
    """
    random = Random(8, seed)
    kind, ram, banks = _CARTRIDGES[seed % len(_CARTRIDGES)]
    lines = ["ORG $0150", "DI", "LD SP,$DFF0", "LD DE,$D000"]
    lines += ["LD A,$0A", "LD ($0000),A", "again:"]
    for _ in range(180):
        area = random.number((0x0000, 0x0100, 0x2000, 0x2100, 0x2000, 0x3000, 0x4000, 0x6000))
        area += random.number((0x00, 0xFF, 0x7F, 0xE00, 0xEFF))
        value = random.byte()
        if area < 0x2000 and random.below(3):
            value = 0x0A
        if area >= 0x6000 or (area >= 0x4000 and random.below(2)):
            value = random.below(16)
        lines += [f"LD A,${value:02X}", f"LD (${area:04X}),A"]
        for address in (0x4000, 0x7FFF, 0x0000, 0x3FFE, random.between(0xA000, 0xBFFF)):
            if random.below(2):
                lines += [f"LD A,(${address:04X})", "LD (DE),A", "INC E"]
        if random.below(2):
            lines += ["LD A,E", f"LD (${random.between(0xA000, 0xBFFF):04X}),A"]
        if random.below(20) == 0:
            # Never with bank 0 selected: PyBoy then fetches from outside the image.
            lines += ["LD A,3", "LD ($2100),A", "CALL $3FF0"]
    lines += ["JP again"]
    image = bytearray(
        assemble_cartridge("\n".join(lines), cartridge_type=kind, ram_size_code=ram, banks=banks)
    )
    for bank in range(1, banks):
        start = bank * 0x4000
        image[start] = bank & 0xFF
        image[start + 0x3FFD] = bank >> 8
        # What a fetch at 3FFE and 3FFF finds with the next bank selected.
        image[start + 0x3FFE : start + 0x4000] = bytes((0x3C, 0xC9))  # INC A, RET
    image[0x3FF0:0x4000] = bytes((0x00,) * 14 + (0x3D, 0xC9))  # DEC A, RET
    if banks == 64 and random.below(2):
        for bank in range(1, banks):  # a multicart repeats the header's logo area
            image[bank * 0x4000 + 0x104 : bank * 0x4000 + 0x134] = image[0x104:0x134]
    return Case(f"mappers, type {kind:02X} with {banks} banks, seed {seed}", bytes(image), frames)
