"""Observation records as numpy arrays, and their Gymnasium spaces.

A task writes one flat record of bytes per machine. `views` shows the fields of a record, or
of a batch of records, without copying.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from emurust._emurust import Task

__all__ = ["action_space", "observation", "observation_space", "views"]

Array: TypeAlias = npt.NDArray[Any]
Observation: TypeAlias = Array | dict[str, Array]


def views(task: Task, records: npt.NDArray[np.uint8]) -> dict[str, Array]:
    """The fields of records, by name, without copying.

    Args:
        task: the task that wrote them.
        records: (..., `task.observation_len`) uint8, the last axis contiguous.

    Returns:
        For each field an array of its dtype and shape, behind the leading axes of `records`.
    """
    leading = records.shape[:-1]
    fields = {}
    for name, dtype, shape, offset, _space, _low, _high in task.observation_layout:
        length = int(np.prod(shape)) * np.dtype(dtype).itemsize
        field = records[..., offset : offset + length].view(dtype)
        fields[name] = field.reshape(*leading, *shape)
    return fields


def observation(task: Task, records: npt.NDArray[np.uint8]) -> Observation:
    """What a user sees of records: a dict, the only field, or the records themselves."""
    if task.observation in ("all", "packed"):
        return records
    fields = views(task, records)
    if task.observation == "screen":
        return next(iter(fields.values()))
    return fields


def observation_space(task: Task) -> spaces.Space[Any]:
    """The space of `observation` for one machine."""
    if task.observation in ("all", "packed"):
        return spaces.Box(0, 255, (task.observation_len,), np.uint8)
    fields: dict[str, spaces.Space[Any]] = {}
    for name, dtype, shape, _offset, kind, low, high in task.observation_layout:
        if kind == "multi_binary":
            fields[name] = spaces.MultiBinary(shape[0])
        elif kind == "multi_discrete":
            fields[name] = spaces.MultiDiscrete(
                np.full(shape, int(high) + 1), dtype=np.dtype(dtype).type
            )
        else:
            fields[name] = spaces.Box(low, high, tuple(shape), np.dtype(dtype).type)
    if task.observation == "screen":
        return next(iter(fields.values()))
    return spaces.Dict(fields)


def action_space(task: Task) -> spaces.Discrete:
    """The actions, in the order of `task.action_names`."""
    return spaces.Discrete(len(task.action_names))
