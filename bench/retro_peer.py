"""stable-retro as a peer of the pool: the shipped cartridge as one of its custom games.

stable-retro takes a ROM from a folder with some files beside it, which are written here. It runs
one emulator in a process (the core is Gambatte), so that many need Gymnasium's AsyncVectorEnv.
What is measured is stable-retro by itself: buttons, frames and the picture of the last one at full
size, no features and no reward.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pool_peers import intro_presses

from emurust import shipped_cartridge
from emurust.envs import intro

GAME = "Kithwild-GameBoy"
ACTIONS = ("DOWN", "LEFT", "RIGHT", "UP", "A", "B", "START")
HOLD, FRAMES = 8, 24

_intro: list[bytes] = []
"""Its state, once it was played: processes that are forked later have it."""


class RetroEnv(gymnasium.Env[Any, Any]):
    """One stable-retro machine that takes the actions of `EmuRust-Pokemon`."""

    def __init__(self) -> None:
        import stable_retro as retro

        self._folder = tempfile.mkdtemp(prefix="emurust-retro-")
        game = Path(self._folder) / GAME
        game.mkdir()
        rom = shipped_cartridge().read_bytes()
        (game / "rom.gb").write_bytes(rom)
        (game / "rom.sha").write_text(hashlib.sha1(rom).hexdigest())
        (game / "data.json").write_text(json.dumps({"info": {}}))
        for name in ("scenario.json", "metadata.json"):
            (game / name).write_text("{}")
        retro.data.Integrations.add_custom_path(self._folder)
        self._retro = retro.make(
            GAME,
            state=retro.State.NONE,
            inttype=retro.data.Integrations.CUSTOM_ONLY,
            use_restricted_actions=retro.Actions.ALL,
            render_mode="rgb_array",
        )
        self._masks = {
            name: np.array([button == name for button in self._retro.buttons], np.uint8)
            for name in (*ACTIONS, "none")
        }
        self.observation_space = spaces.Box(0, 255, (144, 160, 3), np.uint8)
        self.action_space = spaces.Discrete(len(ACTIONS))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._retro.reset()
        if _intro:
            self._retro.em.set_state(_intro[0])
            self._press("none", 1)
        else:
            for press in range(intro_presses()):
                self._press(intro.intro_button(press).upper(), intro.HOLD_FRAMES)
                self._press("none", intro.WAIT_FRAMES)
            _intro.append(self._retro.em.get_state())
        return self._retro.em.get_screen(), {}

    def step(self, action: int) -> Any:
        self._press(ACTIONS[int(action)], HOLD)
        self._press("none", FRAMES - HOLD)
        return self._retro.em.get_screen(), 0.0, False, False, {}

    def close(self) -> None:
        self._retro.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _press(self, button: str, frames: int) -> None:
        emulator = self._retro.em
        emulator.set_button_mask(self._masks[button], 0)
        for _ in range(frames):
            emulator.step()
