"""Files from which a policy can be played and a training goes on.

A checkpoint is one file of tensors and plain values, which is read without running code from
it (`torch.load(weights_only=True)`).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from emurust._emurust import Task
from emurust.train.config import Config
from emurust.train.errors import CheckpointError, RunFolderError

__all__ = [
    "Checkpoint",
    "checkpoint_path",
    "latest_checkpoint",
    "read_checkpoint",
    "remove_old",
    "write_checkpoint",
]

_KIND = "emurust checkpoint"
_VERSION = 1
_PATTERN = "update-*.pt"


@dataclass
class Checkpoint:
    """A policy, what it was trained on, and how its training goes on.

    Attributes:
        config: the training's options.
        update: number of updates done.
        steps: number of steps done.
        seconds: time trained.
        policy: the policy's weights by name.
        resume: state of the trainer and the machines.
        task: the task; a checkpoint that was read has its `layout` only.
        layout: observation fields and actions of the task.
    """

    config: Config
    update: int
    steps: int
    seconds: float
    policy: dict[str, Any]
    resume: dict[str, Any]
    task: Task | None = None
    layout: dict[str, Any] = field(default_factory=dict)

    def check_task(self, task: Task, path: Path | str) -> None:
        """Checks that the policy sees and does what `task` offers.

        Raises:
            CheckpointError: it does not.
        """
        own = _layout(task)
        for what in own:
            if self.layout.get(what) != own[what]:
                raise CheckpointError(
                    f"{path} was trained with other {what} than those of the task "
                    f"{task.name!r} with these options: {_first(self.layout.get(what), own[what])}"
                )

    def load_policy(self, policy: Any, path: Path | str) -> None:
        """Gives `policy` the weights.

        Raises:
            CheckpointError: they are another policy's.
        """
        own = policy.state_dict()
        for name in sorted(own.keys() | self.policy.keys()):
            mine = tuple(own[name].shape) if name in own else None
            theirs = tuple(self.policy[name].shape) if name in self.policy else None
            if mine != theirs:
                raise CheckpointError(
                    f"{path} has another policy: {name} is {theirs or 'missing'} there and "
                    f"{mine or 'missing'} with these options"
                )
        policy.load_state_dict(self.policy)


def checkpoint_path(folder: Path, update: int) -> Path:
    """Where the checkpoint after an update is."""
    return folder / f"update-{update:06d}.pt"


def latest_checkpoint(path: Path) -> Path:
    """The checkpoint itself, or the newest in a training's folder.

    Raises:
        CheckpointError: there is none.
    """
    if not path.is_dir():
        return path
    found = sorted([*path.glob(_PATTERN), *path.glob(f"checkpoints/{_PATTERN}")])
    if not found:
        raise CheckpointError(f"there is no checkpoint in {path}")
    return found[-1]


def remove_old(folder: Path, keep: int) -> None:
    """Removes all checkpoints but the newest `keep`."""
    for path in sorted(folder.glob(_PATTERN))[:-keep]:
        path.unlink(missing_ok=True)


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint; a file that is there is complete.

    Raises:
        RunFolderError: it cannot be written.
    """
    assert checkpoint.task is not None, "a checkpoint is written from a training"
    content = {
        "kind": _KIND,
        "version": _VERSION,
        "layout": _layout(checkpoint.task),
        **{
            name: getattr(checkpoint, name)
            for name in ("config", "update", "steps", "seconds", "policy", "resume")
        },
    }
    partial = path.with_suffix(".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(content, partial)
        partial.replace(path)
    except (OSError, RuntimeError) as error:
        raise RunFolderError(f"the checkpoint {path} cannot be written: {error}") from error


def read_checkpoint(path: Path, device: torch.device | None = None) -> Checkpoint:
    """Reads a checkpoint, or the newest in a training's folder.

    Raises:
        CheckpointError: it is none, or of another version.
    """
    path = latest_checkpoint(path)
    try:
        content = torch.load(path, map_location=device or "cpu", weights_only=True)
    except FileNotFoundError as error:
        raise CheckpointError(f"there is no checkpoint {path}") from error
    except PermissionError as error:
        raise CheckpointError(f"the checkpoint {path} cannot be read: {error.strerror}") from error
    except (OSError, RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path} is no checkpoint, or damaged") from error
    if not isinstance(content, dict) or content.get("kind") != _KIND:
        raise CheckpointError(f"{path} is no checkpoint of `emurust train`")
    if content["version"] != _VERSION:
        raise CheckpointError(
            f"{path} has version {content['version']} of the format; this EmuRust reads {_VERSION}"
        )
    names = ("config", "update", "steps", "seconds", "policy", "resume", "layout")
    return Checkpoint(**{name: content[name] for name in names})


def _layout(task: Task) -> dict[str, Any]:
    return {
        "observations": [
            [name, dtype, list(shape), offset]
            for name, dtype, shape, offset, *_ in task.observation_layout
        ],
        "actions": list(task.action_names),
    }


def _first(theirs: Any, mine: Any) -> str:
    theirs, mine = theirs or [], mine or []
    for number in range(max(len(theirs), len(mine))):
        there = theirs[number] if number < len(theirs) else "nothing"
        here = mine[number] if number < len(mine) else "nothing"
        if there != here:
            return f"{there} there, {here} here"
    return "they differ"
