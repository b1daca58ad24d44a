"""Confidence intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from emurust.train.intervals import mean_interval, share_interval


def test_share() -> None:
    # Wilson's interval of 7 of 12, from the textbook formula.
    low, high = share_interval(7, 12)
    assert (low, high) == pytest.approx((0.3195, 0.8067), abs=1e-4)
    assert share_interval(0, 10)[0] == 0
    assert share_interval(10, 10)[1] == pytest.approx(1)
    assert math.isnan(share_interval(0, 0)[0])


def test_mean() -> None:
    values = np.random.default_rng(0).normal(5, 2, 400)
    low, high = mean_interval(values.tolist())
    # About two standard errors to each side.
    assert low < values.mean() < high
    assert high - low == pytest.approx(4 * 2 / math.sqrt(400), rel=0.15)
    assert mean_interval([3.0]) == (3.0, 3.0)
    assert math.isnan(mean_interval([])[0])
