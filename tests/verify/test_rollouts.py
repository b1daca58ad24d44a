"""Every test ROM, played on both machines and compared after every frame."""

from __future__ import annotations

import multiprocessing
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from emurust.verify.levels import Job, Verdict, run_job
from emurust.verify.testroms import result

LONG = os.environ.get("EMURUST_VERIFY_LONG", "") not in ("", "0")
FRAMES = 20_000 if LONG else 1_200

ROMS = Path(os.environ.get("EMURUST_TEST_ROMS", Path(__file__).parents[3] / "shared" / "roms"))

pytestmark = pytest.mark.skipif(
    not ROMS.is_dir(),
    reason=f"no test ROMs at {ROMS}; EMURUST_TEST_ROMS names their directory",
)


@dataclass(frozen=True)
class Rollout:
    """One ROM and how it is played."""

    path: Path
    sound: bool
    buttons: str

    @property
    def id(self) -> str:
        return f"{self.path.relative_to(ROMS)}-{'sound' if self.sound else 'silent'}"

    def job(self) -> Job:
        return Job(
            self.path.name,
            self.path.read_bytes(),
            FRAMES,
            seed=zlib.crc32(self.id.encode()) & 0xFFFF,
            sound=self.sound,
            buttons=self.buttons,
            bus_every=97 if self.sound else 389,
        )


def roms_below(folder: str) -> list[Path]:
    return sorted(path for path in (ROMS / folder).rglob("*.gb*") if path.suffix != ".gbr")


HOMEBREW = [
    Rollout(path, sound, "random") for path in roms_below("homebrew") for sound in (False, True)
]
TEST_ROMS = [
    # Sound on for every other ROM, and for all that test sound.
    Rollout(path, sound="sound" in path.name or index % 2 == 0, buttons="none")
    for index, path in enumerate(roms_below("test"))
] + [
    Rollout(path, sound=False, buttons="none")
    for path in roms_below("test")
    if "sound" in path.name
]


@pytest.fixture(scope="module")
def verdicts(request: pytest.FixtureRequest) -> Iterator[Mapping[Rollout, Future[Verdict]]]:
    """The verdicts of all rollouts that this session collected, worked out in parallel."""
    wanted = [
        item.callspec.params["rollout"]
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and hasattr(item, "callspec")
        and isinstance(item.callspec.params.get("rollout"), Rollout)
    ]
    processes = 1 if os.environ.get("PYTEST_XDIST_WORKER") else min(8, os.cpu_count() or 1)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        yield {rollout: pool.submit(run_job, rollout.job()) for rollout in wanted}
        pool.shutdown(cancel_futures=True)


def check(verdict: Verdict) -> None:
    assert verdict.equal, verdict.explain()
    assert verdict.outcome.steps == verdict.job.plan().frames >= 1_200


@pytest.mark.parametrize("rollout", HOMEBREW, ids=lambda rollout: rollout.id)
def test_homebrew(rollout: Rollout, verdicts: Mapping[Rollout, Future[Verdict]]) -> None:
    check(verdicts[rollout].result())


@pytest.mark.parametrize("rollout", TEST_ROMS, ids=lambda rollout: rollout.id)
def test_test_rom(
    rollout: Rollout,
    verdicts: Mapping[Rollout, Future[Verdict]],
    record_property: pytest.RecordProperty,
) -> None:
    """Equal in everything, which includes that both pass or both fail."""
    verdict = verdicts[rollout].result()
    check(verdict)
    on_pyboy, on_emurust = result(verdict.outcome.left), result(verdict.outcome.right)
    assert on_pyboy == on_emurust
    record_property("result", on_emurust)


def test_every_rom_is_played() -> None:
    played = {rollout.path for rollout in HOMEBREW + TEST_ROMS}
    images = {
        path
        for folder in ("homebrew", "test")
        for path in (ROMS / folder).rglob("*")
        if path.suffix in (".gb", ".gbc")
    }
    assert images
    assert played == images


def test_which_test_roms_pass(
    verdicts: Mapping[Rollout, Future[Verdict]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Prints them (PyBoy is no perfect Game Boy either); some must, or reading is broken."""
    results = {
        rollout.id: result(future.result().outcome.right)
        for rollout, future in verdicts.items()
        if rollout.buttons == "none" and future.result().equal
    }
    if not results:
        pytest.skip("no test ROM was selected in this run")
    counts = Counter(results.values())
    with capsys.disabled():
        print("\ntest ROMs on EmuRust (and, equally, on PyBoy):", dict(counts))
        for name, outcome in sorted(results.items()):
            if outcome != "unknown":
                print(f"  {outcome:8}{name}")
    assert counts["passed"] > 0
