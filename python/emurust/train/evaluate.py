"""How good a policy is: episodes that were not trained on, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from emurust.train.build import open_pool
from emurust.train.checkpoint import Checkpoint
from emurust.train.config import Config
from emurust.train.intervals import mean_interval, share_interval
from emurust.train.machines import EndedEpisode
from emurust.train.play import Player

__all__ = ["Report", "evaluate", "evaluate_random", "report"]

_MOST_MACHINES = 64
_SHOWN = ("badges", "places", "events", "levels", "deaths", "caught")


class _Actor(Protocol):
    def act(self, observations: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]: ...

    def begin(self, agents: npt.NDArray[np.bool_]) -> None: ...


class _Random:
    def __init__(self, count: int, actions: int, seed: int) -> None:
        self._generators = [np.random.default_rng([seed, agent]) for agent in range(count)]
        self._actions = actions

    def act(self, observations: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        return np.array([one.integers(self._actions) for one in self._generators])

    def begin(self, agents: npt.NDArray[np.bool_]) -> None:
        pass


@dataclass(frozen=True)
class Report:
    """What episodes came to.

    Attributes:
        episodes: all of them.
        means: by name (``episode_return``, ``episode_length`` and the task's progress): mean
            and its 95 % interval.
        first_badge: share of episodes with a badge or more, and its 95 % interval; None if the
            task knows no badges.
    """

    episodes: list[EndedEpisode]
    means: dict[str, tuple[float, float, float]]
    first_badge: tuple[float, float, float] | None

    def lines(self) -> list[str]:
        """The report in words."""
        names = ["episode_return", "episode_length", *(n for n in _SHOWN if n in self.means)]
        lines = [f"{len(self.episodes)} episodes; means with 95 % confidence intervals"]
        for name in names:
            mean, low, high = self.means[name]
            shown = name.replace("episode_", "")
            lines.append(f"  {shown:12}{mean:10.2f}   [{low:.2f}, {high:.2f}]")
        if self.first_badge is not None:
            share, low, high = self.first_badge
            lines.append(f"  {'first badge':12}{share:10.0%}   [{low:.0%}, {high:.0%}]")
        return lines


def evaluate(
    checkpoint: Checkpoint,
    *,
    episodes: int = 64,
    greedy: bool = False,
    seed: int = 1,
    device: torch.device | None = None,
    path: Path | str = "the checkpoint",
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Plays a checkpoint's policy on the task it was trained on.

    Args:
        checkpoint: the policy and its options.
        episodes: how many.
        greedy: always take the likeliest action.
        seed: of the machines and of what is drawn.
        device: where the policy runs; the CPU by default.
        path: the checkpoint's, for messages.
        progress: called with the number of episodes done.

    Raises:
        CheckpointError: the policy does not fit the task.
    """
    return _evaluate(
        checkpoint.config,
        lambda pool, count: Player(
            checkpoint, pool, count, greedy=greedy, seed=seed, device=device, path=path
        ),
        episodes,
        seed,
        progress,
    )


def evaluate_random(
    config: Config,
    *,
    episodes: int = 64,
    seed: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Plays random actions, all equally likely, on the task that the options describe."""
    return _evaluate(
        config,
        lambda pool, count: _Random(count, int(pool.single_action_space.n), seed),
        episodes,
        seed,
        progress,
    )


def _evaluate(
    config: Config,
    make_actor: Callable[[Any, int], _Actor],
    episodes: int,
    seed: int,
    progress: Callable[[int], None] | None,
) -> Report:
    count = min(episodes, _MOST_MACHINES)
    # Each machine plays its share of the episodes, so that short ones are not preferred.
    quota = np.full(count, episodes // count)
    quota[: episodes % count] += 1
    found: list[EndedEpisode] = []
    with open_pool(config, count) as pool:
        actor = make_actor(pool, count)
        pool.reset(seed)
        seeds = pool.episode_seeds
        history: list[npt.NDArray[np.int64]] = []
        began = np.zeros(count, dtype=np.int64)
        totals = np.zeros(count)
        while quota.any():
            actions = actor.act(pool.records)
            history.append(actions)
            _, rewards, terminations, truncations, infos = pool.step(actions)
            totals += rewards
            over = terminations | truncations
            if not over.any():
                continue
            for index in np.flatnonzero(over & (quota > 0)).tolist():
                played = np.array([one[index] for one in history[began[index] :]], np.uint8)
                info = {name: float(value[index]) for name, value in infos["final_info"].items()}
                info["episode_return"] = float(totals[index])
                info["episode_length"] = float(len(played))
                found.append(EndedEpisode(info, seeds[index] or 0, played))
            quota[over & (quota > 0)] -= 1
            totals[over] = 0
            began[over] = len(history)
            seeds = pool.episode_seeds
            actor.begin(over)
            if progress is not None:
                progress(len(found))
    return report(found)


def report(episodes: list[EndedEpisode]) -> Report:
    """What episodes came to."""
    means = {}
    for name in episodes[0].info:
        values = [episode.info[name] for episode in episodes]
        means[name] = (float(np.mean(values)), *mean_interval(values))
    first_badge = None
    if "badges" in means:
        hits = sum(episode.info["badges"] >= 1 for episode in episodes)
        first_badge = (hits / len(episodes), *share_interval(hits, len(episodes)))
    return Report(episodes, means, first_badge)
