"""It learns: from a new game to the first badge on the shipped cartridge, from a seed.

    python bench/first_badge.py [--minutes 20] [--seed 1] [--directory runs/first-badge]
                                [--chart docs/images/learning.png]

Two lessons with `emurust train`: the default options, which reward the badge most, for 40 % of
the time; then, beginning with that policy, the same with new places worth more. 64 episodes with
the result and 64 with random actions are played, and both learning curve and random agent drawn.
An episode has 1,024 actions. Run again on the same folder, it only plays and draws. Options of
`emurust train` can be added. Needs ``pip install 'emurust[train]'``.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path

import numpy as np
from chart import headless_pyplot, save
from computer import computer

from emurust.cli import main as emurust
from emurust.train.libraries import import_torch

WINDOW = 64
"""Episodes that a point of the curve is the mean of."""


LESSONS: dict[str, tuple[float, list[str]]] = {
    "1-badge": (0.4, []),
    "2-places": (0.6, ["--env.reward_weights.explore=0.4", "--train.ent_coef=0.01"]),
}
"""By name: share of the time, and options."""


def walkable_places() -> int:
    """Cells of all maps of the shipped cartridge that can be walked on."""
    from emurust import shipped_cartridge

    path = shipped_cartridge().with_name("cartridge_maps.json")
    maps = json.loads(path.read_text("utf-8"))["maps"]
    return sum(cell in "1v" for one in maps for row in one["walkable"] for cell in row)


def learn(folder: Path, minutes: float, seed: int, options: list[str]) -> None:
    """Trains, lesson by lesson."""
    before = ""
    for name, (share, own) in LESSONS.items():
        arguments = [
            f"--run.directory={folder / name}",
            f"--run.minutes={minutes * share}",
            f"--run.seed={seed}",
            # Sums come out the same on any number of cores, and it is as fast.
            "--run.threads=1",
            f"--run.start_from={before}",
            "--run.device=cpu",
            *own,
            *options,
        ]
        if status := emurust(["train", *arguments]):
            raise SystemExit(status)
        before = str(folder / name)


def curve(folder: Path) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Minutes, and means over the last episodes by then."""
    minutes: list[float] = []
    badge: list[float] = []
    places: list[float] = []
    for name in LESSONS:
        passed = minutes[-1] if minutes else 0.0
        with (folder / name / "episodes.csv").open(newline="") as table:
            for row in csv.DictReader(table):
                if int(float(row["episode_length"])) == 1024:
                    minutes.append(passed + float(row["seconds"]) / 60)
                    badge.append(float(float(row["badges"]) >= 1))
                    places.append(float(row["places"]))
    kernel = np.ones(WINDOW) / WINDOW
    means = {
        "first badge": np.convolve(badge, kernel, "valid"),
        "places": np.convolve(places, kernel, "valid"),
    }
    return np.array(minutes[WINDOW - 1 :]), means


def draw(folder: Path, random: dict[str, float], path: Path, title: str) -> None:
    """The learning curve beside the random agent."""
    pyplot = headless_pyplot()
    minutes, means = curve(folder)
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), dpi=120)
    for axis, name, label in (
        (axes[0], "first badge", "episodes that win the first badge (%)"),
        (axes[1], "places", "places seen in an episode"),
    ):
        scale = 100 if name == "first badge" else 1
        axis.plot(minutes, means[name] * scale, label="PPO", color="#c03020")
        axis.axhline(random[name] * scale, ls="--", color="#555555", label="random agent")
        axis.set_xlabel("minutes of training")
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.25)
        axis.legend(fontsize=8)
    figure.suptitle(title, fontsize=9)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path, default=Path("runs/first-badge"))
    parser.add_argument("--chart", type=Path)
    chosen, options = parser.parse_known_args()
    print(computer())
    print(" ".join(["python", *sys.argv]))
    import_torch("this benchmark")
    from emurust.train.checkpoint import latest_checkpoint, read_checkpoint
    from emurust.train.evaluate import evaluate, evaluate_random

    last = chosen.directory / list(LESSONS)[-1]
    if not any(last.glob("checkpoints/*")):
        learn(chosen.directory, chosen.minutes, chosen.seed, options)
    checkpoint = read_checkpoint(latest_checkpoint(last))
    trained = evaluate(checkpoint, seed=12345)
    random = evaluate_random(checkpoint.config, seed=12345)
    walkable = walkable_places()
    print(f"\nafter the lessons {' and '.join(LESSONS)}:")
    for name, found in (("trained", trained), ("random", random)):
        assert found.first_badge is not None
        share, low, high = found.first_badge
        places, least, most = found.means["places"]
        print(
            f"  {name:8} first badge {share:4.0%} [{low:.0%}, {high:.0%}]   "
            f"places {places:5.1f} [{least:.1f}, {most:.1f}] of {walkable}"
        )
    times = trained.means["places"][0] / random.means["places"][0]
    print(f"  places: {times:.1f} x the random agent's")
    if chosen.chart is not None:
        assert random.first_badge is not None
        draw(
            chosen.directory,
            {"first badge": random.first_badge[0], "places": random.means["places"][0]},
            chosen.chart,
            f"From a new game, episodes of 1,024 actions; means of {WINDOW} episodes\n{computer()}",
        )


if __name__ == "__main__":
    main()
