"""``emurust evaluate``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from emurust.cli.progress import Progress
from emurust.errors import ArgumentError
from emurust.train.libraries import import_torch

__all__ = ["main"]

_FILMS = (".gif", ".mp4")


def main(argv: Sequence[str]) -> int:
    """Plays episodes with a trained policy and reports returns with confidence intervals.

    Args:
        argv: the arguments after ``evaluate``.

    Raises:
        CheckpointError: there is no such checkpoint, or it does not fit.
        EmuRustError: an option is wrong.
    """
    parser = argparse.ArgumentParser(
        prog="emurust evaluate",
        description="Plays episodes with the policy of a checkpoint, or with the newest in a "
        "training's folder, on the task that it was trained on, and reports what they came to.",
    )
    add = parser.add_argument
    add("checkpoint", type=Path, metavar="CHECKPOINT", help="a checkpoint or a training's folder")
    add("--episodes", type=int, default=64, help="how many (%(default)s)")
    add("--seed", type=int, default=1, help="of machines and choices (%(default)s)")
    add("--greedy", action="store_true", help="always take the likeliest action")
    add("--random", action="store_true", help="also random actions, for comparison")
    add("--max-steps", type=int, help="of an episode, instead of the training's")
    add("--device", default="cpu", help="cpu, cuda or auto (%(default)s)")
    add(
        "--record",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="the best episode: a film if it ends in .gif or .mp4, else a recording for "
        "'emurust watch'; can be given twice",
    )
    options = parser.parse_args(argv)
    for name, least in (("episodes", 1), ("seed", 0)):
        if getattr(options, name) < least:
            raise ArgumentError(f"--{name} must be {least} or more, not {getattr(options, name)}")
    if options.max_steps is not None and options.max_steps < 1:
        raise ArgumentError(f"--max-steps must be 1 or more, not {options.max_steps}")
    for path in options.record:
        if not path.absolute().parent.is_dir():
            raise ArgumentError(f"--record {path}: there is no such folder")
    import_torch("emurust evaluate")
    from emurust.train.build import find_device
    from emurust.train.checkpoint import latest_checkpoint, read_checkpoint
    from emurust.train.evaluate import evaluate, evaluate_random

    device = find_device(options.device)
    path = latest_checkpoint(options.checkpoint)
    checkpoint = read_checkpoint(path)
    if options.max_steps is not None:
        checkpoint.config["env"]["max_steps"] = options.max_steps
    print(f"{path}: update {checkpoint.update}, {checkpoint.steps:,} steps")
    with Progress(options.episodes, "episodes") as progress:
        found = evaluate(
            checkpoint,
            episodes=options.episodes,
            greedy=options.greedy,
            seed=options.seed,
            device=device,
            path=path,
            progress=progress.update,
        )
    print("\n".join(found.lines()))
    if options.greedy and len({one.actions.tobytes() for one in found.episodes}) == 1:
        print("(greedily, all episodes are the same one: nothing in the task is random)")
    if options.random:
        with Progress(options.episodes, "episodes") as progress:
            beside = evaluate_random(
                checkpoint.config,
                episodes=options.episodes,
                seed=options.seed,
                progress=progress.update,
            )
        print("random actions: " + "\n".join(beside.lines()))
    best = max(found.episodes, key=lambda one: one.info["episode_return"])
    if options.record:
        from emurust.train.pictures import film_episode

        for path in options.record:
            is_film = path.suffix.lower() in _FILMS
            film_episode(
                checkpoint.config,
                best,
                path if is_film else None,
                None if is_film else path,
            )
            print(path)
    return 0
