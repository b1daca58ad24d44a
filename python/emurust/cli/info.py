"""``emurust info``: what a ROM's header says."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from emurust.rom import Rom, load_rom, shipped_cartridge
from emurust.tasks import load as load_task
from emurust.tasks import recognise, task_names

__all__ = ["main"]


def main(argv: Sequence[str]) -> int:
    """Prints a ROM's header fields and checksum verdicts."""
    parser = argparse.ArgumentParser(
        prog="emurust info", description="What a ROM's header says, and whether it is right."
    )
    parser.add_argument("rom", nargs="?", help="the ROM; the shipped cartridge by default")
    options = parser.parse_args(argv)
    path = options.rom or shipped_cartridge()
    rom = load_rom(path)
    game = recognise(rom)
    known = {} if game is None else {"game": game}
    tasks = {"tasks": ", ".join(fitting_tasks(rom))}
    rows = {"file": str(path), **known, **header_rows(rom), **tasks}
    width = max(map(len, rows)) + 2
    for name, value in rows.items():
        print(f"{name + ':':{width}}{value}")
    return 0


def fitting_tasks(rom: Rom) -> list[str]:
    """Names of the shipped tasks that are made for this cartridge's title."""
    tasks = {name: load_task(name).cartridge_titles for name in task_names()}
    return [name for name, titles in tasks.items() if rom.title in titles] or [
        "none of the shipped ones"
    ]


def header_rows(rom: Rom) -> dict[str, str]:
    """The header's fields in words."""
    features = [
        name
        for name, present in (
            ("RAM", rom.has_ram),
            ("battery", rom.has_battery),
            ("clock", rom.has_rtc),
            ("rumble", rom.has_rumble),
        )
        if present
    ]
    return {
        "title": rom.title,
        "cartridge": f"{rom.mapper} (type 0x{rom.cartridge_type:02X})"
        + (f" with {', '.join(features)}" if features else ""),
        "made for": _made_for(rom),
        "ROM": _rom_size(rom),
        "RAM": f"{8 * rom.ram_banks} KiB emulated (size code 0x{rom.ram_size_code:02X})"
        if rom.has_ram
        else "none",
        "version": str(rom.version),
        "header checksum": f"0x{rom.header_checksum:02X}, right",
        "global checksum": _global_checksum(rom),
        "fingerprint": f"{rom.fingerprint:016x}",
    }


def _made_for(rom: Rom) -> str:
    if rom.cgb_flag & 0xC0 == 0xC0:
        return "Game Boy Color only (runs here as on an original Game Boy)"
    systems = ["Game Boy"]
    if rom.sgb_flag == 0x03:
        systems.append("Super Game Boy")
    if rom.cgb_flag & 0x80:
        systems.append("Game Boy Color")
    return ", ".join(systems)


def _rom_size(rom: Rom) -> str:
    size = f"{16 * rom.rom_banks} KiB in {rom.rom_banks} banks"
    if rom.declared_rom_banks is None:
        return f"{size}; the header's size byte is unknown"
    if rom.declared_rom_banks != rom.rom_banks:
        return f"{size}; the header promises {16 * rom.declared_rom_banks} KiB"
    return size


def _global_checksum(rom: Rom) -> str:
    found, expected = rom.global_checksum, rom.computed_global_checksum
    if found == expected:
        return f"0x{found:04X}, right"
    return f"0x{found:04X}, wrong: the bytes sum to 0x{expected:04X} (no machine checks it)"
