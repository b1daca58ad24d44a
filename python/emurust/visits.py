"""Logs of visited places, from which ``emurust heatmap`` draws.

    >>> with VisitLog("run.visits", pool.rom) as log:
    ...     for _ in range(1000):
    ...         observations, rewards, terminations, truncations, infos = pool.step(actions)
    ...         log.add(infos)

A step adds the places of all machines to a buffer, which costs some microseconds for hundreds of
them; they are counted and written when the buffer is full, and at the end. docs/watch.md describes
the file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from emurust.errors import ArgumentError, LogFileError
from emurust.json_lines import LineWriter, read_lines
from emurust.rom import Rom, RomSource, load_rom, usual_rom

__all__ = ["VisitLog", "Visits", "read_visits"]

_KIND = "visits"
_NAMES = ("map", "x", "y")


class VisitLog:
    """Counts where the machines of a run are after each step.

    Args:
        path: the file. If it is there and is of the same cartridge, the run is added.
        rom: the cartridge, by default as the environment's.
        names: the infos that say where a machine is: number of the map, column and row in it,
            each 0 to 255.
        capacity: places to keep until they are counted and written, 4 bytes each.

    Raises:
        LogFileError: the file cannot be written, or is there and of another cartridge.
        ArgumentError: the capacity is below 1; later: values are not 0 to 255.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        rom: Rom | RomSource = None,
        *,
        names: tuple[str, str, str] = _NAMES,
        capacity: int = 1 << 20,
    ) -> None:
        if capacity < 1:
            raise ArgumentError(f"capacity must be 1 or more, not {capacity}")
        cartridge = rom if isinstance(rom, Rom) else load_rom(usual_rom(rom))
        sha1 = hashlib.sha1(cartridge.image(), usedforsecurity=False).hexdigest()
        self._names = names
        self._places = np.empty(capacity, np.uint32)
        self._count = 0
        self._lines = LineWriter(path, _KIND, {"rom": {"title": cartridge.title, "sha1": sha1}})

    def add(self, infos: Mapping[str, Any]) -> None:
        """Adds where machines are: the infos of a pool's step, of a vector environment's, or of
        a single environment's.

        Raises:
            ArgumentError: the infos do not say; their task has no such values under `[info]`.
        """
        try:
            number, column, row = (infos[name] for name in self._names)
        except KeyError as error:
            raise ArgumentError(
                f"the infos have no {error}; a log of visits needs {', '.join(self._names)} in "
                "the task's [info]"
            ) from None
        # Below 2**24, so that the float32 of infos hold it exactly.
        places = np.ravel(number * np.float32(65536) + column * np.float32(256) + row)
        if np.isnan(places).any():
            # In a pool of several tasks: of a machine whose task does not say.
            places = places[~np.isnan(places)]
        done = 0
        while done < places.size:
            if self._count == self._places.size:
                self.flush()
            some = min(places.size - done, self._places.size - self._count)
            end = self._count + some
            self._places[self._count : end] = places[done : done + some]
            self._count = end
            done += some

    def flush(self) -> None:
        """Writes what was added, as one line."""
        if self._count == 0:
            return
        steps, self._count = self._count, 0
        places, counts = np.unique(self._places[:steps], return_counts=True)
        if places[-1] >= 1 << 24:
            raise ArgumentError(f"{', '.join(self._names)} are not all 0 to 255 in the infos")
        rows = np.stack([places >> 16, places >> 8 & 255, places & 255, counts], axis=1)
        self._lines.write({"steps": steps, "visits": rows.tolist()})

    def close(self) -> None:
        """Writes what was added and closes the file; doing it again changes nothing."""
        if not self._lines.closed:
            self.flush()
            self._lines.close()

    def __enter__(self) -> VisitLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Visits:
    """What a log says.

    Args:
        rom_title, rom_sha1: the cartridge.
        steps: steps of machines that were counted.
        places: (n, 4) int64: map, column, row, and how many steps ended there; each place once.
    """

    def __init__(
        self, rom_title: str, rom_sha1: str, steps: int, places: npt.NDArray[np.int64]
    ) -> None:
        self.rom_title = rom_title
        self.rom_sha1 = rom_sha1
        self.steps = steps
        self.places = places


def read_visits(path: str | os.PathLike[str]) -> Visits:
    """Reads a log.

    Raises:
        LogFileError: it cannot be read or is no log of visits; the message starts with file and
            line.
    """
    header, lines = read_lines(path, _KIND)
    try:
        title, sha1 = str(header["rom"]["title"]), str(header["rom"]["sha1"])
    except (KeyError, TypeError) as error:
        raise LogFileError(f"{path}:1: the header is damaged: {error!r}") from None
    counts = np.zeros(1 << 24, np.int64)
    for number, line in lines:
        try:
            rows = np.array(line["visits"], np.int64).reshape(-1, 4)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise LogFileError(f"{path}:{number}: the line is damaged: {error!r}") from None
        if (rows < 0).any() or (rows[:, :3] > 255).any():
            raise LogFileError(
                f"{path}:{number}: a visit is [map, column, row, count], the first three 0 to 255"
            )
        np.add.at(counts, rows[:, 0] << 16 | rows[:, 1] << 8 | rows[:, 2], rows[:, 3])
    places = np.flatnonzero(counts)
    rows = np.stack([places >> 16, places >> 8 & 255, places & 255, counts[places]], axis=1)
    return Visits(title, sha1, int(rows[:, 3].sum()), rows)
