//! The run loop: slices of CPU, then everything else catches up.
//!
//! PyBoy runs the CPU up to the nearest event of any part, catches all parts up,
//! and looks at interrupts only then. Where a slice ends is visible in places
//! (`docs/scheduling.md`), but most ends change nothing. There are two kinds of
//! slice here:
//!
//! * an **exact** slice ends where PyBoy's does;
//! * a **long** slice ends at the next event that can be seen: VBlank, frame
//!   end, an interrupt request. What PyBoy's LCD did at the ends in between is
//!   replayed when somebody looks.
//!
//! Both give the same machine at every instruction; the tests hold them against
//! each other and against PyBoy.

use crate::cpu::alu;
use crate::cpu::interpreter::Lookahead;
use crate::dma::VRAM_SOURCE;
use crate::interrupts::Interrupts;
use crate::machine::Machine;
use crate::rom::Code;
use crate::timer::reload;
use crate::waiting::{Lines, Polled, Wait};

const MIN_SLICE: u64 = 4;
/// No instruction takes longer.
const LONGEST: u64 = 24;
const DISPATCH_T_CYCLES: u64 = 20;
const FIRST_VECTOR: u16 = 0x40;

/// Sees the machine before each instruction.
pub(crate) trait Observer {
    /// Whether anybody does: every instruction is then shown, and none skipped.
    const WATCHES: bool;

    fn before_instruction(&mut self, machine: &Machine);
}

/// Nobody watches.
impl Observer for () {
    const WATCHES: bool = false;

    #[inline(always)]
    fn before_instruction(&mut self, _machine: &Machine) {}
}

/// A turn of a waiting loop, from the moment at which it began. (Filled in place:
/// handing it around costs more than all else about it.)
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) wait: Wait,
    /// Address of the jump that closes the loop.
    pub(crate) jump: u16,
    pub(crate) started: u64,
    /// Nothing that the loop reads changes before this cycle, nor does the slice end.
    limit: u64,
    /// The registers of a polling loop, or the turns left of a counting one.
    before: u64,
}

impl Turn {
    /// None has begun.
    pub(crate) fn none() -> Self {
        Self {
            wait: Wait::Poll(Polled::default()),
            jump: 0,
            started: u64::MAX,
            limit: 0,
            before: 0,
        }
    }

    /// The loop does the same whenever it runs.
    pub(crate) fn is_countdown(&self) -> bool {
        matches!(self.wait, Wait::Count8 { .. } | Wait::Count16 { .. })
    }
}

/// Turns of a counting loop that can be skipped, if one turn counted one down.
/// The last is taken one instruction at a time, and so is one before an
/// interrupt: it leaves the stack as it would be.
fn turns_to_skip(before: u64, left: u16, fitting: u64) -> Option<u16> {
    if before == 0 || u64::from(left) != before - 1 {
        return None;
    }
    let turns = fitting.min(u64::from(left)).saturating_sub(2) as u16;
    (turns > 0).then_some(turns)
}

impl Machine {
    /// Runs until the LCD says that a frame is done.
    pub(crate) fn run_frame<O: Observer>(
        &mut self,
        rom: Code<'_>,
        render: bool,
        sample: bool,
        observer: &mut O,
    ) {
        self.begin_frame(render, sample);
        while !self.ppu.frame_done {
            self.run_slice(rom, observer);
        }
        self.end_run();
    }

    /// To be called between slices before anybody looks at the machine.
    pub(crate) fn end_run(&mut self) {
        self.catch_up_parts();
        self.apu.sync_to_slice_end();
        // Accesses from outside happen between slices.
        self.slice_is_exact = true;
    }

    pub(crate) fn begin_frame(&mut self, render: bool, sample: bool) {
        self.ppu.frame_done = false;
        self.ppu.set_rendering(render);
        self.apu.sampling = sample;
        self.apu.clear_samples();
    }

    #[inline(always)]
    pub(crate) fn run_slice<O: Observer>(&mut self, rom: Code<'_>, observer: &mut O) {
        if self.needs_exact_slice() {
            self.run_exact_slice(rom, observer);
        } else {
            self.run_long_slice(rom, observer);
        }
    }

    /// A slice of the least length: one instruction, or an interrupt's dispatch.
    pub(crate) fn run_step(&mut self, rom: Code<'_>) {
        self.touched = false;
        self.slice_is_exact = true;
        self.slice_target = self.cycles + MIN_SLICE;
        self.take_interrupt(rom);
        if self.cpu.halted || self.cpu.locked {
            self.cycles = self.slice_target;
        } else {
            self.run_instructions(rom, &mut ());
        }
        self.finish_exact_slice(rom);
    }

    fn needs_exact_slice(&self) -> bool {
        self.always_exact
            // Wave RAM and power-on depend on where the last slice ended.
            || self.apu.needs_slice_ends()
            // The transfer advances at slice ends.
            || self.dma.active && !self.dma_advances_anyway()
            // The end of the delay discards a requested slice end.
            || self.cpu.ei_delay != 0
            || self.touched
            || self.ppu.irregular
            || self.dispatch_writes_registers()
    }

    /// Code in high RAM is fetched through the bus, which advances the transfer to
    /// the same byte as a slice end there would; and in VBlank the LCD does not
    /// look at OAM. This is how programs sit out the transfer.
    fn dma_advances_anyway(&self) -> bool {
        self.is_in_hram()
            && self.ppu.is_in_vblank()
            && self.dma.source >> 5 != VRAM_SOURCE
            && !self.takes_interrupt()
            && !self.cpu.halted
            && !self.cpu.locked
    }

    /// An interrupt is taken where the slice ends.
    fn takes_interrupt(&self) -> bool {
        self.cpu.ime && self.interrupts.pending() != 0
    }

    fn is_in_hram(&self) -> bool {
        (0xFF80..0xFFFF).contains(&self.cpu.pc)
    }

    /// An interrupt will be taken whose return address goes to registers or OAM:
    /// the slice does not end for such a write, so its length matters.
    fn dispatch_writes_registers(&self) -> bool {
        let registers = |addr: u16| (0xFE00..0xFF80).contains(&addr) || addr == 0xFFFF;
        let sp = self.cpu.sp;
        // Most stacks lie below all registers.
        sp.wrapping_sub(2) >= 0xFDFF
            && self.takes_interrupt()
            && (registers(sp.wrapping_sub(1)) || registers(sp.wrapping_sub(2)))
    }

    /// What is pushed next goes to work RAM or high RAM.
    fn stack_is_plain(&self) -> bool {
        let plain = |addr| matches!(addr, 0xC000..=0xFDFF | 0xFF80..=0xFFFE);
        let sp = self.cpu.sp;
        plain(sp.wrapping_sub(1)) && plain(sp.wrapping_sub(2))
    }

    fn run_exact_slice<O: Observer>(&mut self, rom: Code<'_>, observer: &mut O) {
        self.touched = false;
        self.catch_up_parts();
        let distance = self
            .timer
            .published
            .min(self.serial.published)
            .min(self.apu.published_distance())
            .min(self.ppu.published_distance().max(0) as u64)
            .max(MIN_SLICE);
        self.slice_is_exact = true;
        self.slice_target = self.cycles + distance;
        self.take_interrupt(rom);
        if self.cpu.halted || self.cpu.locked {
            self.cycles = self.slice_target;
        } else {
            self.run_instructions(rom, observer);
        }
        self.finish_exact_slice(rom);
    }

    fn finish_exact_slice(&mut self, rom: Code<'_>) {
        self.advance_dma(rom, self.cycles, 0, 0);
        self.finish_parts();
        self.ppu.tick(self.cycles, &mut self.interrupts);
    }

    fn run_long_slice<O: Observer>(&mut self, rom: Code<'_>, observer: &mut O) {
        self.begin_long_slice(rom);
        if self.cpu.halted || self.cpu.locked {
            return self.pass_halt();
        }
        self.run_instructions(rom, observer);
        if self.slice_is_exact {
            return self.finish_exact_slice(rom);
        }
        self.finish_long_slice(rom);
        self.sleep_on();
    }

    /// If the CPU stays halted passes the next slice, without going around for it.
    fn sleep_on(&mut self) {
        if self.stays_halted() && !self.ppu.frame_done && !self.needs_exact_slice() {
            self.pass_halt();
        }
    }

    fn begin_long_slice(&mut self, rom: Code<'_>) {
        self.slice_is_exact = false;
        let least = self.cycles + MIN_SLICE;
        self.take_interrupt(rom);
        self.slice_target = self.next_hard_event().max(least);
        self.slice_end = self.slice_target;
    }

    fn finish_long_slice(&mut self, rom: Code<'_>) {
        self.advance_dma(rom, self.cycles, 0, 0);
        self.notice_events();
        self.ppu
            .replay(self.cycles, self.previous_start, &mut self.interrupts);
    }

    /// In native code at the end of a slice: begins the next, and those of a halted CPU on
    /// the way to it, if it is one for native code, too. False if that is for the run loop.
    pub(crate) fn next_slice_follows(&mut self, rom: Code<'_>) -> bool {
        if self.slice_is_exact || self.cpu.ei_delay != 0 || self.wait.is_some() {
            return false;
        }
        self.finish_long_slice(rom);
        self.sleep_on();
        let is_over = self.ppu.frame_done || self.cpu.locked || self.stays_halted();
        // Beside a transfer each instruction is watched (`run_beside_dma`).
        if is_over || self.dma.active || self.needs_exact_slice() {
            return false;
        }
        self.begin_long_slice(rom);
        true
    }

    /// The CPU does nothing in the next slice either.
    fn stays_halted(&self) -> bool {
        self.cpu.halted && self.interrupts.pending() == 0
    }

    /// A long slice of a CPU that does nothing.
    fn pass_halt(&mut self) {
        self.skip_halt();
        self.notice_events();
        self.ppu.tick(self.cycles, &mut self.interrupts);
    }

    /// An exact slice ends: sound, timer and serial up to now.
    fn finish_parts(&mut self) {
        self.apu.note_slice_end(self.cycles);
        self.catch_up_parts();
    }

    /// A long slice ends: timer and serial need catching up only where something has
    /// happened to them.
    fn notice_events(&mut self) {
        self.apu.note_slice_end(self.cycles);
        if self.timer.has_event_by(self.cycles) || self.serial.event_at() <= self.cycles {
            self.catch_up_parts();
        }
    }

    /// Timer and serial up to now.
    fn catch_up_parts(&mut self) {
        if self.serial.sync(self.cycles) {
            self.interrupts.request(Interrupts::SERIAL);
        }
        if self.timer.sync(self.cycles) {
            self.interrupts.request(Interrupts::TIMER);
        }
    }

    /// While the CPU is halted PyBoy goes from event to event; an event less
    /// than four cycles ahead is overshot. Goes to the next event that can be
    /// seen, with the same overshoot.
    fn skip_halt(&mut self) {
        let now = self.cycles;
        let next_lcd = self.ppu.next_transition_at();
        let others = self.timer.event_at().min(self.serial.event_at());
        let end = self.ppu.hard_event_at(&self.interrupts).min(others);
        let plain = self.timer.reload_phase == reload::IDLE
            && now + MIN_SLICE <= next_lcd
            && next_lcd < end;
        let last_lcd = if plain {
            self.ppu.run_before(end, &mut self.interrupts)
        } else {
            None
        };
        self.cycles = match last_lcd {
            Some(last) => end.max(last + MIN_SLICE),
            None => next_lcd.min(others).max(now + MIN_SLICE),
        };
        self.previous_start = self.cycles;
    }

    /// The loop in which nearly all time is spent: the one place that holds the
    /// interpreter inlined.
    #[inline(never)]
    pub(crate) fn run_plain(&mut self, rom: Code<'_>, ahead: &mut Lookahead) {
        let mut here = *ahead;
        while self.cycles < self.slice_end {
            self.step(rom, &mut here);
        }
        *ahead = here;
    }

    /// Executes one instruction, out of line.
    #[inline(never)]
    pub(crate) fn step_once(&mut self, rom: Code<'_>, ahead: &mut Lookahead) {
        self.step(rom, ahead);
    }

    /// Runs instructions to the end of the slice.
    fn run_instructions<O: Observer>(&mut self, rom: Code<'_>, observer: &mut O) {
        loop {
            let mut ahead = Lookahead::default();
            if self.dma.active && !self.slice_is_exact {
                self.run_beside_dma(rom, observer, &mut ahead);
            }
            if self.cpu.ei_delay == 0 {
                if O::WATCHES {
                    while self.cycles < self.slice_end {
                        observer.before_instruction(self);
                        self.step_once(rom, &mut ahead);
                    }
                } else if let Some(region) = rom.region {
                    self.run_native(rom, region, &mut ahead);
                } else {
                    self.run_plain(rom, &mut ahead);
                }
                if let Some((wait, jump)) = self.wait.take() {
                    // A waiting loop left it; the slice goes on.
                    self.slice_end = self.slice_target;
                    if !O::WATCHES {
                        self.skip_wait(rom, wait, jump);
                    }
                    continue;
                }
                if self.cpu.ei_delay == 0 {
                    return;
                }
                // EI left the loop; the slice goes on in its shadow.
                self.slice_end = self.slice_target;
            } else {
                if self.cycles >= self.slice_end {
                    return;
                }
                observer.before_instruction(self);
                self.step_once(rom, &mut ahead);
            }
            if self.cpu.ei_delay != 0 {
                self.cpu.ei_delay -= 1;
                if self.cpu.ei_delay == 0 {
                    self.cpu.ime = true;
                    // Whatever ended the slice is forgotten, unless an interrupt waits.
                    self.slice_end = if self.interrupts.pending() != 0 {
                        0
                    } else {
                        self.slice_target
                    };
                }
            }
        }
    }

    /// In a long slice while the transfer advances with each instruction fetched
    /// from high RAM: where that ends, so does the long slice.
    #[inline(never)]
    fn run_beside_dma<O: Observer>(
        &mut self,
        rom: Code<'_>,
        observer: &mut O,
        ahead: &mut Lookahead,
    ) {
        while self.cycles < self.slice_end && self.dma.active {
            let in_hram = self.is_in_hram();
            // A call that pushes to a register ends a slice as it leaves.
            if !in_hram || !self.stack_is_plain() {
                if !in_hram && self.slice_ended_here() {
                    self.advance_dma(rom, self.cycles, 0, 0);
                }
                self.make_slice_exact();
                self.slice_end = self.slice_target;
                return;
            }
            if !O::WATCHES && self.skip_countdown_in_hram() {
                *ahead = Lookahead::default();
                continue;
            }
            observer.before_instruction(self);
            self.step_once(rom, ahead);
        }
    }

    /// At the top of a countdown in high RAM, as programs sit out the transfer: skips
    /// what fits into the slice of all turns but the last. True if there were any.
    fn skip_countdown_in_hram(&mut self) -> bool {
        const TURN: u64 = 16;
        const JUMP: u64 = 12;
        let Some(Wait::Count8 { register }) = self.wait_in_hram(self.cpu.pc.wrapping_add(1)) else {
            return false;
        };
        if !self.may_skip() {
            return false;
        }
        let left = self.register(register);
        let fitting = (self.slice_target - 1).saturating_sub(self.cycles) / TURN;
        // From zero there are 256 turns.
        let turns = fitting.min(u64::from(left.wrapping_sub(1)));
        if turns == 0 {
            return false;
        }
        let (value, f) = alu::dec(left.wrapping_sub(turns as u8 - 1), self.cpu.f);
        self.set_register(register, value);
        self.cpu.f = f;
        self.cycles += turns * TURN;
        self.previous_start = self.cycles - JUMP;
        true
    }

    /// At the instruction in high RAM that starts OAM DMA, before the countdown that sits it
    /// out, as nearly all programs have them: does all of that at once, if it lies in
    /// VBlank and in this slice. False if it did nothing.
    pub(crate) fn sit_out_transfer(&mut self, rom: Code<'_>) -> bool {
        const TURN: u64 = 16;
        // LDH (DMA),A; LD A,n; and the last JR is 4 cycles shorter.
        const BESIDES: u64 = 12 + 8 - 4;
        const WRITE_AT: u64 = 4;
        const LAST_JUMP: u64 = 8;
        let start = usize::from(self.cpu.pc.wrapping_sub(0xFF80));
        let code = self.hram.get(start..).and_then(<[u8]>::first_chunk);
        let Some(&[0xE0, 0x46, 0x3E, turns, 0x3D, 0x20, 0xFD]) = code else {
            return false;
        };
        let duration = BESIDES + TURN * u64::from(turns);
        let now = self.cycles;
        if self.slice_is_exact
            || !self.may_skip()
            || self.dma.active
            || !self.ppu.is_in_vblank()
            || self.takes_interrupt()
            || now + duration >= self.slice_end
        {
            return false;
        }
        let mut transfer = self.dma.clone();
        transfer.start(self.cpu.a, now + WRITE_AT);
        let from_wram = transfer.source_page() >> 13 == 6;
        if !from_wram || transfer.due(now + duration) < crate::dma::LENGTH {
            return false;
        }
        self.dma = transfer;
        self.advance_dma(rom, now + duration, 0, 0);
        (self.cpu.a, self.cpu.f) = alu::dec(1, self.cpu.f);
        self.cpu.pc += 7;
        self.cycles = now + duration;
        self.previous_start = self.cycles - LAST_JUMP;
        self.return_from_hram();
        true
    }

    /// Takes a RET in high RAM, if that is what is next and the slice goes on after it.
    fn return_from_hram(&mut self) {
        const RET: u8 = 0xC9;
        const DURATION: u64 = 16;
        let next = self.hram.get(usize::from(self.cpu.pc.wrapping_sub(0xFF80)));
        if next != Some(&RET) || self.cycles + DURATION >= self.slice_end {
            return;
        }
        if let Some(&mut address) = self.plain_pair(self.cpu.sp) {
            self.cpu.pc = u16::from_le_bytes(address);
            self.cpu.sp = self.cpu.sp.wrapping_add(2);
            self.previous_start = self.cycles;
            self.cycles += DURATION;
        }
    }

    /// Turns of waiting loops may be skipped at all.
    pub(crate) fn may_skip(&self) -> bool {
        !self.always_exact && !self.stops_armed && self.cpu.ei_delay == 0
    }

    /// In a long slice in VBlank: PyBoy's slice ended at this instruction.
    fn slice_ended_here(&self) -> bool {
        let passed = |event: u64| self.previous_start < event && event <= self.cycles;
        passed(self.ppu.vblank_line_began_at(self.cycles)) || passed(self.timer.event_at())
    }

    /// A jump at `pc` went back: if it closes a waiting loop, leaves the loop of
    /// instructions to look at it.
    #[inline(always)]
    pub(crate) fn look_for_wait(&mut self, rom: Code<'_>, pc: u16) {
        if let Some(wait) = self.wait_at(rom, pc) {
            self.wait = Some((wait, pc));
            self.slice_end = 0;
        }
    }

    /// The waiting loop that a jump at `pc`, which went back to PC, closes, if
    /// turns of it may be skipped now.
    #[inline(always)]
    pub(crate) fn wait_at(&self, rom: Code<'_>, pc: u16) -> Option<Wait> {
        let wait = if pc >= self.rom_fetch_limit {
            if pc < 0xFF80 {
                return None;
            }
            self.wait_in_hram(pc)?
        } else {
            let base = if pc < 0x4000 {
                self.rom_low
            } else {
                self.rom_high.wrapping_sub(0x4000)
            };
            rom.waits.find(base.wrapping_add(usize::from(pc)))?
        };
        let same_bank = self.cpu.pc >> 14 == pc >> 14;
        // What a running DMA copies does not change while the program waits, so
        // it can be copied later; except that VRAM is not always readable.
        let dma_can_wait = !self.dma.active || self.dma.source >> 5 != VRAM_SOURCE;
        (same_bank && dma_can_wait && self.may_skip()).then_some(wait)
    }

    /// Programs sit out OAM DMA in high RAM, counting down a register from PC on.
    fn wait_in_hram(&self, jump: u16) -> Option<Wait> {
        const JR_NZ: u8 = 0x20;
        // To the byte before itself.
        const BACK: u8 = 0xFD;
        let byte = |addr: u16| self.hram.get(usize::from(addr.wrapping_sub(0xFF80)));
        let closes = byte(jump) == Some(&JR_NZ) && byte(jump.wrapping_add(1)) == Some(&BACK);
        if !closes || self.cpu.pc.wrapping_add(1) != jump {
            return None;
        }
        match *byte(self.cpu.pc)? {
            op @ (0x05 | 0x0D | 0x15 | 0x1D | 0x25 | 0x2D | 0x3D) => {
                Some(Wait::Count8 { register: op >> 3 })
            }
            _ => None,
        }
    }

    /// At the top of a waiting loop: takes a turn as usual, and then as many as
    /// fit before the slice ends or what the loop reads can change.
    fn skip_wait(&mut self, rom: Code<'_>, wait: Wait, jump: u16) {
        let mut turn = Turn::none();
        if self.begin_turn(wait, jump, &mut turn) && self.take_turn(rom, jump) {
            self.finish_turn(&turn);
        }
    }

    /// Takes one turn of the loop from PC to `jump`. False if the slice or the
    /// loop ended on the way.
    fn take_turn(&mut self, rom: Code<'_>, jump: u16) -> bool {
        let top = self.cpu.pc;
        let mut ahead = Lookahead::default();
        while self.cycles < self.slice_end {
            self.step_once(rom, &mut ahead);
            // The jump noticed the loop again.
            if self.wait.take().is_some() {
                self.slice_end = self.slice_target;
            }
            if self.cpu.pc == top {
                return true;
            }
            if !(top..=jump).contains(&self.cpu.pc) {
                return false;
            }
        }
        false
    }

    /// At the top of a waiting loop that the jump at `jump` closes: fills in what
    /// there is to know for [`Self::finish_turn`]. False if no turns can be skipped.
    pub(crate) fn begin_turn(&mut self, wait: Wait, jump: u16, turn: &mut Turn) -> bool {
        let (limit, before) = match wait {
            Wait::Line(lines) => (self.line_limit(lines), 0),
            Wait::Poll(polled) => (self.poll_limit(polled), self.cpu.packed()),
            Wait::Count8 { register } => (self.count_limit(), self.register(register).into()),
            Wait::Count16 { pair } => (self.count_limit(), self.pair(pair).into()),
        };
        let Some(limit) = limit else {
            return false;
        };
        turn.wait = wait;
        turn.jump = jump;
        turn.started = self.cycles;
        turn.limit = limit;
        turn.before = before;
        true
    }

    /// The body of a counting loop may push and pop to pass the time.
    fn count_limit(&self) -> Option<u64> {
        self.stack_is_plain().then_some(self.slice_target)
    }

    /// At the top of the loop again, one turn later: skips turns.
    pub(crate) fn finish_turn(&mut self, turn: &Turn) {
        let length = self.cycles - turn.started;
        let fitting = (turn.limit - 1).saturating_sub(self.cycles) / length;
        match turn.wait {
            // One turn more is taken as usual: it leaves A and F as that line makes them.
            Wait::Line(_) => self.pass_turns(fitting.saturating_sub(1), length),
            Wait::Poll(_) => {
                if self.cycles < turn.limit && self.cpu.packed() == turn.before {
                    self.pass_turns(fitting, length);
                }
            }
            Wait::Count8 { register } => {
                let left = self.register(register);
                let Some(turns) = turns_to_skip(turn.before, left.into(), fitting) else {
                    return;
                };
                let (value, f) = alu::dec(left - turns as u8 + 1, self.cpu.f);
                self.set_register(register, value);
                self.cpu.f = f;
                self.pass_turns(turns.into(), length);
            }
            Wait::Count16 { pair } => {
                let left = self.pair(pair);
                let Some(turns) = turns_to_skip(turn.before, left, fitting) else {
                    return;
                };
                self.set_pair(pair, left - turns);
                let [high, low] = (left - turns).to_be_bytes();
                (self.cpu.a, self.cpu.f) = alu::or(high, low);
                self.pass_turns(turns.into(), length);
            }
        }
    }

    /// A loop that reads LY afresh in every turn and goes on at some lines goes on until
    /// the first line at which it does not.
    fn line_limit(&mut self, goes_on_at: Lines) -> Option<u64> {
        self.replay_lcd();
        let ly = self.ppu.ly;
        self.ppu.line_begins_at(ly + 1)?;
        if !goes_on_at.contain(ly) {
            return None;
        }
        // LY falls only where the frame, and with it the slice, ends.
        let end = match goes_on_at.gap_after(ly) {
            Some(line) => self.ppu.line_begins_at(line)?,
            None => u64::MAX,
        };
        Some(end.min(self.slice_target))
    }

    /// A cycle before which everything that the loop reads stays as it is.
    fn poll_limit(&mut self, polled: Polled) -> Option<u64> {
        let polled = if polled.at_hl {
            polled.with_address(self.cpu.hl)?
        } else {
            polled
        };
        let mut limit = self.slice_target;
        if polled.lcd || polled.ly {
            self.replay_lcd();
            limit = limit.min(if polled.lcd {
                self.ppu.next_transition_at()
            } else {
                self.ppu.ly_constant_until()
            });
        }
        if polled.requests {
            self.replay_lcd();
            limit = limit.min(self.ppu.stat_request_at(&self.interrupts));
        }
        if polled.timer {
            limit = limit.min(self.timer.next_count_at(self.cycles));
        }
        Some(limit)
    }

    pub(crate) fn pass_turns(&mut self, turns: u64, turn: u64) {
        self.cycles += turns * turn;
        self.previous_start += turns * turn;
    }

    /// Ends the slice after this instruction.
    #[inline]
    pub(crate) fn end_slice(&mut self) {
        self.slice_end = 0;
    }

    /// For writes after which PyBoy ends the slice without any visible effect.
    #[inline]
    pub(crate) fn end_slice_if_exact(&mut self) {
        if self.slice_is_exact {
            self.slice_end = 0;
        }
    }

    /// A write at `now` changed when the next event comes, after which PyBoy ends the
    /// slice. A long slice need not end if nothing is due: it ends elsewhere.
    pub(crate) fn move_slice_end(&mut self, now: u64) {
        if self.slice_is_exact
            || self.dma.active
            || self.apu.needs_slice_ends()
            || self.ppu.irregular
            || self.ppu.frame_done
            || self.takes_interrupt()
        {
            return self.end_slice();
        }
        let event = self.next_hard_event();
        if event <= now + LONGEST || !self.native.looks_before(event) {
            return self.end_slice();
        }
        self.native.move_end(self.slice_end, event);
        self.slice_target = event;
        self.slice_end = event;
    }

    /// The next event that can be seen.
    fn next_hard_event(&mut self) -> u64 {
        self.ppu
            .hard_event_at(&self.interrupts)
            .min(self.timer.interrupt_at())
            .min(self.serial.event_at())
    }

    /// Turns the running long slice into an exact one that began at the current
    /// instruction: from here on its end matters.
    fn make_slice_exact(&mut self) {
        self.replay_lcd();
        let event = self
            .ppu
            .next_transition_at()
            .min(self.timer.event_at())
            .min(self.serial.event_at());
        self.slice_target = event.max(self.cycles + MIN_SLICE);
        self.slice_is_exact = true;
    }

    /// EI: takes effect after the next instruction.
    pub(crate) fn enable_interrupts_delayed(&mut self) {
        if self.cpu.ei_delay != 0 {
            return;
        }
        self.cpu.ei_delay = 2;
        if !self.slice_is_exact {
            self.make_slice_exact();
        }
        // Leaves the loop that does not count down the delay.
        self.slice_end = 0;
    }

    /// RETI.
    pub(crate) fn enable_interrupts_now(&mut self) {
        self.cpu.ime = true;
        self.cpu.ei_delay = 0;
        if self.interrupts.pending() != 0 {
            self.end_slice();
        }
    }

    pub(crate) fn halt(&mut self) {
        self.cpu.halted = true;
        self.cpu.halted_during_ei = self.cpu.ei_delay == 1;
        self.end_slice();
    }

    /// PyBoy never returns from an illegal opcode. As on hardware, the CPU does
    /// nothing more, but frames go on.
    #[cold]
    pub(crate) fn lock_up(&mut self) {
        self.cpu.locked = true;
        self.end_slice();
    }

    /// Wakes the CPU and dispatches, at the start of a slice; then the slice may run.
    fn take_interrupt(&mut self, rom: Code<'_>) {
        if self.cpu.ei_delay == 0 && self.interrupts.pending() != 0 && !self.cpu.locked {
            if self.cpu.halted && !self.cpu.halted_during_ei {
                // PC stayed on the HALT.
                self.cpu.pc = self.cpu.pc.wrapping_add(1);
            }
            self.cpu.halted_during_ei = false;
            self.cpu.halted = false;
            if self.cpu.ime {
                self.dispatch(rom);
            }
        }
        self.slice_end = self.slice_target;
    }

    fn dispatch(&mut self, rom: Code<'_>) {
        self.cpu.ime = false;
        if !self.push_return_address(rom) {
            self.cpu.pc = 0;
            return;
        }
        self.previous_start = self.cycles;
        self.cycles += DISPATCH_T_CYCLES;
    }

    /// Pushes PC and goes to the interrupt's handler. False if the first byte of the push
    /// took the interrupt away: it hit IE or IF.
    fn push_return_address(&mut self, rom: Code<'_>) -> bool {
        let address = self.cpu.pc;
        let [high, low] = address.to_be_bytes();
        let sp = self.cpu.sp;
        let bottom = sp.wrapping_sub(2);
        let is_pushed = self
            .plain_pair(bottom)
            .map(|pair| *pair = [low, high])
            .is_some();
        if !is_pushed {
            self.write(rom, sp.wrapping_sub(1), high, 0);
        }
        let pending = self.interrupts.pending();
        if pending == 0 {
            return false;
        }
        let source = pending.trailing_zeros();
        self.interrupts.requested &= !(1 << source);
        self.cpu.pc = FIRST_VECTOR + 8 * source as u16;
        if !is_pushed {
            self.write(rom, bottom, low, 0);
        }
        self.cpu.sp = bottom;
        true
    }
}
