"""Where the agents of a training have been, and a video of their best episode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from emurust.envs.pokemon import PokemonEnv
from emurust.errors import InternalError
from emurust.heatmap import draw_heatmap
from emurust.pictures import open_film, save_picture
from emurust.recording import RecordedEpisode, RecordingWriter, ram_checksum
from emurust.train.build import pool_options
from emurust.train.config import Config
from emurust.train.machines import EndedEpisode, Machines
from emurust.visits import VisitLog, read_visits

__all__ = ["RunPictures", "film_episode"]

_PICTURES_PER_SECOND = 30


class RunPictures:
    """Keeps ``places.png``, ``best.recording`` and ``best.gif`` in a training's folder.

    Args:
        config: the options of the training.
        folder: where to.
        machines: the training's.
    """

    def __init__(self, config: Config, folder: Path, machines: Machines) -> None:
        self._config = config
        self._folder = folder
        self._best: EndedEpisode | None = None
        self._filmed: EndedEpisode | None = None
        report = config["report"]
        self._visits: VisitLog | None = None
        names = machines.driver_env.pool.info_names
        if report["picture_interval"] and {"map", "x", "y"} <= set(names):
            rom = machines.driver_env.pool.rom
            self._visits = VisitLog(folder / "visits.log", rom)
            machines.on_step(self._visits.add)

    def update(self, number: int, episodes: Sequence[EndedEpisode]) -> None:
        """After an update: makes the pictures that are due."""
        for episode in episodes:
            if self._best is None or _return(episode) > _return(self._best):
                self._best = episode
        report = self._config["report"]
        if report["picture_interval"] and number % report["picture_interval"] == 0:
            self._draw_places()
        if report["video_interval"] and number % report["video_interval"] == 0:
            self._film_best()

    def finish(self) -> None:
        """Makes the pictures of the end."""
        self._draw_places()
        if self._config["report"]["video_interval"]:
            self._film_best()

    def close(self) -> None:
        """Writes what is not written yet."""
        if self._visits is not None:
            self._visits.close()

    def _draw_places(self) -> None:
        if self._visits is None:
            return
        self._visits.flush()
        picture = draw_heatmap(read_visits(self._folder / "visits.log"))
        save_picture(picture, self._folder / "places.png")

    def _film_best(self) -> None:
        if self._best is None or self._best is self._filmed:
            return
        recording = self._folder / "best.recording"
        recording.unlink(missing_ok=True)
        film_episode(
            self._config,
            self._best,
            self._folder / "best.gif",
            recording,
            seconds=self._config["report"]["video_seconds"],
        )
        self._filmed = self._best


def film_episode(
    config: Config,
    episode: EndedEpisode,
    film: Path | None,
    recording: Path | None,
    *,
    seconds: float = 60.0,
) -> None:
    """Plays an episode again for a film (a picture for each step, or fewer for a film of at most
    `seconds`) and a recording.

    Raises:
        DependencyError, SaveFileError, LogFileError: as `open_film` and `RecordingWriter`.
    """
    options = pool_options(config)
    most = max(1, int(seconds * _PICTURES_PER_SECOND))
    stride = math.ceil(len(episode.actions) / most)
    opened = open_film(film, every=60 // _PICTURES_PER_SECOND) if film is not None else None
    env = PokemonEnv(options.pop("rom"), render=True, **options)
    try:
        env.reset(options={"episode_seed": episode.seed})
        start = env.episode_start
        total, ended, cut = 0.0, False, False
        for number, action in enumerate(episode.actions):
            _, reward, ended, cut, _ = env.step(np.int64(action))
            total += reward
            if opened is not None and number % stride == 0:
                opened.add(env.gameboy.screen.shades)
        if total != _return(episode):
            raise InternalError(
                f"an episode that gave {_return(episode)} gave {total} when it was played again"
            )
        if recording is not None:
            writer = RecordingWriter(recording, env.gameboy.rom, env.recipe)
            end = "terminated" if ended else "truncated" if cut else "stopped"
            actions = episode.actions.astype(np.int64)
            ram = ram_checksum(env.gameboy.memory)
            writer.add(RecordedEpisode(episode.seed, start, actions, end, total, ram))
            writer.close()
    finally:
        if opened is not None:
            opened.close()
        env.close()


def _return(episode: EndedEpisode) -> Any:
    return episode.info["episode_return"]
