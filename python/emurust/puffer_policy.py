"""Policies for the observations of `emurust.puffer`, for PufferLib's trainer.

The record is taken apart on the training device: pixels of 2 bits and flags of 1 bit go
through the bus as they are. Pictures are read cell by cell: the games move on a grid of 16 x
16 pixels, and their letters are half a cell wide, so that one layer over cells sees more for
less arithmetic than overlapping windows would.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from emurust.errors import ArgumentError

__all__ = ["Policy", "Recurrent"]

_CELL_PIXELS = 16


class Policy(nn.Module):
    """A layer over the cells of the pictures, a layer over everything else, and layers over
    both.

    Args:
        env: the environment, which knows its task.
        hidden_size: width of what the heads see.
        cell_size: numbers made of each of the 9 x 10 cells, by the same weights.
        other_size: numbers made of everything that is no picture.
        pictures: how many of the observed pictures to look at, the newest first; 0: all.
        layers: more layers of `hidden_size`, each added to what it is given.

    Raises:
        ArgumentError: a size makes no sense, or there is nothing to look at.
    """

    def __init__(
        self,
        env: Any,
        hidden_size: int = 128,
        cell_size: int = 24,
        other_size: int = 64,
        pictures: int = 1,
        layers: int = 0,
    ) -> None:
        super().__init__()
        sizes = {"hidden_size": hidden_size, "cell_size": cell_size, "other_size": other_size}
        for name, size in sizes.items():
            if size < 1:
                raise ArgumentError(f"{name} must be 1 or more, not {size}")
        if pictures < 0 or layers < 0:
            raise ArgumentError(f"pictures ({pictures}) and layers ({layers}) must be 0 or more")
        task = env.task
        self.hidden_size = hidden_size
        self.is_continuous = False
        self._looks_at = pictures
        self._packed = task.observation == "packed"
        self._fields = [
            (name, dtype, tuple(shape), offset, kind, int(high) if math.isfinite(high) else 1)
            for name, dtype, shape, offset, kind, _low, high in task.observation_layout
        ]
        # What the pixels or flags of a byte are, the first in the top bits.
        self.register_buffer("_pixels", _bits_of_bytes(2) / 3, persistent=False)
        self.register_buffer("_flags", _bits_of_bytes(1), persistent=False)
        with torch.no_grad():
            blank = torch.zeros(1, task.observation_len, dtype=torch.uint8)
            cells, other = self._take_apart(blank)
        width = 0
        if cells is not None:
            self.cells: nn.Module = nn.Sequential(nn.Linear(cells.shape[2], cell_size), nn.ReLU())
            width += cells.shape[1] * cell_size
        if other is not None:
            self.other: nn.Module = nn.Sequential(nn.Linear(other.shape[1], other_size), nn.ReLU())
            width += other_size
        self.join = nn.Sequential(nn.Linear(width, hidden_size), nn.ReLU())
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(hidden_size, hidden_size), nn.ReLU()) for _ in range(layers)
        )
        actions = int(env.single_action_space.n)
        self.actor = _initialised(nn.Linear(hidden_size, actions), 0.01)
        self.critic = _initialised(nn.Linear(hidden_size, 1), 1.0)

    def forward_eval(self, observations: Tensor, state: Any = None) -> tuple[Tensor, Tensor]:
        return self.decode_actions(self.encode_observations(observations, state))

    def forward(self, observations: Tensor, state: Any = None) -> tuple[Tensor, Tensor]:
        return self.forward_eval(observations, state)

    def encode_observations(self, observations: Tensor, state: Any = None) -> Tensor:
        cells, other = self._take_apart(observations.reshape(observations.shape[0], -1))
        parts = []
        if cells is not None:
            parts.append(self.cells(cells).flatten(1))
        if other is not None:
            parts.append(self.other(other))
        hidden: Tensor = self.join(torch.cat(parts, dim=1))
        for layer in self.layers:
            hidden = hidden + layer(hidden)
        return hidden

    def decode_actions(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        return self.actor(hidden), self.critic(hidden)

    def _take_apart(self, records: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Pixels from 0 to 1 by cell, (batch, cells, pixels), and everything else in a row."""
        batch = records.shape[0]
        cells = None
        other = []
        for name, dtype, shape, offset, kind, high in self._fields:
            length = (4 if dtype == "float32" else 1) * math.prod(shape)
            field = records[:, offset : offset + length]
            if name == "screens":
                cells = self._cells(field.reshape(batch, *shape))
            elif dtype == "float32":
                other.append(field.contiguous().view(torch.float32))
            elif kind == "multi_discrete":
                values = nn.functional.one_hot(field.long(), high + 1)
                other.append(values.reshape(batch, -1).float())
            elif self._packed:
                other.append(_look_up(self._flags, field).reshape(batch, -1))
            else:
                other.append(field.float() / max(1, high))
        return cells, torch.cat(other, dim=1) if other else None

    def _cells(self, field: Tensor) -> Tensor:
        """Of (batch, rows, columns, pictures)."""
        if self._looks_at:
            field = field[..., : self._looks_at]
        batch, rows, columns, count = field.shape
        down, across = 144 // _CELL_PIXELS, 160 // _CELL_PIXELS
        field = field.reshape(batch, down, rows // down, across, columns // across, count)
        # Sorted while a byte still is four pixels.
        field = field.permute(0, 1, 3, 5, 2, 4).reshape(batch, down * across, -1)
        if self._packed:
            return _look_up(self._pixels, field).flatten(2)
        return field.float() / 255


def _bits_of_bytes(width: int) -> Tensor:
    """(256, 8 / width) float: the numbers in each byte, the top bits first."""
    shifts = torch.arange(8 - width, -1, -width)
    return ((torch.arange(256)[:, None] >> shifts) & ((1 << width) - 1)).float()


def _look_up(table: Any, field: Tensor) -> Tensor:
    return nn.functional.embedding(field.int(), table)


def _initialised(layer: nn.Linear, gain: float) -> nn.Linear:
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def Recurrent(env: Any, policy: Policy) -> Any:
    """PufferLib's LSTM between a policy and its heads, as wide as they are."""
    import pufferlib.models

    size = policy.hidden_size
    return pufferlib.models.LSTMWrapper(env, policy, input_size=size, hidden_size=size)
