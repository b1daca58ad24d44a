"""One instruction at a time, from random registers, flags and memory."""

from __future__ import annotations

from emurust.verify.cartridge import assemble_cartridge
from emurust.verify.generated.case import Case, Random, db
from emurust.verify.instructions import OPCODES, PREFIXED_OPCODES, Flow

#: Opcodes that single-instruction programs leave to the interaction programs.
_NOT_SINGLE = frozenset({0x76, 0xCB})  # HALT; the prefix itself

_PLAIN_RAM = ((0xC000, 0xCFFF), (0xC000, 0xCFFF), (0xE000, 0xEFFF), (0xFF80, 0xFFEF))
_OTHER_RAM = ((0x8000, 0x9FFF), (0xFE00, 0xFEFF), (0xA000, 0xBFFF))


def _pointer(random: Random) -> int:
    areas = _OTHER_RAM if random.below(5) == 0 else _PLAIN_RAM
    first, last = areas[random.below(len(areas))]
    return random.between(first, last)


def _one_instruction(random: Random, opcode: int, prefixed: bool, number: int) -> list[str]:
    """The instruction with operands that keep control in the program."""
    after = f"after{number}"
    if prefixed:
        return [PREFIXED_OPCODES[opcode].text]
    instruction = OPCODES[opcode]
    text = instruction.text
    if instruction.flow is Flow.RELATIVE:
        return [text.replace("r8", after), "INC A", f"{after}:"]
    if instruction.flow is Flow.JUMP:
        if opcode == 0xE9:
            return [f"LD HL,{after}", "JP HL", "INC A", f"{after}:"]
        return [text.replace("a16", after), "INC A", f"{after}:"]
    if instruction.flow is Flow.CALL:
        return [text.replace("a16", "subroutine")]
    if instruction.flow is Flow.RETURN:
        # The stack holds the way back; when the return is not taken, drop it.
        back = "" if not instruction.conditional else "POP BC"
        return [f"LD BC,{after}", "PUSH BC", text, back, f"{after}:"]
    if text == "LDH (a8),A":
        return [f"LDH (${random.between(0x80, 0xEF):02X}),A"]
    if text == "LDH A,(a8)":
        return [f"LDH A,(${random.number((0x05, 0x0F, 0x40, 0x44, 0x85, 0x90, 0xFF)):02X})"]
    if "(C)" in text:
        return [f"LD C,${random.between(0x80, 0xEF):02X}", text]
    text = text.replace("d16", f"${random.below(0x10000):04X}")
    text = text.replace("a16", f"${_pointer(random):04X}")
    text = text.replace("d8", f"${random.byte():02X}")
    text = text.replace("SP+r8", f"SP+{random.byte()}").replace("r8", f"+{random.byte()}")
    if text.startswith(("LD SP", "INC SP", "DEC SP", "ADD SP")):
        # SP is noted, then restored by the surrounding code.
        return [text]
    return [text]


def single_instructions(seed: int, count: int = 400) -> Case:
    """``count`` instructions, each from random registers, flags and stack.

    Every opcode comes up about equally often over the seeds. After each, all
    registers, SP and the timer (running at 16 cycles a tick) are stored.
    """
    random = Random(1, seed)
    choices = [
        (opcode, False)
        for opcode in range(256)
        if OPCODES[opcode].flow is not Flow.ILLEGAL and opcode not in _NOT_SINGLE
    ] + [(opcode, True) for opcode in range(256)]
    lines = [
        *(f"ORG ${vector:04X}\nINC D\nRET" for vector in range(0x00, 0x40, 8)),
        "ORG $0150",
        "DI",
        "LD A,$05",
        "LDH ($07),A",
        "LD A,$0A",
        "LD ($0000),A",
        "again:",
    ]
    result = 0xD000
    for number in range(count):
        opcode, prefixed = choices[(seed * count + number) % len(choices)]
        pointers = [_pointer(random) for _ in range(3)]
        stack = random.between(0xC100, 0xCEFF)
        lines += [
            f"LD SP,state{number}",
            "POP AF",
            "POP BC",
            "POP DE",
            "POP HL",
            f"LD SP,${stack:04X}",
            *_one_instruction(random, opcode, prefixed, number),
            "LD ($DFF0),SP",
            f"LD SP,${result + 8:04X}",
            "PUSH AF",
            "PUSH BC",
            "PUSH DE",
            "PUSH HL",
            "LDH A,($05)",
            f"LD (${result + 8:04X}),A",
            "LD A,($DFF0)",
            f"LD (${result + 9:04X}),A",
            f"JP next{number}",
            f"state{number}:",
            db([random.byte() & 0xF0, random.byte()]),
            f"DW ${pointers[0]:04X},${pointers[1]:04X},${pointers[2]:04X}",
            f"next{number}:",
        ]
        result += 10
        if result > 0xDFE0:
            result = 0xD000
    lines += ["JP again", "subroutine:", "INC E", "RET"]
    # The program is a straight line of up to 32 KiB; bank 1 follows bank 0.
    rom = assemble_cartridge("\n".join(lines), cartridge_type=0x08, ram_size_code=2)
    return Case(f"single instructions, seed {seed}", rom, frames=6)
