"""Training with PufferLib's trainer: `pytest -m train`, where PyTorch and PufferLib are."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = [
    pytest.mark.train,
    # PyTorch's, where standard error is no file.
    pytest.mark.filterwarnings("ignore:Unable to enable fault handler"),
]
torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("pufferlib", reason="PufferLib is not installed")

from emurust.cli import main  # noqa: E402
from emurust.recording import read_recording  # noqa: E402
from emurust.train.checkpoint import read_checkpoint  # noqa: E402
from emurust.train.errors import (  # noqa: E402
    CheckpointError,
    ConfigError,
    DeviceError,
    RunFolderError,
)
from emurust.train.evaluate import evaluate, evaluate_random  # noqa: E402
from emurust.train.run import resume_config, train  # noqa: E402

if TYPE_CHECKING:
    from conftest import Small


def flat(value: Any, name: str = "") -> dict[str, Any]:
    """Every tensor and number in nested dicts and lists, by its path."""
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list | tuple):
        items = list(enumerate(value))
    else:
        return {name: value}
    return {k: v for key, one in items for k, v in flat(one, f"{name}/{key}").items()}


def assert_equal(one: Any, other: Any) -> None:
    left, right = flat(one), flat(other)
    assert left.keys() == right.keys()
    for name, value in left.items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(value, right[name]), name
        else:
            assert value == right[name], name


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--policy.recurrent=false", "--env.groups=2", "--train.optimizer=muon"],
        ["--env.start_state=['new-game', 'first-town']", "--env.backend=processes"],
    ],
    ids=["recurrent", "plain, two groups, Muon", "drawn starts, processes"],
)
def test_stopped_and_resumed_is_as_if_never_stopped(small: Small, more: list[str]) -> None:
    through = train(small("through", *more))
    assert through.complete
    first = train(small("parts", *more, "--run.stop_at_update=3"))
    assert not first.complete
    assert read_checkpoint(first.checkpoint).update == 3
    folder = first.checkpoint.parent.parent
    config, checkpoint, _ = resume_config(folder, ["--run.stop_at_update=0"])
    second = train(config, checkpoint)
    assert second.complete
    one, other = read_checkpoint(through.checkpoint), read_checkpoint(second.checkpoint)
    assert (one.update, one.steps) == (other.update, other.steps) == (8, 512)
    assert_equal(one.policy, other.policy)
    assert_equal(one.resume, other.resume)
    tables = [
        list(csv.DictReader((folder / "episodes.csv").read_text().splitlines()))
        for folder in (outcome.checkpoint.parents[1] for outcome in (through, second))
    ]
    for table in tables:
        assert len(table) > 8
        for row in table:
            del row["seconds"]
    assert tables[0] == tables[1]


def test_equal_seeds_train_alike_and_others_do_not(small: Small) -> None:
    policies = [
        read_checkpoint(train(small(f"run{number}", f"--run.seed={seed}")).checkpoint).policy
        for number, seed in enumerate((5, 5, 6))
    ]
    assert_equal(policies[0], policies[1])
    with pytest.raises(AssertionError):
        assert_equal(policies[0], policies[2])


def test_beginning_with_another_trainings_policy(small: Small, trained: Path) -> None:
    before = read_checkpoint(trained)
    # Too small a rate to change anything: what comes out is what went in.
    outcome = train(
        small(
            "second",
            f"--run.start_from={trained}",
            "--env.reward_weights.explore=0.5",
            "--train.learning_rate=0",
        )
    )
    assert_equal(read_checkpoint(outcome.checkpoint).policy, before.policy)
    for option, message in (
        ("--policy.hidden_size=24", "another policy"),
        ("--env.observation=ram", "trained with other observations"),
        ("--run.start_from=nowhere", "there is no checkpoint nowhere"),
    ):
        with pytest.raises(CheckpointError, match=message):
            train(small("third", f"--run.start_from={trained}", option))


@pytest.mark.parametrize("observation", ["packed", "all", "ram", "screen"])
@pytest.mark.parametrize("recurrent", ["true", "false"])
def test_every_observation_has_a_policy(small: Small, observation: str, recurrent: str) -> None:
    config = small(
        "run",
        f"--env.observation={observation}",
        f"--policy.recurrent={recurrent}",
        "--policy.layers=1",
        "--policy.pictures=0",
        "--train.total_timesteps=64",
    )
    checkpoint = read_checkpoint(train(config).checkpoint)
    assert all(torch.isfinite(weights).all() for weights in checkpoint.policy.values())
    assert evaluate(checkpoint, episodes=2).means["episode_length"][0] == 24


def test_what_a_training_leaves(small: Small, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    config = small(
        "run",
        "--report.tensorboard=true",
        "--report.picture_interval=2",
        "--report.video_interval=8",
        "--train.checkpoint_interval=1",
        "--train.keep_checkpoints=2",
        "--run.seed=3",
        "--report.dashboard=on",
    )
    outcome = train(config)
    folder = outcome.checkpoint.parents[1]
    names = sorted(path.name for path in folder.glob("checkpoints/*"))
    assert names == ["update-000007.pt", "update-000008.pt"]
    assert list(folder.glob("events.out.tfevents.*"))
    for picture in ("places.png", "best.gif"):
        assert (folder / picture).stat().st_size > 500, picture
    assert "PufferLib" in capsys.readouterr().out
    # The best episode of the table is the one that was recorded, and it plays again.
    table = csv.DictReader((folder / "episodes.csv").read_text().splitlines())
    best = max(float(row["episode_return"]) for row in table)
    recording = read_recording(folder / "best.recording")
    total = sum(step[1] for step in recording.replay(recording.environment(), 0))
    assert total == pytest.approx(best, rel=1e-6)


def command(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "emurust", *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_training_leaves_a_checkpoint(
    small_options: list[str], tmp_path: Path, number: int
) -> None:
    arguments = [*small_options, "--train.total_timesteps=6400000", "--run.directory=run"]
    process = command("train", *arguments, cwd=tmp_path)
    table = tmp_path / "run" / "episodes.csv"
    deadline = time.monotonic() + 120
    while not (table.is_file() and len(table.read_text().splitlines()) > 5):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "no episode was played"
        time.sleep(0.1)
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, err
    assert "checkpoint written" in err
    assert "emurust train --resume run" in out
    before = read_checkpoint(tmp_path / "run")
    after = before.update + 2
    process = command("train", "--resume", "run", f"--run.stop_at_update={after}", cwd=tmp_path)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert read_checkpoint(tmp_path / "run").update == after
    # PufferLib and Matplotlib have left nothing in the working directory.
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.fixture(scope="module")
def trained(small_options: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small training."""
    from emurust.train.config import load_config

    folder = tmp_path_factory.mktemp("trained") / "run"
    config = load_config(None, [*small_options, f"--run.directory={folder}"])
    return train(config).checkpoint.parents[1]


def test_evaluate(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    film, recording = tmp_path / "best.gif", tmp_path / "best.recording"
    status = main(
        [
            *("evaluate", str(trained), "--episodes", "5", "--random"),
            *("--record", str(film), "--record", str(recording)),
        ]
    )
    assert status == 0
    out = capsys.readouterr().out
    assert "update 8, 512 steps" in out
    assert "random actions: 5 episodes" in out
    assert out.count("first badge") == 2
    assert film.stat().st_size > 500
    assert len(read_recording(recording).episodes[0].actions) == 24
    assert main(["evaluate", str(trained), "--episodes", "2", "--greedy", "--max-steps", "9"]) == 0
    out = capsys.readouterr().out
    assert "all episodes are the same one" in out
    assert "length            9.00" in out


@pytest.mark.parametrize("observation", ["packed", "ram", "screen"])
def test_watch(
    small: Small, tmp_path: Path, observation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plays as `evaluate` does."""
    config = small("run", f"--env.observation={observation}", "--train.total_timesteps=128")
    checkpoint = train(config).checkpoint
    folder = checkpoint.parents[1]
    found = evaluate(read_checkpoint(folder), episodes=1, greedy=True)
    total = found.episodes[0].info["episode_return"]
    picture = str(tmp_path / "last.png")
    capsys.readouterr()
    for what in (folder, checkpoint):
        assert main(["watch", str(what), "--greedy", "--steps", "24", "-o", picture]) == 0
        assert capsys.readouterr().out.startswith(f"24 steps, total reward {total:.6g}\n")
    assert main(["watch", str(folder), "--seed", "3", "--steps", "24", "-o", picture]) == 0
    status = main(["watch", str(folder), "--option", "frame_stack=2", "-o", picture])
    if observation == "ram":
        assert status == 0
    else:
        assert "trained with other observations" in capsys.readouterr().err


def test_watching_a_damaged_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.pt").write_bytes(b"hello")
    assert main(["watch", str(tmp_path / "bad.pt")]) == 1
    assert "bad.pt" in capsys.readouterr().err
    assert main(["watch", str(tmp_path)]) == 1
    assert "there is no checkpoint in" in capsys.readouterr().err


def test_evaluation_depends_on_the_seed_alone(trained: Path) -> None:
    checkpoint = read_checkpoint(trained)

    def actions(seed: int, episodes: int) -> list[bytes]:
        found = evaluate(checkpoint, episodes=episodes, seed=seed).episodes
        return [episode.actions.tobytes() for episode in found]

    assert actions(3, 4) == actions(3, 4)
    assert actions(3, 4) != actions(4, 4)
    beside = evaluate_random(checkpoint.config, episodes=70, seed=3)
    assert len(beside.episodes) == 70
    assert len({episode.actions.tobytes() for episode in beside.episodes}) == 70


def test_checkpoints_of_something_else(trained: Path, small: Small, tmp_path: Path) -> None:
    checkpoint = read_checkpoint(trained)
    checkpoint.config["env"]["observation"] = "ram"
    with pytest.raises(CheckpointError, match="trained with other observations.*screens"):
        evaluate(checkpoint, episodes=1)
    checkpoint = read_checkpoint(trained)
    checkpoint.config["policy"]["hidden_size"] = 24
    with pytest.raises(CheckpointError, match=r"another policy: .* is \(64,\) there and \(96,\)"):
        evaluate(checkpoint, episodes=1)
    for name, content, message in (
        ("empty.pt", b"", "no checkpoint, or damaged"),
        ("text.pt", b"hello, this is a text and nothing else", "no checkpoint, or damaged"),
        ("cut.pt", next(trained.glob("checkpoints/*.pt")).read_bytes()[:5000], "damaged"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=message):
            read_checkpoint(path)
    torch.save({"weights": torch.zeros(3)}, tmp_path / "other.pt")
    with pytest.raises(CheckpointError, match="no checkpoint of `emurust train`"):
        read_checkpoint(tmp_path / "other.pt")
    with pytest.raises(CheckpointError, match="there is no checkpoint in"):
        read_checkpoint(tmp_path)
    with pytest.raises(CheckpointError, match="there is no checkpoint .*nothing"):
        read_checkpoint(tmp_path / "nothing.pt")


def test_what_cannot_change_any_more(trained: Path, tmp_path: Path) -> None:
    for option, message in (
        ("--policy.hidden_size=32", "policy.hidden_size was 16"),
        ("--env.max_steps=25", "env.max_steps was 24"),
        ("--train.bptt_horizon=16", "train.bptt_horizon was 8"),
        ("--train.colour=1", "no option"),
    ):
        with pytest.raises(ConfigError, match=message):
            resume_config(trained, [option])
    resume_config(trained, ["--env.workers=1", "--train.gamma=0.9", "--run.minutes=3"])
    lonely = tmp_path / "update-000008.pt"
    lonely.write_bytes(next(trained.glob("checkpoints/*.pt")).read_bytes())
    with pytest.raises(CheckpointError, match="not in a training's folder"):
        resume_config(lonely, [])


def test_wrong_before_any_time_is_spent(
    trained: Path,
    small: Small,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("emurust.train.run.Machines", lambda *_: pytest.fail("machines were made"))
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(DeviceError, match="no CUDA device here; use --run.device cpu"):
        train(small("run", "--run.device=cuda"))
    with pytest.raises(ConfigError, match="run.device must be .*, not 'gpu'"):
        train(small("run", "--run.device=gpu"))
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot be written: Not a directory"):
        train(small("file/run"))
    with pytest.raises(RunFolderError, match=r"holds a training; go on with it \(emurust train"):
        train(small("unused", f"--run.directory={trained}"))
    assert main(["train", "--env.max_step", "5"]) == 1
    assert "did you mean env.max_steps" in capsys.readouterr().err
    assert main(["train", "some.toml", "--resume", str(trained)]) == 1
    assert "not with a file" in capsys.readouterr().err
    assert main(["train", "--options"]) == 0
    assert "[env.reward_weights]" in capsys.readouterr().out


def test_wrong_tasks_and_starts_are_named(small: Small) -> None:
    from emurust import EmuRustError

    for option, message in (
        ("--env.task=chess", "no task 'chess'"),
        ("--env.start_state=nowhere", "nowhere"),
        ("--env.reward_weights.luck=1", "luck"),
        ("--env.rom=missing.gb", r"missing\.gb"),
    ):
        with pytest.raises(EmuRustError, match=message):
            train(small("run", option))


def test_sampling_follows_the_policys_probabilities(trained: Path) -> None:
    from emurust.train.build import open_pool
    from emurust.train.play import Player

    checkpoint = read_checkpoint(trained)
    count = 4000
    with open_pool(checkpoint.config, 1) as pool:
        pool.reset(1)
        player = Player(checkpoint, pool, count, greedy=False)
        records = np.repeat(pool.records, count, axis=0)
        taken = np.bincount(player.act(records), minlength=7) / count
        with torch.no_grad():
            state = {name: torch.zeros(1, 16) for name in ("lstm_h", "lstm_c")}
            logits, _ = player.policy.forward_eval(torch.from_numpy(pool.records), state)
        expected = torch.softmax(logits[0], 0).numpy()
    assert np.abs(taken - expected).max() < 0.03
