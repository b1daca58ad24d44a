"""Pools to test with. Most tests use dummies, which need no ROM and no time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from emurust import Pool

MakePool = Callable[..., Pool]

_no_processes = pytest.mark.skipif(
    os.name != "posix", reason="this platform has no worker processes"
)


@pytest.fixture(params=["threads", pytest.param("processes", marks=_no_processes)])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def dummy() -> Iterator[MakePool]:
    """Makes pools of dummies that are closed after the test."""
    pools: list[Pool] = []

    def make(num_envs: int, backend: str = "threads", count: int = 2, **options: Any) -> Pool:
        name = "num_threads" if backend == "threads" else "num_workers"
        options[name] = min(count, num_envs)
        pools.append(Pool.dummy(num_envs, backend=backend, **options))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()
