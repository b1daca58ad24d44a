"""Random task files over random memory: both implementations must agree about any of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emurust import GameBoy
from emurust.tasks import Episode, TaskRecipe, views
from emurust.tasks.reference import ReferenceEpisode

VARIABLES = ("a", "b", "c", "d")
NUMBERS = st.one_of(
    st.integers(0, 300).map(str),
    st.sampled_from(["0.5", "1e3", "0x1F", "1e300", "2.25", "1e-7"]),
)


def expressions(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Expressions of the task language over some names."""
    return st.recursive(
        st.one_of(NUMBERS, st.sampled_from(names)),
        lambda inner: st.one_of(
            st.builds(
                "{} {} {}".format, inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner
            ),
            st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/"]), inner),
            st.builds(
                "({} {} {})".format,
                inner,
                st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
                inner,
            ),
            st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner),
            st.builds("-{}".format, inner),
            st.builds("(not {})".format, inner),
            st.builds("{}({}, {})".format, st.sampled_from(["max", "min", "bit"]), inner, inner),
            st.builds("max({}, {}, {})".format, inner, inner, inner),
            st.builds(
                "{}({}, {}, {})".format, st.sampled_from(["where", "clamp"]), inner, inner, inner
            ),
            st.builds("{}({})".format, st.sampled_from(["abs", "floor", "sqrt"]), inner),
        ),
        max_leaves=8,
    )


TYPES = [
    *((name, None) for name in ("u8", "i8", "u16le", "u16be", "u24le", "u24be", "u32le", "u32be")),
    *(("bcd", n) for n in (1, 3, 6)),
    *(("bcdle", n) for n in (2, 5)),
    *(("digits", n) for n in (1, 4, 9)),
    ("digitsle", 7),
    ("popcount", 1),
    ("popcount", 77),
]


@st.composite
def variables(draw: st.DrawFn) -> str:
    """A variable in work RAM from 0xC000 on."""
    kind, length = draw(st.sampled_from(TYPES))
    fields = [f"address = {draw(st.integers(0xC000, 0xC0FF))}", f'type = "{kind}"']
    if length is not None:
        fields.append(f"length = {length}")
    count = draw(st.integers(1, 6))
    if count > 1:
        stride = draw(st.integers(length or 4, (length or 4) + 5))
        reduce = draw(st.sampled_from(["sum", "max", "min"]))
        fields += [f"count = {count}", f"stride = {stride}", f'reduce = "{reduce}"']
    if draw(st.booleans()):
        fields.append(f"subtract = {draw(st.integers(-300, 300))}")
    if draw(st.booleans()):
        fields.append(f"floor = {draw(st.integers(-300, 300))}")
    return f"{{ {', '.join(fields)}, overlap = true }}"


@st.composite
def task_files(draw: st.DrawFn) -> str:
    """A whole task."""
    lines = ['name = "random"', 'actions.buttons = ["none", "a"]', "[variables]"]
    lines += [f"{name} = {draw(variables())}" for name in VARIABLES]
    lines.append("[values]")
    names: tuple[str, ...] = (*VARIABLES, "steps")
    for number in range(draw(st.integers(1, 8))):
        name = f"v{number}"
        text = draw(expressions(names))
        initial = draw(st.sampled_from(["", ", initial = 2", ", initial = -1.5"]))
        kind = draw(
            st.sampled_from(["expr", "max", "min", "sum", "at_reset", "previous", "visits"])
        )
        if kind == "expr":
            entry = f'"{text}"'
        elif kind == "at_reset":
            entry = f'{{ at_reset = "{text}" }}'
        elif kind == "previous":
            entry = f'{{ previous = "{draw(st.sampled_from(names))}"{initial} }}'
        elif kind == "visits":
            key = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
            entry = f'{{ visits = {key!r}, when = "{text}" }}'
        else:
            entry = f'{{ {kind} = "{text}"{initial} }}'
        lines.append(f"{name} = {entry}")
        names = (*names, name)
        if kind == "visits" and draw(st.booleans()):
            lines.append(f'h{number} = "here({name})"')
            names = (*names, f"h{number}")
    seen = ", ".join(f'"{draw(expressions(names))}"' for _ in range(4))
    lines += ["[[observation]]", 'name = "n"', 'kind = "value"', f"values = [{seen}]"]
    lines += ["[[observation]]", 'name = "w"', 'kind = "waves"', "count = 3"]
    lines.append(f'value = "{draw(expressions(names))}"')
    lines += ["[rewards]", f'x = {{ value = "{draw(expressions(names))}", weight = 0.3 }}']
    lines.append(f'y = {{ each_step = "{draw(expressions(names))}", weight = -2 }}')
    lines += ["[ends]", f'e = {{ terminated = "{draw(expressions(names))}" }}']
    lines += ["[info]", *(f'{name} = "{name}"' for name in names)]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def gameboy() -> GameBoy:
    return GameBoy(None)


RELAXED = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@settings(RELAXED, max_examples=20)
@given(text=task_files(), seed=st.integers(0, 2**32 - 1))
def test_any_task(gameboy: GameBoy, text: str, seed: int) -> None:
    compare(gameboy, text, seed)


@pytest.mark.slow
@settings(RELAXED, max_examples=1000)
@given(text=task_files(), seed=st.integers(0, 2**32 - 1))
def test_many_tasks(gameboy: GameBoy, text: str, seed: int) -> None:
    compare(gameboy, text, seed)


def compare(gameboy: GameBoy, text: str, seed: int) -> None:
    """Plays a task in both implementations on one machine whose memory the test fills."""
    recipe = TaskRecipe(text, "random.toml", None, {"frame_skip": 0})
    task = recipe.compile()
    episode, reference = Episode(task), ReferenceEpisode(recipe.reference(), gameboy)
    rng = np.random.default_rng(seed)

    def change_memory() -> None:
        # A few values only, so that numbers repeat, tie and cross.
        values = rng.choice([0, 0, 1, 2, 9, 0x10, 0x99, 0x7F, 0x80, 0xFF], 0x180)
        gameboy.memory[0xC000:0xC180] = values.tolist()

    def same(found: Any, expected: Any) -> None:
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array, f"{name} in\n{text}", strict=True)

    change_memory()
    record, info, _ = episode.begin(gameboy._machine, 0)
    same(views(task, record), reference.begin(0))
    for _ in range(6):
        change_memory()
        record, *outcome, info, _ = episode.step(gameboy._machine, 0)
        expected, *expected_outcome, expected_info = reference.step(0)
        assert outcome == expected_outcome, text
        assert list(info) == list(expected_info.values()), text
        same(views(task, record), expected)
