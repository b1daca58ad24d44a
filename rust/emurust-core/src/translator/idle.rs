//! Loops that only pass the time, told by what a turn of them does.
//!
//! Games wait for an interrupt in loops that read the buttons, look at flags and
//! call routines. `waiting.rs` knows the smallest of them by their code. Of the
//! others native code says when it comes to where one may begin (its *head*), and
//! here is looked whether a turn leaves everything as it was: then so will every
//! further one, until the slice ends, because a machine that is the same in all
//! but the time does the same, as long as it does not look at the time.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::plan::{Instruction, Place, Plan};
use crate::machine::{Machine, HRAM_LEN, WRAM_LEN};
use crate::waiting::WaitTable;

/// Heads that are watched in one function.
pub(super) const HEADS: usize = 64;
/// Visits of a head before it is looked at first, and where little of the slice is left.
const SOME_VISITS: u16 = 16;
/// Visits before the next look at a loop that did pass the time.
const FEW_VISITS: u16 = 2;
/// Doublings of the visits, after looks in vain.
const MAX_DOUBLINGS: u8 = 11;
/// T-cycles left of a slice for which a look is worth while: they take about as
/// long in native code as the look.
const WORTH_WHILE: u64 = 8192;

/// What a machine remembers of loops.
#[derive(Debug)]
pub(super) struct Idle {
    /// For each head the looks in vain since the last other one.
    vain: [u8; HEADS],
    /// Work RAM and high RAM before a turn.
    memory: Option<Box<([u8; WRAM_LEN], [u8; HRAM_LEN])>>,
}

impl Default for Idle {
    fn default() -> Self {
        Self {
            vain: [1; HEADS],
            memory: None,
        }
    }
}

impl Clone for Idle {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Counts down the visits of each head until native code says that it is there.
#[derive(Debug, Clone)]
#[repr(transparent)]
pub(super) struct Visits([u16; HEADS]);

impl Default for Visits {
    fn default() -> Self {
        Self([SOME_VISITS; HEADS])
    }
}

/// The machine at a head, but for memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Registers {
    packed: u64,
    sp: u16,
    ime: bool,
    joypad: u8,
}

impl Registers {
    fn of(machine: &Machine) -> Self {
        Self {
            packed: machine.cpu.packed(),
            sp: machine.cpu.sp,
            ime: machine.cpu.ime,
            joypad: machine.joypad.latch,
        }
    }
}

/// How far a look at a loop has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// None is being looked at.
    None,
    /// Do the registers stay as they are? Most loops are done with by that.
    Registers,
    /// And memory? Writes to VRAM go through the bus meanwhile.
    Memory,
}

/// A look at a loop, from a head to the next visit of it.
#[derive(Debug)]
pub(super) struct Look {
    stage: Stage,
    head: usize,
    began: u64,
    registers: Registers,
    /// How VRAM is written to outside of the look.
    vram: [usize; 2],
}

impl Look {
    pub(super) fn none() -> Self {
        Self {
            stage: Stage::None,
            head: 0,
            began: 0,
            registers: Registers::default(),
            vram: [0; 2],
        }
    }
}

/// Where loops may begin that are worth a look: where jumps lead back to, hottest
/// first. `waits` are known anyway.
pub(super) fn heads(plan: &Plan, waits: &WaitTable) -> HashMap<Place, u8> {
    // A jump may be in more blocks than one, and its predecessor not in all of them.
    let counting: HashSet<Place> = plan
        .blocks
        .iter()
        .flat_map(|block| {
            let ends = 1..=block.instructions.len();
            let counting = ends.filter(|&end| counts(&block.instructions[..end]));
            counting.map(|end| block.place.at(block.instructions[end - 1].pc))
        })
        .collect();
    let mut targets = BTreeSet::new();
    for block in &plan.blocks {
        for instruction in &block.instructions {
            let jump = block.place.at(instruction.pc);
            let Some(target) = instruction.target().filter(|_| !instruction.is_call()) else {
                continue;
            };
            let is_back = target <= instruction.pc && target >> 14 == instruction.pc >> 14;
            let is_other = target != block.place.pc();
            let is_known = counting.contains(&jump) || waits.find(jump.offset()).is_some();
            if is_back && is_other && !is_known {
                targets.insert(block.place.at(target));
            }
        }
    }
    let mut heads: Vec<_> = plan
        .blocks
        .iter()
        .filter(|block| targets.contains(&block.place))
        .collect();
    heads.sort_by_key(|block| std::cmp::Reverse(block.heat));
    let places = heads.into_iter().map(|block| block.place);
    places.zip(0..HEADS as u8).collect()
}

/// Whether code ends by counting and jumping if that is not zero: no turn is like another.
fn counts(code: &[Instruction]) -> bool {
    const JR_NZ: u8 = 0x20;
    const JP_NZ: u8 = 0xC2;
    let opcodes: Vec<u8> = code
        .iter()
        .rev()
        .take(4)
        .map(|instruction| instruction.op)
        .collect();
    match opcodes[..] {
        // DEC or INC of a byte
        [JR_NZ | JP_NZ, count, ..] if matches!(count & 0xC7, 0x04 | 0x05) => true,
        // DEC of a pair; LD A,r; OR r'
        [JR_NZ | JP_NZ, 0xB0..=0xB5, 0x78..=0x7D, 0x0B | 0x1B | 0x2B] => true,
        _ => false,
    }
}

impl Machine {
    /// Native code is at a head.
    pub(super) fn look_at_head(&mut self, head: u8, look: &mut Look) {
        let head = usize::from(head) % HEADS;
        let registers = Registers::of(self);
        let mut visits = SOME_VISITS;
        if look.stage == Stage::None {
            let left = self.slice_target.saturating_sub(self.cycles);
            if left >= WORTH_WHILE && self.may_skip() {
                look.head = head;
                look.registers = registers;
                // What passed the time does so again, most likely.
                if self.native.idle.vain[head] == 0 {
                    self.look_at_memory(look);
                } else {
                    look.stage = Stage::Registers;
                    self.begin_look(look);
                }
                visits = FEW_VISITS;
            }
        } else if look.head == head {
            let is_same = look.registers == registers && !self.native.used_bus();
            if is_same && look.stage == Stage::Registers {
                self.look_at_memory(look);
                visits = FEW_VISITS;
            } else {
                let passed = is_same && self.memory_is_same();
                let vain = &mut self.native.idle.vain[head];
                *vain = if passed {
                    0
                } else {
                    (*vain + 1).min(MAX_DOUBLINGS)
                };
                visits = if passed {
                    FEW_VISITS
                } else {
                    SOME_VISITS << *vain
                };
                if passed {
                    self.skip_turns(look);
                }
                self.end_look(look);
            }
        }
        self.native.visits.0[head] = visits;
    }

    fn begin_look(&mut self, look: &mut Look) {
        look.began = self.cycles;
        self.native.watch_bus();
    }

    fn look_at_memory(&mut self, look: &mut Look) {
        look.stage = Stage::Memory;
        look.vram = self.native.close_vram();
        let memory = self
            .native
            .idle
            .memory
            .get_or_insert_with(|| Box::new(([0; WRAM_LEN], [0; HRAM_LEN])));
        memory.0 = self.wram;
        memory.1 = self.hram;
        self.begin_look(look);
    }

    fn memory_is_same(&self) -> bool {
        let memory = &self.native.idle.memory;
        memory
            .as_ref()
            .is_some_and(|memory| memory.0 == self.wram && memory.1 == self.hram)
    }

    fn skip_turns(&mut self, look: &Look) {
        let length = self.cycles - look.began;
        let fitting = (self.slice_target - 1).saturating_sub(self.cycles) / length;
        self.pass_turns(fitting, length);
    }

    /// The look is over, or something came between.
    #[inline]
    pub(super) fn end_look(&mut self, look: &mut Look) {
        if look.stage == Stage::Memory {
            self.native.open_vram(look.vram);
        }
        look.stage = Stage::None;
    }
}
