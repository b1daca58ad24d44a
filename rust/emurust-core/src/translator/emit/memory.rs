//! Memory accesses: plain memory directly, everything else through the bus.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I16, I32, I64, I8};
use cranelift_codegen::ir::{self, InstBuilder, Value};

use super::{Emitter, Register, TRUSTED};
use crate::bus::LATE;
use crate::machine::{HRAM_LEN, WRAM_LEN};
use crate::ppu::{lcdc, mode, STAT_HBLANK_SOURCE, STAT_SOURCES};
use crate::translator::context::{self, Moment, Timing};
use crate::translator::exit::Exit;
use crate::translator::layout;

/// An address, known or not.
#[derive(Clone, Copy)]
pub(super) enum Address {
    At(u16),
    In(Value),
}

impl From<Value> for Address {
    fn from(value: Value) -> Self {
        Self::In(value)
    }
}

/// Where code goes on after a write that the run loop must look at.
#[derive(Clone, Copy)]
pub(super) struct Next {
    pub(super) pc: u16,
    /// T-cycles of the instruction.
    pub(super) cycles: i64,
}

/// Offset from the machine of a byte that is memory and nothing else.
fn plain_offset(addr: u16) -> Option<usize> {
    match addr {
        0xC000..=0xFDFF => Some(layout::WRAM + usize::from(addr & 0x1FFF)),
        0xFF80..=0xFFFE => Some(layout::HRAM + usize::from(addr & 0x7F)),
        _ => None,
    }
}

impl Emitter<'_, '_> {
    /// Reads `at` cycles into the instruction.
    pub(super) fn read(&mut self, addr: impl Into<Address>, at: u8, late: bool) -> Value {
        match self.known(addr.into(), late) {
            Address::At(addr) => self.read_known(addr, at),
            Address::In(addr) => {
                let table = if late {
                    layout::LATE_READ_PAGES
                } else {
                    layout::READ_PAGES
                };
                let fast = self.b.create_block();
                let slow = self.b.create_block();
                let done = self.b.create_block();
                self.b.set_cold_block(slow);
                let result = self.b.append_block_param(done, I32);
                self.if_wram(addr, |e, cell| {
                    let value = e.b.ins().uload8(I32, TRUSTED, cell, 0);
                    e.b.ins().jump(done, &[value.into()]);
                });
                let page = self.page(table, addr);
                self.b.ins().brif(page, fast, &[], slow, &[]);
                self.begin(slow);
                let value = self.call_read(addr, Timing { at, late });
                self.b.ins().jump(done, &[value.into()]);
                self.begin(fast);
                let cell = self.cell(page, addr);
                let value = self.b.ins().uload8(I32, TRUSTED, cell, 0);
                self.b.ins().jump(done, &[value.into()]);
                self.begin(done);
                result
            }
        }
    }

    /// Where an address is near the stack, which is most often in work RAM, `access` gets
    /// at it there at once, and jumps: a branch can be foreseen, while a table must be
    /// waited for.
    fn if_wram(&mut self, addr: Value, access: impl FnOnce(&mut Self, Value)) {
        if !self.known.is_good || !self.on_stack.contains(&addr) {
            return;
        }
        let offset = self.b.ins().iadd_imm_s(addr, -0xC000);
        let is_inside = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, offset, WRAM_LEN as i64);
        let inside = self.b.create_block();
        let outside = self.b.create_block();
        self.b.ins().brif(is_inside, inside, &[], outside, &[]);
        self.begin(inside);
        let offset = self.b.ins().uextend(I64, offset);
        let cell = self.b.ins().iadd(self.machine, offset);
        let cell = self.b.ins().iadd_imm_s(cell, layout::WRAM as i64);
        access(self, cell);
        self.begin(outside);
    }

    /// The address, known if the translation knows it and may use that.
    fn known(&self, addr: Address, late: bool) -> Address {
        match addr {
            Address::In(value) => self
                .constant_of(value)
                .map(|known| known as u16)
                .filter(|&known| !late || plain_offset(known).is_some())
                .map_or(addr, Address::At),
            Address::At(_) => addr,
        }
    }

    fn read_known(&mut self, addr: u16, at: u8) -> Value {
        if let Some(offset) = plain_offset(addr) {
            return self.load8(offset);
        }
        match addr {
            0x0000..=0x3FFF => {
                let byte = self.known.image.get(usize::from(addr)).copied();
                self.constant(byte.unwrap_or(0xFF).into())
            }
            0x4000..=0x7FFF => {
                let page = self.load(I64, layout::READ_PAGES + usize::from(addr >> 12) * 8);
                self.b.ins().uload8(I32, TRUSTED, page, i32::from(addr))
            }
            0x8000..=0x9FFF => self.load8(layout::VRAM + usize::from(addr & 0x1FFF)),
            0xFF00 => self.load8(layout::JOYPAD_LATCH),
            0xFF0F => self.read_requests(at),
            0xFFFF => self.load8(layout::INTERRUPTS_ENABLED),
            // Nothing is there, or only a Game Boy Color has it.
            0xFF03 | 0xFF08..=0xFF0E | 0xFF4C..=0xFF7F => self.constant(0xFF),
            0xFF40 => self.read_lcd(addr, layout::LCDC, at),
            0xFF41 => self.read_lcd(addr, layout::STAT, at),
            0xFF44 => self.read_lcd(addr, layout::LY, at),
            _ => {
                let addr = self.constant(addr.into());
                self.call_read(addr, Timing::at(at))
            }
        }
    }

    /// IF as it is, unless the LCD may request an interrupt for STAT.
    fn read_requests(&mut self, at: u8) -> Value {
        let stat = self.load8(layout::STAT);
        let sources = self.and(stat, STAT_SOURCES.into());
        self.read_unless(sources, 0xFF0F, at, |e| {
            let requested = e.load8(layout::INTERRUPTS_REQUESTED);
            e.b.ins().bor_imm_u(requested, 0xE0)
        })
    }

    /// Reads as `directly` says if `is_special` is zero, else through the bus.
    fn read_unless(
        &mut self,
        is_special: Value,
        addr: u16,
        at: u8,
        directly: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let slow = self.b.create_block();
        let fast = self.b.create_block();
        let done = self.b.create_block();
        self.b.set_cold_block(slow);
        let result = self.b.append_block_param(done, I32);
        self.b.ins().brif(is_special, slow, &[], fast, &[]);
        self.begin(slow);
        let addr = self.constant(addr.into());
        let value = self.call_read(addr, Timing::at(at));
        self.b.ins().jump(done, &[value.into()]);
        self.begin(fast);
        let value = directly(self);
        self.b.ins().jump(done, &[value.into()]);
        self.begin(done);
        result
    }

    /// Whether a transition of the LCD is due `at` cycles into the instruction.
    fn lcd_is_past(&mut self, at: u8) -> Value {
        // Cycles from the start of the block to the next transition.
        let clock = self.load(I64, layout::LCD_CLOCK);
        let target = self.load(I64, layout::LCD_TARGET);
        let synced_to = self.load(I64, layout::LCD_SYNCED_TO);
        let end = self.load(I64, layout::END);
        let from_sync = self.b.ins().isub(target, clock);
        let transition_at = self.b.ins().iadd(synced_to, from_sync);
        let before_end = self.b.ins().isub(transition_at, end);
        let left = self.load(I64, layout::TIME_LEFT);
        let distance = self.b.ins().iadd(before_end, left);
        self.b.ins().icmp_imm_s(
            IntCC::SignedLessThanOrEqual,
            distance,
            self.offset + i64::from(at),
        )
    }

    /// A register of the LCD as it is, unless the LCD has to be caught up first.
    fn read_lcd(&mut self, addr: u16, cell: usize, at: u8) -> Value {
        let is_past = self.lcd_is_past(at);
        let is_special = if cell == layout::STAT {
            let hides_mode = self.load8(layout::STAT_READS_MODE0);
            let hides_mode = self.b.ins().icmp_imm_u(IntCC::NotEqual, hides_mode, 0);
            self.b.ins().bor(is_past, hides_mode)
        } else {
            is_past
        };
        self.read_unless(is_special, addr, at, |e| {
            let yes = e.constant(1);
            e.store8(yes, layout::BUS_USED);
            e.load8(cell)
        })
    }

    /// Entry of a page table for an address: what to add to the address, or 0.
    fn page(&mut self, table: usize, addr: Value) -> Value {
        let number = self.shift_right(addr, 12);
        let number = self.b.ins().uextend(I64, number);
        let offset = self.b.ins().ishl_imm_u(number, 3);
        let entry = self.b.ins().iadd(self.machine, offset);
        self.b.ins().load(I64, TRUSTED, entry, table as i32)
    }

    fn cell(&mut self, page: Value, addr: Value) -> Value {
        let addr = self.b.ins().uextend(I64, addr);
        self.b.ins().iadd(page, addr)
    }

    /// When the present instruction accesses memory, for a helper.
    fn moment(&mut self, timing: Timing) -> Value {
        let since_previous = self.previous_offset.map(|previous| self.offset - previous);
        let moment = Moment {
            offset: self.offset as u16,
            last: self.last_offset as u16,
            since_previous: since_previous.map(|cycles| cycles as u8),
            timing,
        };
        self.constant(moment.encode().into())
    }

    fn call_read(&mut self, addr: Value, timing: Timing) -> Value {
        let moment = self.moment(timing);
        let function = self.load(I64, layout::READ);
        let machine = self.machine;
        let call =
            self.b
                .ins()
                .call_indirect(self.signatures.read, function, &[machine, addr, moment]);
        self.b.inst_results(call)[0]
    }

    /// Calls the bus; the result says whether the run loop must look.
    fn call_write(&mut self, addr: Value, value: Value, timing: Timing) -> Value {
        let moment = self.moment(timing);
        let function = self.load(I64, layout::WRITE);
        let machine = self.machine;
        let call = self.b.ins().call_indirect(
            self.signatures.write,
            function,
            &[machine, addr, value, moment],
        );
        self.b.inst_results(call)[0]
    }

    /// Goes back to the run loop if a write ended the slice or moved the code.
    fn leave_if(&mut self, leave: Value, next: Next) {
        // Another bank at 4000 does not concern code below.
        let mask = if self.place.pc() < 0x4000 {
            context::LEAVE
        } else {
            context::LEAVE | context::LEAVE_HIGH
        };
        let leave = self.and(leave, mask.into());
        let out = self.b.create_block();
        let on = self.b.create_block();
        self.b.set_cold_block(out);
        self.b.ins().brif(leave, out, &[], on, &[]);
        self.begin(out);
        self.note_last(next.cycles);
        let cache = self.cache;
        self.flush();
        self.cache = cache;
        self.spend(self.offset + next.cycles);
        self.leave(next.pc, Exit::AGAIN);
        self.begin(on);
    }

    /// Writes `at` cycles into the instruction, whose other effects are done.
    pub(super) fn write(
        &mut self,
        addr: impl Into<Address>,
        value: Value,
        timing: Timing,
        next: Next,
    ) {
        match self.known(addr.into(), timing.late) {
            Address::At(addr) => {
                if let Some(offset) = plain_offset(addr) {
                    self.store8(value, offset);
                } else {
                    let known = self.constant(addr.into());
                    if addr == 0xFF00 {
                        self.write_p1(value, timing, next);
                    } else if let Some(cell) =
                        addr.checked_sub(0xFF40).and_then(layout::lcd_register)
                    {
                        self.write_lcd(addr, cell, value, timing, next);
                    } else if (0x8000..0xA000).contains(&addr) {
                        self.write_unknown(known, value, timing, next);
                    } else {
                        let leave = self.call_write(known, value, timing);
                        self.leave_if(leave, next);
                    }
                }
            }
            Address::In(addr) => self.write_unknown(addr, value, timing, next),
        }
    }

    /// P1, which some programs write hundreds of times a frame. Only the end of
    /// an exact slice depends on it.
    fn write_p1(&mut self, value: Value, timing: Timing, next: Next) {
        let exact = self.load8(layout::SLICE_IS_EXACT);
        let is_plain = self.is_zero(exact);
        let addr = self.constant(0xFF00);
        self.write_if(is_plain, addr, value, timing, next, |e| {
            // A line is selected by a zero.
            let selection = e.and(value, 0x30);
            let directions = e.load8(layout::JOYPAD_DIRECTIONS);
            let buttons = e.load8(layout::JOYPAD_BUTTONS);
            let neither = e.constant(0xF);
            let is_buttons = e.b.ins().icmp_imm_u(IntCC::Equal, selection, 0x10);
            let keys = e.b.ins().select(is_buttons, buttons, neither);
            let is_directions = e.b.ins().icmp_imm_u(IntCC::Equal, selection, 0x20);
            let keys = e.b.ins().select(is_directions, directions, keys);
            let latch = e.b.ins().bor_imm_u(keys, 0xC0);
            e.store8(latch, layout::JOYPAD_LATCH);
        });
    }

    /// A register that the LCD reads at its transitions, of which none is due. Where one
    /// is, or where the write may end the slice, it goes through the bus.
    fn write_lcd(&mut self, addr: u16, cell: usize, value: Value, timing: Timing, next: Next) {
        let is_past = self.lcd_is_past(timing.at);
        let exact = self.load8(layout::SLICE_IS_EXACT);
        let is_exact = self.b.ins().icmp_imm_u(IntCC::NotEqual, exact, 0);
        let mut is_special = self.b.ins().bor(is_past, is_exact);
        // SCX, and whether sprites are shown, move the beginning of mode 0.
        let (moves, ends) = match addr {
            0xFF40 => (lcdc::OBJECTS, lcdc::LCD_ENABLE),
            0xFF43 => (0xFF, 0),
            _ => (0, 0),
        };
        if moves != 0 {
            let before = self.load8(cell);
            let changes = self.b.ins().bxor(before, value);
            let stat = self.load8(layout::STAT);
            let awaited = self.and(stat, STAT_HBLANK_SOURCE.into());
            let nothing = self.constant(ends.into());
            let anything = self.constant((moves | ends).into());
            let mask = self.b.ins().select(awaited, anything, nothing);
            let special = self.b.ins().band(changes, mask);
            let special = self.b.ins().icmp_imm_u(IntCC::NotEqual, special, 0);
            is_special = self.b.ins().bor(is_special, special);
        }
        let is_plain = self.is_zero(is_special);
        let addr = self.constant(addr.into());
        self.write_if(is_plain, addr, value, timing, next, |e| {
            e.store8(value, cell);
            let yes = e.constant(1);
            e.store8(yes, layout::BUS_USED);
        });
    }

    /// Writes to VRAM four cycles late, if that is where the address is and neither a
    /// transition of the LCD is due nor anybody has to know; then goes to `done`.
    fn write_vram_late(&mut self, addr: Value, value: Value, at: u8, done: ir::Block) {
        let page = self.page(layout::WRITE_PAGES, addr);
        let area = self.shift_right(addr, 13);
        let is_vram = self.b.ins().icmp_imm_u(IntCC::Equal, area, 4);
        let is_past = self.lcd_is_past(at + LATE as u8);
        let nobody = self.b.ins().icmp_imm_u(IntCC::Equal, page, 0);
        let is_special = self.b.ins().bor(is_past, nobody);
        let is_plain = self.is_zero(is_special);
        let is_plain = self.b.ins().band(is_vram, is_plain);
        let here = self.b.create_block();
        let open = self.b.create_block();
        let other = self.b.create_block();
        self.b.ins().brif(is_plain, here, &[], other, &[]);
        self.begin(here);
        let stat = self.load8(layout::STAT);
        let mode = self.and(stat, 0b11);
        let is_drawing = self
            .b
            .ins()
            .icmp_imm_u(IntCC::Equal, mode, i64::from(mode::DRAWING));
        self.b.ins().brif(is_drawing, done, &[], open, &[]);
        self.begin(open);
        let cell = self.cell(page, addr);
        self.store_low(value, I8, cell, 0);
        self.b.ins().jump(done, &[]);
        self.begin(other);
    }

    fn write_unknown(&mut self, addr: Value, value: Value, timing: Timing, next: Next) {
        let done = self.b.create_block();
        let fast = self.b.create_block();
        let cell = self.b.append_block_param(fast, I64);
        self.if_wram(addr, |e, cell| {
            e.b.ins().jump(fast, &[cell.into()]);
        });
        let table = if timing.late {
            layout::LATE_WRITE_PAGES
        } else {
            layout::WRITE_PAGES
        };
        let page = self.page(table, addr);
        let paged = self.b.create_block();
        let slow = self.b.create_block();
        self.b.set_cold_block(slow);
        self.b.ins().brif(page, paged, &[], slow, &[]);
        self.begin(slow);
        if timing.late {
            self.write_vram_late(addr, value, timing.at, done);
        }
        let leave = self.call_write(addr, value, timing);
        self.leave_if(leave, next);
        self.b.ins().jump(done, &[]);
        self.begin(paged);
        let paged_cell = self.cell(page, addr);
        self.b.ins().jump(fast, &[paged_cell.into()]);
        self.begin(fast);
        self.store_low(value, I8, cell, 0);
        self.b.ins().jump(done, &[]);
        self.begin(done);
    }

    /// Writes as `plainly` says if `is_plain` is not zero, else through the bus.
    fn write_if(
        &mut self,
        is_plain: Value,
        addr: Value,
        value: Value,
        timing: Timing,
        next: Next,
        plainly: impl FnOnce(&mut Self),
    ) {
        let fast = self.b.create_block();
        let slow = self.b.create_block();
        let done = self.b.create_block();
        self.b.set_cold_block(slow);
        self.b.ins().brif(is_plain, fast, &[], slow, &[]);
        self.begin(slow);
        let leave = self.call_write(addr, value, timing);
        self.leave_if(leave, next);
        self.b.ins().jump(done, &[]);
        self.begin(fast);
        plainly(self);
        self.b.ins().jump(done, &[]);
        self.begin(done);
    }

    /// LD (nn),SP.
    pub(super) fn emit_store_sp(&mut self, addr: u16, next: Next) {
        let sp = self.get(Register::Sp);
        let low = self.and(sp, 0xFF);
        let high = self.shift_right(sp, 8);
        let addr_high = addr.wrapping_add(1);
        if let (Some(at_low), Some(at_high)) = (plain_offset(addr), plain_offset(addr_high)) {
            self.store8(low, at_low);
            self.store8(high, at_high);
            return;
        }
        let timing = Timing::at(0);
        let addr = self.constant(addr.into());
        let addr_high = self.constant(addr_high.into());
        let first = self.call_write(addr, low, timing);
        let second = self.call_write(addr_high, high, timing);
        let leave = self.b.ins().bor(first, second);
        self.leave_if(leave, next);
    }

    /// A pair of bytes at `addr` lies in work RAM, where stacks are most often, or in
    /// HRAM, or (`others` is a table) in one page of other memory. Leaves the present
    /// block for the one that handles nothing of that.
    fn pair_cell(&mut self, addr: Value, others: Option<usize>) -> PairBlocks {
        let fast = self.b.create_block();
        let cell = self.b.append_block_param(fast, I64);
        let slow = self.b.create_block();
        self.b.set_cold_block(slow);
        self.pair_in(addr, 0xC000, WRAM_LEN, layout::WRAM, fast);
        self.pair_in(addr, 0xFF80, HRAM_LEN, layout::HRAM, fast);
        if let Some(table) = others {
            let page = self.page(table, addr);
            let paged = self.b.create_block();
            self.b.ins().brif(page, paged, &[], slow, &[]);
            self.begin(paged);
            let cell = self.cell(page, addr);
            let next = self.b.ins().iadd_imm_s(addr, 1);
            let within = self.b.ins().band_imm_u(next, 0xFFF);
            self.b.ins().brif(within, fast, &[cell.into()], slow, &[]);
        } else {
            self.b.ins().jump(slow, &[]);
        }
        PairBlocks { fast, cell, slow }
    }

    /// Goes to `fast` if a pair of bytes at `addr` lies in a stretch of memory, which
    /// the machine has at `array`.
    fn pair_in(&mut self, addr: Value, start: u16, len: usize, array: usize, fast: ir::Block) {
        let offset = self.b.ins().iadd_imm_s(addr, -i64::from(start));
        let is_inside = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, offset, len as i64 - 1);
        let inside = self.b.create_block();
        let outside = self.b.create_block();
        self.b.ins().brif(is_inside, inside, &[], outside, &[]);
        self.begin(inside);
        let offset = self.b.ins().uextend(I64, offset);
        let first = self.b.ins().iadd_imm_s(self.machine, array as i64);
        let cell = self.b.ins().iadd(first, offset);
        self.b.ins().jump(fast, &[cell.into()]);
        self.begin(outside);
    }

    pub(super) fn pop(&mut self, low_at: u8) -> Value {
        let sp = self.get(Register::Sp);
        let above = self.add(sp, 2);
        let above = self.and(above, 0xFFFF);
        self.set(Register::Sp, above);
        let PairBlocks { fast, cell, slow } = self.pair_cell(sp, Some(layout::READ_PAGES));
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, I32);
        self.begin(slow);
        let low = self.call_read(sp, Timing::at(low_at));
        let next = self.add(sp, 1);
        let next = self.and(next, 0xFFFF);
        let high = self.call_read(next, Timing::at(low_at + 4));
        let high = self.shift_left(high, 8);
        let value = self.b.ins().bor(high, low);
        self.b.ins().jump(done, &[value.into()]);
        self.begin(fast);
        let value = self.b.ins().uload16(I32, TRUSTED, cell, 0);
        self.b.ins().jump(done, &[value.into()]);
        self.begin(done);
        result
    }

    pub(super) fn push(&mut self, value: Value, high_at: u8, next: Next) {
        let sp = self.get(Register::Sp);
        let below = self.add(sp, -2);
        let below = self.and(below, 0xFFFF);
        self.set(Register::Sp, below);
        let PairBlocks { fast, cell, slow } = self.pair_cell(below, None);
        let done = self.b.create_block();
        self.begin(slow);
        let high = self.shift_right(value, 8);
        let low = self.and(value, 0xFF);
        let addr_high = self.add(sp, -1);
        let addr_high = self.and(addr_high, 0xFFFF);
        let first = self.call_write(addr_high, high, Timing::at(high_at));
        let second = self.call_write(below, low, Timing::at(high_at + 4));
        let leave = self.b.ins().bor(first, second);
        self.leave_if(leave, next);
        self.b.ins().jump(done, &[]);
        self.begin(fast);
        self.store_low(value, I16, cell, 0);
        self.b.ins().jump(done, &[]);
        self.begin(done);
    }
}

/// What [`Emitter::pair_cell`] made.
struct PairBlocks {
    /// Both bytes are at `cell`.
    fast: ir::Block,
    cell: Value,
    /// Both bytes go through the bus.
    slow: ir::Block,
}
