"""The assembler, the disassembler and the generated programs."""

from __future__ import annotations

import pytest

from emurust.verify import generated
from emurust.verify.asm import assemble
from emurust.verify.cartridge import assemble_cartridge, build_cartridge
from emurust.verify.errors import AssemblyError, CartridgeImageError
from emurust.verify.instructions import (
    ILLEGAL_OPCODES,
    OPCODES,
    PREFIXED_OPCODES,
    Flow,
    disassemble,
    targets,
)

LEGAL = [opcode for opcode in range(256) if OPCODES[opcode].flow is not Flow.ILLEGAL]


def operand_text(opcode: int) -> str:
    text = OPCODES[opcode].text
    if OPCODES[opcode].flow is Flow.RELATIVE:
        return text.replace("r8", "$0236")
    for token, value in (("d16", "$1234"), ("a16", "$1234"), ("d8", "$34"), ("a8", "$34")):
        text = text.replace(token, value)
    return text.replace("SP+r8", "SP+52").replace("r8", "+52")


@pytest.mark.parametrize("opcode", LEGAL, ids=lambda opcode: f"{opcode:02X}")
def test_every_opcode_assembles_to_itself(opcode: int) -> None:
    code = bytes([opcode, 0x34, 0x12])[: OPCODES[opcode].length]
    if opcode == 0x10:
        code = b"\x10\x00"
    assert assemble(operand_text(opcode), 0x0200) == code


def test_every_prefixed_opcode_assembles_to_itself() -> None:
    for opcode, instruction in enumerate(PREFIXED_OPCODES):
        assert assemble(instruction.text) == bytes([0xCB, opcode])


def test_the_instruction_set_has_the_known_holes() -> None:
    assert len(LEGAL) == 256 - len(ILLEGAL_OPCODES) - 1
    assert len(ILLEGAL_OPCODES) == 11
    assert len({OPCODES[opcode].text for opcode in LEGAL}) == len(LEGAL)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("00", "NOP"),
        ("18FE", "JR 0150"),
        ("20 05", "JR NZ,0157"),
        ("01 34 12", "LD BC,1234"),
        ("08 34 12", "LD (1234),SP"),
        ("22", "LD (HL+),A"),
        ("36 7F", "LD (HL),7F"),
        ("CB 7E", "BIT 7,(HL)"),
        ("CB 37", "SWAP A"),
        ("E0 40", "LDH (FF40),A"),
        ("F2", "LD A,(C)"),
        ("E8 FE", "ADD SP,-2"),
        ("F8 05", "LD HL,SP+5"),
        ("DF", "RST 18"),
        ("DA 00 40", "JP C,4000"),
        ("FE 90", "CP 90"),
        ("D3", "DB D3"),
    ],
)
def test_disassembly(code: str, text: str) -> None:
    assert disassemble(bytes.fromhex(code), 0x0150) == text


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("00", (0x151,)),
        ("18 FE", (0x150,)),
        ("20 05", (0x157, 0x152)),
        ("C3 00 40", (0x4000,)),
        ("E9", (0x1111,)),
        ("CD 00 40", (0x4000, 0x153)),
        ("C9", (0x2222,)),
        ("C0", (0x2222, 0x151)),
        ("EF", (0x28, 0x151)),
        ("D3", ()),
    ],
)
def test_successors(code: str, expected: tuple[int, ...]) -> None:
    assert targets(bytes.fromhex(code), 0x150, 0x1111, 0x2222) == expected


def test_labels_directives_and_expressions() -> None:
    code = assemble(
        """
        SIZE EQU 3            ; a name for a number
            ORG $0004
        start:
            LD B,SIZE-1
        loop: DEC B
            JR NZ,loop
            JP later+1
            DB 1,$FF,%101,start
            DW later
            DS SIZE,$AA
        later: jr .
        """
    )
    assert code.hex(" ") == (
        "00 00 00 00 06 02 05 20 fd c3 16 00 01 ff 05 04 15 00 aa aa aa 18 fe"
    ).replace("aa aa aa 18", "aa aa aa 18")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("LD Q,1", "line 1: no instruction 'LD Q,1'"),
        ("NOP\nJP nowhere", "line 2: unknown name 'nowhere'"),
        ("LD A,$1FF", "does not fit into a byte"),
        ("x: NOP\nx: NOP", "line 2: x is defined twice"),
        ("ORG 8\nORG 4", "line 2: ORG \\$0004 lies before"),
        ("far: DS 200\nJR far", "too far away"),
        ("DB 12Z", "'12Z' is not a number"),
        ("DB", "an expression is missing"),
    ],
)
def test_assembly_errors_name_line_and_cause(source: str, message: str) -> None:
    with pytest.raises(AssemblyError, match=message):
        assemble(source)


def test_cartridges_have_a_right_header() -> None:
    rom = assemble_cartridge("ORG $0150\nJR .", cartridge_type=0x1B, ram_size_code=3, banks=8)
    assert len(rom) == 8 * 0x4000
    assert rom[0x100:0x104] == bytes.fromhex("00 C3 50 01")
    assert rom[0x150:0x152] == b"\x18\xfe"
    assert (rom[0x147], rom[0x148], rom[0x149]) == (0x1B, 2, 3)
    checksum = 0
    for byte in rom[0x134:0x14D]:
        checksum = (checksum - byte - 1) & 0xFF
    assert rom[0x14D] == checksum


def test_cartridges_that_cannot_be_are_refused() -> None:
    with pytest.raises(CartridgeImageError, match="not 3"):
        build_cartridge(b"", banks=3)
    with pytest.raises(CartridgeImageError, match="hold 32768"):
        build_cartridge(bytes(0x8001))
    with pytest.raises(CartridgeImageError, match="0100-014F"):
        assemble_cartridge("ORG $0120\nHALT")


@pytest.mark.parametrize(
    "generator",
    [*generated.PROPERTY_GENERATORS.values(), *generated.INTERACTION_GENERATORS.values()],
    ids=lambda generator: generator.__name__,
)
def test_generated_programs_depend_on_their_seed_only(generator: object) -> None:
    assert callable(generator)
    assert generator(3) == generator(3)
    assert generator(3).rom != generator(4).rom


def test_single_instructions_cover_the_whole_set() -> None:
    """Each opcode that can be tested alone is in some program of the first seeds."""
    first, last = 0x0150, 0x8000
    seen = set()
    for seed in range(2):
        rom = generated.single_instructions(seed).rom
        seen |= {rom[i + 1] + 256 for i in range(first, last - 1) if rom[i] == 0xCB}
        seen |= set(rom[first:last])
    assert {opcode + 256 for opcode in range(256)} <= seen
    assert set(LEGAL) - {0x76} <= seen
