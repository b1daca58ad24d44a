"""The table of names is what both classes say."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from emurust.verify import pyboy_names

DOCUMENT = Path(__file__).parents[2] / "docs" / "pyboy-names.md"


@pytest.fixture(scope="module")
def states(pyboy_class: Any) -> dict[str, str]:
    return pyboy_names.states()


def test_the_document_is_up_to_date(states: dict[str, str]) -> None:
    assert DOCUMENT.read_text() == pyboy_names.table(), (
        "run: python -m emurust.verify.pyboy_names > docs/pyboy-names.md"
    )


def test_every_name_is_there_or_said_to_be_missing(states: dict[str, str]) -> None:
    assert len(states) > 150
    assert [name for name, state in states.items() if state == "missing"] == []
    assert set(pyboy_names.NOTES) <= set(states), "notes on names that PyBoy does not have"


def test_missing_names_are_missing(states: dict[str, str]) -> None:
    ours = set(pyboy_names._names(importlib.import_module("emurust.pyboy")))
    for name, state in states.items():
        assert (name in ours) != state.startswith("missing:"), name
