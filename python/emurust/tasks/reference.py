"""Task files in plain Python: slow, obvious, and the judge of the compiled implementation.

`ReferenceEpisode` plays a task on anything that speaks PyBoy's vocabulary: ``memory[a]``,
``memory[bank, a]``, ``tick(count, render)``, ``button_press(name)``,
``button_release(name)`` and ``screen.ndarray``, an (144, 160, 4) uint8 array of RGBA. It
reads the same files as `emurust.tasks.load` and gives the same observations, rewards, ends
and infos to the last bit. It expects a correct file: wrong ones are for the compiled
implementation to explain.

All numbers are Python floats (64-bit IEEE 754) until they are stored as float32, and all
sums run from left to right in the order of the file.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Machine", "ReferenceEpisode", "ReferenceTask", "read_symbols"]

Array: TypeAlias = npt.NDArray[Any]
Watch: TypeAlias = int | str | tuple[int, int]

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
MOST_VISITS = 65535
SIZES = {
    "u8": 1, "i8": 1, "u16le": 2, "u16be": 2, "u24le": 3, "u24be": 3, "u32le": 4, "u32be": 4,
    "bit": 1,
}  # fmt: skip


class Machine(Protocol):
    """What the reference needs of a machine."""

    @property
    def memory(self) -> Any:
        """Bytes by address, or by (bank, address)."""

    @property
    def screen(self) -> Any:
        """Has `ndarray`, (144, 160, 4) uint8 RGBA."""

    def tick(self, count: int, render: bool, /) -> object:
        """Runs frames; `render` draws the last."""

    def button_press(self, button: str, /) -> object:
        """Presses a button from the next frame on."""

    def button_release(self, button: str, /) -> object:
        """Releases a button from the next frame on."""


def read_symbols(text: str) -> dict[str, tuple[int, int]]:
    """Bank and address by name, from the lines ``bank:address name`` of a `.sym` file."""
    symbols = {}
    for line in text.splitlines():
        line = line.split(";")[0].strip()
        if line and not line.startswith("["):
            place, name = line.split(maxsplit=1)
            bank, address = place.split(":")
            symbols[name] = (int(bank, 16), int(address, 16))
    return symbols


# -- numbers ---------------------------------------------------------------------------


def finite(x: float) -> float:
    """The number, or 0 for infinities and NaN."""
    return x if math.isfinite(x) else 0.0


def float32(x: float) -> np.float32:
    """To single precision; what is too large becomes the largest number."""
    return np.float32(min(max(x, -LARGEST_FLOAT32), LARGEST_FLOAT32))


def floor(x: float) -> float:
    """The whole number below; infinities and NaN stay."""
    return float(math.floor(x)) if math.isfinite(x) else x


def divide(a: float, b: float) -> float:
    """The quotient; 0 when dividing by 0."""
    return 0.0 if b == 0 else a / b


def greater(a: float, b: float) -> float:
    """`b` if it is greater, else `a`."""
    return b if b > a else a


def lesser(a: float, b: float) -> float:
    """`b` if it is less, else `a`."""
    return b if b < a else a


def whole(x: float) -> int:
    """Rounded down, as a 64-bit integer."""
    return min(max(math.floor(x), -(2**63)), 2**63 - 1)


def bit(x: float, number: float) -> float:
    """One bit of a whole number."""
    power = 2.0 ** floor(greater(0.0, lesser(number, 52.0)))
    scaled = floor(x / power)
    return scaled - 2.0 * floor(scaled / 2.0)


def evaluate(text: str | int | float, names: Mapping[str, float], here: Mapping[str, int]) -> float:
    """The value of an expression of a task file.

    Args:
        text: the expression; its syntax is a part of Python's.
        names: the numbers that it may use.
        here: how often the current place was visited, by the name of the visits value.
    """
    if not isinstance(text, str):
        return float(text)

    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name):
                return names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return float(value(operand) == 0)
            case ast.BoolOp(op=ast.And(), values=parts):
                return float(all(value(part) != 0 for part in parts))
            case ast.BoolOp(op=ast.Or(), values=parts):
                return float(any(value(part) != 0 for part in parts))
            case ast.BinOp(left=left, op=op, right=right):
                return arithmetic(op, value(left), value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return float(compare(op, value(left), value(right)))
            case ast.Call(func=ast.Name(id="here"), args=[ast.Name(id=name)]):
                return float(here[name])
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return call(name, [value(argument) for argument in arguments])
        raise ValueError(f"{text!r} is not an expression of the task language")

    return finite(value(parsed(text)))


@functools.cache
def parsed(text: str) -> ast.expr:
    """The tree of an expression."""
    # Without the parentheses, a line break would end the expression.
    return ast.parse(f"({text}\n)", mode="eval").body


def arithmetic(op: ast.operator, a: float, b: float) -> float:
    """`a op b`."""
    match op:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case ast.Div():
            return divide(a, b)
        case ast.FloorDiv():
            return floor(divide(a, b))
        case ast.Mod():
            return a - b * floor(divide(a, b))
    raise ValueError(f"{op} is not an operation of the task language")


def compare(op: ast.cmpop, a: float, b: float) -> bool:
    """`a op b`."""
    match op:
        case ast.Lt():
            return a < b
        case ast.LtE():
            return a <= b
        case ast.Gt():
            return a > b
        case ast.GtE():
            return a >= b
        case ast.Eq():
            return a == b
        case ast.NotEq():
            return a != b
    raise ValueError(f"{op} is not a comparison of the task language")


def call(name: str, arguments: list[float]) -> float:
    """A function of the task language."""
    match name, arguments:
        case "max", [first, *others]:
            for other in others:
                first = greater(first, other)
            return first
        case "min", [first, *others]:
            for other in others:
                first = lesser(first, other)
            return first
        case "clamp", [x, low, high]:
            return lesser(greater(x, low), high)
        case "where", [condition, yes, no]:
            return yes if condition != 0 else no
        case "abs", [x]:
            return abs(x)
        case "floor", [x]:
            return floor(x)
        case "sqrt", [x]:
            return math.sqrt(x) if x > 0 else 0.0
        case "bit", [x, number]:
            return bit(x, number)
    raise ValueError(f"{name} is not a function of the task language")


# -- memory ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Variable:
    """A named number in memory."""

    bank: int | None
    address: int
    type: str = "u8"
    length: int = 1
    bit: int = 0
    count: int = 1
    stride: int = 1
    reduce: str = "sum"
    subtract: int = 0
    floor: int | None = None

    @property
    def span(self) -> int:
        """Bytes from the first to the last."""
        return (self.count - 1) * self.stride + self.length

    def bytes(self, machine: Machine) -> list[int]:
        """All bytes."""
        return read_bytes(machine, self.bank, self.address, self.span)

    def read(self, machine: Machine) -> float:
        """The number."""
        content = self.bytes(machine)
        elements = []
        for slot in range(self.count):
            start = slot * self.stride
            element = self.decode(content[start : start + self.length]) - self.subtract
            elements.append(element if self.floor is None else max(element, self.floor))
        match self.reduce:
            case "sum":
                return float(sum(elements))
            case "max":
                return float(max(elements))
        return float(min(elements))

    def decode(self, content: list[int]) -> int:
        """One element."""
        match self.type:
            case "u8" | "u16be" | "u24be" | "u32be":
                return int.from_bytes(content, "big")
            case "u16le" | "u24le" | "u32le":
                return int.from_bytes(content, "little")
            case "i8":
                return content[0] - 256 if content[0] >= 128 else content[0]
            case "bcd":
                return sum(
                    (byte // 16 * 10 + byte % 16) * 100**n for n, byte in enumerate(content[::-1])
                )
            case "bcdle":
                return sum((byte // 16 * 10 + byte % 16) * 100**n for n, byte in enumerate(content))
            case "digits":
                return sum(byte * 10**n for n, byte in enumerate(content[::-1]))
            case "digitsle":
                return sum(byte * 10**n for n, byte in enumerate(content))
            case "bit":
                return content[0] >> self.bit & 1
            case "popcount":
                return sum(byte.bit_count() for byte in content)
            case "bytes":
                return 0
        raise ValueError(f"{self.type} is not a type of the task language")


def read_bytes(machine: Machine, bank: int | None, address: int, length: int) -> list[int]:
    """Bytes of memory."""
    addresses = range(address, address + length)
    if bank is None:
        return [int(machine.memory[a]) for a in addresses]
    return [int(machine.memory[bank, a]) for a in addresses]


# -- tasks -----------------------------------------------------------------------------


@dataclass
class ReferenceTask:
    """A task file and the options it is played with.

    Args:
        file: the file's content as nested dicts, as `tomllib` reads it.
        symbols: see `read_symbols`.
        observation, frame_skip, hold_frames, frame_stack, resolution, reward_weights,
            reward_scale, max_steps, watch, map_offsets: as for `emurust.tasks.load`.
    """

    file: dict[str, Any]
    symbols: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    observation: str = "dict"
    frame_skip: int | None = None
    hold_frames: int | None = None
    frame_stack: int | None = None
    resolution: str | None = None
    reward_weights: Mapping[str, float] = field(default_factory=dict)
    reward_scale: float = 1.0
    max_steps: int | None = None
    watch: Sequence[Watch] | None = None
    map_offsets: Mapping[int, tuple[int, int]] | None = None

    def __post_init__(self) -> None:
        file = self.file
        timing = file.get("timing", {})
        if self.frame_skip is None:
            self.frame_skip = timing.get("frame_skip", 24)
        if self.hold_frames is None:
            self.hold_frames = min(timing.get("hold_frames", 8), self.frame_skip)
        screen = file.get("screen", {})
        if self.frame_stack is None:
            self.frame_stack = screen.get("stack", 3)
        if self.resolution is None:
            self.resolution = screen.get("resolution", "half")
        if self.max_steps is None:
            self.max_steps = file.get("episode", {}).get("max_steps", 0)
        if self.watch is None:
            self.watch = file.get("watch", [])
        world = file.get("world", {})
        if self.map_offsets is None:
            self.map_offsets = {m: (column, row) for m, column, row in world.get("offsets", [])}
        self.actions: list[list[str]] = [
            [] if name == "none" else name.split("+") for name in file["actions"]["buttons"]
        ]
        self.variables = {
            name: self._variable(entry) for name, entry in file.get("variables", {}).items()
        }
        self.weights = {
            name: self.reward_scale * self.reward_weights.get(name, term.get("weight", 1))
            for name, term in file.get("rewards", {}).items()
        }
        self.features: list[dict[str, Any]] = [
            feature
            for feature in file["observation"]
            if self.observation not in ("screen", "ram")
            or (feature["kind"] == "screens") == (self.observation == "screen")
        ]

    def play_start_script(self, machine: Machine) -> None:
        """From power-on to where episodes start, if the file says how."""
        for name, frames in self.file.get("start", {}).get("script", []):
            buttons = [] if name == "none" else name.split("+")
            for button in buttons:
                machine.button_press(button)
            machine.tick(frames, True)
            for button in buttons:
                machine.button_release(button)

    def place(self, address: int | str) -> tuple[int | None, int]:
        """Bank (cartridge RAM only) and address of an address, symbol or symbol+offset."""
        if isinstance(address, int):
            return None, address
        name, _, offset = address.partition("+")
        bank, number = self.symbols[name.strip()]
        number += int(offset.strip() or "0", 0)
        return (bank if 0xA000 <= number < 0xC000 else None), number

    def _variable(self, entry: int | str | dict[str, Any]) -> Variable:
        if not isinstance(entry, dict):
            return Variable(*self.place(entry))
        bank, address = self.place(entry["address"])
        kind = entry.get("type", "u8")
        length = entry["length"] if "length" in entry else SIZES[kind]
        return Variable(
            bank=entry.get("bank", bank),
            address=address,
            type=kind,
            length=length,
            bit=entry.get("bit", 0),
            count=entry.get("count", 1),
            stride=entry.get("stride", length),
            reduce=entry.get("reduce", "sum"),
            subtract=entry.get("subtract", 0),
            floor=entry.get("floor"),
        )


class ReferenceEpisode:
    """One machine's play of a task.

    Args:
        task: what to play.
        machine: where; put it into its start state before `begin`.
    """

    def __init__(self, task: ReferenceTask, machine: Machine) -> None:
        self.task = task
        self.machine = machine

    def begin(self, seed: int = 0) -> dict[str, Array]:
        """Starts an episode on the machine as it is; the first observation."""
        most = self.task.file.get("start", {}).get("max_noop_frames", 0)
        if most > 0:
            frames = splitmix64(seed) % (most + 1)
            if frames > 0:
                self.machine.tick(frames, True)
        self.steps = 0
        self.recent_actions: list[int] = []
        self.screens: list[Array] = []
        self.memory: dict[str, float] = {}
        self.visits: dict[str, dict[tuple[int, ...], int]] = {}
        self.visited_world: set[tuple[int, int]] = set()
        self._evaluate(reset=True)
        self.given = dict.fromkeys(self.task.weights, 0.0)
        self.total = 0.0
        self._score(reset=True)
        self.first_terms = dict(self.terms)
        self._see()
        return self.observation()

    def step(
        self, action: int
    ) -> tuple[dict[str, Array], np.float32, bool, bool, dict[str, np.float32]]:
        """Takes an action: observation, reward, terminated, truncated, info."""
        self._act(action)
        self.steps += 1
        self.recent_actions.insert(0, action)
        self._evaluate(reset=False)
        reward = self._score(reset=False)
        terminated = False
        truncated = self.task.max_steps != 0 and self.steps >= (self.task.max_steps or 0)
        for end in self.task.file.get("ends", {}).values():
            if "terminated" in end:
                terminated = terminated or self._value(end["terminated"]) != 0
            else:
                truncated = truncated or self._value(end["truncated"]) != 0
        self._see()
        return self.observation(), reward, terminated, truncated, self.info()

    def _act(self, action: int) -> None:
        frame_skip, hold_frames = self.task.frame_skip or 0, self.task.hold_frames or 0
        if frame_skip == 0:
            return
        for button in self.task.actions[action]:
            self.machine.button_press(button)
        if hold_frames < frame_skip:
            self.machine.tick(hold_frames, False)
        else:
            self.machine.tick(hold_frames, True)
        for button in self.task.actions[action]:
            self.machine.button_release(button)
        if hold_frames < frame_skip:
            self.machine.tick(frame_skip - hold_frames, True)

    # -- values ------------------------------------------------------------------------

    def _value(self, expression: str | int | float) -> float:
        return evaluate(expression, self.values, self.here)

    def _evaluate(self, *, reset: bool) -> None:
        self.values: dict[str, float] = {"steps": float(self.steps)}
        self.here: dict[str, int] = {}
        for name, variable in self.task.variables.items():
            self.values[name] = variable.read(self.machine)
        entries: dict[str, Any] = self.task.file.get("values", {})
        for name, entry in entries.items():
            if isinstance(entry, dict):
                self.values[name] = self._remembering(name, entry, reset)
            else:
                self.values[name] = self._value(entry)
        if reset:
            return
        for name, entry in entries.items():
            if isinstance(entry, dict) and "previous" in entry:
                self.memory[name] = self.values[entry["previous"]]
        if "world" in self.task.file:
            self.visited_world.add(self._locate())

    def _remembering(self, name: str, entry: dict[str, Any], reset: bool) -> float:
        match entry:
            case {"expr": expression}:
                return self._value(expression)
            case {"previous": source}:
                if reset:
                    self.memory[name] = (
                        float(entry["initial"]) if "initial" in entry else self.values[source]
                    )
                return self.memory[name]
            case {"at_reset": expression}:
                if reset:
                    self.memory[name] = self._value(expression)
                return self.memory[name]
            case {"max": expression}:
                now = self._value(expression)
                before = float(entry.get("initial", now)) if reset else self.memory[name]
                self.memory[name] = greater(before, now)
                return self.memory[name]
            case {"min": expression}:
                now = self._value(expression)
                before = float(entry.get("initial", now)) if reset else self.memory[name]
                self.memory[name] = lesser(before, now)
                return self.memory[name]
            case {"sum": expression}:
                if reset:
                    self.memory[name] = float(entry.get("initial", 0))
                else:
                    self.memory[name] = finite(self.memory[name] + self._value(expression))
                return self.memory[name]
            case {"visits": parts}:
                counts = self.visits.setdefault(name, {})
                place = tuple(self._place_part(part) for part in parts)
                if not reset and self._value(entry.get("when", 1)) != 0:
                    counts[place] = min(counts.get(place, 0) + 1, MOST_VISITS)
                self.here[name] = counts.get(place, 0)
                return float(len(counts))
        raise ValueError(f"{entry} is not a value of the task language")

    def _place_part(self, name: str) -> int:
        # One byte for variables that are one; for all else the lowest 16 bits.
        variable = self.task.variables.get(name)
        is_byte = (
            variable is not None
            and variable.type in ("u8", "bit")
            and variable.count == 1
            and variable.subtract == 0
            and variable.floor is None
        )
        return whole(self.values[name]) & (0xFF if is_byte else 0xFFFF)

    # -- reward ------------------------------------------------------------------------

    def _score(self, *, reset: bool) -> np.float32:
        total = 0.0
        given = 0.0
        self.terms: dict[str, float] = {}
        for name, term in self.task.file.get("rewards", {}).items():
            weight = self.task.weights[name]
            if "value" in term:
                self.terms[name] = finite(weight * self._value(term["value"]))
                total += self.terms[name]
            else:
                if not reset:
                    weighted = finite(weight * self._value(term["each_step"]))
                    self.given[name] = finite(self.given[name] + weighted)
                    given += weighted
                self.terms[name] = self.given[name]
        change = total - self.total
        self.total = total
        return float32(finite(change + given))

    def info(self) -> dict[str, np.float32]:
        """Progress by name, and what each reward term has given since the reset."""
        progress = {
            name: float32(self._value(expression))
            for name, expression in self.task.file.get("info", {}).items()
        }
        terms = {
            f"reward/{name}": float32(finite(now - self.first_terms[name]))
            for name, now in self.terms.items()
        }
        return progress | terms

    def watched(self) -> bytes:
        """The watched RAM, one entry after the other."""
        content: list[int] = []
        for entry in self.task.watch or ():
            if isinstance(entry, tuple):
                address, length = entry
                content += read_bytes(self.machine, None, address, length)
            elif isinstance(entry, str) and entry in self.task.variables:
                content += self.task.variables[entry].bytes(self.machine)
            else:
                content += read_bytes(self.machine, *self.task.place(entry), 1)
        return bytes(content)

    # -- observation -------------------------------------------------------------------

    def _see(self) -> None:
        if any(feature["kind"] == "screens" for feature in self.task.features):
            red = np.array(self.machine.screen.ndarray[:, :, 0])
            self.screens.insert(0, self._picture(red))
            del self.screens[self.task.frame_stack :]

    def _picture(self, red: npt.NDArray[np.uint8]) -> Array:
        half = self.task.resolution == "half"
        if self.task.observation == "packed":
            # The colours 0, 85, 153 and 255 become 0 to 3; four pixels share a byte.
            if half:
                red = red[::2, ::2]
            level = np.digitize(red, [85, 153, 255])
            four = level[:, 0::4] * 64 + level[:, 1::4] * 16 + level[:, 2::4] * 4 + level[:, 3::4]
            return four.astype(np.uint8)
        if half:
            # The mean of 2 x 2 pixels, rounded down.
            squares = red.reshape(72, 2, 80, 2).astype(np.uint16)
            mean: Array = squares.sum(axis=(1, 3)) // 4
            return mean.astype(np.uint8)
        return red

    def observation(self) -> dict[str, Array]:
        """The observation by name of the field."""
        return {feature["name"]: self._field(feature) for feature in self.task.features}

    def _field(self, feature: dict[str, Any]) -> Array:
        packed = self.task.observation == "packed"
        match feature["kind"]:
            case "screens":
                stack = np.zeros((*self.screens[0].shape, self.task.frame_stack or 1), np.uint8)
                for age, screen in enumerate(self.screens):
                    stack[:, :, age] = screen
                return stack
            case "value":
                expressions = feature["values"] if "values" in feature else [feature["value"]]
                low, high = feature.get("low", -math.inf), feature.get("high", math.inf)
                values = [lesser(greater(self._value(text), low), high) for text in expressions]
                return np.array([float32(value) for value in values], np.float32)
            case "waves":
                value = self._value(feature["value"])
                waves = [math.sin(finite(value * 2.0**k)) for k in range(feature["count"])]
                return np.array([float32(wave) for wave in waves], np.float32)
            case "bits":
                content = np.array(self._bytes(feature), np.uint8)
                return content if packed else np.unpackbits(content).astype(np.int8)
            case "bytes":
                return np.array(self._bytes(feature), np.uint8)
            case "visited_map":
                window = self._window(feature["window"])
                if packed:
                    return np.packbits(window, axis=1)
                repeat = feature.get("repeat", 1)
                cells = window.repeat(repeat, axis=0).repeat(repeat, axis=1)
                return (cells * 255).astype(np.uint8)[:, :, None]
            case "recent_actions":
                recent = (self.recent_actions + [0] * feature["count"])[: feature["count"]]
                return np.array(recent, np.uint8)
        raise ValueError(f"{feature['kind']} is not an observation of the task language")

    def _bytes(self, feature: dict[str, Any]) -> list[int]:
        return self.task.variables[feature["variable"]].bytes(self.machine)

    def _locate(self) -> tuple[int, int]:
        """Row and column in the world."""
        world = self.task.file["world"]
        rows, columns = world["rows"], world["columns"]
        row, column = world.get("unknown", (rows // 2, columns // 2))
        unknown = (row, column)
        offsets = self.task.map_offsets or {}
        map_number = floor(self.values[world["map"]])
        if map_number not in offsets:
            return unknown
        column_offset, row_offset = offsets[int(map_number)]
        padding = world.get("padding", 0)
        row = whole(self.values[world["row"]]) + row_offset + padding
        column = whole(self.values[world["column"]]) + column_offset + padding
        return (row, column) if 0 <= row < rows and 0 <= column < columns else unknown

    def _window(self, size: int) -> Array:
        """The visited places around the player, True or False; outside the world is False."""
        row, column = self._locate()
        top, left = row - size // 2, column - size // 2
        return np.array(
            [[(top + y, left + x) in self.visited_world for x in range(size)] for y in range(size)]
        )


def splitmix64(seed: int) -> int:
    """The first random number of a seed."""
    mask = 2**64 - 1
    z = (seed + 0x9E3779B97F4A7C15) & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31
