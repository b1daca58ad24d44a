"""Button files and scripts, and pictures of differences."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from emurust.verify.errors import ButtonScriptError
from emurust.verify.images import as_text, encode_png, side_by_side, write_comparison
from emurust.verify.inputs import BUTTONS, parse_buttons, random_buttons, read_buttons


def test_a_button_file(tmp_path: Path) -> None:
    path = tmp_path / "buttons.txt"
    path.write_text("# walk\n10 press right\n20 release right # stop\n\n15 tap A 2\n12 tap b\n")
    script = read_buttons(path, 30)
    assert len(script) == 30
    assert {frame: events for frame, events in enumerate(script) if events} == {
        10: [("press", "right")],
        12: [("press", "b")],
        15: [("press", "a")],
        17: [("release", "a")],
        20: [("release", "right"), ("release", "b")],
    }


def test_events_after_the_end_are_left_out() -> None:
    assert parse_buttons(["5 press a", "2 tap b 9"], 4, "x")[2] == [("press", "b")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("10 press", "b.txt:2: expected 'FRAME press|release|tap BUTTON'"),
        ("ten press a", "b.txt:2: the frame 'ten' is not a whole number"),
        ("-1 press a", "not a whole number"),
        ("10 press turbo", "no button 'turbo'; there are up, down"),
        ("10 hold a", "'hold a' is not press BUTTON"),
        ("10 press a 5", "'press a 5' is not press BUTTON"),
        ("10 tap a 0", "a tap lasts 1 frame or more, not '0'"),
    ],
)
def test_a_wrong_line_is_named(line: str, message: str) -> None:
    import re

    with pytest.raises(ButtonScriptError, match=re.escape(message)):
        parse_buttons(["1 press a", line], 20, "b.txt")


def test_random_buttons_use_all_buttons_and_release_them() -> None:
    script = random_buttons(5000, seed=1, start=100)
    assert not any(script[:100])
    events = [event for events in script for event in events]
    assert {button for _, button in events} == set(BUTTONS)
    held: set[str] = set()
    most = 0
    for action, button in events:
        if action == "press":
            assert button not in held
            held.add(button)
        else:
            held.remove(button)
        most = max(most, len(held))
    assert most >= 2
    assert len(events) > 500


def picture(value: int) -> np.ndarray:
    pixels = np.full((144, 160, 4), 255, dtype=np.uint8)
    pixels[10:20, 30:40, :3] = value
    return pixels


def test_png_files_are_read_by_others(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image")
    image = image_module.open(io.BytesIO(encode_png(picture(0))))
    assert np.array_equal(np.asarray(image), picture(0))
    path = tmp_path / "difference.png"
    write_comparison(path, picture(0), picture(85))
    sheet = np.asarray(image_module.open(path))
    assert sheet.shape == (144, 3 * 160 + 8, 4)
    red = (sheet[:, 328:] == (255, 0, 0, 255)).all(axis=2)
    assert red.sum() == 100
    assert red[10:20, 30:40].all()


def test_equal_pictures_have_no_red() -> None:
    sheet = side_by_side(picture(0), picture(0))
    assert not (sheet == (255, 0, 0, 255)).all(axis=2).any()


def test_pictures_as_text() -> None:
    lines = as_text(picture(0)).splitlines()
    assert len(lines) == 36
    assert lines[3][15:20] == "@@@@@"
    assert lines[0].strip() == ""
