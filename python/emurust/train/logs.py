"""What a training writes beside its checkpoints."""

from __future__ import annotations

import csv
import importlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from emurust.errors import DependencyError
from emurust.train.errors import RunFolderError
from emurust.train.machines import EndedEpisode

__all__ = ["EpisodeTable", "TrainingLog"]


class TrainingLog:
    """PufferLib's logger, which writes TensorBoard files.

    Args:
        folder: where to; None: nowhere.
        name: of the run.
        steps: how far the training was when it was resumed; what TensorBoard knows of later
            steps is dropped.

    Raises:
        DependencyError: TensorBoard is not installed.
    """

    def __init__(self, folder: Path | None, name: str, steps: int) -> None:
        self.run_id = name
        self.values: dict[str, float] = {}
        self._writer: Any = None
        if folder is not None:
            try:
                tensorboard = importlib.import_module("torch.utils.tensorboard")
            except ImportError as error:
                raise DependencyError(
                    "report.tensorboard needs TensorBoard: pip install 'emurust[train]' "
                    "(or --report.tensorboard false)"
                ) from error
            self._writer = tensorboard.SummaryWriter(os.fspath(folder), purge_step=steps + 1)

    def log(self, values: dict[str, Any], step: int) -> None:
        """Writes numbers by name."""
        self.values = values
        if self._writer is not None:
            for name, value in values.items():
                self._writer.add_scalar(name, value, step)

    def close(self, model_path: str = "") -> None:
        """Writes what is not written yet."""
        if self._writer is not None:
            self._writer.close()


class EpisodeTable:
    """A CSV file with a line for each ended episode: when, how long, what came of it.

    Args:
        path: the file.
        info_names: names of the task's progress.
        steps: how far the training was when it was resumed; later lines are dropped.

    Raises:
        RunFolderError: it cannot be written.
    """

    def __init__(self, path: Path, info_names: Iterable[str], steps: int) -> None:
        names = [name for name in info_names if not name.startswith("reward/")]
        self._columns = ["step", "seconds", "episode_return", "episode_length", *names]
        kept = []
        if steps and path.is_file():
            with path.open(newline="", encoding="utf-8") as before:
                kept = [row for row in csv.DictReader(before) if int(row["step"]) <= steps]
        try:
            self._file: TextIO = path.open("w", newline="", encoding="utf-8")
        except OSError as error:
            raise RunFolderError(f"{path} cannot be written: {error.strerror}") from error
        self._rows = csv.DictWriter(self._file, self._columns, extrasaction="ignore")
        self._rows.writeheader()
        self._rows.writerows(kept)

    def add(self, episodes: Iterable[EndedEpisode], step: int, seconds: float) -> None:
        """Adds episodes that ended."""
        for episode in episodes:
            values: dict[str, Any] = {
                name: f"{value:.7g}" for name, value in episode.info.items() if name != "steps"
            }
            self._rows.writerow({**values, "step": step, "seconds": f"{seconds:.1f}"})
        self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
