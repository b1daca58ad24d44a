"""Where PyBoy's result depends on more than the machine's state.

EmuRust takes the behaviour of an instance that has already drawn a picture, and
makes time depend on emulated cycles only. Each case here says what PyBoy does, why,
and what this harness and EmuRust do about it; its test shows it on the installed
PyBoy, so that a PyBoy that changes is noticed.
"""

from __future__ import annotations

from dataclasses import dataclass

from emurust.verify.cartridge import assemble_cartridge
from emurust.verify.instructions import ILLEGAL_OPCODES


@dataclass(frozen=True)
class HistoryCase:
    """One way in which PyBoy remembers, or consults, something outside its state.

    Attributes:
        name: short identifier.
        cause: what PyBoy does.
        here: what EmuRust and the harness do.
        test: name of the test that shows it.
    """

    name: str
    cause: str
    here: str
    test: str


KNOWN_REFERENCE_HISTORY: tuple[HistoryCase, ...] = (
    HistoryCase(
        "window-line",
        "The window's line counter starts at 0 in a new instance and becomes -1 only when "
        "line 143 has been drawn; it is in no save state. The first picture ever drawn "
        "shows the window one row off.",
        "EmuRust starts at -1. The harness draws one frame of the boot program first.",
        "test_first_drawn_window_is_one_row_off",
    ),
    HistoryCase(
        "window-line-undrawn",
        "The counter advances on drawn lines only, so after a frame that was switched off "
        "midway its value depends on whether that frame was drawn.",
        "EmuRust keeps the same counter. Both sides always draw the same frames.",
        "test_window_counter_remembers_a_frame_cut_short",
    ),
    HistoryCase(
        "tile-cache",
        "Writing video RAM through memory[0, address] leaves PyBoy's cache of decoded tiles "
        "as it is: the old pixels stay until a bus write touches the tile.",
        "EmuRust has no such cache and shows the new pixels. The harness writes video RAM "
        "through the bus only.",
        "test_banked_write_leaves_old_tile_pixels",
    ),
    HistoryCase(
        "host-clock",
        "Touching the cartridge's clock twice in the same cycle advances it by host time, "
        "and loading a state adds the host time since it was saved.",
        "EmuRust's clock counts emulated cycles only. The harness never reads A000-BFFF "
        "through the bus.",
        "test_clock_read_twice_advances_by_host_time",
    ),
    HistoryCase(
        "illegal-opcode",
        "An illegal opcode takes no time and does not advance: tick never returns.",
        "EmuRust locks the CPU, as hardware does, and frames go on.",
        "test_illegal_opcode_never_returns",
    ),
    HistoryCase(
        "hooks",
        "A hook replaces the opcode in memory, where the program can read it, and counts "
        "as an instruction after EI.",
        "Only the tracer sets hooks, and only on a replay.",
        "test_hook_is_readable_in_memory",
    ),
)


#: Draws a window over the whole screen whose row n has colour n mod 4 on every line.
_WINDOW_SOURCE = """
    ORG $0150
    DI
    LD SP,$DFF0
    XOR A
    LDH ($40),A
    LD HL,$8000
    LD B,8
    LD C,0
rows:
    LD A,C
    AND 1
    JR Z,even
    LD A,$FF
even:
    LD (HL+),A
    LD A,C
    AND 2
    JR Z,low
    LD A,$FF
low:
    LD (HL+),A
    INC C
    DEC B
    JR NZ,rows
    LD HL,$9800
    LD BC,$0400
clear:
    XOR A
    LD (HL+),A
    DEC BC
    LD A,B
    OR C
    JR NZ,clear
    XOR A
    LDH ($4A),A
    LD A,7
    LDH ($4B),A
    LD A,$E4
    LDH ($47),A
    LD A,$B1
    LDH ($40),A
forever:
    JR forever
"""


def window_rom() -> bytes:
    """A program that covers the screen with a window of differing rows."""
    return assemble_cartridge(_WINDOW_SOURCE)


#: As above, but switches the LCD off in line 77 of a frame when WRAM C000 is set.
def cut_window_rom() -> bytes:
    """A window program that cuts a frame short on request (C000 = 1)."""
    source = _WINDOW_SOURCE.replace(
        "forever:\n    JR forever",
        """
forever:
    LD A,($C000)
    OR A
    JR Z,forever
line77:
    LDH A,($44)
    CP 77
    JR NZ,line77
    XOR A
    LD ($C000),A
    LDH ($40),A
    LD A,$B1
    LDH ($40),A
    JR forever
""",
    )
    return assemble_cartridge(source)


def clock_rom() -> bytes:
    """Selects the clock's seconds register and then does nothing."""
    return assemble_cartridge(
        """
    ORG $0150
    LD A,$0A
    LD ($0000),A
    LD A,$08
    LD ($4000),A
    XOR A
    LD ($6000),A
    LD A,1
    LD ($6000),A
forever:
    JR forever
""",
        cartridge_type=0x10,
        ram_size_code=3,
        banks=4,
    )


def illegal_rom(opcode: int) -> bytes:
    """Runs into ``opcode`` a few frames after hand-over."""
    if opcode not in ILLEGAL_OPCODES:
        illegal = ", ".join(f"{code:02X}" for code in sorted(ILLEGAL_OPCODES))
        raise ValueError(f"{opcode:02X} is a legal opcode; illegal ones are {illegal}")
    return assemble_cartridge(
        f"""
    ORG $0150
    LD B,3
frames:
    LDH A,($44)
    CP 144
    JR NZ,frames
line:
    LDH A,($44)
    CP 144
    JR Z,line
    DEC B
    JR NZ,frames
    DB ${opcode:02X}
    NOP
"""
    )
