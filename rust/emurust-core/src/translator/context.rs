//! What native code is given besides the machine, and what it calls.

use std::mem::offset_of;
use std::panic::{catch_unwind, AssertUnwindSafe};

use super::idle::{Idle, Visits};
use super::plan::Place;
use super::profile::Work;
use crate::bus::LATE;
use crate::machine::Machine;
use crate::rom::Code;

/// Turns of a waiting loop that native code takes faster than the run loop skips
/// them.
pub(super) const TURNS: u32 = 16;
/// T-cycles of turns after which skipping them is worth while in any case: as long as
/// the LCD draws a line.
const LONG_WAIT: u32 = 456;

const PAGE_LEN: usize = 0x1000;
const PAGES: usize = 16;
const VRAM_PAGES: [usize; 2] = [8, 9];

/// For each 4 KiB of the address space what to add to an address to get at the
/// byte, or 0 where an access goes through the bus.
type PageTable = [usize; PAGES];

/// The tables by which native code finds memory, and functions for the rest.
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub(crate) struct Context {
    // What each block touches comes first.
    flags: Flags,
    /// T-cycles of the last instruction of the block before, or 0 if there is none
    /// since native code was entered.
    last_cycles: u8,
    /// Not zero if memory was accessed through the bus, or the LCD was read, since
    /// this was last zero.
    bus_used: u8,
    /// Of the bank that pages 4 to 7 are, as [`Place`] has it.
    high_bits: u32,
    /// Cycles left at the start of the block, or where native code was entered or left.
    time_left: i64,
    /// Native code counts the cycles that are left before this one: the slice ends,
    /// or somebody wants to know where it is.
    end: u64,
    /// Start of the last instruction of the block that last called a helper: until then
    /// native code does not look at the time.
    committed_to: u64,
    /// Turns of waiting loops before native code asks to have the rest skipped.
    turns_left: u32,
    /// The caller's value of the register that native code keeps the machine in.
    saved_register: u64,
    read: usize,
    write: usize,
    /// The cartridge while native code runs: a `Code`.
    code: usize,
    read_pages: PageTable,
    /// For instructions that VRAM refuses while the LCD uses it.
    late_read_pages: PageTable,
    write_pages: PageTable,
    late_write_pages: PageTable,
    /// What the tables were made for.
    made_for: Option<MadeFor>,
    /// Visits left of each head of a loop (`idle.rs`).
    pub(super) visits: Visits,
    pub(super) idle: Idle,
    /// What the profile has not been told yet.
    pub(super) work: Work,
    /// What a helper panicked with; raised again once native code has returned.
    panic: Option<String>,
}

/// The flags taken apart, as native code leaves them.
#[derive(Debug, Clone, Default)]
#[repr(C)]
struct Flags {
    /// The subtract flag, in its place in F.
    subtract: u8,
    /// The half carry flag is bit 4; other bits are anything.
    half: u8,
    /// 1 if the carry flag is set, else 0.
    carry: u8,
    /// Zero exactly if the zero flag is set.
    zero: u8,
}

impl Flags {
    fn from_f(f: u8) -> Self {
        Self {
            subtract: f & 0x40,
            half: f >> 1,
            carry: f >> 4 & 1,
            zero: f & 0x80 ^ 0x80,
        }
    }

    fn to_f(&self) -> u8 {
        let zero = u8::from(self.zero == 0) << 7;
        zero | self.subtract | (self.half & 0x10) << 1 | self.carry << 4
    }
}

/// Addresses and settings on which the tables depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MadeFor {
    machine: usize,
    image: usize,
    rendering: bool,
}

pub(super) const READ_PAGES: usize = offset_of!(Context, read_pages);
pub(super) const LATE_READ_PAGES: usize = offset_of!(Context, late_read_pages);
pub(super) const WRITE_PAGES: usize = offset_of!(Context, write_pages);
pub(super) const LATE_WRITE_PAGES: usize = offset_of!(Context, late_write_pages);
pub(super) const READ: usize = offset_of!(Context, read);
pub(super) const WRITE: usize = offset_of!(Context, write);
pub(super) const END: usize = offset_of!(Context, end);
pub(super) const TIME_LEFT: usize = offset_of!(Context, time_left);
pub(super) const LAST_CYCLES: usize = offset_of!(Context, last_cycles);
pub(super) const TURNS_LEFT: usize = offset_of!(Context, turns_left);
pub(super) const VISITS: usize = offset_of!(Context, visits);
pub(super) const BUS_USED: usize = offset_of!(Context, bus_used);
pub(super) const SAVED_REGISTER: usize = offset_of!(Context, saved_register);
pub(super) const ZERO: usize = offset_of!(Context, flags.zero);
pub(super) const SUBTRACT: usize = offset_of!(Context, flags.subtract);
pub(super) const HALF: usize = offset_of!(Context, flags.half);
pub(super) const CARRY: usize = offset_of!(Context, flags.carry);
pub(super) const HIGH_BITS: usize = offset_of!(Context, high_bits);

/// Result of a write after which the run loop must look at the machine.
pub(super) const LEAVE: u32 = 1;
/// Result of a write after which another bank is at 4000.
pub(super) const LEAVE_HIGH: u32 = 2;

/// When within its instruction an access happens, and whether LCD and DMA see it
/// late.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    pub(super) at: u8,
    pub(super) late: bool,
}

impl Timing {
    pub(super) fn at(at: u8) -> Self {
        Self { at, late: false }
    }

    /// How much later LCD and DMA see it.
    fn late_cycles(self) -> u64 {
        if self.late {
            LATE
        } else {
            0
        }
    }
}

/// When an access happens, as native code tells its helpers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// T-cycles from the start of the block to the instruction.
    pub(super) offset: u16,
    /// T-cycles from the start of the block to its last instruction.
    pub(super) last: u16,
    /// T-cycles that the instruction before took, if it is in the block.
    pub(super) since_previous: Option<u8>,
    pub(super) timing: Timing,
}

impl Moment {
    /// Each part in a field that is wide enough: a path has 32 instructions of at most
    /// 24 cycles.
    pub(super) fn encode(self) -> u32 {
        u32::from(self.offset)
            | u32::from(self.last) << 10
            | u32::from(self.since_previous.unwrap_or(0)) << 20
            | u32::from(self.timing.at) << 25
            | u32::from(self.timing.late) << 31
    }

    #[inline]
    fn decode(code: u32) -> Self {
        let since_previous = (code >> 20) as u8 & 0x1F;
        Self {
            offset: code as u16 & 0x3FF,
            last: (code >> 10) as u16 & 0x3FF,
            since_previous: (since_previous != 0).then_some(since_previous),
            timing: Timing {
                at: (code >> 25) as u8 & 0x3F,
                late: code >> 31 != 0,
            },
        }
    }
}

impl Context {
    /// Brings the tables up to date for a machine that stays where it is, with the
    /// cartridge, and is not told to render or not, while native code is used.
    #[inline]
    pub(super) fn prepare(machine: &mut Machine, code: &Code<'_>) {
        let made_for = MadeFor {
            machine: (&raw const *machine).addr(),
            image: code.bytes.as_ptr().addr(),
            rendering: machine.ppu.rendering,
        };
        machine.native.code = (&raw const *code).expose_provenance();
        if machine.native.made_for != Some(made_for) {
            Self::rebuild(machine, code, made_for);
        }
    }

    /// Pages 4 to 7 are the bank at 4000.
    #[inline]
    fn follow_bank(machine: &mut Machine, code: &Code<'_>) {
        if machine.native.high_bits != Place::high_bits(machine.rom_high) {
            machine.native.map_bank(code, machine.rom_high);
        }
    }

    fn map_bank(&mut self, code: &Code<'_>, offset: usize) {
        let rom_is_whole = offset + 0x4000 <= code.bytes.len();
        // See `rebuild` for entries.
        let entry = if rom_is_whole {
            let bank = code.bytes.as_ptr().expose_provenance() + offset;
            bank.wrapping_sub(0x4000)
        } else {
            0
        };
        self.read_pages[4..8].fill(entry);
        self.late_read_pages[4..8].fill(entry);
        self.high_bits = Place::high_bits(offset);
    }

    #[cold]
    fn rebuild(machine: &mut Machine, code: &Code<'_>, made_for: MadeFor) {
        // An entry is used with addresses of its page only, so that every byte
        // reached lies in the array whose address is taken here: each page is
        // wholly backed by it.
        let entry = |base: usize, page: usize| base.wrapping_sub(page * PAGE_LEN);
        let image = code.bytes.as_ptr().expose_provenance();
        let low = image;
        let vram = machine.ppu.vram.as_mut_ptr().expose_provenance();
        let wram = machine.wram.as_mut_ptr().expose_provenance();
        let rendering = machine.ppu.rendering;
        let context = &mut machine.native;
        for page in 0..PAGES {
            let within_8k = (page & 1) * PAGE_LEN;
            let (read, late_read, write, late_write) = match page {
                0x0..=0x3 => {
                    let rom = entry(low + page * PAGE_LEN, page);
                    (rom, rom, 0, 0)
                }
                0x8 | 0x9 => {
                    let cell = entry(vram + within_8k, page);
                    // Lines that are due must be drawn before VRAM changes.
                    (cell, 0, if rendering { 0 } else { cell }, 0)
                }
                0xC..=0xE => {
                    let cell = entry(wram + within_8k, page);
                    (cell, cell, cell, cell)
                }
                _ => (0, 0, 0, 0),
            };
            context.read_pages[page] = read;
            context.late_read_pages[page] = late_read;
            context.write_pages[page] = write;
            context.late_write_pages[page] = late_write;
        }
        context.read = (read as ReadHelper as *const ()).expose_provenance();
        context.write = (write as WriteHelper as *const ()).expose_provenance();
        context.turns_left = TURNS;
        context.map_bank(code, machine.rom_high);
        machine.native.made_for = Some(made_for);
    }

    /// Native code is about to run, until `end` at the latest. [`Self::prepare`] was
    /// called for the machine and the cartridge.
    #[inline]
    pub(super) fn enter(machine: &mut Machine, code: &Code<'_>, end: u64) {
        Self::follow_bank(machine, code);
        let context = &mut machine.native;
        context.flags = Flags::from_f(machine.cpu.f);
        context.end = end;
        context.time_left = end.wrapping_sub(machine.cycles) as i64;
        context.last_cycles = 0;
    }

    /// Native code asks for the next turn of a waiting loop already, or after some, of
    /// which one takes `turn` T-cycles.
    pub(super) fn await_turn(&mut self, next: bool, turn: u16) {
        self.turns_left = if next {
            1
        } else {
            (LONG_WAIT / u32::from(turn.max(1))).clamp(1, TURNS)
        };
    }

    /// From here on accesses that are not to plain memory are noticed.
    pub(super) fn watch_bus(&mut self) {
        self.bus_used = 0;
    }

    pub(super) fn used_bus(&self) -> bool {
        self.bus_used != 0
    }

    /// VRAM is written to through the bus until [`Self::open_vram`] gets the result.
    pub(super) fn close_vram(&mut self) -> [usize; 2] {
        let [low, high] = VRAM_PAGES;
        let pages = [self.write_pages[low], self.write_pages[high]];
        self.open_vram([0; 2]);
        pages
    }

    pub(super) fn open_vram(&mut self, pages: [usize; 2]) {
        let [low, high] = VRAM_PAGES;
        [self.write_pages[low], self.write_pages[high]] = pages;
    }

    /// Native code looks at the time before the first instruction after `cycle`.
    pub(crate) fn looks_before(&self, cycle: u64) -> bool {
        self.committed_to < cycle
    }

    /// The slice, of which the end was `before`, now ends at `end`. Where native code is
    /// to stop earlier it still does.
    pub(crate) fn move_end(&mut self, before: u64, end: u64) {
        if self.end == before || end < self.end {
            self.time_left += end.wrapping_sub(self.end) as i64;
            self.end = end;
        }
    }

    /// Was native code to stop before this cycle?
    pub(super) fn end_is_before(&self, cycle: u64) -> bool {
        self.end < cycle
    }

    /// The cycle at which so many are left.
    #[inline]
    fn before_end(&self, left: i64) -> u64 {
        self.end.wrapping_sub(left as u64)
    }

    /// Native code has returned. Raises a panic of a helper again.
    #[inline]
    pub(super) fn finish(machine: &mut Machine) {
        let context = &machine.native;
        machine.cpu.f = context.flags.to_f();
        machine.cycles = context.before_end(context.time_left);
        machine.previous_start = machine.last_start(machine.cycles);
        if let Some(message) = machine.native.panic.take() {
            std::panic::resume_unwind(Box::new(message));
        }
    }
}

impl Machine {
    /// Where the last instruction began if a block of native code begins now.
    #[inline]
    fn last_start(&self, now: u64) -> u64 {
        match self.native.last_cycles {
            0 => self.previous_start,
            cycles => now - u64::from(cycles),
        }
    }
}

type ReadHelper = unsafe extern "C" fn(*mut Machine, u32, u32) -> u32;
type WriteHelper = unsafe extern "C" fn(*mut Machine, u32, u32, u32) -> u32;

/// Runs a helper's work at its moment. A panic must not unwind through native
/// code, which has no unwind tables, so it is kept for later.
///
/// # Safety
/// `machine` is the one that native code was called with.
#[expect(unsafe_code, reason = "native code passes the machine as a pointer")]
unsafe fn at_moment(
    machine: *mut Machine,
    moment: u32,
    work: impl FnOnce(&mut Machine, &Code<'_>, u64, u64) -> u32,
) -> u32 {
    // SAFETY: native code runs inside `Machine::call_native`, which holds the
    // machine and the cartridge exclusively and uses neither until it returns.
    // The address of the cartridge was exposed by `prepare`, and its borrower,
    // `Machine::run_native`, has not returned since.
    let (machine, code) = unsafe {
        let machine = &mut *machine;
        let code = &*std::ptr::with_exposed_provenance::<Code<'_>>(machine.native.code);
        (machine, code)
    };
    let Moment {
        offset,
        last,
        since_previous,
        timing,
    } = Moment::decode(moment);
    let context = &mut machine.native;
    context.bus_used = 1;
    let block_began = context.before_end(context.time_left);
    context.committed_to = block_began + u64::from(last);
    machine.cycles = block_began + u64::from(offset);
    machine.previous_start = match since_previous {
        Some(cycles) => machine.cycles - u64::from(cycles),
        None => machine.last_start(machine.cycles),
    };
    let work = || work(machine, code, timing.at.into(), timing.late_cycles());
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(payload) => {
            let message = payload.downcast_ref::<String>().cloned();
            let message = message.or_else(|| payload.downcast_ref::<&str>().map(|&s| s.into()));
            machine.native.panic = Some(message.unwrap_or_else(|| "panic".into()));
            machine.end_slice();
            LEAVE
        }
    }
}

/// Reads through the bus.
///
/// # Safety
/// Called by native code only, with the machine that it was given.
#[expect(unsafe_code, reason = "native code passes the machine as a pointer")]
unsafe extern "C" fn read(machine: *mut Machine, addr: u32, moment: u32) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        at_moment(machine, moment, |machine, code, at, late| {
            let addr = addr as u16;
            let value = if addr >= 0xFF00 && late == 0 {
                machine.read_high(*code, addr as u8, at)
            } else {
                machine.read_bus(*code, addr, at, late)
            };
            value.into()
        })
    }
}

/// Writes through the bus.
///
/// # Safety
/// As for [`read`].
#[expect(unsafe_code, reason = "native code passes the machine as a pointer")]
unsafe extern "C" fn write(machine: *mut Machine, addr: u32, value: u32, moment: u32) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        at_moment(machine, moment, |machine, code, at, late| {
            let rom_high = machine.rom_high;
            machine.write_bus(*code, addr as u16, value as u8, at, late);
            let mut result = 0;
            if machine.slice_end == 0 || machine.rom_low != 0 || machine.dma.active {
                result |= LEAVE;
            }
            if machine.rom_high != rom_high {
                Context::follow_bank(machine, code);
                result |= LEAVE_HIGH;
            }
            result
        })
    }
}
