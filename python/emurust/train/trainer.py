"""PufferLib's trainer with checkpoints that resume exactly and output that fits its place."""

from __future__ import annotations

import contextlib
import time
import warnings
from pathlib import Path
from typing import Any

import torch

from emurust.train.checkpoint import Checkpoint, checkpoint_path, remove_old, write_checkpoint
from emurust.train.config import Config
from emurust.train.libraries import import_trainer

__all__ = ["Trainer"]

_PuffeRL: Any = import_trainer().PuffeRL

_LINE_SECONDS = 10.0
_SMALL_POLICY = 3_000_000
"""Parameters up to which choosing actions on several of PyTorch's threads costs more than it
gains, as they wait for each other and for the machines' threads."""


class Trainer(_PuffeRL):
    """PufferLib's PPO on `Machines`.

    `evaluate` plays one batch of steps, `train` learns from it; together they are an update.

    Args:
        config: the options of the training.
        machines: what to train on: `Machines`, or something like it.
        policy: what to train, on `device`.
        device: where.
        folder: where checkpoints go.
        logger: has ``run_id``, ``log(values, step)`` and ``close(path)``.
        dashboard: show PufferLib's dashboard; else a line every ten seconds.
        seconds: how long the training was trained before.
    """

    def __init__(
        self,
        config: Config,
        machines: Any,
        policy: Any,
        device: torch.device,
        folder: Path,
        logger: Any,
        *,
        dashboard: bool = False,
        seconds: float = 0.0,
    ) -> None:
        self._options = config
        self._folder = folder
        self._dashboard = dashboard
        self._next_line = 0.0
        self._seconds_before = seconds
        self._written = -1
        options = {
            **config["train"],
            "env": config["env"]["task"],
            "seed": config["run"]["seed"],
            "device": str(device),
            "use_rnn": config["policy"]["recurrent"],
            "batch_size": "auto",
            "torch_deterministic": True,
            "compile_mode": "max-autotune-no-cudagraphs",
            "compile_fullgraph": True,
            "data_dir": str(folder),
        }
        with warnings.catch_warnings():
            # PufferLib asks for mixed precision on CUDA, which warns where there is none.
            warnings.filterwarnings("ignore", "User provided device_type", UserWarning)
            super().__init__(options, machines, policy, logger)
        if device.type == "cpu":
            self.amp_context = contextlib.nullcontext()

    @property
    def seconds(self) -> float:
        """Seconds of training, those before a resume included."""
        return self._seconds_before + float(self.uptime)

    @property
    def steps_left(self) -> int:
        """Steps until the training is complete."""
        return int(max(0, self.config["total_timesteps"] - self.global_step))

    def checkpoint(self) -> Checkpoint:
        """All that the rest of the training depends on; between two updates."""
        return Checkpoint(
            config=self._options,
            update=self.epoch,
            steps=self.global_step,
            seconds=self.seconds,
            policy=self.uncompiled_policy.state_dict(),
            task=self.vecenv.task,
            resume={
                "optimizer": _optimizer_state(self.optimizer),
                "scheduler": self.scheduler.state_dict(),
                "torch": torch.get_rng_state(),
                "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
                "machines": self.vecenv.state_dict(),
            },
        )

    def resume(self, state: dict[str, Any], update: int, steps: int) -> None:
        """Goes on from a checkpoint's `resume`, its update and its steps."""
        self.vecenv.load_state_dict(state["machines"])
        _load_optimizer_state(self.optimizer, state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        torch.set_rng_state(state["torch"].cpu())
        if state["cuda"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all([one.cpu() for one in state["cuda"]])
        self.epoch = self._written = update
        self.global_step = self.last_log_step = steps

    def evaluate(self) -> Any:
        """Plays one batch of steps."""
        threads = torch.get_num_threads()
        alone = self.config["device"] == "cpu" and self.model_size < _SMALL_POLICY
        if alone:
            torch.set_num_threads(1)
        try:
            return super().evaluate()
        finally:
            if alone:
                torch.set_num_threads(threads)

    def train(self) -> Any:
        """Learns from the batch."""
        with warnings.catch_warnings():
            # HeavyBall's Muon calls PufferLib's falling learning rate experimental.
            warnings.filterwarnings("ignore", category=UserWarning, module=r"heavyball\..*")
            return super().train()

    # What PuffeRL calls.

    def save_checkpoint(self) -> str:
        """Writes a checkpoint, unless there is one of this update; its path."""
        path = checkpoint_path(self._folder, self.epoch)
        if self._written != self.epoch:
            write_checkpoint(path, self.checkpoint())
            self._written = self.epoch
            remove_old(self._folder, self.config["keep_checkpoints"])
        return str(path)

    def print_dashboard(self, clear: bool = False, **options: Any) -> None:
        if self._dashboard:
            super().print_dashboard(clear=clear, **options)
            return
        now = time.monotonic()
        if clear or now < self._next_line:
            return
        self._next_line = now + _LINE_SECONDS
        print(self.line(), flush=True)

    def line(self) -> str:
        """How far the training is, in a line."""
        stats = {name: float(value) for name, value in self.stats.items() if _is_number(value)}
        self.last_stats.update(stats)
        shown = "".join(
            f", {name.replace('episode_', '')} {self.last_stats[name]:.3g}"
            for name in ("episode_return", "badges", "places")
            if _is_number(self.last_stats.get(name))
        )
        return (
            f"update {self.epoch}, {self.global_step:,} steps, {self.seconds / 60:.1f} min, "
            f"{self.sps:,.0f} steps/s{shown}"
        )

    def stop(self) -> None:
        """Ends machines and threads; doing it again changes nothing."""
        self.utilization.stop()
        self.vecenv.close()


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str))


def _optimizer_state(optimizer: Any) -> dict[str, Any]:
    """Its state without objects of its library (Muon's settings have some), which a
    checkpoint that is read as data cannot hold."""
    state: dict[str, Any] = optimizer.state_dict()
    groups = [
        {name: value for name, value in group.items() if _is_plain(value)}
        for group in state["param_groups"]
    ]
    return {**state, "param_groups": groups}


def _load_optimizer_state(optimizer: Any, state: dict[str, Any]) -> None:
    """Takes a saved state; what it does not hold stays as the optimizer was made."""
    own = optimizer.state_dict()["param_groups"]
    groups = [
        {**{name: value for name, value in made.items() if not _is_plain(value)}, **saved}
        for made, saved in zip(own, state["param_groups"], strict=True)
    ]
    optimizer.load_state_dict({**state, "param_groups": groups})
