"""Training steps per second on EmuRust and on PyBoy, alternated in one run.

    python bench/ppo_speed.py [--rounds 3] [--updates 2] [--machines 64]
                              [--pyboy fast|reference] [--chart docs/images/ppo_speed.png]

The same trainer (PufferLib's PPO), the same policy, hyperparameters, observation and number of
machines on both sides. PyBoy's environments run under PufferLib's Multiprocessing, one worker
for each core: `fast` is PokemonRedExperiments v2's environment with numpy and the packed
observation, `reference` the task in plain Python that EmuRust is verified against. EmuRust's run
in threads. An update plays 64 steps on each machine and learns from them; one warms up each
side, and medians over the rounds count. Minutes; options of `emurust train` can be added
(``--policy.hidden_size=256``). Needs ``pip install 'emurust[train]' pyboy==2.8.1``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from chart import headless_pyplot, save
from computer import computer
from gymnasium import spaces
from pool_peers import EVENTS, PyBoyEnv

from emurust.train.config import load_config
from emurust.train.libraries import import_torch

PARTS = {
    "environment": ("env",),
    "choosing actions": ("eval_forward", "eval_copy", "eval_misc"),
    "learning": ("train",),
}


LEVEL_OF_RED = np.digitize(np.arange(256), [85, 153, 255]).astype(np.uint8)
"""PyBoy's colours as two bits."""


class PackedPyBoyEnv(PyBoyEnv):
    """The environment on PyBoy with the packed observation as one record of bytes."""

    def __init__(self, max_steps: int) -> None:
        super().__init__(max_steps=max_steps)
        self.observation_space = spaces.Box(0, 255, (4744,), np.uint8)

    def _observation(self) -> Any:
        # At the offsets of docs/tasks.md.
        record = np.zeros(4744, np.uint8)
        red = self.pyboy.screen.ndarray[::2, ::2, 0]
        level = LEVEL_OF_RED[red]
        four = level[:, 0::4] << 6 | level[:, 1::4] << 4 | level[:, 2::4] << 2 | level[:, 3::4]
        self.packed = np.roll(self.packed, 1, axis=2) if self.steps else np.zeros((72, 20, 3), "u1")
        self.packed[:, :, 0] = four
        record[:4320] = self.packed.reshape(-1)
        memory = self.pyboy.memory
        levels = 0.02 * 2.0 ** np.arange(8) * sum(memory[0xD18C + 44 * k] for k in range(6))
        floats = np.array([self.last_health, *np.sin(levels)], np.float32)
        record[4320:4356] = floats.view(np.uint8)
        record[4356] = memory[0xD356]
        record[4357:4668] = memory[EVENTS]
        row, column = self._here()
        around = self.world[row - 12 : row + 12, column - 12 : column + 12] > 0
        record[4668:4740] = np.packbits(around, axis=1).reshape(-1)
        record[4740:4743] = self.recent
        return record


def make_packed(buf: Any = None, seed: Any = None, max_steps: int = 1024) -> Any:
    """For PufferLib's workers."""
    import pufferlib.emulation

    return pufferlib.emulation.GymnasiumPufferEnv(PackedPyBoyEnv(max_steps), buf=buf)


@dataclass
class Rate:
    """Of a side in a round."""

    steps_per_second: float
    seconds_per_step: dict[str, float]


class Log:
    """PufferLib's logger that logs nothing."""

    run_id = "bench"

    def log(self, values: Any, step: int) -> None:
        pass


def train(config: Any, machines: Any, updates: int) -> Rate:
    """Warms up for one update and times the next; ends the machines."""
    import torch

    from emurust.train.build import find_device, make_policy
    from emurust.train.trainer import Trainer

    torch.manual_seed(1)
    device = find_device(config["run"]["device"])
    policy = make_policy(config, machines).to(device)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, machines, policy, device, Path(folder), Log())
        trainer.print_dashboard = lambda *_, **__: None
        trainer.profile.frequency = 1
        try:
            trainer.evaluate()
            trainer.train()
            before = {name: trainer.profile.profiles[name]["elapsed"] for name in _names()}
            start, steps = time.perf_counter(), trainer.global_step
            for _ in range(updates):
                trainer.evaluate()
                trainer.train()
            if device.type == "cuda":
                torch.cuda.synchronize()
            seconds = time.perf_counter() - start
            steps = trainer.global_step - steps
        finally:
            trainer.stop()
    parts = {
        part: sum(trainer.profile.profiles[name]["elapsed"] - before[name] for name in names)
        for part, names in PARTS.items()
    }
    return Rate(steps / seconds, {part: spent / steps for part, spent in parts.items()})


def _names() -> list[str]:
    return [name for names in PARTS.values() for name in names]


def measure(config: Any, rounds: int, updates: int, kind: str) -> dict[str, list[Rate]]:
    """Each side in turn, round by round."""
    from emurust.train.machines import Machines
    from emurust.train.pyboy import PyBoyMachines

    agents = config["env"]["num_agents"]
    workers = min(os.cpu_count() or 1, agents)
    found: dict[str, list[Rate]] = {"PyBoy": [], "EmuRust": []}
    for number in range(rounds):
        if kind == "fast":
            pyboy: Any = PyBoyMachines(
                config,
                workers,
                make=make_packed,
                options={"max_steps": config["env"]["max_steps"]},
                envs_per_worker=agents // workers,
            )
        else:
            pyboy = PyBoyMachines(config, workers)
        found["PyBoy"].append(train(config, pyboy, updates))
        found["EmuRust"].append(train(config, Machines(config), updates))
        line = ", ".join(
            f"{name} {rates[-1].steps_per_second:,.0f}" for name, rates in found.items()
        )
        print(f"round {number + 1}: {line} steps/s", flush=True)
    return found


def median(rates: list[Rate]) -> Rate:
    """The medians."""
    return Rate(
        statistics.median(rate.steps_per_second for rate in rates),
        {part: statistics.median(rate.seconds_per_step[part] for rate in rates) for part in PARTS},
    )


def report(found: dict[str, list[Rate]]) -> None:
    """A table and the ratios."""
    print(f"\n{'medians':10}{'steps/s':>10}" + "".join(f"{part:>20}" for part in PARTS))
    medians = {name: median(rates) for name, rates in found.items()}
    for name, rate in medians.items():
        whole = sum(rate.seconds_per_step.values())
        shares = "".join(
            f"{f'{spent * 1e6:,.0f} us ({spent / whole:.0%})':>20}"
            for spent in rate.seconds_per_step.values()
        )
        print(f"{name:10}{rate.steps_per_second:10,.0f}{shares}")
    one, other = medians["EmuRust"], medians["PyBoy"]
    ratio = one.steps_per_second / other.steps_per_second
    alone = other.seconds_per_step["environment"] / one.seconds_per_step["environment"]
    print(f"\n{ratio:.1f} x end to end (aim: 6), {alone:.1f} x in the environment")


def draw(found: dict[str, list[Rate]], path: Path) -> None:
    """Time of a step by its parts."""
    pyplot = headless_pyplot()
    figure, axes = pyplot.subplots(figsize=(7, 2.4), dpi=120)
    left = dict.fromkeys(found, 0.0)
    for part, colour in zip(PARTS, ("#c03020", "#e0a030", "#4060a0"), strict=True):
        spent = {name: median(rates).seconds_per_step[part] * 1e6 for name, rates in found.items()}
        axes.barh(
            list(spent), list(spent.values()), left=list(left.values()), label=part, color=colour
        )
        left = {name: left[name] + spent[name] for name in found}
    axes.set_xlabel("microseconds of training per step (less is better)")
    axes.legend(fontsize=8)
    axes.set_title(f"PPO on EmuRust-Pokemon; {computer()}", fontsize=8)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=2, help="measured in a round")
    parser.add_argument("--machines", type=int, default=64)
    parser.add_argument("--pyboy", choices=("fast", "reference"), default="fast")
    parser.add_argument("--chart", type=Path)
    chosen, options = parser.parse_known_args()
    # The small policy: about 0.3 million parameters.
    small = ["--policy.cell_size=16", "--policy.other_size=32", "--train.update_epochs=1"]
    config = load_config(None, [*small, f"--env.num_agents={chosen.machines}", *options])
    print(computer())
    print(" ".join(["python", *sys.argv]))
    import_torch("this benchmark")
    from emurust.train.libraries import import_trainer

    import_trainer()
    found = measure(config, chosen.rounds, chosen.updates, chosen.pyboy)
    report(found)
    if chosen.chart is not None:
        draw(found, chosen.chart)


if __name__ == "__main__":
    main()
