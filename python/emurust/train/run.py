"""A training from beginning to end, or from a checkpoint on."""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from emurust.train.build import find_device, make_policy
from emurust.train.checkpoint import Checkpoint, latest_checkpoint, read_checkpoint
from emurust.train.config import Config, override, to_toml
from emurust.train.errors import CheckpointError, ConfigError, RunFolderError
from emurust.train.interrupts import Interrupts
from emurust.train.logs import EpisodeTable, TrainingLog
from emurust.train.machines import EndedEpisode, Machines
from emurust.train.trainer import Trainer

if TYPE_CHECKING:
    from emurust.train.pictures import RunPictures
    from emurust.train.pyboy import PyBoyMachines

__all__ = ["Outcome", "resume_config", "summary", "train"]

_CHECKPOINTS = "checkpoints"
_FIXED = ("env", "policy")
_FREE = ("env.workers",)
_FIXED_TRAIN = ("bptt_horizon", "optimizer")


@dataclass(frozen=True)
class Outcome:
    """How a training ended.

    Attributes:
        checkpoint: the last.
        complete: all steps were done.
        signal: the number of the signal that ended it, or None.
    """

    checkpoint: Path
    complete: bool
    signal: int | None


def resume_config(path: Path, arguments: list[str]) -> tuple[Config, Checkpoint, Path]:
    """The options with which a training goes on, the checkpoint and the training's folder.

    Args:
        path: a training's folder or one of its checkpoints.
        arguments: options to change, as on the command line.

    Raises:
        CheckpointError: there is no checkpoint.
        ConfigError: an option is wrong, or cannot be changed any more.
    """
    checkpoint_path = latest_checkpoint(path)
    checkpoint = read_checkpoint(checkpoint_path)
    if checkpoint.config["env"]["backend"] == "pyboy":
        raise ConfigError("a training on PyBoy cannot be resumed: its machines are not kept")
    config = override(checkpoint.config, arguments)
    for section, table in config.items():
        for key, value in table.items():
            name = f"{section}.{key}"
            fixed = section in _FIXED and name not in _FREE
            fixed |= section == "train" and key in _FIXED_TRAIN
            if fixed and value != checkpoint.config[section][key]:
                raise ConfigError(
                    f"{name} was {checkpoint.config[section][key]!r} when this training began and "
                    f"cannot become {value!r}; begin a new one"
                )
    folder = checkpoint_path.absolute().parent
    if folder.name != _CHECKPOINTS:
        raise CheckpointError(
            f"{checkpoint_path} is not in a training's folder (where it is below {_CHECKPOINTS}/), "
            "so there is nothing to go on with"
        )
    config["run"]["directory"] = os.fspath(folder.parent)
    return config, checkpoint, folder.parent


def train(config: Config, checkpoint: Checkpoint | None = None) -> Outcome:
    """Trains as the options say.

    Args:
        config: the options.
        checkpoint: where to go on.

    Raises:
        DeviceError: the device is not there.
        RunFolderError: the folder cannot be written, or holds another training.
        CheckpointError: the checkpoint does not fit the options.
        EmuRustError: the ROM, the task or a start state is wrong.
    """
    run = config["run"]
    device = find_device(run["device"])
    folder = _prepared_folder(Path(run["directory"]), new=checkpoint is None)
    first = None
    if checkpoint is None and run["start_from"]:
        first = read_checkpoint(Path(run["start_from"]))
    if run["threads"]:
        torch.set_num_threads(run["threads"])
    random.seed(run["seed"])
    np.random.seed(run["seed"] % 2**32)
    torch.manual_seed(run["seed"])
    machines = _machines(config)
    try:
        policy = make_policy(config, machines.driver_env)
        for one, path in ((checkpoint, str(folder)), (first, run["start_from"])):
            if one is not None:
                one.check_task(machines.task, path)
                one.load_policy(policy, path)
        (folder / "config.toml").write_text(to_toml(config), "utf-8")
        steps = checkpoint.steps if checkpoint else 0
        report = config["report"]
        log = TrainingLog(folder if report["tensorboard"] else None, folder.name, steps)
        dashboard = report["dashboard"]
        trainer = Trainer(
            config,
            machines,
            policy.to(device),
            device,
            folder / _CHECKPOINTS,
            log,
            dashboard=dashboard == "on" or (dashboard == "auto" and os.isatty(1)),
            seconds=checkpoint.seconds if checkpoint else 0.0,
        )
    except BaseException:
        machines.close()
        raise
    try:
        if checkpoint is not None:
            trainer.resume(checkpoint.resume, checkpoint.update, checkpoint.steps)
        table = EpisodeTable(folder / "episodes.csv", machines.info_names, steps)
        pictures = None
        if isinstance(machines, Machines) and (
            report["picture_interval"] or report["video_interval"]
        ):
            from emurust.train.pictures import RunPictures

            pictures = RunPictures(config, folder, machines)
        try:
            return _loop(config, trainer, machines, table, pictures)
        finally:
            table.close()
            log.close()
            if pictures is not None:
                pictures.close()
    finally:
        trainer.stop()


def _loop(
    config: Config,
    trainer: Trainer,
    machines: Machines | PyBoyMachines,
    table: EpisodeTable,
    pictures: RunPictures | None,
) -> Outcome:
    run = config["run"]
    end = time.monotonic() + 60 * run["minutes"] if run["minutes"] else float("inf")
    last_update = run["stop_at_update"] or float("inf")
    with Interrupts() as interrupts:
        while trainer.steps_left and trainer.epoch < last_update and time.monotonic() < end:
            trainer.evaluate()
            trainer.train()
            episodes: list[EndedEpisode] = machines.ended()
            table.add(episodes, trainer.global_step, trainer.seconds)
            if pictures is not None:
                pictures.update(trainer.epoch, episodes)
            if interrupts.received is not None:
                break
        path = Path(trainer.save_checkpoint())
        if pictures is not None and interrupts.received is None:
            pictures.finish()
    return Outcome(path, not trainer.steps_left, interrupts.received)


def _machines(config: Config) -> Machines | PyBoyMachines:
    env = config["env"]
    if env["backend"] != "pyboy":
        return Machines(config)
    from emurust.train.pyboy import PyBoyMachines

    cores = os.cpu_count() or 1
    workers = env["workers"] or cores
    if workers > cores or env["num_agents"] % workers:
        raise ConfigError(
            f"on PyBoy, env.num_agents ({env['num_agents']}) must be a multiple of the number of "
            f"workers ({workers}; env.workers), which is at most the number of cores ({cores})"
        )
    return PyBoyMachines(config, workers)


def _prepared_folder(folder: Path, *, new: bool) -> Path:
    """The folder, which is there, can be written, and holds no other training."""
    if new and any(folder.glob(f"{_CHECKPOINTS}/*")):
        raise RunFolderError(
            f"{folder} holds a training; go on with it (emurust train --resume {folder}) or give "
            "the new one another folder (--run.directory)"
        )
    try:
        (folder / _CHECKPOINTS).mkdir(parents=True, exist_ok=True)
        probe = folder / _CHECKPOINTS / ".probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise RunFolderError(
            f"the training's folder {folder} cannot be written: {error.strerror}; "
            "--run.directory names another"
        ) from error
    return folder


def summary(outcome: Outcome, folder: str) -> str:
    """What to tell about a training that ended."""
    if outcome.complete:
        return f"complete; the policy is {outcome.checkpoint}"
    return f"stopped at {outcome.checkpoint}; to go on: emurust train --resume {folder}"
