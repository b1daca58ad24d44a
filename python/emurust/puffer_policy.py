"""A policy for the packed and flat observations of `emurust.puffer`, for PufferLib's trainer.

The record is taken apart on the training device: pixels of 2 bits and flags of 1 bit go
through the bus as they are.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from emurust.errors import ArgumentError

__all__ = ["Policy", "Recurrent"]


class Policy(nn.Module):
    """A small convolutional network over the pictures and a layer over everything else.

    Args:
        env: the environment, which knows its task.
        hidden_size: width of what the heads see.
    """

    def __init__(self, env: Any, hidden_size: int = 256) -> None:
        super().__init__()
        task = env.task
        if task.observation not in ("packed", "all"):
            raise ArgumentError(
                f"this policy reads the observations packed and all, not {task.observation!r}"
            )
        self.hidden_size = hidden_size
        self.is_continuous = False
        self._packed = task.observation == "packed"
        self._fields = [
            (name, dtype, tuple(shape), offset, kind, int(high))
            for name, dtype, shape, offset, kind, _low, high in task.observation_layout
        ]
        with torch.no_grad():
            blank = torch.zeros(1, task.observation_len, dtype=torch.uint8)
            pictures, rest = self._take_apart(blank)
            self.pictures = nn.Sequential(
                nn.Conv2d(pictures.shape[1], 32, 8, stride=4),
                nn.ReLU(),
                nn.Conv2d(32, 64, 4, stride=2),
                nn.ReLU(),
                nn.Conv2d(64, 64, 3),
                nn.ReLU(),
                nn.Flatten(),
            )
            width = self.pictures(pictures).shape[1]
        self.rest = nn.Sequential(nn.Linear(rest.shape[1], 128), nn.ReLU())
        self.join = nn.Sequential(nn.Linear(width + 128, hidden_size), nn.ReLU())
        actions = int(env.single_action_space.n)
        self.actor = _initialised(nn.Linear(hidden_size, actions), 0.01)
        self.critic = _initialised(nn.Linear(hidden_size, 1), 1.0)

    def forward_eval(self, observations: Tensor, state: Any = None) -> tuple[Tensor, Tensor]:
        return self.decode_actions(self.encode_observations(observations, state))

    def forward(self, observations: Tensor, state: Any = None) -> tuple[Tensor, Tensor]:
        return self.forward_eval(observations, state)

    def encode_observations(self, observations: Tensor, state: Any = None) -> Tensor:
        pictures, rest = self._take_apart(observations.reshape(observations.shape[0], -1))
        joined: Tensor = self.join(torch.cat([self.pictures(pictures), self.rest(rest)], dim=1))
        return joined

    def decode_actions(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        return self.actor(hidden), self.critic(hidden)

    def _take_apart(self, records: Tensor) -> tuple[Tensor, Tensor]:
        """Pictures (batch, count, rows, columns) from 0 to 1, and everything else in a row."""
        batch = records.shape[0]
        pictures = None
        rest = []
        for name, dtype, shape, offset, kind, high in self._fields:
            length = 4 if dtype == "float32" else 1
            for size in shape:
                length *= size
            field = records[:, offset : offset + length]
            if name == "screens":
                pictures = self._pictures(field.reshape(batch, *shape))
            elif dtype == "float32":
                rest.append(field.contiguous().view(torch.float32))
            elif kind == "multi_discrete":
                values = nn.functional.one_hot(field.long(), high + 1)
                rest.append(values.reshape(batch, -1).float())
            elif self._packed:
                rest.append(_bits(field, 1).float())
            else:
                rest.append(field.float() / max(1, high))
        if pictures is None:
            raise ArgumentError("this policy needs an observation with screens")
        return pictures, torch.cat(rest, dim=1)

    def _pictures(self, field: Tensor) -> Tensor:
        if not self._packed:
            return field.permute(0, 3, 1, 2).float() / 255
        batch, rows, columns, count = field.shape
        # Four pixels a byte along the rows, the first in the top bits.
        pixels = _bits(field.permute(0, 3, 1, 2).reshape(-1, columns), 2)
        return pixels.reshape(batch, count, rows, columns * 4).float() / 3


def _bits(field: Tensor, width: int) -> Tensor:
    """(n, bytes) uint8 as (n, bytes * 8 / width) numbers, the top bits first."""
    shifts = torch.arange(8 - width, -1, -width, device=field.device, dtype=torch.uint8)
    parts = (field.unsqueeze(-1) >> shifts) & ((1 << width) - 1)
    return parts.reshape(field.shape[0], -1)


def _initialised(layer: nn.Linear, gain: float) -> nn.Linear:
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def Recurrent(env: Any, policy: Policy, input_size: int = 256, hidden_size: int = 256) -> Any:
    """PufferLib's LSTM around the policy."""
    import pufferlib.models

    return pufferlib.models.LSTMWrapper(env, policy, input_size=input_size, hidden_size=hidden_size)
