#!/usr/bin/env python3
"""Play the shipped cartridge to its milestones on EmuRust and save start states.

usage: start_states.py [DIR]

Writes new-game, first-town and leader-1 to leader-8 (the hero stands before each warden)
into python/emurust/data/states by default. To be run whenever the ROM or the format of
states changes; tests/test_start_states.py says so.
"""

import json
import sys
from pathlib import Path

from walkthrough import DATA, Walkthrough

import emurust

NAMES = ["new-game", "first-town", *(f"leader-{number}" for number in range(1, 9))]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(DATA) / "states"
    folder.mkdir(parents=True, exist_ok=True)
    maps = json.loads((Path(DATA) / "cartridge_maps.json").read_text())

    def save(name: str, machine: emurust.GameBoy) -> None:
        if name in NAMES:
            (folder / f"{name}.state").write_bytes(machine.get_state())
            print(f"{name}: frame {machine.frame_count}", flush=True)

    with emurust.GameBoy(Path(DATA) / "cartridge.gb", ram_file=None) as machine:
        game = Walkthrough(machine, maps, save)
        game.until = NAMES[-1]
        game.play()


if __name__ == "__main__":
    main()
