"""``emurust verify``: convince yourself, with your own cartridge."""

from __future__ import annotations

import argparse
import multiprocessing
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from emurust.cli.progress import Progress
from emurust.errors import ArgumentError
from emurust.rom import load_rom
from emurust.verify import backends
from emurust.verify.images import as_text, write_comparison
from emurust.verify.inputs import read_buttons
from emurust.verify.levels import Job, Verdict, generated_jobs, run_job
from emurust.verify.pyboy_layout import SUPPORTED_PYBOY

_LEFT, _RIGHT = "PyBoy", "EmuRust"

_DESCRIPTION = f"""\
Runs a cartridge on EmuRust and on PyBoy {SUPPORTED_PYBOY} with the same buttons and compares
the two machines after every frame: registers, cycle counter, all RAM, the state of timer,
LCD, interrupts, DMA, joypad and cartridge, and every pixel drawn. On a difference it looks
for the first differing instruction and prints both machines side by side.
"""

_EPILOG = """\
levels:
  1    single instructions from random states, and the memory map (generated programs)
  2    interrupts, timers, DMA, LCD and sound against each other (generated programs)
  3    the given cartridge, played with random buttons (the default)
  all  these three
  4    a policy: ROM is a checkpoint of 'emurust train', or a training's folder; the policy plays
       whole episodes, greedily and by sampling, on EmuRust and on the reference environment in
       Python on PyBoy, which must agree after each step

exit status: 0 equal, 1 a difference or an error, 2 wrong usage
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="emurust verify",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("rom", nargs="?", help="the cartridge; the shipped one by default")
    add("--frames", type=int, default=3600, help="frames at level 3 (%(default)s, one minute)")
    add("--seed", type=int, default=0, help="of buttons and generated programs (%(default)s)")
    add("--level", choices=("1", "2", "3", "4", "all"), default="3", help="see below (%(default)s)")
    add("--episodes", type=int, default=2, help="at level 4, of each kind (%(default)s)")
    add("--steps", type=int, help="of an episode at level 4, instead of the training's")
    add("--programs", type=int, default=20, help="generated programs per kind (%(default)s)")
    add("--sound", action="store_true", help="emulate sound on both sides")
    add(
        "--boot",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="start at power-on with PyBoy's boot program, or where it hands over",
    )
    add("--buttons", type=Path, metavar="FILE", help="play these buttons, not random ones")
    add(
        "--render",
        choices=("every", "none", "mixed"),
        default="mixed",
        help="which frames are drawn and compared as pictures (%(default)s)",
    )
    add("--images", type=Path, metavar="DIR", help="write differing frames there as PNG")
    add("--ascii", action="store_true", help="also print differing frames as text")
    add("--jobs", type=int, default=1, help="processes for levels 1 and 2 (%(default)s)")
    return parser


def main(argv: Sequence[str]) -> int:
    """Compares EmuRust with PyBoy.

    Args:
        argv: the arguments after ``verify``.

    Returns:
        0 when everything was equal, 1 after a difference.

    Raises:
        ReferenceMissingError: PyBoy is not installed.
        EmuRustError: the cartridge or an option is wrong.
    """
    options = _parser().parse_args(argv)
    least_values = {"frames": 1, "programs": 1, "jobs": 1, "seed": 0, "episodes": 1, "steps": 1}
    for name, least in least_values.items():
        value = getattr(options, name)
        if value is not None and value < least:
            raise ArgumentError(f"--{name} must be {least} or more, not {value}")
    _check_reference()
    if options.level == "4":
        return 0 if _run_policy(options) else 1
    base = Job("", b"", 0, sound=options.sound, boot=options.boot, render=options.render)
    equal = True
    for level in (1, 2):
        if options.level in (str(level), "all"):
            equal &= _run_programs(level, base, options)
    if options.level in ("3", "all"):
        equal &= _run_cartridge(options)
    return 0 if equal else 1


def _check_reference() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        backends.warn_about_version()
    for warning in caught:
        print(f"warning: {warning.message}")


def _run_programs(level: int, base: Job, options: argparse.Namespace) -> bool:
    seeds = range(options.seed, options.seed + options.programs)
    jobs = list(generated_jobs(level, seeds, base))
    started = time.perf_counter()
    frames = 0
    different: list[Verdict] = []
    with Progress(len(jobs), "programs") as progress:
        for done, verdict in enumerate(_verdicts(jobs, options.jobs), start=1):
            frames += verdict.outcome.steps
            if not verdict.equal:
                different.append(verdict)
            progress.update(done)
    for verdict in different:
        _report(verdict, options)
    word = "EQUAL" if not different else f"DIFFERENT in {len(different)}"
    print(
        f"level {level}: {word}: {len(jobs)} programs, {frames:,} frames, "
        f"{time.perf_counter() - started:.1f} s"
    )
    return not different


def _verdicts(jobs: Sequence[Job], processes: int) -> Iterator[Verdict]:
    if processes == 1:
        yield from map(run_job, jobs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        results: Iterable[Verdict] = pool.map(run_job, jobs)
        yield from results


def _run_cartridge(options: argparse.Namespace) -> bool:
    rom = load_rom(options.rom)
    name = str(options.rom) if options.rom is not None else "the shipped cartridge"
    job = Job(
        name,
        rom.image(),
        options.frames,
        seed=options.seed,
        sound=options.sound,
        boot=options.boot,
        render=options.render,
        buttons=(
            read_buttons(options.buttons, options.frames)
            if options.buttons is not None
            else "random"
        ),
        bus_every=300,
    )
    total = job.plan().frames
    with Progress(total, "frames") as progress:
        verdict = run_job(job, progress=progress.update)
    outcome = verdict.outcome
    if not verdict.equal:
        _report(verdict, options)
    word = "EQUAL" if verdict.equal else "DIFFERENT"
    if outcome.locked:
        print(
            f"frame {outcome.steps} executes an illegal opcode: EmuRust locks the CPU, PyBoy would "
            "not return; compared up to there"
        )
    print(
        f"level 3: {word}: {name}, {outcome.steps:,} equal frames, {len(outcome.compared)} "
        f"fields each, sound {'on' if job.sound else 'off'}, {outcome.seconds:.1f} s"
    )
    return verdict.equal


def _run_policy(options: argparse.Namespace) -> bool:
    if options.rom is None:
        raise ArgumentError("level 4 needs a checkpoint of 'emurust train', or a training's folder")
    from emurust.train.libraries import import_torch

    import_torch("level 4")
    from emurust.train.checkpoint import latest_checkpoint, read_checkpoint
    from emurust.verify.transfer import transfer

    path = latest_checkpoint(Path(options.rom))
    checkpoint = read_checkpoint(path)
    longest = options.steps or checkpoint.config["env"]["max_steps"]
    equal = True
    for greedy in (True, False):
        started = time.perf_counter()
        # Greedily, nothing but the start is drawn: more episodes would be the same one.
        episodes = 1 if greedy else options.episodes
        with Progress(longest * episodes, "steps") as progress:
            found = transfer(
                checkpoint,
                greedy=greedy,
                episodes=episodes,
                seed=options.seed,
                max_steps=options.steps,
                path=path,
                progress=progress.update,
            )
        comparison = found.comparison
        equal &= comparison.equal
        if comparison.difference is not None:
            print(f"{_LEFT} and {found.side} part, {found.mode}: {comparison.difference}")
            print(f"actions of that episode: {list(comparison.actions)}")
        returns = ", ".join(f"{one:.6g}" for one in comparison.returns)
        print(
            f"level 4, {found.mode}: {'EQUAL' if comparison.equal else 'DIFFERENT'}: {path}, "
            f"{comparison.steps:,} equal steps in {comparison.episodes} whole episodes"
            f"{f' (returns {returns})' if returns else ''}, {_LEFT} against "
            f"{' and '.join(found.sides)}, {time.perf_counter() - started:.1f} s"
        )
    return equal


def _report(verdict: Verdict, options: argparse.Namespace) -> None:
    divergence = verdict.outcome.divergence
    if divergence is None:
        return
    print()
    print(verdict.explain(_LEFT, _RIGHT))
    left, right = divergence.left_screen, divergence.right_screen
    if options.ascii:
        for name, screen in ((_LEFT, left), (_RIGHT, right)):
            print(f"{name}'s picture:\n{as_text(screen)}")
    if options.images is not None:
        options.images.mkdir(parents=True, exist_ok=True)
        safe = "".join(c if c.isalnum() else "-" for c in Path(verdict.job.name).name)
        path = options.images / f"{safe}-frame{divergence.step}.png"
        write_comparison(path, left, right)
        print(f"pictures ({_LEFT}, {_RIGHT}, differing pixels): {path}")
    print()
