"""Test programs made on the spot: single instructions, and parts against each other.

Each generator turns a seed into a complete cartridge image. The programs keep what
they read in work RAM, so comparing the two machines frame by frame compares every
value read at every moment. All randomness comes from the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from emurust.verify.cartridge import assemble_cartridge
from emurust.verify.instructions import OPCODES, PREFIXED_OPCODES, Flow


@dataclass(frozen=True)
class Case:
    """One generated program.

    Attributes:
        name: what it is about, with its seed.
        rom: the cartridge image.
        frames: how long to run it after the boot program's frames.
        buttons: whether random buttons are pressed.
    """

    name: str
    rom: bytes
    frames: int
    buttons: bool = False


class _Random:
    """Small helpers over a seeded generator."""

    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def below(self, limit: int) -> int:
        return int(self.rng.integers(limit))

    def between(self, first: int, last: int) -> int:
        return int(self.rng.integers(first, last + 1))

    def byte(self) -> int:
        """A byte; the interesting corners come up often."""
        if self.below(4) == 0:
            return (0x00, 0x01, 0x0F, 0x10, 0x7F, 0x80, 0xF0, 0xFF)[self.below(8)]
        return self.below(256)

    def pick(self, items: Sequence[str]) -> str:
        return items[self.below(len(items))]

    def number(self, items: Sequence[int]) -> int:
        return items[self.below(len(items))]


def _bytes(values: Sequence[int]) -> str:
    return "DB " + ",".join(f"${value:02X}" for value in values)


# --- single instructions ----------------------------------------------------------

#: Opcodes that single-instruction programs leave to the interaction programs.
_NOT_SINGLE = frozenset({0x76, 0xCB})  # HALT; the prefix itself

_PLAIN_RAM = ((0xC000, 0xCFFF), (0xC000, 0xCFFF), (0xE000, 0xEFFF), (0xFF80, 0xFFEF))
_OTHER_RAM = ((0x8000, 0x9FFF), (0xFE00, 0xFEFF), (0xA000, 0xBFFF))


def _pointer(random: _Random) -> int:
    areas = _OTHER_RAM if random.below(5) == 0 else _PLAIN_RAM
    first, last = areas[random.below(len(areas))]
    return random.between(first, last)


def _one_instruction(random: _Random, opcode: int, prefixed: bool, number: int) -> list[str]:
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
    random = _Random(1, seed)
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
            _bytes([random.byte() & 0xF0, random.byte()]),
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


# --- interactions ------------------------------------------------------------------

_SETUP_VIDEO = """
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


def _sprite_table(random: _Random) -> str:
    """Forty sprites, many sharing lines and columns, some off the screen."""
    table = []
    rows = [random.between(0, 170) for _ in range(6)]
    columns = [random.between(0, 180) for _ in range(6)]
    for _ in range(40):
        y = random.number(rows) if random.below(3) else random.below(256)
        x = random.number(columns) if random.below(3) == 0 else random.below(176)
        table += [y, x, random.byte(), random.byte() & 0xF0]
    return "sprites:\n" + "\n".join(_bytes(table[i : i + 16]) for i in range(0, len(table), 16))


_LCD_REGISTERS = (0x42, 0x43, 0x45, 0x47, 0x48, 0x49, 0x4A, 0x4B)
_SOUND_REGISTERS = tuple(range(0x10, 0x27)) + tuple(range(0x30, 0x40))
_READABLE = (
    *(0x00, 0x01, 0x02, 0x04, 0x04, 0x05, 0x05, 0x06, 0x07, 0x0F, 0x0F, 0x26),
    *(0x40, 0x41, 0x41, 0x41, 0x42, 0x43, 0x44, 0x44, 0x44, 0x45, 0x46, 0x4A, 0x4B, 0xFF),
)


def _register_value(random: _Random, register: int) -> int:
    """A value worth writing to FF00 + ``register``."""
    if register == 0x40:
        return random.byte() | (0x80 if random.below(8) else 0)
    if register == 0x45:
        return random.between(0, 153)
    if register in (0x4A, 0x4B):
        return random.number((0, 1, 6, 7, 8, 80, 100, 143, 144, 165, 166, 167)) + (random.below(3))
    if register == 0x07:
        return random.below(8)
    if register == 0x05:
        return random.number((0x00, 0x80, 0xF0, 0xFD, 0xFE, 0xFF))
    if register == 0x06:
        # Seldom short: a timer that always fires leaves no time for the main loop.
        return random.number((0x00, 0x00, 0x40, 0x80, 0xC0, 0xF0 if random.below(3) else 0xFE))
    if register == 0xFF:
        return random.below(32)
    if register == 0x0F:
        return random.below(32)
    if register == 0x46:
        return random.number((0x00, 0x40, 0x80, 0x9F, 0xC0, 0xD0, 0xDF, 0xE0, 0xFE, 0xFF))
    if register == 0x00:
        return random.number((0x00, 0x10, 0x20, 0x30))
    if register == 0x02:
        return random.number((0x00, 0x01, 0x80, 0x81))
    return random.byte()


class _Chaos:
    """Random but well-behaved code: it always comes back, its stack balances."""

    def __init__(self, random: _Random) -> None:
        self._random = random
        self._labels = 0
        self.can_halt = True

    def _label(self) -> str:
        self._labels += 1
        return f"chaos{self._labels}"

    def block(self, items: int) -> list[str]:
        lines: list[str] = []
        for _ in range(items):
            lines += self.item()
        return lines

    def item(self) -> list[str]:
        kinds: list[tuple[int, Callable[[], list[str]]]] = [
            (10, self._write_register),
            (12, self._read_register),
            (6, self._delay),
            (4, self._loop),
            (6, self._interrupt_switch),
            (4, self._halt),
            (3, self._wait_for_line),
            (5, self._video_access),
            (3, self._dma),
            (3, self._timer_race),
            (3, self._sound),
            (2, self._cartridge),
            (3, self._arithmetic),
            (1, self._lcd_switch),
            (1, self._joypad),
        ]
        roll = self._random.below(sum(weight for weight, _ in kinds))
        for weight, kind in kinds:
            roll -= weight
            if roll < 0:
                return kind()
        raise AssertionError("weights are positive")

    def _store(self) -> str:
        """Keep A: in a ring of its own page or somewhere in work RAM."""
        roll = self._random.below(4)
        if roll == 0:
            return "LD (DE),A\nINC E"  # opcode 12 has a bus offset in PyBoy
        if roll == 1:
            return "PUSH AF\nPOP AF"
        return f"LD (${self._random.between(0xC000, 0xCFFF):04X}),A"

    def _write(self, register: int, value: int) -> list[str]:
        roll = self._random.below(4)
        if roll == 0:
            return [f"LD HL,$FF{register:02X}", f"LD (HL),${value:02X}"]
        if roll == 1:
            return [f"LD C,${register:02X}", f"LD A,${value:02X}", "LD (C),A"]
        if roll == 2:
            return [f"LD A,${value:02X}", f"LD ($FF{register:02X}),A"]
        return [f"LD A,${value:02X}", f"LDH (${register:02X}),A"]

    def _write_register(self) -> list[str]:
        random = self._random
        register = random.number(
            (0x04, 0x05, 0x06, 0x07, 0x0F, 0xFF, 0x40, 0x41, 0x02, 0x03, 0x08, *_LCD_REGISTERS)
        )
        lines = self._write(register, _register_value(random, register))
        if register == 0xFF and random.below(2):
            lines.insert(0, "DI")
            lines.append("EI")
        if random.below(8) == 0:
            lines = [
                f"LD HL,$FF{register:02X}",
                random.pick(("INC (HL)", "DEC (HL)", "SET 3,(HL)", "RES 6,(HL)", "SWAP (HL)")),
            ]
        return lines

    def _read_register(self) -> list[str]:
        random = self._random
        register = random.number(_READABLE)
        how = random.below(6)
        if how == 0:
            return [f"LD HL,$FF{register:02X}", "LD A,(HL)", self._store()]
        if how == 1:
            return [f"LD BC,$FF{register:02X}", "LD A,(BC)", self._store()]
        if how == 2:
            return [f"LD A,($FF{register:02X})", self._store()]
        if how == 3:
            return [f"LD C,${register:02X}", "LD A,(C)", self._store()]
        if how == 4:
            return ["PUSH DE", f"LD DE,$FF{register:02X}", "LD A,(DE)", "POP DE", self._store()]
        return [f"LDH A,(${register:02X})", self._store()]

    def _delay(self) -> list[str]:
        return ["NOP"] * self._random.between(1, 12)

    def _loop(self) -> list[str]:
        label = self._label()
        return [f"LD B,{self._random.between(1, 255)}", f"{label}:", "DEC B", f"JR NZ,{label}"]

    def _interrupt_switch(self) -> list[str]:
        return self._random.pick(
            (
                "EI",
                "EI",
                "DI",
                "EI\nDI",
                "EI\nNOP",
                "EI\nEI",
                "DI\nEI",
                "EI\nLDH ($43),A",
                "EI\nLD A,$04\nLDH ($0F),A",
                "LD A,$1F\nLDH ($0F),A\nEI",
                "XOR A\nLDH ($0F),A",
            )
        ).split("\n")

    def _halt(self) -> list[str]:
        if not self.can_halt:
            return ["NOP"]
        random = self._random
        # A timer interrupt bounds the wait; IME may be off.
        wake = [
            f"LD A,${random.number((0x05, 0x06, 0x07, 0x0D, 0x1F)):02X}",
            "LDH ($FF),A",
            f"LD A,${random.number((0x04, 0x05, 0x06, 0x07)):02X}",
            "LDH ($07),A",
        ]
        halt = random.pick(
            ("HALT", "HALT\nNOP", "EI\nHALT", "EI\nHALT\nINC E", "DI\nHALT\nINC E", "EI\nNOP\nHALT")
        )
        return [*wake, *["NOP"] * random.below(6), *halt.split("\n")]

    def _wait_for_line(self) -> list[str]:
        label, done = self._label(), self._label()
        register, mask = self._random.pick(("44 FF", "41 03", "41 07", "41 04")).split()
        value = (
            self._random.below(154) if register == "44" else self._random.below(8) & int(mask, 16)
        )
        return [
            f"LD B,{self._random.between(20, 255)}",
            f"{label}:",
            f"LDH A,(${register})",
            f"AND ${mask}",
            f"CP ${value:02X}",
            f"JR Z,{done}",
            "DEC B",
            f"JR NZ,{label}",
            f"{done}:",
            self._store(),
        ]

    def _video_access(self) -> list[str]:
        random = self._random
        address = (
            random.between(0xFE00, 0xFEFF) if random.below(2) else random.between(0x8000, 0x9FFF)
        )
        pair = random.pick(("HL", "DE", "BC"))
        save = ("PUSH DE", "POP DE") if pair == "DE" else ("NOP", "NOP")
        if random.below(2):
            return [save[0], f"LD {pair},${address:04X}", f"LD A,({pair})", save[1], self._store()]
        value = f"LD A,${random.byte():02X}"
        return [save[0], f"LD {pair},${address:04X}", value, f"LD ({pair}),A", save[1]]

    def _dma(self) -> list[str]:
        random = self._random
        start = [f"LD A,${_register_value(random, 0x46):02X}", "LDH ($46),A"]
        during: list[str] = []
        for _ in range(random.below(12)):
            address = random.between(0xFE00, 0xFE9F)
            during += random.pick(
                (
                    f"LD HL,${address:04X}\nLD A,(HL)\n{self._store()}",
                    f"LD HL,${address:04X}\nLD (HL),${random.byte():02X}",
                    f"LD BC,${address:04X}\nLD A,(BC)\n{self._store()}",
                    f"LD A,($C0{random.below(160):02X})\n{self._store()}",
                    f"LD HL,$C0{random.below(160):02X}\nINC (HL)",
                    f"LDH A,($8{random.below(16):X})",
                    "NOP\nNOP\nNOP",
                    "LDH A,($44)",
                )
            ).split("\n")
        if random.below(6) == 0:
            during += [f"LD A,${_register_value(random, 0x46):02X}", "LDH ($46),A"]
        return start + during

    def _timer_race(self) -> list[str]:
        """Touch a timer register within a few cycles of an overflow, then look."""
        random = self._random
        control = random.number((4, 5, 5, 5, 6, 7))
        lines = [
            f"LD A,${control:02X}",
            "LDH ($07),A",
            f"LD A,${_register_value(random, 0x06):02X}",
            "LDH ($06),A",
            f"LD A,${random.number((0xFF, 0xFF, 0xFE)):02X}",
            "LDH ($05),A",
            *["NOP"] * random.below(20),
        ]
        for _ in range(random.between(1, 4)):
            register = random.number((0x04, 0x05, 0x06, 0x07))
            value = random.below(8) if register == 0x07 else random.byte()
            lines += [f"LD A,${value:02X}", f"LDH (${register:02X}),A", *["NOP"] * random.below(3)]
            lines += ["LDH A,($05)", self._store(), "LDH A,($0F)", self._store()]
        return lines

    def _sound(self) -> list[str]:
        random = self._random
        lines: list[str] = []
        for _ in range(random.between(1, 5)):
            register = random.number(_SOUND_REGISTERS)
            value = random.byte()
            if register in (0x14, 0x19, 0x1E, 0x23):
                value = random.number((0x80, 0xC0, 0x40, 0x87, 0xC7)) | random.below(8)
            if register == 0x26:
                value = 0x80 if random.below(4) else 0x00
            lines += self._write(register, value)
            if random.below(2):
                read = random.number((0x26, 0x26, 0x30, 0x37, 0x3F, 0x10, 0x1A, 0x1E))
                lines += random.pick(
                    (
                        f"LDH A,(${read:02X})",
                        f"LD HL,$FF{read:02X}\nLD A,(HL)",
                        f"LDH ($42),A\nLD HL,$FF{read:02X}\nLD A,(HL)",
                    )
                ).split("\n")
                lines.append(self._store())
        return lines

    def _cartridge(self) -> list[str]:
        random = self._random
        roll = random.below(3)
        if roll == 0:
            area = random.number((0x0000, 0x2000, 0x3000, 0x4000, 0x6000))
            value = random.number((0x00, 0x01, 0x02, 0x03, 0x0A, 0x0A, 0x1F, 0x20, 0x55))
            return [f"LD A,${value:02X}", f"LD (${area + random.below(0x1000):04X}),A"]
        if roll == 1:
            return [f"LD A,(${random.between(0x4000, 0xBFFF):04X})", self._store()]
        return [
            f"LD A,${random.byte():02X}",
            f"LD (${random.between(0xA000, 0xBFFF):04X}),A",
            f"LD A,(${random.between(0xA000, 0xBFFF):04X})",
            self._store(),
        ]

    def _arithmetic(self) -> list[str]:
        random = self._random
        texts = [
            random.pick(("ADC A,B", "SBC A,C", "DAA", "RLA", "SWAP A", "CPL", "ADD HL,BC", "INC B"))
            for _ in range(random.between(1, 6))
        ]
        return [*texts, self._store()]

    def _lcd_switch(self) -> list[str]:
        random = self._random
        off_for = random.between(0, 60)
        lines = ["LDH A,($40)", "RES 7,A", "LDH ($40),A", *["NOP"] * (off_for % 16)]
        if random.below(2):
            lines += [f"LD A,{random.below(154)}", "LDH ($45),A"]
        if off_for > 30:
            lines += self._loop()
        if random.below(4):
            lines += ["LDH A,($40)", "SET 7,A"]
            lines += random.pick(("LDH ($40),A", "EI\nLDH ($40),A", "LD ($FF40),A")).split("\n")
            lines += ["LDH A,($41)", self._store(), "LDH A,($44)", self._store()]
        return lines

    def _joypad(self) -> list[str]:
        value = _register_value(self._random, 0x00)
        return [f"LD A,${value:02X}", "LDH ($00),A", "LDH A,($00)", self._store()]


_MAPPERS = ((0x08, 2), (0x03, 3), (0x06, 0), (0x13, 3), (0x1B, 3))


def chaos(seed: int, frames: int = 120) -> Case:
    """Everything at once: random code with random interrupt handlers, in a loop."""
    random = _Random(2, seed)
    code = _Chaos(random)
    lines: list[str] = []
    for vector in range(0x40, 0x68, 8):
        lines += [f"ORG ${vector:04X}", f"JP handler{vector:02X}"]
    lines += ["ORG $0150", "DI", "LD SP,$DFF0", "LD DE,$D000", _SETUP_VIDEO]
    lines += ["LD SP,$DFF0", "LD D,$D1", "LD A,$0A", "LD ($0000),A"]
    for register in (0x40, 0x41, 0x45, 0x07, 0xFF):
        lines += [f"LD A,${_register_value(random, register):02X}", f"LDH (${register:02X}),A"]
    lines += ["LD A,$80", "LDH ($26),A"]
    lines += ["main:", "LD D,$D1", *code.block(160), "JP main"]
    code.can_halt = False
    for vector in range(0x40, 0x68, 8):
        lines += [f"handler{vector:02X}:", "PUSH AF", "PUSH HL", "PUSH BC"]
        body = code.block(random.between(0, 4))
        if vector == 0x50:
            lines += ["XOR A", "LDH ($06),A", "LDH ($05),A"] if random.below(3) else []
        # A handler that enabled interrupts early could nest without end, one that sets
        # flags could keep the main loop from ever running.
        lines += [
            line
            for line in "\n".join(body).split("\n")
            if line not in ("EI", "DI") and "($0F),A" not in line and "$FF0F" not in line
        ]
        lines += ["POP BC", "POP HL", "POP AF", random.pick(("RETI", "RETI", "RETI", "EI\nRET"))]
    lines.append(_sprite_table(random))
    kind, ram = _MAPPERS[seed % len(_MAPPERS)]
    rom = assemble_cartridge(
        "\n".join(lines), cartridge_type=kind, ram_size_code=ram, banks=2 if kind == 8 else 8
    )
    return Case(f"chaos, seed {seed}", rom, frames, buttons=True)


def video_rules(seed: int, frames: int = 60) -> Case:
    """Backgrounds, windows and sprites under registers that change every frame and
    at chosen lines."""
    random = _Random(3, seed)
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
{_SETUP_VIDEO}
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
{_sprite_table(random)}
    ORG $1000
table:
""".replace("table / 256", "$10")
        + "\n".join(_bytes(table[i : i + 16]) for i in range(0, len(table), 16))
    )
    return Case(f"video rules, seed {seed}", assemble_cartridge(source), frames)


def interrupt_timing(seed: int, frames: int = 40) -> Case:
    """HALT, EI and DI at every distance from timer, LCD and serial interrupts.

    The handlers note DIV and the interrupted address, so a difference of one cycle in
    when an interrupt is taken shows.
    """
    random = _Random(4, seed)
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
    control = random.number((4, 5, 5, 6, 7))
    lines += [
        f"LD A,${control:02X}\nLDH ($07),A",
        f"LD A,${random.number((0x00, 0xC0, 0xF0, 0xFE)):02X}\nLDH ($06),A",
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
    lines += ["JP main"]
    return Case(
        f"interrupt timing ({source}), seed {seed}", assemble_cartridge("\n".join(lines)), frames
    )


def memory_map(seed: int, frames: int = 8) -> Case:
    """Reads and writes all over the address space, with each mapper in turn."""
    random = _Random(5, seed)
    kind, ram = _MAPPERS[seed % len(_MAPPERS)]
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


#: Generators of level 1 and 2 by name; each takes a seed.
PROPERTY_GENERATORS: dict[str, Callable[[int], Case]] = {
    "single instructions": single_instructions,
    "memory map": memory_map,
}
INTERACTION_GENERATORS: dict[str, Callable[[int], Case]] = {
    "chaos": chaos,
    "video rules": video_rules,
    "interrupt timing": interrupt_timing,
}
