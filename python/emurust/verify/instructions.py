"""The SM83 instruction set as one table: text, length and how control leaves.

Built from the opcode's bit fields (the octal view of the encoding in Pan Docs)
rather than listed, since the set is that regular. Used by the disassembler, the
assembler and the tracer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Flow(Enum):
    """Where execution can go after an instruction."""

    NEXT = "next"
    JUMP = "jump"  # to its 16-bit operand, or to HL
    RELATIVE = "relative"
    CALL = "call"
    RETURN = "return"
    RESTART = "restart"
    ILLEGAL = "illegal"


@dataclass(frozen=True)
class Instruction:
    """One opcode.

    Attributes:
        text: mnemonic with ``d8``, ``d16``, ``a16``, ``r8`` or ``a8`` standing for the operand.
        length: bytes including prefix and operand.
        flow: how control leaves it.
        conditional: whether it may also continue with the next instruction.
    """

    text: str
    length: int
    flow: Flow = Flow.NEXT
    conditional: bool = False


_R8 = ("B", "C", "D", "E", "H", "L", "(HL)", "A")
_R16 = ("BC", "DE", "HL", "SP")
_R16_STACK = ("BC", "DE", "HL", "AF")
_R16_MEMORY = ("(BC)", "(DE)", "(HL+)", "(HL-)")
_CONDITION = ("NZ", "Z", "NC", "C")
_ALU = ("ADD A,", "ADC A,", "SUB ", "SBC A,", "AND ", "XOR ", "OR ", "CP ")
_ROTATE = ("RLC", "RRC", "RL", "RR", "SLA", "SRA", "SWAP", "SRL")
_ACCUMULATOR = ("RLCA", "RRCA", "RLA", "RRA", "DAA", "CPL", "SCF", "CCF")

#: Opcodes that lock the CPU. In PyBoy ``tick`` never returns from them (DB: a hook).
ILLEGAL_OPCODES: Final = frozenset(
    {0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD}
)


def _block0(y: int, z: int) -> Instruction:
    p, q = y >> 1, y & 1
    if z == 0:
        if y == 0:
            return Instruction("NOP", 1)
        if y == 1:
            return Instruction("LD (a16),SP", 3)
        if y == 2:
            return Instruction("STOP", 2)
        if y == 3:
            return Instruction("JR r8", 2, Flow.RELATIVE)
        return Instruction(f"JR {_CONDITION[y - 4]},r8", 2, Flow.RELATIVE, conditional=True)
    if z == 1:
        return Instruction(f"ADD HL,{_R16[p]}", 1) if q else Instruction(f"LD {_R16[p]},d16", 3)
    if z == 2:
        where = _R16_MEMORY[p]
        return Instruction(f"LD A,{where}" if q else f"LD {where},A", 1)
    if z == 3:
        return Instruction(f"{'DEC' if q else 'INC'} {_R16[p]}", 1)
    if z in (4, 5):
        return Instruction(f"{'INC' if z == 4 else 'DEC'} {_R8[y]}", 1)
    if z == 6:
        return Instruction(f"LD {_R8[y]},d8", 2)
    return Instruction(_ACCUMULATOR[y], 1)


def _block3_loads(y: int, z: int) -> Instruction | None:
    if z == 0 and y >= 4:
        return (
            Instruction("LDH (a8),A", 2),
            Instruction("ADD SP,r8", 2),
            Instruction("LDH A,(a8)", 2),
            Instruction("LD HL,SP+r8", 2),
        )[y - 4]
    if z == 2 and y >= 4:
        return (
            Instruction("LD (C),A", 1),
            Instruction("LD (a16),A", 3),
            Instruction("LD A,(C)", 1),
            Instruction("LD A,(a16)", 3),
        )[y - 4]
    return None


def _block3(y: int, z: int) -> Instruction:
    p, q = y >> 1, y & 1
    load = _block3_loads(y, z)
    if load is not None:
        return load
    if z == 0:
        return Instruction(f"RET {_CONDITION[y]}", 1, Flow.RETURN, conditional=True)
    if z == 1:
        if not q:
            return Instruction(f"POP {_R16_STACK[p]}", 1)
        return (
            Instruction("RET", 1, Flow.RETURN),
            Instruction("RETI", 1, Flow.RETURN),
            Instruction("JP HL", 1, Flow.JUMP),
            Instruction("LD SP,HL", 1),
        )[p]
    if z == 2:
        return Instruction(f"JP {_CONDITION[y]},a16", 3, Flow.JUMP, conditional=True)
    if z == 3:
        return {
            0: Instruction("JP a16", 3, Flow.JUMP),
            6: Instruction("DI", 1),
            7: Instruction("EI", 1),
        }[y]
    if z == 4:
        return Instruction(f"CALL {_CONDITION[y]},a16", 3, Flow.CALL, conditional=True)
    if z == 5:
        return (
            Instruction("CALL a16", 3, Flow.CALL) if q else Instruction(f"PUSH {_R16_STACK[p]}", 1)
        )
    if z == 6:
        return Instruction(f"{_ALU[y]}d8", 2)
    return Instruction(f"RST {y * 8:02X}", 1, Flow.RESTART)


def _decode(opcode: int) -> Instruction:
    x, y, z = opcode >> 6, opcode >> 3 & 7, opcode & 7
    if opcode in ILLEGAL_OPCODES or opcode == 0xCB:
        return Instruction(f"DB {opcode:02X}", 1, Flow.ILLEGAL)
    if x == 0:
        return _block0(y, z)
    if x == 1:
        return Instruction("HALT" if opcode == 0x76 else f"LD {_R8[y]},{_R8[z]}", 1)
    if x == 2:
        return Instruction(f"{_ALU[y]}{_R8[z]}", 1)
    return _block3(y, z)


def _decode_prefixed(opcode: int) -> Instruction:
    x, y, z = opcode >> 6, opcode >> 3 & 7, opcode & 7
    if x == 0:
        return Instruction(f"{_ROTATE[y]} {_R8[z]}", 2)
    return Instruction(f"{('BIT', 'RES', 'SET')[x - 1]} {y},{_R8[z]}", 2)


#: The 256 unprefixed opcodes (CB itself is listed as illegal here).
OPCODES: Final = tuple(_decode(opcode) for opcode in range(256))
#: The 256 opcodes after a CB prefix.
PREFIXED_OPCODES: Final = tuple(_decode_prefixed(opcode) for opcode in range(256))


def decode(opcode: int, second: int) -> Instruction:
    """The instruction starting with ``opcode``; ``second`` is the byte after it."""
    return PREFIXED_OPCODES[second] if opcode == 0xCB else OPCODES[opcode]


def disassemble(code: bytes, address: int) -> str:
    """Text of the instruction at the start of ``code`` (three bytes are enough)."""
    padded = code + b"\0\0\0"
    instruction = decode(padded[0], padded[1])
    low, word = padded[1], padded[1] | padded[2] << 8
    offset = low - 256 if low > 127 else low
    if instruction.flow is Flow.RELATIVE:
        target = (address + 2 + offset) & 0xFFFF
        return instruction.text.replace("r8", f"{target:04X}")
    text = instruction.text.replace("SP+r8", f"SP{offset:+d}").replace("r8", f"{offset:+d}")
    for token, value in (("d16", f"{word:04X}"), ("a16", f"{word:04X}"), ("d8", f"{low:02X}")):
        text = text.replace(token, value)
    return text.replace("a8", f"FF{low:02X}")


def targets(code: bytes, address: int, hl: int, stack_top: int) -> tuple[int, ...]:
    """Addresses that can run after the instruction at ``address``, interrupts aside.

    Args:
        code: the instruction's bytes (three are enough).
        address: where it is.
        hl: register HL, for ``JP HL``.
        stack_top: the word at SP, for returns.
    """
    padded = code + b"\0\0\0"
    instruction = decode(padded[0], padded[1])
    following = (address + instruction.length) & 0xFFFF
    word = padded[1] | padded[2] << 8
    offset = padded[1] - 256 if padded[1] > 127 else padded[1]
    flow = instruction.flow
    if flow is Flow.NEXT:
        return (following,)
    if flow is Flow.ILLEGAL:
        return ()
    if flow is Flow.RELATIVE:
        taken = (address + 2 + offset) & 0xFFFF
    elif flow is Flow.RETURN:
        taken = stack_top
    elif flow is Flow.RESTART:
        taken = padded[0] & 0x38
    else:
        taken = hl if padded[0] == 0xE9 else word
    # Calls come back to the following instruction, sooner or later.
    if instruction.conditional or flow in (Flow.CALL, Flow.RESTART):
        return (taken, following)
    return (taken,)
