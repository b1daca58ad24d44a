"""Finding out whether, and where, two snapshots differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from emurust.verify.protocol import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Decides by name whether a scalar is compared.
FieldFilter = Callable[[str], bool]


@dataclass(frozen=True)
class ScalarDifference:
    """A scalar with two values."""

    name: str
    left: int
    right: int


@dataclass(frozen=True)
class ArrayDifference:
    """A memory with differing bytes; at most :data:`BYTES_KEPT` are listed.

    Attributes:
        name: the memory.
        count: how many bytes differ.
        positions: flat index, left byte and right byte of the first ones.
        shapes: shapes of both sides when they do not even agree in those.
    """

    name: str
    count: int
    positions: tuple[tuple[int, int, int], ...]
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None


BYTES_KEPT = 64


@dataclass(frozen=True)
class Differences:
    """Everything in which two snapshots differ; falsy when they are equal."""

    scalars: tuple[ScalarDifference, ...] = ()
    arrays: tuple[ArrayDifference, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.scalars or self.arrays)

    def names(self) -> tuple[str, ...]:
        """Names of all differing fields."""
        return tuple(d.name for d in self.scalars) + tuple(d.name for d in self.arrays)


def compare(left: Snapshot, right: Snapshot, keep: FieldFilter | None = None) -> Differences:
    """Compare all fields that both snapshots have (scalars: and that ``keep`` admits)."""
    scalars = []
    left_ints = left.ints
    for name, value in right.ints.items():
        other = left_ints.get(name)
        if other is not None and value != other and (keep is None or keep(name)):
            scalars.append(ScalarDifference(name, other, value))
    arrays = []
    for name, array in left.arrays.items():
        counterpart = right.arrays.get(name)
        if counterpart is not None:
            difference = compare_arrays(name, array, counterpart)
            if difference is not None:
                arrays.append(difference)
    return Differences(tuple(scalars), tuple(arrays))


def compare_arrays(
    name: str, left: NDArray[np.uint8], right: NDArray[np.uint8]
) -> ArrayDifference | None:
    """The difference of two arrays, or None when every byte is equal."""
    if left.shape != right.shape:
        return ArrayDifference(name, max(left.size, right.size), (), (left.shape, right.shape))
    if left.tobytes() == right.tobytes():  # several times faster than comparing elements
        return None
    flat_left, flat_right = left.reshape(-1), right.reshape(-1)
    where = np.flatnonzero(flat_left != flat_right)
    positions = tuple((int(i), int(flat_left[i]), int(flat_right[i])) for i in where[:BYTES_KEPT])
    return ArrayDifference(name, len(where), positions)
