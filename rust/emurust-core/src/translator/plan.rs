//! Which code to translate: the blocks of the instructions that were seen running.

use std::collections::{BTreeMap, BTreeSet};

use super::profile::Profile;
use crate::cpu::instructions::LENGTHS;
use crate::rom::ROM_BANK_SIZE;
use crate::waiting::WaitTable;

/// Instructions of the longest block: a block only starts when all of it fits
/// into the slice, and what does not fit is interpreted.
const MAX_BLOCK: usize = 24;
/// Instructions of the longest path: most blocks of a path are translated again where
/// they begin.
const MAX_PATH: usize = 32;
/// A block with this part of the time is worth a path.
const PATH_SHARE: u32 = 400;
/// Guest instructions of the largest translation.
const MAX_INSTRUCTIONS: usize = 40_000;
/// Instructions from where a block begins to where another may, because
/// execution often enters there.
const ENTRY_SPACING: usize = 5;
/// Runs of an instruction before it is worth translating.
pub(super) const HOT: u16 = 256;
/// A block with less than this part of the time is cold.
const COLD_SHARE: u32 = 20_000;
/// Steps are made for a block in which slices end once in so many looks, and no
/// less often than that.
const CUT_SHARE: u32 = 100;
const LEAST_CUTS: u32 = 256;

/// Where code is: its address, and the bank that is mapped there. Two places
/// differ if either does, because both show in what the code does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place(u32);

impl Place {
    /// In the switchable bank that begins at `high_offset` of the image, if `pc` is there.
    pub(super) fn new(pc: u16, high_offset: usize) -> Self {
        if pc < 0x4000 {
            Self(u32::from(pc))
        } else {
            Self(Self::high_bits(high_offset) | u32::from(pc))
        }
    }

    /// What the bank at this offset of the image adds to an address.
    pub(super) fn high_bits(high_offset: usize) -> u32 {
        (high_offset as u32) << 2
    }

    pub(super) fn pc(self) -> u16 {
        self.0 as u16
    }

    pub(super) fn bits(self) -> u32 {
        self.0
    }

    /// Offset in the image of the bank mapped at 4000, if the code is there.
    fn high_offset(self) -> usize {
        (self.0 >> 16) as usize * ROM_BANK_SIZE
    }

    /// The place that code here sees at `pc`.
    pub(super) fn at(self, pc: u16) -> Self {
        Self::new(pc, self.high_offset())
    }

    /// Number of the place for which [`Self::new`] has the same arguments.
    #[inline]
    pub(super) fn index_of(pc: u16, high_offset: usize) -> usize {
        let bank = if pc < 0x4000 { 0 } else { high_offset };
        bank + usize::from(pc)
    }

    /// Number of the place in tables of [`places`] entries.
    pub(super) fn index(self) -> usize {
        Self::index_of(self.pc(), self.high_offset())
    }

    fn from_index(index: usize) -> Self {
        if index < ROM_BANK_SIZE {
            Self::new(index as u16, 0)
        } else {
            let bank = index / ROM_BANK_SIZE - 1;
            let pc = ROM_BANK_SIZE + index % ROM_BANK_SIZE;
            Self::new(pc as u16, bank * ROM_BANK_SIZE)
        }
    }

    /// Offset in the image of the byte here.
    pub(super) fn offset(self) -> usize {
        if self.pc() < 0x4000 {
            usize::from(self.pc())
        } else {
            self.high_offset() + usize::from(self.pc()) - ROM_BANK_SIZE
        }
    }
}

/// Places in an image of this length: each byte of bank 0 at its own address,
/// and each byte of every bank at the switchable one.
pub(super) fn places(image_len: usize) -> usize {
    image_len + ROM_BANK_SIZE
}

/// One instruction of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruction {
    pub(super) pc: u16,
    pub(super) op: u8,
    /// The two bytes after the opcode.
    pub(super) operand: u16,
}

impl Instruction {
    /// The instruction at a place, if it can be translated and is fetched from one bank.
    pub(super) fn decode(image: &[u8], place: Place) -> Option<Self> {
        let bytes = image.get(place.offset()..)?;
        let byte = |index: usize| bytes.get(index).copied().unwrap_or(0xFF);
        let instruction = Self {
            pc: place.pc(),
            op: byte(0),
            operand: u16::from_le_bytes([byte(1), byte(2)]),
        };
        // PyBoy fetches from the switchable bank two bytes too early, and the last
        // two bytes through the bus.
        let limit = if place.pc() < 0x4000 { 0x3FFE } else { 0x7FFE };
        if instruction.next_pc() > limit || !instruction.is_translatable() {
            return None;
        }
        let is_alone = instruction.is_ei() && instruction.shadow(image, place).is_none();
        (!is_alone).then_some(instruction)
    }

    /// EI, which is translated together with the instruction after it.
    pub(super) fn is_ei(self) -> bool {
        self.op == 0xFB
    }

    /// The instruction after an EI at `place`, if it ends no slice: what else it does in
    /// EI's shadow is what it does anywhere.
    fn shadow(self, image: &[u8], place: Place) -> Option<Self> {
        Self::decode(image, place.at(self.next_pc())).filter(|next| next.is_quiet())
    }

    /// Writes no memory, and does not jump but to a known place or back to a caller.
    fn is_quiet(self) -> bool {
        let (x, y, z) = (self.op >> 6, self.op >> 3 & 7, self.op & 7);
        match x {
            0 => match z {
                0 => self.op == 0x00 || self.op == 0x18,
                1 | 3 | 7 => true,
                2 => y & 1 == 1,
                _ => y != 6,
            },
            1 => y != 6,
            2 => true,
            _ => {
                z == 6
                    || matches!(
                        self.op,
                        0xC1 | 0xD1 | 0xE1 | 0xF1 | 0xC3 | 0xC9 | 0xF0 | 0xFA
                    )
            }
        }
    }

    pub(super) fn length(self) -> u16 {
        u16::from(LENGTHS[usize::from(self.op)])
    }

    pub(super) fn next_pc(self) -> u16 {
        self.pc.wrapping_add(self.length())
    }

    pub(super) fn is_conditional_jump(self) -> bool {
        matches!(self.op & 0xE7, 0x20 | 0xC0 | 0xC2 | 0xC4)
    }

    fn is_conditional_call(self) -> bool {
        self.op & 0xE7 == 0xC4
    }

    /// JR and JP, conditional or not.
    pub(super) fn is_jump(self) -> bool {
        matches!(self.op, 0x18 | 0xC3) || matches!(self.op & 0xE7, 0x20 | 0xC2)
    }

    /// CALL and RST, conditional or not.
    pub(super) fn is_call(self) -> bool {
        self.op == 0xCD || self.op & 0xC7 == 0xC7 || self.is_conditional_call()
    }

    pub(super) fn is_push(self) -> bool {
        self.op & 0xCF == 0xC5
    }

    /// RET, conditional or not.
    pub(super) fn is_return(self) -> bool {
        self.op == 0xC9 || self.op & 0xE7 == 0xC0
    }

    /// JR to what follows in memory, as programs pass the time.
    fn is_padding(self) -> bool {
        self.op == 0x18 && self.operand & 0xFF == 0
    }

    /// The next instruction is another one than what follows in memory.
    pub(super) fn ends_block(self) -> bool {
        self.op & 0xC7 == 0xC7 || self.never_falls_through() || matches!(self.op, 0x76 | 0xCD)
    }

    /// After it what follows in memory is never next.
    pub(super) fn never_falls_through(self) -> bool {
        matches!(self.op, 0x18 | 0xC3 | 0xC9 | 0xD9 | 0xE9) && !self.is_padding()
    }

    /// Address that the instruction names as the next one.
    pub(super) fn target(self) -> Option<u16> {
        match self.op {
            _ if self.is_padding() => None,
            0x18 | 0x20 | 0x28 | 0x30 | 0x38 => {
                Some(self.next_pc().wrapping_add(self.operand as u8 as i8 as u16))
            }
            0xC2 | 0xCA | 0xD2 | 0xDA | 0xC3 | 0xC4 | 0xCC | 0xD4 | 0xDC | 0xCD => {
                Some(self.operand)
            }
            op if op & 0xC7 == 0xC7 => Some(u16::from(op & 0x38)),
            _ => None,
        }
    }

    /// Writes a register after which the slice often ends, so that execution goes on
    /// from the next instruction.
    fn ends_slice(self) -> bool {
        let register = match self.op {
            0xE0 => self.operand & 0xFF,
            0xEA if self.operand >= 0xFF00 => self.operand & 0xFF,
            _ => return false,
        };
        matches!(register, 0x02 | 0x40 | 0x46)
    }

    /// Illegal opcodes change what the run loop does: they are left to the interpreter.
    fn is_translatable(self) -> bool {
        !matches!(
            self.op,
            0xD3 | 0xDB | 0xDD | 0xE3 | 0xE4 | 0xEB | 0xEC | 0xED | 0xF4 | 0xFC | 0xFD
        )
    }
}

/// Instructions that run one after the other.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) place: Place,
    pub(super) instructions: Vec<Instruction>,
    /// What most often follows one after the other from the start of the block, if that
    /// is more than the block: taken where it fits into the slice.
    pub(super) path: Vec<Instruction>,
    /// How often it was found running, by looks at random moments.
    pub(super) heat: u32,
    pub(super) role: Role,
}

/// How a block is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It runs where all of it fits into the slice.
    Whole,
    /// As that; slices often end within it, so that there are steps for the rest.
    Cut,
    /// One instruction of a block that is cut.
    Step,
}

impl Block {
    /// An instruction of it as a block of its own.
    pub(super) fn step(&self, index: usize) -> Self {
        let rest = &self.instructions[index..];
        let count = 1 + usize::from(rest[0].is_ei());
        Self {
            place: self.place.at(rest[0].pc),
            instructions: rest.iter().take(count).copied().collect(),
            path: Vec::new(),
            heat: 0,
            role: Role::Step,
        }
    }

    /// What is run of it first, if it fits into the slice.
    pub(super) fn first_code(&self) -> &[Instruction] {
        if self.path.is_empty() {
            &self.instructions
        } else {
            &self.path
        }
    }

    /// How much it counts when blocks are searched for; never nothing.
    pub(super) fn weight(&self) -> u64 {
        u64::from(self.heat) * 4 + 1
    }
}

/// All blocks of a translation, in order of their places.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub(super) blocks: Vec<Block>,
}

impl Plan {
    /// The blocks of what the profile saw running so often, without those that exist.
    pub(super) fn new(
        image: &[u8],
        profile: &Profile,
        least_runs: u16,
        exists: impl Fn(Place) -> bool,
    ) -> Self {
        let hot = hot_instructions(image, profile, least_runs);
        let leaders = leaders(&hot);
        let begins = with_entries(&hot, &leaders, |place| profile.is_entry(place));
        let mut blocks = Vec::new();
        for &leader in begins.iter().filter(|&&leader| !exists(leader)) {
            let mut instructions = Vec::new();
            let mut place = leader;
            while let Some(&instruction) = hot.get(&place) {
                instructions.push(instruction);
                place = leader.at(instruction.next_pc());
                let may_end = !instruction.is_ei();
                if instruction.ends_block() || may_end && leaders.contains(&place) {
                    break;
                }
            }
            for part in parts(&instructions) {
                let Some(first) = part.first() else { continue };
                let heat = part.iter().map(|i| profile.heat(leader.at(i.pc))).sum();
                blocks.push(Block {
                    place: leader.at(first.pc),
                    instructions: part.to_vec(),
                    path: Vec::new(),
                    heat,
                    role: Role::Whole,
                });
            }
        }
        blocks.sort_by_key(|block| block.place);
        blocks.dedup_by_key(|block| block.place);
        Self { blocks }
    }

    /// The blocks in which nearly all time is spent, in steps, too, where slices end, and
    /// with paths where they are hottest.
    pub(super) fn only_hot(mut self, profile: &Profile, waits: &WaitTable) -> Self {
        let total: u32 = self.blocks.iter().map(|block| block.heat).sum();
        let least = (total / COLD_SHARE).max(1);
        self.blocks.retain(|block| block.heat >= least);
        self.add_paths(profile, waits, (total / PATH_SHARE).max(1));
        self.add_steps(profile, (total / CUT_SHARE).max(LEAST_CUTS));
        self
    }

    /// Blocks that follow each other most often are joined.
    pub(super) fn add_paths(&mut self, profile: &Profile, waits: &WaitTable, least_heat: u32) {
        let blocks: BTreeMap<Place, &Block> = self.blocks.iter().map(|b| (b.place, b)).collect();
        let mut paths = Vec::new();
        for block in &self.blocks {
            if block.heat < least_heat {
                paths.push(Vec::new());
                continue;
            }
            let mut path = block.instructions.clone();
            while let Some(next) = follower(block.place, &path, profile, waits) {
                match blocks.get(&next) {
                    Some(next) if path.len() + next.instructions.len() <= MAX_PATH => {
                        path.extend_from_slice(&next.instructions);
                    }
                    _ => break,
                }
            }
            let is_longer = path.len() > block.instructions.len();
            paths.push(if is_longer { path } else { Vec::new() });
        }
        for (block, path) in self.blocks.iter_mut().zip(paths) {
            block.path = path;
        }
    }

    /// The machine need not be interpreted where a slice ends within a block, nor
    /// from there on in the next one.
    pub(super) fn add_steps(&mut self, profile: &Profile, least_cuts: u32) {
        let mut steps = Vec::new();
        for block in &mut self.blocks {
            if profile.cuts(block.place) >= least_cuts {
                block.role = Role::Cut;
                let later = 1..block.instructions.len();
                steps.extend(later.map(|index| block.step(index)));
            }
        }
        self.blocks.append(&mut steps);
        // Stable: where a block begins anyway no step does.
        self.blocks.sort_by_key(|block| block.place);
        self.blocks.dedup_by_key(|block| block.place);
    }

    pub(super) fn instructions(&self) -> usize {
        self.blocks.iter().map(|b| b.instructions.len()).sum()
    }
}

/// Where a path that begins at `start` most often leads after its last instruction, if
/// code can go on there without a look at anything else.
fn follower(
    start: Place,
    path: &[Instruction],
    profile: &Profile,
    waits: &WaitTable,
) -> Option<Place> {
    let last = path.last()?;
    let falls_through = (!last.ends_block()).then_some(last.next_pc());
    let target = last.target().filter(|_| last.is_jump());
    let is_wait = || waits.find(start.at(last.pc).offset()).is_some();
    let heat = |pc: &u16| {
        let place = start.at(*pc);
        (profile.heat(place), profile.count(place))
    };
    let next = match (target, falls_through) {
        (Some(target), _) if target <= last.pc && is_wait() => return None,
        (Some(target), Some(next)) if heat(&target) > heat(&next) => target,
        (_, Some(next)) => next,
        (target, None) => target?,
    };
    // Which bank code below 4000 reaches is not known.
    (next < 0x4000 || start.pc() >= 0x4000).then(|| start.at(next))
}

fn hot_instructions(
    image: &[u8],
    profile: &Profile,
    least_runs: u16,
) -> BTreeMap<Place, Instruction> {
    let mut threshold = least_runs;
    loop {
        let mut hot: BTreeMap<Place, Instruction> = (0..places(image.len()))
            .map(Place::from_index)
            .filter(|&place| profile.count(place) >= threshold)
            .filter_map(|place| {
                Instruction::decode(image, place).map(|instruction| (place, instruction))
            })
            .collect();
        // What runs in EI's shadow is not noted.
        let shadows: Vec<_> = hot
            .iter()
            .filter(|(_, instruction)| instruction.is_ei())
            .filter_map(|(&place, ei)| {
                let next = ei.shadow(image, place)?;
                Some((place.at(next.pc), next))
            })
            .collect();
        hot.extend(shadows);
        if hot.len() <= MAX_INSTRUCTIONS || threshold == u16::MAX {
            return hot.into_iter().take(MAX_INSTRUCTIONS).collect();
        }
        threshold = threshold.saturating_mul(2);
    }
}

/// Pieces that are short enough for a block.
fn parts(instructions: &[Instruction]) -> Vec<&[Instruction]> {
    let mut parts = Vec::new();
    let mut rest = instructions;
    while !rest.is_empty() {
        let mut count = rest.len().min(MAX_BLOCK);
        if rest[count - 1].is_ei() && count > 1 {
            count -= 1;
        }
        let (part, after) = rest.split_at(count);
        parts.push(part);
        rest = after;
    }
    parts
}

/// Conditional calls return into the middle of blocks, and interrupts anywhere.
/// Where they do so often, a block of its own begins (for interrupts unless one
/// does a little before); the block that leads there stays whole.
fn with_entries(
    hot: &BTreeMap<Place, Instruction>,
    leaders: &BTreeSet<Place>,
    is_entry: impl Fn(Place) -> bool,
) -> BTreeSet<Place> {
    let mut begins = leaders.clone();
    let mut since_last = 0;
    let mut after_call = None;
    for (&place, &instruction) in hot {
        if leaders.contains(&place) {
            since_last = 0;
        } else if is_entry(place) && (since_last >= ENTRY_SPACING || after_call == Some(place)) {
            begins.insert(place);
            since_last = 0;
        }
        since_last += 1;
        after_call = instruction
            .is_conditional_call()
            .then(|| place.at(instruction.next_pc()));
    }
    begins
}

/// Where jumps lead, and what nothing hot leads to.
fn leaders(hot: &BTreeMap<Place, Instruction>) -> BTreeSet<Place> {
    let mut leaders = BTreeSet::new();
    let mut followed: BTreeSet<Place> = BTreeSet::new();
    for (&place, &instruction) in hot {
        let next = place.at(instruction.next_pc());
        if instruction.ends_block() {
            if !instruction.never_falls_through() {
                leaders.insert(next);
            }
        } else {
            followed.insert(next);
        }
        if instruction.ends_slice() {
            leaders.insert(next);
        }
        if let Some(target) = instruction.target() {
            leaders.insert(place.at(target));
        }
    }
    for &place in hot.keys() {
        if !followed.contains(&place) {
            leaders.insert(place);
        }
    }
    leaders.retain(|place| hot.contains_key(place));
    leaders
}
