"""A small two-pass SM83 assembler, for the hand-made test programs.

One statement per line; ``;`` starts a comment. Statements::

    label:                 a name for the current address
    ORG $0150              continue at an address (gaps are filled with zeros)
    DB 1, $FF, label       bytes
    DW label               words, little endian
    DS 16, $AA             that many bytes of one value (0 if left out)
    NAME EQU expression    a name for a number
    LD A,($FF44)           any instruction in the spelling of the disassembler

Numbers are ``$1F``, ``%0101`` or ``31``; expressions add and subtract numbers and
names; ``.`` is the address of the statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from emurust.verify.errors import AssemblyError
from emurust.verify.instructions import OPCODES, PREFIXED_OPCODES, Flow

_PLACEHOLDER = re.compile(r"d16|a16|d8|a8|r8")


@dataclass(frozen=True)
class _Form:
    """One spelling: its pattern, opcode bytes and operand kind."""

    pattern: re.Pattern[str]
    prefix: bytes
    operand: str


_INSTRUCTIONS = [
    *((bytes([n]), i) for n, i in enumerate(OPCODES) if i.flow is not Flow.ILLEGAL),
    *((bytes([0xCB, n]), i) for n, i in enumerate(PREFIXED_OPCODES)),
]

#: Instructions without operand by their whole text.
_FIXED = {i.text: code for code, i in _INSTRUCTIONS if not _PLACEHOLDER.search(i.text)}


def _forms() -> dict[str, list[_Form]]:
    """Spellings with an operand by mnemonic; the most specific come first, so they win."""
    forms: dict[str, list[_Form]] = {}
    for prefix, instruction in _INSTRUCTIONS:
        kinds = _PLACEHOLDER.findall(instruction.text)
        if not kinds:
            continue
        if instruction.flow is Flow.RELATIVE:
            kinds = ["jump"]
        pattern = "([^,()]+)".join(re.escape(part) for part in _PLACEHOLDER.split(instruction.text))
        mnemonic = instruction.text.split()[0]
        forms.setdefault(mnemonic, []).append(
            _Form(
                re.compile(pattern.replace(r"\ ", " "), re.IGNORECASE),
                prefix,
                kinds[0],
            )
        )
    for candidates in forms.values():
        candidates.sort(key=lambda form: -len(form.pattern.pattern))
    return forms


_FORMS = _forms()
_STOP = b"\x10\x00"


class _Assembler:
    def __init__(self, source: str, origin: int, names: dict[str, int]) -> None:
        self._lines = source.splitlines()
        self._origin = origin
        self.names = dict(names)
        self._line = 0
        self._address = origin
        self._final = False

    def _fail(self, problem: str) -> AssemblyError:
        return AssemblyError(f"line {self._line}: {problem}")

    def assemble(self) -> bytes:
        self._pass()
        self._final = True
        return self._pass()

    def _pass(self) -> bytes:
        output = bytearray()
        self._address = self._origin
        for number, text in enumerate(self._lines, start=1):
            self._line = number
            output += self._statement(text.split(";", 1)[0].strip(), len(output))
            self._address = self._origin + len(output)
        return bytes(output)

    def _statement(self, text: str, produced: int) -> bytes:
        label = re.match(r"(\w+):\s*", text)
        if label:
            self._define(label[1], self._address)
            text = text[label.end() :]
        equ = re.match(r"(\w+)\s+EQU\s+(.+)$", text, re.IGNORECASE)
        if equ:
            self._define(equ[1], self._value(equ[2]))
            return b""
        if not text:
            return b""
        mnemonic, _, rest = text.partition(" ")
        directive = self._directives().get(mnemonic.upper())
        if directive is not None:
            return directive(rest.strip(), produced)
        return self._instruction(mnemonic.upper(), rest)

    def _directives(self) -> dict[str, Callable[[str, int], bytes]]:
        return {"ORG": self._org, "DB": self._db, "DW": self._dw, "DS": self._ds}

    def _define(self, name: str, value: int) -> None:
        if not self._final and name in self.names:
            raise self._fail(f"{name} is defined twice")
        self.names[name] = value

    def _org(self, rest: str, produced: int) -> bytes:
        target = self._value(rest)
        here = self._origin + produced
        if target < here:
            raise self._fail(f"ORG ${target:04X} lies before the current address ${here:04X}")
        return bytes(target - here)

    def _db(self, rest: str, _: int) -> bytes:
        return bytes(self._value(item) & 0xFF for item in rest.split(","))

    def _dw(self, rest: str, _: int) -> bytes:
        return b"".join(
            (self._value(item) & 0xFFFF).to_bytes(2, "little") for item in rest.split(",")
        )

    def _ds(self, rest: str, _: int) -> bytes:
        count, _comma, fill = rest.partition(",")
        return bytes([self._value(fill or "0") & 0xFF]) * self._value(count)

    def _instruction(self, mnemonic: str, rest: str) -> bytes:
        if mnemonic == "STOP":
            return _STOP
        operands = re.sub(r"\s*([,+()-])\s*", r"\1", rest.strip())
        text = f"{mnemonic} {operands}".strip()
        fixed = _FIXED.get(text.upper())
        if fixed is not None:
            return fixed
        for form in _FORMS.get(mnemonic, ()):
            match = form.pattern.fullmatch(text)
            if match is not None:
                return form.prefix + self._operand(form.operand, match[1])
        raise self._fail(f"no instruction {text!r}")

    def _operand(self, kind: str, expression: str) -> bytes:
        if kind in ("d16", "a16"):
            return (self._value(expression) & 0xFFFF).to_bytes(2, "little")
        value = self._value(expression)
        if kind == "jump":
            value -= self._address + 2
            if self._final and not -128 <= value <= 127:
                raise self._fail(f"{expression} is too far away for a relative jump")
        elif self._final and not (-128 <= value <= 0xFF or (kind == "a8" and value >> 8 == 0xFF)):
            raise self._fail(f"{expression} = {value} does not fit into a byte")
        return bytes([value & 0xFF])

    def _value(self, expression: str) -> int:
        total = 0
        tokens = re.findall(r"[+-]|[^\s+-]+", expression)
        sign = 1
        for token in tokens:
            if token in "+-":
                sign = -1 if token == "-" else 1
                continue
            total += sign * self._term(token)
            sign = 1
        if not tokens:
            raise self._fail("an expression is missing")
        return total

    def _term(self, token: str) -> int:
        if token == ".":
            return self._address
        try:
            if token[0] == "$":
                return int(token[1:], 16)
            if token[0] == "%":
                return int(token[1:], 2)
            if token[0].isdecimal():
                return int(token, 0)
        except ValueError:
            raise self._fail(f"{token!r} is not a number") from None
        if token in self.names:
            return self.names[token]
        if not self._final:
            return self._address  # forward reference, known in the second pass
        raise self._fail(f"unknown name {token!r}")


def assemble(source: str, origin: int = 0, names: dict[str, int] | None = None) -> bytes:
    """Machine code for ``source``, starting at address ``origin``.

    Args:
        source: the program.
        origin: address of the first byte.
        names: numbers that the program can refer to by name.

    Raises:
        AssemblyError: what is wrong, with its line number.
    """
    return _Assembler(source, origin, names or {}).assemble()
