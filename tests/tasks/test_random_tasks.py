"""Random task files over random memory: both implementations must agree about any of them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from emurust import GameBoy
from emurust.tasks import Episode, TaskRecipe, views
from emurust.tasks.reference import ReferenceEpisode

NUMBERS = ["0", "0", "1", "2", "3", "7", "300", "0.5", "2.25", "1e3", "0x1F", "1e-7", "1e300"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!=", "and", "or"]
FUNCTIONS = {"max": 2, "min": 3, "bit": 2, "where": 3, "clamp": 3, "abs": 1, "floor": 1, "sqrt": 1}
TYPES = [
    *((name, None) for name in ("u8", "i8", "u16le", "u16be", "u24le", "u24be", "u32le", "u32be")),
    *(("bcd", n) for n in (1, 3, 6)),
    *(("bcdle", n) for n in (2, 5)),
    *(("digits", n) for n in (1, 4, 9)),
    ("digitsle", 7),
    ("popcount", 1),
    ("popcount", 77),
]
VALUES_PER_TASK = 40


class Writer:
    """Writes random tasks."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["steps"]

    def expression(self, depth: int = 3) -> str:
        choose = self.random.choice
        kind = choose(["name", "name", "number", "binary", "binary", "binary", "unary", "call"])
        if depth == 0 or kind in ("name", "number"):
            return choose(self.names if kind == "name" or self.random.random() < 0.6 else NUMBERS)
        inner = [self.expression(depth - 1) for _ in range(3)]
        if kind == "unary":
            return choose(["-{}", "(not {})", "- -{}"]).format(inner[0])
        if kind == "call":
            name = choose(list(FUNCTIONS))
            return f"{name}({', '.join(inner[: FUNCTIONS[name]])})"
        operator = choose(OPERATORS)
        # Without parentheses precedence is at work; but comparisons do not chain.
        loose = operator in ("+", "-", "*", "/", "//", "%") and self.random.random() < 0.4
        if loose and not any(c in inner[0] + inner[1] for c in "<>="):
            return f"{inner[0]} {operator} {inner[1]}"
        return f"({inner[0]} {operator} {inner[1]})"

    def variable(self) -> str:
        random_int, choose = self.random.randint, self.random.choice
        kind, length = choose(TYPES)
        fields = [f"address = {random_int(0xC000, 0xC0FF)}", f'type = "{kind}"']
        if length is not None:
            fields.append(f"length = {length}")
        if self.random.random() < 0.6:
            fields.append(
                f"count = {random_int(2, 6)}, stride = {(length or 4) + random_int(0, 5)}"
            )
            fields.append(f'reduce = "{choose(["sum", "max", "min"])}"')
        if self.random.random() < 0.3:
            fields.append(f"subtract = {random_int(-300, 300)}")
        if self.random.random() < 0.3:
            fields.append(f"floor = {random_int(-300, 300)}")
        return f"{{ {', '.join(fields)}, overlap = true }}"

    def value(self, number: int) -> list[str]:
        choose = self.random.choice
        kind = choose(["expr", "max", "min", "sum", "at_reset", "previous", "visits", "here"])
        name, text = f"v{number}", self.expression()
        initial = choose(["", "", ", initial = 2", ", initial = -1.5"])
        match kind:
            case "expr":
                lines = [f'{name} = "{text}"']
            case "at_reset":
                lines = [f'{name} = {{ at_reset = "{text}" }}']
            case "previous":
                lines = [f'{name} = {{ previous = "{choose(self.names)}"{initial} }}']
            case "visits" | "here":
                key = [choose(self.names) for _ in range(self.random.randint(1, 3))]
                lines = [
                    f'{name} = {{ visits = {key}, when = "{text}" }}',
                    f'h{number} = "here({name})"',
                ]
            case _:
                lines = [f'{name} = {{ {kind} = "{text}"{initial} }}']
        self.names += [line.split(" =")[0] for line in lines]
        return lines

    def task(self) -> str:
        lines = ['name = "random"', 'actions.buttons = ["none", "a"]', "[variables]"]
        for name in "abcdefgh":
            lines.append(f"{name} = {self.variable()}")
            self.names.append(name)
        lines.append("[values]")
        for number in range(VALUES_PER_TASK):
            lines += self.value(number)
        seen = ", ".join(f'"{self.expression()}"' for _ in range(8))
        lines += ["[[observation]]", 'name = "n"', 'kind = "value"', f"values = [{seen}]"]
        lines += ["[[observation]]", 'name = "w"', 'kind = "waves"', "count = 9"]
        lines.append(f'value = "{self.expression()}"')
        lines += ["[rewards]", f'x = {{ value = "{self.expression()}", weight = 0.3 }}']
        lines.append(f'y = {{ each_step = "{self.expression()}", weight = -2 }}')
        lines.append(f'z = {{ value = "{self.expression()}" }}')
        lines += ["[ends]", f'e = {{ terminated = "{self.expression()}" }}']
        lines += ["[info]", *(f'{name} = "{name}"' for name in self.names)]
        return "\n".join(lines)


@pytest.fixture(scope="module")
def gameboy() -> GameBoy:
    return GameBoy(None)


def compare(gameboy: GameBoy, seed: int) -> None:
    """Plays a task in both implementations on one machine whose memory the test fills."""
    text = Writer(seed).task()
    recipe = TaskRecipe(text, "random.toml", None, {"frame_skip": 0})
    task = recipe.compile()
    episode, reference = Episode(task), ReferenceEpisode(recipe.reference(), gameboy)
    names = [name for name, _ in task.info_layout]
    rng = np.random.default_rng(seed)

    def change_memory() -> None:
        # A few values only, so that numbers repeat, tie and cross.
        values = rng.choice([0, 0, 1, 2, 9, 0x10, 0x99, 0x7F, 0x80, 0xFF], 0x180)
        gameboy.memory[0xC000:0xC180] = values.tolist()

    def same(found: Any, expected: Any) -> None:
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array, f"{name} in\n{text}")

    change_memory()
    record, info, _ = episode.begin(gameboy._machine, 0)
    same(views(task, record), reference.begin(0))
    for _ in range(6):
        change_memory()
        record, *outcome, info, _ = episode.step(gameboy._machine, 0)
        expected, *expected_outcome, expected_info = reference.step(0)
        assert outcome == expected_outcome, text
        same(dict(zip(names, info, strict=True)), expected_info)
        same(views(task, record), expected)


@pytest.mark.parametrize("seed", range(15))
def test_any_task(gameboy: GameBoy, seed: int) -> None:
    compare(gameboy, seed)


@pytest.mark.slow
def test_many_tasks(gameboy: GameBoy) -> None:
    for seed in range(100, 600):
        compare(gameboy, seed)
