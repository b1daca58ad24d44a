"""PyBoy's own tests, from its source distribution, on PyBoy and on the drop-in class.

They are fetched from the package index when the test runs, and are not in this
repository. The distribution has neither ROMs nor examples: what needs a ROM runs on
the shipped cartridge, or is skipped where the ROM is somebody else's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

RELEASE = "2.8.1"

FILES = [
    f"test_{name}.py"
    for name in [
        "2048",
        "breakpoints",
        "game_wrapper",
        "gameshark",
        "interaction",
        "mbc30",
        "memoryscanner",
        "memoryview",
        "palette_cycling",
        "replay",
        "rtc_lock",
        "rumble",
        "serial",
        "sound",
        "states",
        "utils",
    ]
]

#: Tests that PyBoy passes here and the drop-in does not, by the beginning of their names.
REASONS = {
    "test_breakpoints.py::test_debugprompt": "there is no debugger prompt",
    "test_interaction.py": "imports pyboy.core, PyBoy's inside",
    "test_mbc30.py": "imports pyboy.core, PyBoy's inside",
    "test_memoryview.py::test_boundaries": "writes to the boot ROM",
    "test_serial.py": "imports pyboy.core, PyBoy's inside",
    "test_sound.py::test_buffer_overrun": "needs sample rates other than 48000 Hz",
    "test_sound.py::test_wave_channel_sample_order": "needs a Game Boy Color",
    "test_states.py": "imports IntIOWrapper, PyBoy's inside",
}

FIXTURES = '''
import os
from pathlib import Path
import pytest

if os.environ["CLASS"] == "emurust":
    import emurust.pyboy
    emurust.pyboy.install()

GAME = os.environ["GAME"]

@pytest.fixture(scope="session")
def default_rom():
    return GAME

@pytest.fixture(scope="session")
def any_rom():
    return GAME

def _missing(name):
    @pytest.fixture(name=name, scope="session")
    def missing():
        pytest.skip("somebody else's ROM")
    globals()[name] = missing

for name in """any_rom_cgb benchmark boot_cgb_rom boot_rom default_rom_cgb gb2048_file kirby_rom
        mbc30_test_file pokemon_blue_rom pokemon_gold_rom pokemon_pinball_rom print_file
        supermarioland_rom tetris_rom""".split():
    _missing(name)
'''


@pytest.fixture(scope="module")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PyBoy's source distribution, unpacked; skips where it cannot be fetched."""
    directory = tmp_path_factory.mktemp("pyboy")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "pyboy"]
    process = subprocess.Popen(
        [*command, f"pyboy=={RELEASE}", "--dest", str(directory / "unused")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(directory)},
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        # After the download pip would compile all of PyBoy to learn its version.
        for line in process.stdout:
            if "Installing build dependencies" in line or "Preparing metadata" in line:
                break
        archives = list(directory.glob("pip-unpack-*/*.tar.gz"))
        if not archives:
            pytest.skip(f"the source distribution of PyBoy {RELEASE} cannot be fetched here")
        with tarfile.open(archives[0]) as archive:
            archive.extractall(directory)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    return directory / f"pyboy-{RELEASE}"


def passed(distribution: Path, which: str, game: Path) -> set[str]:
    """The tests that pass on PyBoy or on the drop-in."""
    # Away from the distribution, whose `pyboy` would be imported.
    tests = game.parent / which
    tests.mkdir()
    for name in FILES:
        (tests / name).write_bytes((distribution / "tests" / name).read_bytes())
    (tests / "conftest.py").write_text(FIXTURES)
    options = ["-q", "-rA", "--tb=no", "-W", "ignore", "-c", os.devnull, "-p", "no:cacheprovider"]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--continue-on-collection-errors", "."],
        check=False,
        capture_output=True,
        text=True,
        cwd=tests,
        env={**os.environ, "CLASS": which, "GAME": str(game), "PYTEST_ADDOPTS": ""},
    )
    lines = result.stdout.splitlines()
    return {line.removeprefix("PASSED ") for line in lines if line.startswith("PASSED ")}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="ends pip by its process group")
def test_what_pyboy_passes_we_pass(distribution: Path, game_file: Path) -> None:
    theirs = passed(distribution, "pyboy", game_file)
    ours = passed(distribution, "emurust", game_file)
    assert len(theirs) > 50
    lost = theirs - ours
    unexplained = sorted(name for name in lost if not name.startswith(tuple(REASONS)))
    assert unexplained == []
    idle = [reason for reason in REASONS if not any(name.startswith(reason) for name in lost)]
    assert idle == [], "these reasons explain nothing any more"
    print(f"\nof PyBoy's own tests {len(theirs)} pass on PyBoy and {len(theirs & ours)} here")
    for reason, why in REASONS.items():
        count = sum(name.startswith(reason) for name in lost)
        print(f"{count:4} {reason}: {why}")
