"""The command ``emurust``: one module per subcommand, imported when it is used."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence

from emurust import __version__
from emurust.errors import EmuRustError

__all__ = ["main"]

COMMANDS: dict[str, tuple[str, str]] = {
    "info": ("emurust.cli.info", "what a ROM's header says, and whether it is right"),
    "run": ("emurust.cli.run", "run a ROM without a window; pictures out"),
    "play": ("emurust.cli.play", "play a ROM in a window"),
    "watch": ("emurust.cli.watch", "a policy or a recording playing, in a window or a film"),
    "heatmap": ("emurust.cli.heatmap", "where a run has been, as a picture"),
    "verify": ("emurust.verify.cli", "compare with PyBoy, frame by frame"),
    "ram": ("emurust.tasks.ram_search", "find where a game keeps a number"),
    "convert-state": ("emurust.cli.convert_state", "saved states of PyBoy, old and new, and ours"),
    "train": ("emurust.train.cli", "train a policy on EmuRust-Pokemon"),
    "evaluate": ("emurust.train.evaluate_cli", "how good a trained policy is"),
    "bench": ("emurust.cli.bench", "frames per second here, and PyBoy's"),
}
"""Each command's module, whose ``main(argv) -> int`` does the work, and its help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs ``emurust``.

    Args:
        argv: the arguments, without the program's name; by default the process's.

    Returns:
        The exit status: 0 well, 1 an error that was reported, 2 wrong usage, 130 Ctrl-C.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="emurust",
        description="An exact and fast Game Boy.",
        epilog="commands:\n"
        + "\n".join(f"  {name:15}{help_text}" for name, (_, help_text) in COMMANDS.items())
        + "\n\n'emurust COMMAND --help' tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"emurust {__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="command", help="see below")
    # The command's own arguments are its module's business.
    options = parser.parse_args(arguments[:1])
    command: Callable[[Sequence[str]], int | None]
    try:
        command = importlib.import_module(COMMANDS[options.command][0]).main
        return command(arguments[1:]) or 0
    except EmuRustError as error:
        print(f"emurust: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("emurust: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        sys.stderr.close()
        return 0
