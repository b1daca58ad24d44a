"""``emurust train``."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Sequence
from pathlib import Path

from emurust.errors import ArgumentError
from emurust.train.config import DEFAULTS, load_config
from emurust.train.libraries import import_torch

__all__ = ["main"]

_DESCRIPTION = """\
Trains a policy on EmuRust-Pokemon with PufferLib's PPO.

CONFIG is a TOML file with what differs from the defaults, which --options prints. Every
option can be given as --section.key VALUE, too:

  emurust train --run.directory runs/first --run.minutes 20 --env.num_agents 32
"""

_EPILOG = """\
The folder run.directory gets checkpoints/, episodes.csv, TensorBoard files, places.png (where
the agents have been), best.gif and best.recording (the best episode). Ctrl-C and SIGTERM leave
a checkpoint, from which --resume goes on exactly. docs/training.md tells more.

exit status: 0 trained, 1 an error, 2 wrong usage, 130 Ctrl-C, 143 SIGTERM
"""


def main(argv: Sequence[str]) -> int:
    """Trains.

    Args:
        argv: the arguments after ``train``.

    Returns:
        0, or 128 and the number of the signal that stopped it.

    Raises:
        EmuRustError: something is wrong; before any time is spent.
    """
    parser = argparse.ArgumentParser(
        prog="emurust train",
        usage="emurust train [CONFIG] [--resume FOLDER] [--options] [--section.key VALUE ...]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--resume", type=Path, metavar="FOLDER", help="go on with the training in this folder"
    )
    parser.add_argument(
        "--options", action="store_true", help="print all options with their defaults"
    )
    arguments = list(argv)
    # Only the first word can be the file: later ones are values of options.
    first = Path(arguments.pop(0)) if arguments and arguments[0][:1] != "-" else None
    own, rest = parser.parse_known_args(arguments)
    if own.options:
        print(DEFAULTS.read_text("utf-8"), end="")
        return 0
    if own.resume is not None and first is not None:
        raise ArgumentError(
            "--resume takes the options of the training that it goes on with; change some of "
            "them with --section.key VALUE, not with a file"
        )
    if own.resume is None:
        config = load_config(first, rest)
    import_torch("emurust train")
    from emurust.train import run

    checkpoint = None
    if own.resume is not None:
        config, checkpoint, _ = run.resume_config(own.resume, rest)
    outcome = run.train(config, checkpoint)
    print(f"emurust: {run.summary(outcome, config['run']['directory'])}")
    if outcome.signal in (signal.SIGINT, signal.SIGTERM):
        return 128 + int(outcome.signal)
    return 0
