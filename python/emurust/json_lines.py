"""Files of JSON lines that grow during a run: recordings, logs of visits.

The first line is a header that says what the file is. Every line is written whole; a run that
is killed in the middle of one leaves at most that last line unfinished, which readers ignore
and the next writer removes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from emurust.errors import LogFileError

__all__ = ["LineWriter", "read_lines"]

FORMAT = 1
"""Number of the format of both kinds of file."""


class LineWriter:
    """Writes lines to a new file, or to the end of one with the same header.

    Args:
        path: the file.
        kind: what it is, ``"recording"`` or ``"visits"``.
        header: what else its header says.

    Raises:
        LogFileError: the file cannot be written, or is there with another header.
    """

    def __init__(self, path: str | os.PathLike[str], kind: str, header: Mapping[str, Any]) -> None:
        self.path = Path(path)
        header = {"emurust": kind, "format": FORMAT, **header}
        try:
            there = self.path.exists() and self.path.stat().st_size > 0
            if there:
                _continue(self.path, kind, header)
            self._file = self.path.open("a", encoding="utf-8")
        except OSError as error:
            raise LogFileError(f"{self.path} cannot be written: {error.strerror}") from error
        if not there:
            self.write(header)

    def write(self, line: Mapping[str, Any]) -> None:
        """Adds a line, which is in the file when this returns."""
        try:
            self._file.write(_text(line) + "\n")
            self._file.flush()
        except OSError as error:
            raise LogFileError(f"{self.path} cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Closes the file; doing it again changes nothing."""
        self._file.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._file.closed


def read_lines(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], Iterator[tuple[int, dict[str, Any]]]]:
    """The header of a file, and its other lines with their numbers.

    Raises:
        LogFileError: it cannot be read, or is no such file; the message starts with the file
            and the line.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LogFileError(f"{path} cannot be read: {error.strerror}") from error
    lines = _decoded(path, content)
    header = next(lines, (1, {}))[1]
    _check(path, kind, header)
    return header, lines


def _text(value: Any) -> str:
    # numpy's numbers become Python's.
    return json.dumps(value, separators=(",", ":"), default=lambda number: number.item())


def _decoded(path: Path, content: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = content.split(b"\n")
    # What follows the last line's end is nothing, or a line that was cut short.
    for number, text in enumerate(lines[:-1], 1):
        try:
            line = json.loads(text)
        except ValueError as error:
            raise LogFileError(f"{path}:{number}: not a line of JSON ({error})") from None
        if not isinstance(line, dict):
            raise LogFileError(f"{path}:{number}: expected an object, found {str(line)[:40]}")
        yield number, line


def _check(path: Path, kind: str, header: Mapping[str, Any]) -> None:
    if header.get("emurust") != kind:
        found = header.get("emurust", "something else")
        raise LogFileError(
            f"{path}:1: expected a file of EmuRust {kind}, whose first line says "
            f'{{"emurust": "{kind}", ...}}; found {found}'
        )
    if header.get("format") != FORMAT:
        raise LogFileError(
            f"{path}:1: it has format {header.get('format')}; this version reads format {FORMAT}"
        )


def _continue(path: Path, kind: str, header: Mapping[str, Any]) -> None:
    """Makes a file ready to be added to."""
    with path.open("rb+") as file:
        first = file.readline()
        try:
            there = json.loads(first)
        except ValueError:
            there = None
        if not isinstance(there, dict):
            raise LogFileError(f"{path} is there and is no file of EmuRust {kind}; give another")
        _check(path, kind, there)
        # Through JSON, in which tuples are lists and keys are text.
        differing = [name for name in header if there.get(name) != json.loads(_text(header[name]))]
        if differing:
            raise LogFileError(
                f"{path} is there with another {', '.join(differing)}; give another file, or "
                "remove it"
            )
        end = file.seek(0, os.SEEK_END)
        last = end
        while last > 0:
            start = max(0, last - 65536)
            file.seek(start)
            found = file.read(last - start).rfind(b"\n")
            if found >= 0:
                last = start + found + 1
                break
            last = start
        if last != end:
            file.truncate(last)
