"""Files of PyBoy's older state versions, made from a file of version 29.

`downgrade` leaves out and moves what the older version had not or elsewhere.
PyBoy 2.8.1 itself fails on most older files, because it reads bytes that they lack;
with `repaired` those bytes (zero) are put in, so that it can be asked what they mean.
"""

from __future__ import annotations

from emurust.verify.pyboy_state import parse

VERSIONS = (7, 8, 9, 10, 11, 12, 13, 14, 15, *range(16, 29))

_RTC_BLOCK = [
    "rtc_seconds",
    "rtc_minutes",
    "rtc_hours",
    "rtc_day_low",
    "rtc_day_high",
    "rtc_halt",
    "rtc_carry",
    "rtc_cycles",
    "rtc_saved_at",
]
# Fields by the version that brought them.
_SINCE: dict[int, list[str]] = {
    28: ["ch1_sweep_restart_hold"],
    27: ["ch1_sweep_calculation"],
    26: ["ch4_counter", "ch4_countdown", "ch4_alignment", "ch4_running"],
    25: ["ch3_sample_position"],
    24: ["ch3_restart_pending"],
    23: [
        *(f"{c}_{f}" for c in ("ch1", "ch2") for f in ("suppressed", "pending_duty")),
        "ch1_duty_pending",
        "ch2_duty_pending",
        "sgb",
    ],
    22: ["sound_div_write_flag"],
    21: _RTC_BLOCK,
    20: ["tima_reload"],
    19: [
        "ei_delay",
        "dma_active",
        "dma_reading",
        "dma_source",
        "dma_index",
        "dma_start_cycle",
    ],
    18: ["wy_latch"],
    17: ["downgraded"],
    16: ["key0", "object_priority_mode"],
    15: [
        "sb",
        "sc",
        "serial_enabled",
        "serial_internal",
        "serial_last_cycle",
        "serial_distance",
        "serial_clock",
        "serial_target",
    ],
    13: ["frame_done", "lcd_first_frame", "lcd_restart_pending", "timer_distance"],
    12: ["cycles", "lcd_last_cycle", "timer_last_cycle"],
    8: [
        "key1",
        "double_speed",
        "cgb_hardware",
        "interrupt_queued",
        "if",
        "cgb_rendering",
        "lcd_speed_shift",
        "lcd_clock",
        "lcd_target",
        "lcd_next_mode",
    ],
}
# What PyBoy 2.8.1 expects in older files, though the PyBoys that wrote them had it not.
_EXPECTED_IN_SOUND = ["ch1_sweep_check", "ch1_sweep_negated", "ch3_suppressed", "ch3_accessible"]


def downgrade(state: bytes, rom: bytes, version: int, *, repaired: bool = False) -> bytes:
    """A file of `version` that says what `state`, of version 29, does."""
    return b"".join(_fields(state, rom, version, repaired=repaired).values())


def repair(old: bytes, state: bytes, rom: bytes, *, has_nr50: bool = False) -> bytes:
    """An old PyBoy's file with the bytes that PyBoy 2.8.1 misses in it.

    `state` is any file of version 29 of the same cartridge; `has_nr50` tells that
    version 15 was written by PyBoy 2.7.0.
    """
    version = old[0]
    lengths = {name: len(part) for name, part in _fields(state, rom, version).items()}
    if has_nr50:
        lengths["nr50"] = 1
    parts = {}
    for name, length in lengths.items():
        parts[name], old = old[:length], old[length:]
    assert not old
    wanted = _fields(state, rom, version, repaired=True)
    return b"".join(parts.get(name) or bytes(len(part)) for name, part in wanted.items())


def _fields(state: bytes, rom: bytes, version: int, *, repaired: bool = False) -> dict[str, bytes]:
    parsed = parse(state, rom)
    starts = sorted(parsed.offsets.items(), key=lambda item: item[1])
    ends = [offset for _, offset in starts[1:]] + [len(state)]
    fields = {name: state[a:b] for (name, a), b in zip(starts, ends, strict=True)}
    sound = list(fields)
    sound = sound[sound.index("audio_fill") : sound.index("screen")]

    fields["version"] = bytes([version])
    for since, names in _SINCE.items():
        if version < since:
            for name in names:
                fields.pop(name, None)
    # The transition tag: version 29, but 2.8.1 reads it from 8 on.
    if version < 29:
        fields["lcd_transition"] = b"\0" if repaired and version >= 8 else b""
        for name in ("rumble_present", "rumble_on"):
            if name in fields and not repaired:
                fields[name] = b""
    if version < 16:
        for name in _EXPECTED_IN_SOUND:
            fields[name] = bytes(len(fields[name])) if repaired else b""
        fields["nr50"] = b"\0" if repaired else b""
        fields["wram_bank"] = bytes(32) + b"\xff" + bytes(3) + fields["wram_bank"] + bytes(15)
        if version in (14, 15):
            fields["samples_per_frame"] = (800).to_bytes(8, "little")
            fields["audio"] = fields["audio"][: 2 * 801]
    if version == 13:
        order = ["sound_last_cycle", "sound_cycles"]
        channels = sound[sound.index("ch1_duty") :]
        moved = {name: fields[name] for name in order + [c for c in channels if c in fields]}
        for name in sound:
            fields.pop(name, None)
        fields["wy_latch"] = fields.get("wy_latch", b"")
        position = list(fields).index("screen")
        items = list(fields.items())
        fields = dict(items[:position] + list(moved.items()) + items[position:])
    if version < 13:
        for name in sound:
            fields.pop(name, None)
        if "rtc_epoch" in fields:
            fields["rtc_epoch"] = bytes(4)
    if version < 11:
        lines = fields.pop("line_parameters")
        fields["screen"] = lines + fields["screen"]
        if version < 10:
            cells = fields["screen"][len(lines) :]
            pixels = b"".join(cells[i : i + 4] for i in range(0, len(cells), 5))
            fields["screen"] = lines + pixels
    return fields
