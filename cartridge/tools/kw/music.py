"""Tunes: data/music.txt to byte streams.

  tune NAME speed N          N timer ticks (64 a second) to a unit of length
  pulse1|pulse2|wave|noise   then notes until the next keyword

Notes: c4 d#5 ... with an optional length in units ("c4.2", else the last
length); r is a rest; "env A3" and "duty 2" set the sound. Noise: k (kick),
s (snare), h (hat). "[ ... ]N" plays a passage N times.
"""

import os
import re

from .source import AssetError, Lines

NAMES = {
    "c": 0,
    "c#": 1,
    "d": 2,
    "d#": 3,
    "e": 4,
    "f": 5,
    "f#": 6,
    "g": 7,
    "g#": 8,
    "a": 9,
    "a#": 10,
    "b": 11,
}
DRUMS = {"k": 1, "s": 2, "h": 3}
CHANNELS = ["pulse1", "pulse2", "wave", "noise"]
FIRST_OCTAVE = 2


def note_table():
    """Register values of notes 1.. (c2 and up); note 0 is a rest."""
    out = b"\0\0"
    for i in range(72):
        frequency = 65.40639 * 2 ** (i / 12)
        value = max(0, min(2047, round(2048 - 131072 / frequency)))
        out += value.to_bytes(2, "little")
    return out


def expand(tokens, fail):
    out, stack = [], []
    for token in tokens:
        if token == "[":
            stack.append(out)
            out = []
        elif m := re.fullmatch(r"\](\d+)", token):
            if not stack:
                fail("] without [")
            inner, out = out, stack.pop()
            out += inner * int(m.group(1))
        else:
            out.append(token)
    if stack:
        fail("[ without ]")
    return out


def encode(tokens, speed, noise, fail):
    out, length, i = b"", 1, 0
    tokens = expand(tokens, fail)
    while i < len(tokens):
        token = tokens[i]
        i += 1
        if token in ("env", "duty"):
            if i >= len(tokens):
                fail(f"{token} needs a value")
            value = int(tokens[i], 16)
            i += 1
            out += bytes((0xF1, value)) if token == "env" else bytes((0xF2, value << 6))
            continue
        m = re.fullmatch(r"(r|[ksh]|[a-g]#?\d)(?:\.(\d+))?", token)
        if not m:
            fail(f"unknown note {token!r}")
        name = m.group(1)
        if m.group(2):
            length = int(m.group(2))
        if name == "r":
            value = 0
        elif noise:
            if name not in DRUMS:
                fail(f"{name} is no drum")
            value = DRUMS[name]
        else:
            value = 1 + NAMES[name[:-1]] + 12 * (int(name[-1]) - FIRST_OCTAVE)
            if not 1 <= value <= 72:
                fail(f"{name} is out of range")
        if length * speed > 255:
            fail("note too long")
        out += bytes((value, length * speed))
    return out + b"\xf0\0"


def check_lengths(name, speed, channels, lines):
    """All channels must fit the longest a whole number of times, or they drift apart."""
    lengths = {}
    for channel, tokens in channels.items():
        stream = encode(tokens, speed, channel == "noise", lines.fail)
        lengths[channel] = (
            sum(stream[i + 1] for i in range(0, len(stream), 2) if stream[i] < 0xF0) // speed
        )
    longest = max(lengths.values(), default=0)
    if any(longest % n for n in lengths.values()):
        lines.fail(f"tune {name}: lengths {lengths} do not fit together")


def build(data_dir, banks, header):
    lines = Lines(os.path.join(data_dir, "music.txt"))
    tunes, current = {"none": (1, {})}, None
    while (words := lines.words()) is not None:
        if words[0] == "tune":
            tunes[words[1]] = (int(words[3]), {})
            current, channel = words[1], None
            continue
        if words[0] in CHANNELS:
            if current is None:
                lines.fail("a channel before any tune")
            channel = words.pop(0)
            tunes[current][1].setdefault(channel, [])
        if channel is None:
            lines.fail("notes before a channel")
        tunes[current][1][channel] += words
    table, numbers = b"", {}
    for name, (speed, channels) in tunes.items():
        streams = [
            encode(channels[c], speed, c == "noise", lines.fail) if c in channels else b""
            for c in CHANNELS
        ]
        size = 8 + sum(map(len, streams))
        check_lengths(name, speed, channels, lines)
        bank, address = banks.add(bytes(size), 9)
        at, pointers = address + 8, b""
        for stream in streams:
            pointers += (at if stream else 0).to_bytes(2, "little")
            at += len(stream)
        start = address - 0x4000
        banks.data[bank][start : start + size] = pointers + b"".join(streams)
        table += bytes((bank, address & 255, address >> 8))
        header.define("MUSIC_" + name, len(numbers))
        numbers[name] = len(numbers)
    header.place("MUSIC_TABLE", banks.add(table))
    header.place("NOTE_TABLE", banks.add(note_table()))
    if not tunes:
        raise AssetError("no tunes")
    return numbers
