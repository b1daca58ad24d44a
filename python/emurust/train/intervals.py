"""Confidence intervals of what was measured on episodes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

__all__ = ["mean_interval", "share_interval"]

_Z = 1.959963984540054
"""Of 95 %."""


def mean_interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """A 95 % interval of the mean, by the bootstrap (2,000 resamples); of one value or equal
    ones it is that value."""
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        return math.nan, math.nan
    rng = np.random.default_rng(seed)
    means = data[rng.integers(0, data.size, (2000, data.size))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def share_interval(hits: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    if count == 0:
        return math.nan, math.nan
    share = hits / count
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    spread = share * (1 - share) / count + _Z**2 / (4 * count**2)
    half = _Z * math.sqrt(spread) / (1 + _Z**2 / count)
    return max(0.0, middle - half), min(1.0, middle + half)
