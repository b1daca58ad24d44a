"""Random code over all of the machine, with random interrupt handlers."""

from __future__ import annotations

from collections.abc import Callable

from emurust.verify.cartridge import assemble_cartridge
from emurust.verify.generated.case import MAPPERS, Case, Random, db
from emurust.verify.generated.video import SETUP_VIDEO, sprite_table

_LCD_REGISTERS = (0x42, 0x43, 0x45, 0x47, 0x48, 0x49, 0x4A, 0x4B)
_SOUND_REGISTERS = tuple(range(0x10, 0x27)) + tuple(range(0x30, 0x40))
_READABLE = (
    *(0x00, 0x01, 0x02, 0x04, 0x04, 0x05, 0x05, 0x06, 0x07, 0x0F, 0x0F, 0x26),
    *(0x40, 0x41, 0x41, 0x41, 0x42, 0x43, 0x44, 0x44, 0x44, 0x45, 0x46, 0x4A, 0x4B, 0xFF),
)


def register_value(random: Random, register: int) -> int:
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

    def __init__(self, random: Random) -> None:
        self._random = random
        self._labels = 0
        #: Handlers do not halt, and leave interrupts off.
        self.in_handler = False

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
            (2, self._odd_stack),
            (3, self._run_from_ram),
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
        lines = self._write(register, register_value(random, register))
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
        if self.in_handler:
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
        start = [f"LD A,${register_value(random, 0x46):02X}", "LDH ($46),A"]
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
            during += [f"LD A,${register_value(random, 0x46):02X}", "LDH ($46),A"]
        return start + during

    def _timer_race(self) -> list[str]:
        """Touch a timer register within a few cycles of an overflow, then look."""
        random = self._random
        control = random.number((4, 5, 5, 5, 6, 7))
        lines = [
            f"LD A,${control:02X}",
            "LDH ($07),A",
            f"LD A,${register_value(random, 0x06):02X}",
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

    def _odd_stack(self) -> list[str]:
        """The stack among the registers, in OAM or video RAM, interrupts off."""
        random = self._random
        stack = random.number(
            (0xFF42, 0xFF46, 0xFF06, 0xFF08, 0xFF10, 0xFF4A, 0xFE80, 0xFEFF, 0x8800, 0xFF84, 0xFF26)
        )
        body = [
            random.pick(("PUSH BC", "POP BC", "PUSH AF", "POP AF", "CALL nothing", "RST 00"))
            for _ in range(random.between(1, 4))
        ]
        # Returns from a read-only place would go astray.
        if stack in (0xFF06, 0xFF08, 0xFF10, 0xFF26, 0xFF42, 0xFF46, 0xFF4A, 0xFE80):
            body = [line for line in body if line not in ("CALL nothing", "RST 00")]
        return [
            "DI",
            "LD ($DFF4),SP",
            f"LD SP,${stack:04X}",
            *body,
            f"LD (${random.number((0xCF00, 0xFF42, 0xFF4A, 0x9000)):04X}),SP",
            "LD A,($DFF4)",
            "LD L,A",
            "LD A,($DFF5)",
            "LD H,A",
            "LD SP,HL",
            random.pick(("EI", "NOP")),
        ]

    def _run_from_ram(self) -> list[str]:
        """A routine copied to high RAM, work RAM or video RAM, and called there."""
        random = self._random
        here = random.number((0xFF80, 0xFF90, 0xC800, 0xE900, 0x8FF0, 0x9F00, 0xA800))
        code: list[int] = []
        for _ in range(random.between(2, 8)):
            code += random.number_list(
                (
                    (0x00,),
                    (0x3C,),
                    (0x7E,),
                    (0xF0, 0x44),
                    (0xF0, 0x41),
                    (0xF0, 0x0F),
                    (0x06, random.byte()),
                    (0x01, random.byte(), random.byte()),
                    (0xFA, 0x44, 0xFF),
                    (0xE0, 0x42),
                    (0xCB, 0x37),
                    (0x34,),
                    (0x3E, 0x05, 0x3D, 0x20, 0xFD),
                    (0x3E, random.number((0xC0, 0xD0, 0x80, 0xFE)), 0xE0, 0x46),
                )
            )
        code.append(0xC9)
        label, data, after = self._label(), self._label(), self._label()
        guard = ["DI"] if here in (0x8FF0, 0x9F00, 0xA800) else []
        return [
            *guard,
            f"LD HL,{data}",
            f"LD BC,${here:04X}",
            "PUSH DE",
            f"LD E,{len(code)}",
            f"{label}:",
            "LD A,(HL+)",
            "LD (BC),A",
            "INC BC",
            "DEC E",
            f"JR NZ,{label}",
            "POP DE",
            f"LD HL,${random.between(0xC000, 0xC0FF):04X}",
            # Video RAM reads FF to fetches in mode 3: RST 38, which returns.
            f"CALL ${here:04X}" if here < 0x8000 or here >= 0xC000 else "NOP",
            self._store(),
            f"JR {after}",
            f"{data}:",
            db(code),
            f"{after}:",
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
        value = register_value(self._random, 0x00)
        return [f"LD A,${value:02X}", "LDH ($00),A", "LDH A,($00)", self._store()]


#: Interrupts that come faster than they are handled would leave no time for the main
#: loop: now and then handlers slow the timer down and switch the STAT sources off.
_CALM = """
calm1:
    LD A,($DFE0)
    INC A
    LD ($DFE0),A
    AND 7
    RET NZ
    LDH ($41),A
    LD A,4
    LDH ($07),A
calm2:
    LD A,($DFE0)
    AND 3
    RET NZ
    LDH ($06),A
    RET
"""


def chaos(seed: int, frames: int = 120) -> Case:
    """Everything at once: random code with random interrupt handlers, in a loop."""
    random = Random(2, seed)
    code = _Chaos(random)
    lines: list[str] = ["INC E", "RET", "ORG $0038", "nothing:", "INC E", "RET"]
    for vector in range(0x40, 0x68, 8):
        lines += [f"ORG ${vector:04X}", f"JP handler{vector:02X}"]
    lines += ["ORG $0150", "DI", "LD SP,$DFF0", "LD DE,$D000", SETUP_VIDEO]
    lines += ["LD SP,$DFF0", "LD D,$D1", "LD A,$0A", "LD ($0000),A"]
    for register in (0x40, 0x41, 0x45, 0x07, 0xFF):
        lines += [f"LD A,${register_value(random, register):02X}", f"LDH (${register:02X}),A"]
    lines += ["LD A,$80", "LDH ($26),A"]
    lines += ["main:", "LD D,$D1", *code.block(160), "JP main"]
    code.in_handler = True
    for vector in range(0x40, 0x68, 8):
        lines += [f"handler{vector:02X}:", "PUSH AF", "PUSH HL", "PUSH BC"]
        body = code.block(random.between(0, 4))
        lines += [f"CALL calm{random.number((1, 1, 2))}"]
        # A handler that enabled interrupts early could nest without end, one that sets
        # flags could keep the main loop from ever running.
        lines += [
            line
            for line in "\n".join(body).split("\n")
            if line not in ("EI", "DI") and "($0F),A" not in line and "$FF0F" not in line
        ]
        lines += ["POP BC", "POP HL", "POP AF", random.pick(("RETI", "RETI", "RETI", "EI\nRET"))]
    lines += [_CALM, sprite_table(random)]
    kind, ram = MAPPERS[seed % len(MAPPERS)]
    rom = assemble_cartridge(
        "\n".join(lines), cartridge_type=kind, ram_size_code=ram, banks=2 if kind == 8 else 8
    )
    return Case(f"chaos, seed {seed}", rom, frames, buttons=True)
