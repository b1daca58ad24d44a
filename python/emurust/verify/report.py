"""Differences in words: both machines side by side."""

from __future__ import annotations

from collections.abc import Sequence

from emurust.verify.bisect import InstructionDivergence
from emurust.verify.compare import ArrayDifference, Differences
from emurust.verify.fields import MEANINGS, REGIONS, REGISTERS
from emurust.verify.instructions import decode, disassemble
from emurust.verify.protocol import TraceEntry
from emurust.verify.rollout import Divergence

_BYTES_SHOWN = 16
_WIDE = {"hl", "sp", "pc"}


def bus_address(name: str, offset: int) -> str:
    """Where byte ``offset`` of the memory ``name`` is, as a programmer would say it."""
    if name.startswith("bus_"):
        return f"{int(name[4:], 16) + offset:04X}"
    if name == "screen":
        pixel, channel = divmod(offset, 4)
        return f"x={pixel % 160} y={pixel // 160} {'RGBA'[channel]}"
    if name == "line_parameters":
        line, which = divmod(offset, 5)
        return f"line {line} {('SCX', 'SCY', 'WX', 'WY', 'tile data')[which]}"
    base = REGIONS.get(name, (None, ""))[0]
    if base is None:
        return f"byte {offset}"
    if name == "cart_ram":
        return f"{offset >> 13:X}:{base + (offset & 0x1FFF):04X}"
    return f"{base + offset:04X}"


def first_address(differences: Differences) -> int | None:
    """The bus address of the first differing byte that a program can write to."""
    for difference in differences.arrays:
        base = REGIONS.get(difference.name, (None, ""))[0]
        if base is not None and difference.positions:
            offset = difference.positions[0][0]
            return base + (offset & 0x1FFF if difference.name == "cart_ram" else offset)
    return None


def describe_differences(differences: Differences, left: str, right: str) -> list[str]:
    """One line per differing field; ``left`` and ``right`` name the sides."""
    lines = []
    for scalar in differences.scalars:
        width = 4 if scalar.name in _WIDE else 2
        lines.append(
            f"  {scalar.name:24} {left} {scalar.left:0{width}X} ({scalar.left})  "
            f"{right} {scalar.right:0{width}X} ({scalar.right})  "
            f"{MEANINGS.get(scalar.name, '')}"
        )
    for array in differences.arrays:
        lines += _describe_array(array, left, right)
    return lines


def _describe_array(array: ArrayDifference, left: str, right: str) -> list[str]:
    meaning = REGIONS.get(array.name, (None, "the bus"))[1]
    if array.shapes is not None:
        return [f"  {array.name}: shapes {array.shapes[0]} and {array.shapes[1]} ({meaning})"]
    lines = [f"  {array.name}: {array.count} bytes differ ({meaning})"]
    for offset, left_byte, right_byte in array.positions[:_BYTES_SHOWN]:
        lines.append(
            f"    {bus_address(array.name, offset):16} {left} {left_byte:02X}  "
            f"{right} {right_byte:02X}"
        )
    if array.count > _BYTES_SHOWN:
        lines.append(f"    ... {array.count - _BYTES_SHOWN} more")
    return lines


def code_at(rom: bytes, entry: TraceEntry) -> bytes | None:
    """The bytes of the instruction at ``entry`` when it is in ROM."""
    if entry.pc < 0x4000:
        return rom[entry.pc : entry.pc + 3]
    if entry.pc < 0x8000 and entry.bank >= 0:
        start = entry.bank * 0x4000 + entry.pc - 0x4000
        return rom[start : start + 3]
    return None


def trace_line(rom: bytes, entry: TraceEntry) -> str:
    """One instruction of a trace with the registers before it."""
    code = code_at(rom, entry)
    text = disassemble(code, entry.pc) if code else "(not in ROM)"
    bank = f"{entry.bank:02X}" if 0x4000 <= entry.pc < 0x8000 else "  "
    registers = entry.registers
    pairs = " ".join(
        f"{name.upper()}={registers[name]:0{4 if name in _WIDE else 2}X}"
        for name in REGISTERS
        if name in registers
    )
    return f"  {entry.cycle:>12} {bank}:{entry.pc:04X}  {text:18} {pairs}"


def writes_of(rom: bytes, entry: TraceEntry) -> Sequence[int]:
    """Bus addresses that the instruction at ``entry`` writes to (calls and pushes too)."""
    code = code_at(rom, entry)
    if not code:
        return ()
    padded = code + b"\0\0\0"
    text = decode(padded[0], padded[1]).text
    registers = entry.registers
    word = padded[1] | padded[2] << 8
    sp = registers.get("sp", 0)
    if text.startswith(("PUSH", "CALL", "RST")):
        return ((sp - 1) & 0xFFFF, (sp - 2) & 0xFFFF)
    if text.startswith("LD (a16),SP"):
        return (word, (word + 1) & 0xFFFF)
    if text.startswith("LD (a16)"):
        return (word,)
    if text.startswith("LDH (a8)"):
        return (0xFF00 | padded[1],)
    if text.startswith("LD (C)"):
        return (0xFF00 | registers.get("c", 0),)
    if text.startswith("LD (BC)"):
        return (registers.get("b", 0) << 8 | registers.get("c", 0),)
    if text.startswith("LD (DE)"):
        return (registers.get("d", 0) << 8 | registers.get("e", 0),)
    changes_hl = text.endswith("(HL)") and not text.startswith(
        ("BIT", "LD", "ADD", "ADC", "SUB", "SBC", "AND", "XOR", "OR", "CP", "JP")
    )
    if text.startswith(("LD (HL",)) or changes_hl:
        return (registers.get("hl", 0),)
    return ()


def describe_divergence(divergence: Divergence, left: str, right: str) -> str:
    """What differs after the first differing frame, and both sets of registers."""
    drawn = "drawn" if divergence.observed else "not drawn"
    lines = [
        f"first difference after frame {divergence.step} (counted from 0, {drawn}), "
        f"at {left} cycle {divergence.left.ints.get('cycles', 0)}:",
        *describe_differences(divergence.differences, left, right),
        "registers after the frame:",
    ]
    for name, state in ((left, divergence.left), (right, divergence.right)):
        pairs = " ".join(
            f"{register.upper()}={state.ints.get(register, 0):0{4 if register in _WIDE else 2}X}"
            for register in REGISTERS
        )
        lines.append(f"  {name:8} {pairs} cycles={state.ints.get('cycles', 0)}")
    return "\n".join(lines)


def describe_instruction(
    found: InstructionDivergence, rom: bytes, left: str, right: str, history: int = 12
) -> str:
    """Both instruction traces around the point where they part."""
    lines = []
    if found.note:
        lines.append(f"note: {found.note}")
    if found.disturbed:
        lines.append(
            f"note: tracing changed {left} itself in {', '.join(found.disturbed)}; "
            "the trace may be off by that"
        )
    parted = found.left is not None or found.right is not None
    for name, past, entry in (
        (left, found.left_history, found.left),
        (right, found.right_history, found.right),
    ):
        lines.append(f"{name}, last instructions (state before each):")
        lines += [trace_line(rom, item) for item in past[-history:]]
        if entry is not None:
            lines.append(trace_line(rom, entry) + "  <- differs")
        elif parted:
            lines.append("  (no further instruction in this frame)  <- differs")
    if found.writers:
        lines.append("last instructions that wrote the first differing byte:")
        lines += [f"  {side:8}{trace_line(rom, entry)}" for side, entry in found.writers]
    return "\n".join(lines)
