"""Environment and policy as the options say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from emurust.pool import Pool
from emurust.puffer_policy import Policy, Recurrent
from emurust.train.config import Config
from emurust.train.errors import ConfigError, DeviceError

__all__ = ["find_device", "make_policy", "open_pool", "pool_options"]


def pool_options(config: Config) -> dict[str, Any]:
    """The `emurust.Pool` arguments of the task that the options describe; not those that say
    how many machines there are and who runs them."""
    env = config["env"]
    start = env["start_state"]
    options: dict[str, Any] = {
        "rom": env["rom"] or os.environ.get("EMURUST_ROM") or None,
        "task": Path(env["task"]) if env["task"].endswith(".toml") else env["task"],
        "observation": env["observation"],
        "max_steps": env["max_steps"],
        "reward_scale": env["reward_scale"],
        "reward_weights": dict(env["reward_weights"]),
    }
    if start:
        options["start_state"] = start
    if env["frame_skip"]:
        options["frame_skip"] = env["frame_skip"]
    return options


def open_pool(config: Config, num_envs: int, **more: Any) -> Pool:
    """A pool of machines that play what the options describe; same-step reset."""
    options = pool_options(config)
    return Pool(options.pop("rom"), num_envs, **{**options, **more})


def find_device(name: str) -> torch.device:
    """The device of that name; "auto" is CUDA if there is one.

    Raises:
        ConfigError: there is no such name.
        DeviceError: it is not there.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(
            f"run.device must be 'auto', 'cpu', 'cuda' or 'cuda:N', not {name!r}"
        ) from None
    if device.type not in ("cpu", "cuda"):
        raise ConfigError(f"run.device must be 'auto', 'cpu', 'cuda' or 'cuda:N', not {name!r}")
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise DeviceError(
                "run.device is 'cuda', but PyTorch finds no CUDA device here; use --run.device cpu"
            )
        if (device.index or 0) >= torch.cuda.device_count():
            raise DeviceError(
                f"there is no device {name!r}; there are {torch.cuda.device_count()} CUDA devices"
            )
    return device


def make_policy(config: Config, env: Any) -> Any:
    """The policy, with fresh weights from PyTorch's random numbers.

    Args:
        env: has `task` and `single_action_space`, such as a `Pool`; PufferLib's LSTM wants
            `single_observation_space`, too.
    """
    options = dict(config["policy"])
    recurrent = options.pop("recurrent")
    policy = Policy(env, **options)
    return Recurrent(env, policy) if recurrent else policy
