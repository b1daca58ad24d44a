//! The address space as the CPU sees it (Pan Docs: Memory map).
//!
//! Every access says at which T-cycle of its instruction it happens. Plain
//! memory is answered here at once; registers catch their part up to that cycle.

use crate::dma;
use crate::machine::Machine;
use crate::ppu::lcdc;
use crate::rom::Code;

/// Distance at which PyBoy's "late" instructions are seen by LCD and DMA.
pub(crate) const LATE: u64 = 4;

impl Machine {
    /// Reads as the CPU does, `at` cycles into the instruction.
    #[inline(always)]
    pub(crate) fn read(&mut self, rom: Code<'_>, addr: u16, at: u64) -> u8 {
        if addr >> 13 == 6 {
            self.wram[usize::from(addr & 0x1FFF)]
        } else if addr < 0x8000 {
            self.read_rom(rom, addr)
        } else {
            self.read_bus(rom, addr, at, 0)
        }
    }

    /// A read at the start of the instruction that LCD and DMA see four cycles
    /// later, and that VRAM and OAM refuse while the LCD uses them.
    #[inline(always)]
    pub(crate) fn read_late(&mut self, rom: Code<'_>, addr: u16) -> u8 {
        if addr >> 13 == 6 {
            self.wram[usize::from(addr & 0x1FFF)]
        } else if addr < 0x8000 {
            self.read_rom(rom, addr)
        } else {
            self.read_bus(rom, addr, 0, LATE)
        }
    }

    /// Reads FF00 + `low`.
    #[inline(always)]
    pub(crate) fn read_high(&mut self, rom: Code<'_>, low: u8, at: u64) -> u8 {
        if self.dma.active {
            return self.read_bus(rom, 0xFF00 | u16::from(low), at, 0);
        }
        match low {
            0x80..=0xFE => self.hram[usize::from(low & 0x7F)],
            0x41 => self.read_stat(self.cycles + at),
            0x00 => self.joypad.latch,
            _ => self.read_register(low, self.cycles + at, 0),
        }
    }

    #[inline(always)]
    fn read_rom(&self, rom: Code<'_>, addr: u16) -> u8 {
        let offset = usize::from(addr & 0x3FFF);
        if addr >= 0x4000 {
            rom.byte(self.rom_high + offset)
        } else if addr < 0x100 && self.boot_rom_mapped {
            self.boot_rom_byte(addr)
        } else {
            rom.byte(self.rom_low + offset)
        }
    }

    #[cold]
    fn boot_rom_byte(&self, addr: u16) -> u8 {
        match &self.boot_rom {
            Some(bytes) => bytes[usize::from(addr & 0xFF)],
            None => 0xFF,
        }
    }

    /// The general read. `late` is how much later than `at` LCD and DMA see it.
    #[inline(never)]
    pub(crate) fn read_bus(&mut self, rom: Code<'_>, addr: u16, at: u64, late: u64) -> u8 {
        let now = self.cycles + at;
        match addr {
            0x0000..=0x7FFF => self.read_rom(rom, addr),
            0x8000..=0x9FFF => {
                if late != 0 {
                    self.catch_up_lcd(now + late);
                    if self.ppu.vram_read_blocked() {
                        return 0xFF;
                    }
                }
                self.ppu.vram[usize::from(addr & 0x1FFF)]
            }
            0xA000..=0xBFFF => self.cartridge.read_ram(addr, now),
            0xC000..=0xFDFF => self.wram[usize::from(addr & 0x1FFF)],
            0xFE00..=0xFE9F => self.read_oam(rom, addr, now, late),
            0xFEA0..=0xFEFF => self.unusable[usize::from(addr - 0xFEA0)],
            0xFF00..=0xFFFF => {
                self.advance_dma(rom, now, late, late);
                self.read_register(addr as u8, now, late)
            }
        }
    }

    fn read_oam(&mut self, rom: Code<'_>, addr: u16, now: u64, late: u64) -> u8 {
        if late != 0 {
            self.catch_up_lcd(now + late);
            if self.ppu.oam_read_blocked() {
                return 0xFF;
            }
        }
        self.advance_dma(rom, now, late, late);
        if self.dma.blocks_reads(now + late) && self.cpu.hl == addr {
            // Reads through HL see the transfer four cycles further on.
            self.advance_dma(rom, now, late.max(LATE), late);
        }
        if self.dma.blocks_reads(now + late) {
            return 0xFF;
        }
        self.ppu.oam[usize::from(addr - 0xFE00)]
    }

    /// The register that programs read most: before they write to VRAM.
    #[inline(always)]
    fn read_stat(&mut self, now: u64) -> u8 {
        self.catch_up_lcd_registers(now);
        self.ppu.read_stat()
    }

    #[inline(never)]
    fn read_register(&mut self, low: u8, now: u64, late: u64) -> u8 {
        match low {
            0x40..=0x4B => {
                self.catch_up_lcd_registers(now + late);
                match low {
                    0x44 => self.ppu.ly,
                    0x41 => self.ppu.read_stat(),
                    _ => self.peek_lcd_register(low),
                }
            }
            0x80..=0xFE => self.hram[usize::from(low & 0x7F)],
            0xFF => self.interrupts.enabled,
            0x00 => self.joypad.latch,
            // Nothing is connected: ones come in.
            0x01 => {
                self.catch_up_serial(now);
                0xFF
            }
            0x02 => {
                self.catch_up_serial(now);
                self.serial.sc
            }
            0x04..=0x07 => {
                self.catch_up_timer(now);
                match low {
                    0x04 => self.timer.div(),
                    0x05 => self.timer.read_tima(),
                    0x06 => self.timer.tma,
                    _ => self.timer.tac | 0b1111_1000,
                }
            }
            0x0F => {
                self.replay_lcd();
                self.interrupts.requested | 0b1110_0000
            }
            offset @ 0x10..=0x3F => {
                self.apu.sync(now);
                self.apu.note_access(offset - 0x10);
                self.apu.read(offset - 0x10)
            }
            // FF03, FF08-FF0E and what only a Game Boy Color has.
            _ => 0xFF,
        }
    }

    fn peek_lcd_register(&self, low: u8) -> u8 {
        match low {
            0x40 => self.ppu.lcdc,
            0x41 => self.ppu.peek_stat(),
            0x42 => self.ppu.scy,
            0x43 => self.ppu.scx,
            0x44 => self.ppu.ly,
            0x45 => self.ppu.lyc,
            0x46 => self.dma.source,
            0x47 => self.ppu.bgp,
            0x48 => self.ppu.obp0,
            0x49 => self.ppu.obp1,
            0x4A => self.ppu.wy,
            _ => self.ppu.wx,
        }
    }

    /// Reads at a frame end without any effect on the machine.
    pub(crate) fn peek(&self, rom: Code<'_>, addr: u16) -> u8 {
        match addr {
            0x0000..=0x7FFF => self.read_rom(rom, addr),
            0x8000..=0x9FFF => self.ppu.vram[usize::from(addr & 0x1FFF)],
            0xA000..=0xBFFF => self.cartridge.peek_ram(addr),
            0xC000..=0xFDFF => self.wram[usize::from(addr & 0x1FFF)],
            0xFE00..=0xFE9F if self.dma.blocks_reads(self.cycles) => 0xFF,
            0xFE00..=0xFE9F => self.ppu.oam[usize::from(addr - 0xFE00)],
            0xFEA0..=0xFEFF => self.unusable[usize::from(addr - 0xFEA0)],
            0xFF00 => self.joypad.latch,
            0xFF02 => self.serial.sc,
            0xFF04 => self.timer.div(),
            0xFF05 => self.timer.read_tima(),
            0xFF06 => self.timer.tma,
            0xFF07 => self.timer.tac | 0b1111_1000,
            0xFF0F => self.interrupts.requested | 0b1110_0000,
            0xFF10..=0xFF3F => self.apu.peek((addr - 0xFF10) as u8),
            0xFF40..=0xFF4B => self.peek_lcd_register(addr as u8),
            0xFF80..=0xFFFE => self.hram[usize::from(addr & 0x7F)],
            0xFFFF => self.interrupts.enabled,
            _ => 0xFF,
        }
    }

    /// Writes as the CPU does, `at` cycles into the instruction.
    #[inline(always)]
    pub(crate) fn write(&mut self, rom: Code<'_>, addr: u16, value: u8, at: u64) {
        if addr >> 13 == 6 {
            self.wram[usize::from(addr & 0x1FFF)] = value;
        } else if addr >> 13 == 4 {
            self.write_vram(addr, value);
        } else {
            self.write_bus(rom, addr, value, at, 0);
        }
    }

    /// Two bytes at an address and the one above it, if both lie in plain memory.
    #[inline(always)]
    pub(crate) fn plain_pair(&mut self, addr: u16) -> Option<&mut [u8; 2]> {
        let (memory, offset): (&mut [u8], _) = if addr >> 13 == 6 {
            (&mut self.wram, addr & 0x1FFF)
        } else if (0xFF80..0xFFFE).contains(&addr) && !self.dma.active {
            (&mut self.hram, addr & 0x7F)
        } else {
            return None;
        };
        memory.get_mut(usize::from(offset)..)?.first_chunk_mut()
    }

    #[inline(always)]
    fn write_vram(&mut self, addr: u16, value: u8) {
        if self.ppu.rendering {
            self.write_shown_vram(addr, value);
        } else {
            self.ppu.vram[usize::from(addr & 0x1FFF)] = value;
        }
    }

    #[inline(never)]
    fn write_shown_vram(&mut self, addr: u16, value: u8) {
        // Lines that are due must be drawn from VRAM as it was.
        self.replay_lcd();
        self.ppu.change_vram(usize::from(addr & 0x1FFF), value);
    }

    /// A write that LCD and DMA see four cycles later: see [`Machine::read_late`].
    #[inline(always)]
    pub(crate) fn write_late(&mut self, rom: Code<'_>, addr: u16, value: u8) {
        if addr >> 13 == 6 {
            self.wram[usize::from(addr & 0x1FFF)] = value;
        } else {
            self.write_bus(rom, addr, value, 0, LATE);
        }
    }

    /// Writes FF00 + `low`.
    #[inline(always)]
    pub(crate) fn write_high(&mut self, rom: Code<'_>, low: u8, value: u8, at: u64) {
        if low >= 0x80 && low != 0xFF && !self.dma.active {
            self.hram[usize::from(low & 0x7F)] = value;
        } else {
            self.write_bus(rom, 0xFF00 | u16::from(low), value, at, 0);
        }
    }

    /// The general write.
    #[inline(never)]
    pub(crate) fn write_bus(&mut self, rom: Code<'_>, addr: u16, value: u8, at: u64, late: u64) {
        let now = self.cycles + at;
        if (0xFF40..=0xFF4B).contains(&addr) {
            // What is written through here most often.
            self.advance_dma(rom, now, late, late);
            return self.write_lcd_register(addr, value, now);
        }
        match addr {
            0x0000..=0x7FFF => {
                self.cartridge.write_register(addr, value, now);
                self.remap();
                self.end_slice_if_exact();
            }
            0x8000..=0x9FFF => {
                if late != 0 {
                    self.catch_up_lcd_registers(now + late);
                    if self.ppu.vram_write_blocked() {
                        return;
                    }
                }
                self.write_vram(addr, value);
            }
            0xA000..=0xBFFF => self.cartridge.write_ram(addr, value, now),
            0xC000..=0xFDFF => self.wram[usize::from(addr & 0x1FFF)] = value,
            0xFE00..=0xFE9F => self.write_oam(rom, addr, value, now, late),
            0xFEA0..=0xFEFF => self.unusable[usize::from(addr - 0xFEA0)] = value,
            0xFF00..=0xFFFF => {
                self.advance_dma(rom, now, late, late);
                self.write_register(addr, value, now);
            }
        }
    }

    fn write_oam(&mut self, rom: Code<'_>, addr: u16, value: u8, now: u64, late: u64) {
        if late != 0 {
            self.catch_up_lcd(now + late);
            if self.ppu.oam_write_blocked() {
                return;
            }
        }
        self.advance_dma(rom, now, late, late);
        if !self.dma.active {
            self.replay_lcd();
            self.ppu.oam_mut()[usize::from(addr - 0xFE00)] = value;
            if self.ppu.awaits_hblank() && !self.slice_is_exact {
                self.move_slice_end(now);
            }
        }
    }

    fn write_register(&mut self, addr: u16, value: u8, now: u64) {
        match addr as u8 {
            0x00 => {
                self.joypad.write_p1(value);
                self.end_slice_if_exact();
            }
            0x01 => {
                self.catch_up_serial(now);
                self.end_slice_if_exact();
            }
            0x02 => {
                self.catch_up_serial(now);
                self.serial.write_sc(value, now);
                self.end_slice();
            }
            register @ 0x04..=0x07 => {
                self.catch_up_timer(now);
                match register {
                    0x04 => {
                        self.apu.sync(now);
                        self.apu.div_reset(self.timer.div());
                        self.timer.reset_counter();
                    }
                    0x05 => self.timer.write_tima(value),
                    0x06 => self.timer.write_tma(value),
                    _ => self.timer.write_tac(value),
                }
                self.move_slice_end(now);
            }
            0x0F => {
                self.replay_lcd();
                self.interrupts.requested = value & 0b1_1111;
                self.move_slice_end(now);
            }
            register @ 0x10..=0x3F => {
                self.apu.sync(now);
                self.apu.note_access(register - 0x10);
                self.apu.write(register - 0x10, value, self.timer.counter);
                if self.apu.needs_slice_ends() {
                    self.end_slice();
                } else {
                    self.end_slice_if_exact();
                }
            }
            register @ (0x03 | 0x08..=0x0E) => {
                self.unmapped_io[usize::from(register)] = value;
                self.end_slice_if_exact();
            }
            0x50 if self.boot_rom_mapped && (value == 0x01 || value == 0x11) => {
                self.boot_rom_mapped = false;
                self.remap();
                self.end_slice();
            }
            0x80..=0xFE => self.hram[usize::from(addr & 0x7F)] = value,
            0xFF => {
                self.replay_lcd();
                self.interrupts.enabled = value;
                self.move_slice_end(now);
            }
            _ => {}
        }
    }

    fn write_lcd_register(&mut self, addr: u16, value: u8, now: u64) {
        self.catch_up_lcd(now);
        let interrupts = &mut self.interrupts;
        match addr as u8 {
            0x40 => {
                let changes = self.ppu.lcdc ^ value;
                self.ppu.write_lcdc(value, interrupts);
                self.end_slice_if_exact();
                if changes & lcdc::LCD_ENABLE != 0 {
                    self.end_slice();
                } else if changes & lcdc::OBJECTS != 0 && self.ppu.awaits_hblank() {
                    self.move_slice_end(now);
                }
            }
            0x41 => {
                self.ppu.write_stat(value, interrupts);
                self.move_slice_end(now);
            }
            // LY is read-only, and the only register whose write ends no slice.
            0x44 => {}
            0x45 => {
                self.ppu.write_lyc(value, interrupts);
                self.move_slice_end(now);
            }
            0x46 => {
                self.dma.start(value, now);
                self.end_slice();
            }
            0x43 => {
                self.end_slice_if_exact();
                if self.ppu.write_scx(value) {
                    self.move_slice_end(now);
                }
            }
            register => {
                let cell = match register {
                    0x42 => &mut self.ppu.scy,
                    0x47 => &mut self.ppu.bgp,
                    0x48 => &mut self.ppu.obp0,
                    0x49 => &mut self.ppu.obp1,
                    0x4A => &mut self.ppu.wy,
                    _ => &mut self.ppu.wx,
                };
                *cell = value;
                self.end_slice_if_exact();
            }
        }
    }

    // Catching parts up to an access.

    fn catch_up_timer(&mut self, now: u64) {
        if self.timer.sync(now) {
            self.interrupts
                .request(crate::interrupts::Interrupts::TIMER);
        }
    }

    fn catch_up_serial(&mut self, now: u64) {
        if self.serial.sync(now) {
            self.interrupts
                .request(crate::interrupts::Interrupts::SERIAL);
        }
    }

    #[inline]
    fn catch_up_lcd(&mut self, now: u64) {
        if self.slice_is_exact || !self.ppu.let_pass(now) {
            self.perform_transitions(now);
        }
    }

    #[inline(never)]
    fn perform_transitions(&mut self, now: u64) {
        let (boundary, previous) = (self.cycles, self.previous_start);
        if !self.slice_is_exact
            && self
                .ppu
                .catch_up_quietly(now, boundary, previous, &self.interrupts)
        {
            return;
        }
        self.replay_lcd();
        self.ppu.tick(now, &mut self.interrupts);
    }

    /// Makes the LCD's registers show what they do at `now`. Where no transition
    /// is due they do already.
    #[inline(always)]
    fn catch_up_lcd_registers(&mut self, now: u64) {
        if self.ppu.next_transition_at() <= now {
            self.catch_up_lcd(now);
        }
    }

    /// Performs the LCD transitions of PyBoy's slice ends up to this instruction.
    #[inline]
    pub(crate) fn replay_lcd(&mut self) {
        if !self.slice_is_exact && self.ppu.next_transition_at() <= self.cycles {
            self.ppu
                .replay(self.cycles, self.previous_start, &mut self.interrupts);
        }
    }

    /// Copies the bytes of OAM DMA that are due `ahead` cycles after `now`, for
    /// an access that the LCD sees `late`.
    #[inline]
    pub(crate) fn advance_dma(&mut self, rom: Code<'_>, now: u64, ahead: u64, late: u64) {
        if self.dma.active {
            self.copy_dma_bytes(rom, now, ahead, late);
        }
    }

    #[inline(never)]
    fn copy_dma_bytes(&mut self, rom: Code<'_>, now: u64, ahead: u64, late: u64) {
        let due = self.dma.due(now + ahead);
        let page = self.dma.source_page();
        if page >> 13 == 6 {
            // Most programs copy from work RAM.
            let (from, to) = (usize::from(self.dma.copied), usize::from(due));
            if from < to {
                let start = usize::from(page & 0x1FFF);
                let source = &self.wram[start + from..start + to];
                // Often nothing has moved, and what is known of the sprites stays true.
                if self.ppu.oam[from..to] != *source {
                    self.ppu.oam_mut()[from..to].copy_from_slice(source);
                }
                self.dma.copied = due;
            }
        }
        while self.dma.copied < due {
            let index = self.dma.copied;
            let source = page | u16::from(index);
            let byte = self.read_for_dma(rom, source, now, late);
            self.ppu.oam_mut()[usize::from(index)] = byte;
            self.dma.copied += 1;
        }
        if self.dma.copied == dma::LENGTH {
            self.dma.active = false;
        }
    }

    /// The transfer reads through the bus of the access that advances it.
    fn read_for_dma(&mut self, rom: Code<'_>, addr: u16, now: u64, late: u64) -> u8 {
        match addr {
            0x8000..=0x9FFF if late != 0 => {
                self.catch_up_lcd(now + late);
                if self.ppu.vram_read_blocked() {
                    0xFF
                } else {
                    self.ppu.vram[usize::from(addr & 0x1FFF)]
                }
            }
            0xA000..=0xBFFF => self.cartridge.read_ram(addr, now),
            _ => self.peek(rom, addr),
        }
    }
}
