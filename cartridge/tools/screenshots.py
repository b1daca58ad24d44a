#!/usr/bin/env python3
"""Make the pictures in media/ with PyBoy, twice the size of the screen.

usage: screenshots.py STATES    (a directory written by walkthrough.py)
"""

import os
import sys

from pyboy import PyBoy

HERE = os.path.dirname(os.path.abspath(__file__))
ROM = os.path.join(HERE, "..", "..", "python", "emurust", "data", "cartridge.gb")
MEDIA = os.path.join(HERE, "..", "media")


def main(states):
    machine = PyBoy(ROM, window="null", sound_emulated=False, cgb=False)
    machine.set_emulation_speed(0)

    def load(name):
        with open(os.path.join(states, name + ".state"), "rb") as f:
            machine.load_state(f)

    def press(*buttons):
        for button in buttons:
            machine.button_press(button)
            machine.tick(8, False)
            machine.button_release(button)
            machine.tick(16, False)

    def shot(name, frames=30):
        machine.tick(frames - 1, False)
        machine.tick(1, True)
        picture = machine.screen.image.convert("L").resize((320, 288), 0)
        picture.save(os.path.join(MEDIA, name + ".png"), optimize=True)

    os.makedirs(MEDIA, exist_ok=True)
    shot("title", 300)
    load("leader-2")  # out of the hall, to the lake
    press("down")
    machine.tick(60, False)
    press("right", "right", "right", "right", "up", "up", "down")
    shot("town", 60)
    load("leader-4")
    shot("hall")
    press("a")
    shot("talk")
    press("a", "a", "a", "a")
    shot("battle", 330)
    load("leader-3")
    press("start", "a", "a", "a")
    shot("kith", 60)


if __name__ == "__main__":
    main(sys.argv[1])
