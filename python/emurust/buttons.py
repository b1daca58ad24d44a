"""The eight buttons, by PyBoy's names and numbers."""

from __future__ import annotations

from enum import IntEnum

from emurust.errors import ArgumentError, ArgumentTypeError, ButtonError

__all__ = ["BUTTONS", "WindowEvent", "button_number"]

BUTTONS = ("up", "down", "right", "left", "a", "b", "select", "start")
"""Button names, each at the index that is its number."""

_NUMBERS = {name: number for number, name in enumerate(BUTTONS)}


class WindowEvent(IntEnum):
    """Button events for `GameBoy.send_input`, with the numbers of PyBoy's `WindowEvent`."""

    PRESS_ARROW_UP = 1
    PRESS_ARROW_DOWN = 2
    PRESS_ARROW_RIGHT = 3
    PRESS_ARROW_LEFT = 4
    PRESS_BUTTON_A = 5
    PRESS_BUTTON_B = 6
    PRESS_BUTTON_SELECT = 7
    PRESS_BUTTON_START = 8
    RELEASE_ARROW_UP = 9
    RELEASE_ARROW_DOWN = 10
    RELEASE_ARROW_RIGHT = 11
    RELEASE_ARROW_LEFT = 12
    RELEASE_BUTTON_A = 13
    RELEASE_BUTTON_B = 14
    RELEASE_BUTTON_SELECT = 15
    RELEASE_BUTTON_START = 16


def button_number(name: str) -> int:
    """The number of a button.

    Args:
        name: one of `BUTTONS`, in any case.

    Raises:
        ButtonError: there is no such button.
        ArgumentTypeError: the name is no string.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"a button is named by a string, not {type(name).__name__}")
    try:
        return _NUMBERS[name.lower()]
    except KeyError:
        raise ButtonError(
            f"there is no button {name!r}; the buttons are {', '.join(BUTTONS)}"
        ) from None


def event_button(event: int) -> tuple[int, bool]:
    """The button number of a `WindowEvent`, and whether it is a press."""
    try:
        number = int(WindowEvent(event)) - 1
    except ValueError:
        raise ArgumentError(
            f"event {event!r} is not one of the button events 1 to 16 of WindowEvent"
        ) from None
    return number % len(BUTTONS), number < len(BUTTONS)
