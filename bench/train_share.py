"""The environment's share of training time, by the size of the policy.

    python bench/train_share.py [--sizes 0.3 1 5 20 50 200] [--steps 2048]
                                [--chart docs/images/train_share.png]

For each size (millions of parameters), one update of PufferLib's PPO warms up and another is
measured: playing on all machines, and learning from it. Sizes above 10 million play fewer steps,
as each takes long; shares are of the time of a step. On whatever PyTorch has: ``--run.device
cuda`` or cpu, and other options of `emurust train`. Needs ``pip install 'emurust[train]'``.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from pathlib import Path

from chart import headless_pyplot, save
from computer import computer
from ppo_speed import PARTS, Rate, train

from emurust.train.config import load_config
from emurust.train.libraries import import_torch


def options_for(millions: float) -> list[str]:
    """Options of a policy of about that size."""
    hidden = 128
    cell, other = (16, 32) if millions < 0.5 else (24, 64)
    while millions >= 0.5 and hidden < 4096 and hidden * hidden * 4 < millions * 1e6:
        hidden *= 2
    rest = 3100 * other + (90 * cell + other) * hidden
    layers = max(0, round((millions * 1e6 - rest) / hidden**2))
    return [
        f"--policy.hidden_size={hidden}",
        f"--policy.cell_size={cell}",
        f"--policy.other_size={other}",
        f"--policy.layers={layers}",
        "--train.update_epochs=1",
    ]


def measure(millions: float, steps: int, options: list[str]) -> tuple[int, Rate]:
    """Parameters, and what an update takes."""
    from emurust.train.build import make_policy
    from emurust.train.machines import Machines

    horizon = max(8, steps // 64) if millions <= 10 else 8
    config = load_config(
        None,
        [
            *options_for(millions),
            f"--train.bptt_horizon={horizon}",
            f"--train.minibatch_size={64 * horizon if horizon < 32 else 16 * horizon}",
            *options,
        ],
    )
    machines = Machines(config)
    parameters = sum(one.numel() for one in make_policy(config, machines).parameters())
    return parameters, train(config, machines, 1)


def crossing(found: list[tuple[int, float]], share: float) -> float | None:
    """The size at which the environment's share falls to `share`, between measured ones."""
    for (small, high), (large, low) in itertools.pairwise(found):
        if high >= share > low:
            part = math.log(high / share) / math.log(high / low)
            return small * (large / small) ** part
    return None


def draw(found: list[tuple[int, float]], path: Path, where: str) -> None:
    """Share against parameters."""
    pyplot = headless_pyplot()
    figure, axes = pyplot.subplots(figsize=(6.5, 3.8), dpi=120)
    axes.plot(
        [size for size, _ in found], [100 * share for _, share in found], "o-", color="#c03020"
    )
    for share in (10, 4):
        axes.axhline(share, ls="--", color="#555555", lw=0.8)
        axes.text(found[0][0], share * 1.06, f"{share} %", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("parameters of the policy")
    axes.set_ylabel("environment's share of training time (%)")
    axes.set_title(where, fontsize=8)
    axes.grid(which="both", alpha=0.25)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=float, nargs="+", default=[0.3, 1, 5, 20, 50, 200])
    parser.add_argument("--steps", type=int, default=2048, help="of an update up to 10 million")
    parser.add_argument("--chart", type=Path)
    chosen, options = parser.parse_known_args()
    torch = import_torch("this benchmark")
    from emurust.train.build import find_device

    device = find_device(load_config(None, options)["run"]["device"])
    where = computer()
    if device.type == "cuda":
        where += f", {torch.cuda.get_device_name(device)}"
    print(where)
    print(" ".join(["python", *sys.argv]))
    print(f"{'parameters':>14}{'steps/s':>10}" + "".join(f"{part:>18}" for part in PARTS))
    found = []
    for millions in chosen.sizes:
        parameters, rate = measure(millions, chosen.steps, options)
        whole = sum(rate.seconds_per_step.values())
        shares = {part: spent / whole for part, spent in rate.seconds_per_step.items()}
        found.append((parameters, shares["environment"]))
        print(
            f"{parameters:14,}{rate.steps_per_second:10,.0f}"
            + "".join(f"{share:18.1%}" for share in shares.values()),
            flush=True,
        )
    size = crossing(found, 0.1)
    if size is not None:
        print(f"the environment's share falls below 10% at {size / 1e6:.1f} million parameters")
    print(f"at {found[-1][0] / 1e6:.0f} million it is {found[-1][1]:.1%}")
    if chosen.chart is not None:
        draw(found, chosen.chart, where)


if __name__ == "__main__":
    main()
