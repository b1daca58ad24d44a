"""Recording the instructions PyBoy executes in one frame, through its hooks.

PyBoy offers no single step. A hook replaces an opcode in ROM or RAM and calls back
when it is reached. The tracer hooks the address where the frame starts and the
interrupt vectors; each callback notes the machine and hooks every address that can
follow, so the trace grows along the path the program takes.

What a hook changes: executing it ends a CPU slice (without visible effect in all
but a few sound corner cases), it counts as an instruction for EI's delay, and the
program can read the replaced byte. So neither the instruction after an EI is hooked
on EI's account, nor HALT, which would be stepped four cycles at a time. Callers
compare the state after a traced frame with that of an untraced replay. PyBoy cannot
hook code in high RAM: it is skipped, and the trace continues where the program
returns from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from emurust.verify.errors import VerifyError
from emurust.verify.instructions import ILLEGAL_OPCODES, decode, targets
from emurust.verify.protocol import Input, TraceEntry

if TYPE_CHECKING:
    from emurust.verify.backends import PyBoyMachine

_VECTORS = (0x40, 0x48, 0x50, 0x58, 0x60)
_DISPATCH_CYCLES = 20
_EI = 0xFB
_HALT = 0x76
_REGISTERS = ("A", "F", "B", "C", "D", "E", "HL", "SP")


class _Tracer:
    def __init__(self, machine: PyBoyMachine, rom: bytes) -> None:
        if machine.structs is None:
            raise VerifyError("tracing needs live views into PyBoy, to know the ROM bank")
        self._pyboy: Any = machine.pyboy
        self._structs = machine.structs
        self._rom = rom
        self._hooks: dict[tuple[int, int], None] = {}
        self._removed: tuple[int, int] | None = None
        self._original: dict[int, int] = {}
        self.entries: list[TraceEntry] = []

    def _bank(self, address: int) -> int | None:
        """The bank PyBoy's hooks use for ``address``; None where it cannot hook."""
        if address < 0x4000:
            in_boot = address < 0x100 and self._structs.mb.bootrom_enabled
            low_bank = self._structs.cartridge.rombank_selected_low
            return None if in_boot or low_bank else 0
        if address < 0x8000:
            return int(self._structs.cartridge.rombank_selected)
        if 0xC000 <= address < 0xE000:
            return 0
        return None

    def code(self, address: int) -> bytes:
        """The bytes at ``address`` as the program has them, hooks ignored."""
        result = []
        for here in (address, address + 1, address + 2):
            here &= 0xFFFF
            if here < 0x8000:
                bank = (
                    self._structs.cartridge.rombank_selected_low
                    if here < 0x4000
                    else self._structs.cartridge.rombank_selected
                )
                result.append(self._rom[bank * 0x4000 + (here & 0x3FFF)])
            elif 0xC000 <= here < 0xFE00:
                offset = here & 0x1FFF
                result.append(self._original.get(offset, int(self._structs.wram[offset])))
            elif 0x8000 <= here < 0xA000:
                result.append(int(self._structs.vram[here - 0x8000]))
            elif 0xFF80 <= here < 0xFFFF:
                result.append(int(self._structs.hram[here - 0xFF80]))
            else:
                result.append(0)
        return bytes(result)

    def run(self, observe: bool) -> None:
        self._hook(self._structs.cpu.PC & 0xFFFF)
        self._hook_vectors()
        self._hook_after(self._structs.cpu.PC & 0xFFFF)
        try:
            self._pyboy.tick(1, observe, False)
        finally:
            for bank, address in self._hooks:
                if (bank, address) != self._removed:
                    self._pyboy.hook_deregister(bank, address)

    def _hook_vectors(self) -> None:
        # Only enabled ones: the others may lie inside the code of a handler.
        enabled = self._structs.cpu.interrupts_enabled_register
        for bit, vector in enumerate(_VECTORS):
            if enabled >> bit & 1:
                self._hook(vector)

    def _hook(self, address: int) -> None:
        bank = self._bank(address)
        if bank is None or (bank, address) in self._hooks:
            return
        opcode = self.code(address)[0]
        if opcode in ILLEGAL_OPCODES:
            return
        if opcode == _HALT:
            self._hook((address + 1) & 0xFFFF)
            return
        if address >= 0xC000:
            self._original[address & 0x1FFF] = opcode
        self._pyboy.hook_register(bank, address, self._reached, (bank, address))
        self._hooks[bank, address] = None

    def _hook_after(self, address: int) -> None:
        """Hook everything that can follow the instruction at ``address``."""
        structs = self._structs
        stack = structs.cpu.SP & 0xFFFF
        memory = self._pyboy.memory
        # Reading I/O would have side effects; a stack there is not worth following.
        in_io = 0xFE00 <= stack < 0xFF80 or stack >= 0xFFFE
        top = 0 if in_io else memory[stack] | memory[stack + 1] << 8
        hl = structs.cpu.HL & 0xFFFF
        for _ in range(2):
            code = self.code(address)
            if code[0] != _EI:
                for target in targets(code, address, hl, top):
                    self._hook(target)
                    self._continue_through_unhookable(target)
                return
            address = (address + 1) & 0xFFFF

    def _continue_through_unhookable(self, address: int) -> None:
        """Follow straight code that cannot be hooked, to its first hookable successor."""
        for _ in range(64):
            if self._bank(address) is not None or address < 0x8000:
                return
            code = self.code(address)
            following = targets(code, address, 0, 0)
            for target in following:
                self._hook(target)
            address = (address + decode(code[0], code[1]).length) & 0xFFFF

    def _reached(self, where: tuple[int, int]) -> None:
        if self._structs.lcd.frame_done:
            # The frame ended with the instruction before this hook. PyBoy would call
            # back for ever: it keeps single-stepping, and no step is left to take.
            self._structs.mb.breakpoint_singlestep = 0
            self._structs.mb.breakpoint_waiting = -1
            self._removed = where
            return
        _, address = where
        registers = self._pyboy.register_file
        if address in _VECTORS:
            self._drop_preempted(registers.SP)
        self.entries.append(
            TraceEntry(
                self._structs.cpu.cycles,
                address,
                int(self._structs.cartridge.rombank_selected),
                {name.lower(): getattr(registers, name) for name in _REGISTERS},
            )
        )
        self._hook_vectors()
        self._hook_after(address)

    def _drop_preempted(self, sp: int) -> None:
        """Forget a hook that was reached, but whose instruction an interrupt preempted.

        PyBoy calls back before it looks at interrupts.
        """
        if self.entries:
            last = self.entries[-1]
            took = self._structs.cpu.cycles - last.cycle
            if took == _DISPATCH_CYCLES and last.registers["sp"] == (sp + 2) & 0xFFFF:
                self.entries.pop()


def trace_frame(
    machine: PyBoyMachine, rom: bytes, inputs: Sequence[Input], *, observe: bool
) -> list[TraceEntry]:
    """Run one frame of PyBoy and return the instructions it reached, in order.

    Instructions in the boot ROM, in high RAM and directly after EI are missing.

    Raises:
        VerifyError: ``machine`` has no live views.
    """
    tracer = _Tracer(machine, rom)
    for action, button in inputs:
        if action == "press":
            machine.pyboy.button_press(button)
        else:
            machine.pyboy.button_release(button)
    tracer.run(observe)
    return tracer.entries
