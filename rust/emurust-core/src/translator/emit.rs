//! From guest instructions to Cranelift's intermediate representation.
//!
//! All blocks of a plan become one function, so that they jump to each other
//! directly; the guest's registers are values within a block only. What each
//! instruction does, how long it takes and when it touches memory is the
//! interpreter's (`cpu/instructions.rs`), which is also what the tests compare
//! it with.

mod alu;
mod control;
mod memory;
mod overwritten;

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I16, I32, I64, I8};
use cranelift_codegen::ir::{self, InstBuilder, InstructionData, MemFlagsData, Type, Value};
use cranelift_frontend::FunctionBuilder;

use super::context::Timing;
use super::exit::Exit;
use super::layout;
use super::plan::{Block, Instruction, Place, Plan, Role};
use crate::waiting::WaitTable;
use memory::{Address, Next};
use overwritten::{accesses_memory, overwritten, Set};

/// A guest register or flag, kept in the machine between blocks and in a value within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Register {
    A,
    Sp,
    /// The subtract flag, in its place in F.
    Subtract,
    /// The half carry flag is bit 4; other bits are anything.
    Half,
    /// 1 if the carry flag is set, else 0.
    Carry,
    /// A byte that is zero exactly if the zero flag is set.
    Zero,
    Bc,
    De,
    Hl,
}

impl Register {
    /// Register pair by its number in opcodes.
    fn pair(number: u8) -> Self {
        match number {
            0 => Self::Bc,
            1 => Self::De,
            2 => Self::Hl,
            _ => Self::Sp,
        }
    }

    /// Which of the pairs that consist of two registers.
    fn pair_index(self) -> Option<usize> {
        match self {
            Self::Bc => Some(0),
            Self::De => Some(1),
            Self::Hl => Some(2),
            _ => None,
        }
    }
}

const SINGLES: [Register; 6] = [
    Register::A,
    Register::Sp,
    Register::Subtract,
    Register::Half,
    Register::Carry,
    Register::Zero,
];

/// How to find out about a flag: these values, exclusive or, shifted to the right. Most
/// flags are never looked at.
#[derive(Debug, Clone, Copy)]
struct Recipe {
    values: [Option<Value>; 3],
    shift: i64,
}

/// What is known of a register at some point of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Cached {
    value: Option<Value>,
    /// Known while the block is translated.
    constant: Option<u8>,
    /// Where there is neither yet.
    recipe: Option<Recipe>,
    /// The machine does not have it yet.
    dirty: bool,
}

/// What is known of a register pair: as a whole, or of its halves. Where both
/// are known, they agree.
#[derive(Debug, Clone, Copy, Default)]
struct CachedPair {
    whole: Option<Value>,
    /// High byte, low byte.
    halves: [Option<Value>; 2],
    /// The machine does not have it yet.
    dirty: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cache {
    singles: [Cached; SINGLES.len()],
    pairs: [CachedPair; 3],
}

/// Signatures of the functions that native code calls.
pub(super) struct HelperSignatures {
    /// `(machine, address, moment) -> value`.
    pub(super) read: ir::SigRef,
    /// `(machine, address, value, moment) -> whether to leave`.
    pub(super) write: ir::SigRef,
}

/// What is known of the cartridge besides the plan.
pub(super) struct Known<'a> {
    pub(super) image: &'a [u8],
    pub(super) waits: &'a WaitTable,
    /// Where returns probably lead.
    pub(super) returns: HashMap<Place, Vec<Place>>,
    /// Where loops may begin that only pass the time, by number.
    pub(super) heads: HashMap<Place, u8>,
    /// The code is to be fast rather than short.
    pub(super) is_good: bool,
}

/// A block of the plan, and where it is emitted.
#[derive(Clone, Copy)]
struct Emitted<'a> {
    /// The machine has all registers here.
    label: ir::Block,
    /// A way in behind the look at the time, if there is one.
    inside: Option<Inside>,
    block: &'a Block,
}

/// A way into a block for code that knows that the block's own fits into the slice.
#[derive(Clone, Copy)]
struct Inside {
    label: ir::Block,
    /// T-cycles of the slice that must be left; one more, to be exact.
    last_offset: i64,
    /// What the machine need not have.
    overwritten: Set,
    /// The machine must know how long the last instruction took.
    needs_last: bool,
}

struct Emitter<'a, 'f> {
    b: FunctionBuilder<'f>,
    known: Known<'a>,
    blocks: HashMap<Place, Emitted<'a>>,
    /// A step is being emitted: it is short rather than fast.
    is_step: bool,
    /// Inside of a routine that is emitted where it is called: where it returns to.
    returns_to: Option<Place>,
    signatures: HelperSignatures,
    cache: Cache,
    /// Addresses near the stack pointer.
    on_stack: HashSet<Value>,
    machine: Value,
    /// Returns to the run loop; its parameter is PC below the reason.
    exit: ir::Block,
    /// Finds the block for the address that is its parameter.
    dispatch: ir::Block,
    /// Where the block being emitted is.
    place: Place,
    /// T-cycles from the start of the block to the instruction, and to the one before it.
    offset: i64,
    previous_offset: Option<i64>,
    /// T-cycles from the start of the block to its last instruction.
    last_offset: i64,
}

/// T-cycles from the start of the first of these instructions to that of the last.
fn last_offset(instructions: &[Instruction]) -> i64 {
    instructions
        .windows(2)
        .map(|pair| control::cycles(pair[0], Some(pair[1].pc)))
        .sum()
}

/// Bits of PC in what the one exit is told.
const PC_BITS: i64 = 16;

const TRUSTED: MemFlagsData = MemFlagsData::trusted();

/// Fills `function` with the translation of all blocks of the plan.
pub(super) fn emit<'f>(
    mut builder: FunctionBuilder<'f>,
    signatures: HelperSignatures,
    plan: &Plan,
    known: Known<'_>,
) -> FunctionBuilder<'f> {
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let machine = builder.block_params(entry)[0];
    let blocks = plan
        .blocks
        .iter()
        .map(|block| {
            let label = builder.create_block();
            if block.role == Role::Step {
                builder.set_cold_block(label);
            }
            let has_inside = known.is_good && block.role != Role::Step;
            let inside = has_inside && !known.heads.contains_key(&block.place);
            let inside = inside.then(|| Inside::of(block, builder.create_block()));
            let emitted = Emitted {
                label,
                inside,
                block,
            };
            (block.place, emitted)
        })
        .collect();
    let exit = builder.create_block();
    builder.set_cold_block(exit);
    let dispatch = builder.create_block();
    let mut emitter = Emitter {
        b: builder,
        known,
        blocks,
        is_step: false,
        returns_to: None,
        signatures,
        cache: Cache::default(),
        on_stack: HashSet::new(),
        machine,
        exit,
        dispatch,
        place: Place::new(0, 0),
        offset: 0,
        previous_offset: None,
        last_offset: 0,
    };
    emitter.emit_entry();
    for block in &plan.blocks {
        emitter.emit_block(block);
    }
    emitter.emit_dispatch(plan);
    emitter.emit_exit();
    emitter.b.seal_all_blocks();
    emitter.b
}

impl Inside {
    fn of(block: &Block, label: ir::Block) -> Self {
        let code = block.first_code();
        Self {
            label,
            last_offset: last_offset(code),
            overwritten: overwritten(code),
            needs_last: code.first().is_none_or(|&first| accesses_memory(first)),
        }
    }
}

impl Emitter<'_, '_> {
    // Small words for what is said often.

    /// Where the block of a place is emitted, if there is one.
    fn label(&self, place: Place) -> Option<ir::Block> {
        self.blocks.get(&place).map(|emitted| emitted.label)
    }

    /// Goes on in a block to which all jumps have been emitted.
    fn begin(&mut self, block: ir::Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }

    fn get(&mut self, register: Register) -> Value {
        if let Some(index) = register.pair_index() {
            return self.get_pair(index);
        }
        let cached = self.cache.singles[register as usize];
        if let Some(value) = cached.value {
            return value;
        }
        let value = match (cached.constant, cached.recipe) {
            (Some(constant), _) => self.constant(constant.into()),
            (None, Some(recipe)) => self.follow(recipe),
            _ if register == Register::Sp => self.load16(layout::SP),
            _ => self.load8(Self::cell_of(register)),
        };
        self.cache.singles[register as usize].value = Some(value);
        value
    }

    fn set(&mut self, register: Register, value: Value) {
        if let Some(index) = register.pair_index() {
            self.cache.pairs[index] = CachedPair {
                whole: Some(value),
                halves: [None; 2],
                dirty: true,
            };
            return;
        }
        self.cache.singles[register as usize] = Cached {
            value: Some(value),
            dirty: true,
            ..Cached::default()
        };
    }

    /// Sets a flag to what a recipe makes, if it is looked at.
    fn set_later(&mut self, flag: Register, values: [Option<Value>; 3], shift: i64) {
        self.cache.singles[flag as usize] = Cached {
            recipe: Some(Recipe { values, shift }),
            dirty: true,
            ..Cached::default()
        };
    }

    fn follow(&mut self, recipe: Recipe) -> Value {
        let values = recipe.values.into_iter().flatten();
        let mixed = values.reduce(|mixed, value| self.b.ins().bxor(mixed, value));
        let mixed = mixed.unwrap_or_else(|| self.constant(0));
        match recipe.shift {
            0 => mixed,
            shift => self.shift_right(mixed, shift),
        }
    }

    /// Sets a register of one byte, or a flag.
    fn set_constant(&mut self, register: Register, constant: u8) {
        self.cache.singles[register as usize] = Cached {
            constant: Some(constant),
            dirty: true,
            ..Cached::default()
        };
    }

    /// Where the machine keeps a register of one byte, or a flag.
    fn cell_of(register: Register) -> usize {
        match register {
            Register::Subtract => layout::SUBTRACT,
            Register::Half => layout::HALF,
            Register::Carry => layout::CARRY,
            Register::Zero => layout::ZERO,
            _ => layout::A,
        }
    }

    fn get_pair(&mut self, index: usize) -> Value {
        let CachedPair {
            whole,
            halves: [high, low],
            ..
        } = self.cache.pairs[index];
        if let Some(whole) = whole {
            return whole;
        }
        let whole = match (high, low) {
            (None, None) => self.load16(layout::PAIRS[index]),
            _ => {
                let high = self.get_half(index, 0);
                let low = self.get_half(index, 1);
                let high = self.shift_left(high, 8);
                self.or(high, low)
            }
        };
        self.cache.pairs[index].whole = Some(whole);
        whole
    }

    /// The high (0) or low (1) byte of a pair.
    fn get_half(&mut self, index: usize, half: usize) -> Value {
        let pair = self.cache.pairs[index];
        if let Some(value) = pair.halves[half] {
            return value;
        }
        let value = match (pair.whole, half) {
            (Some(whole), 0) => self.shift_right(whole, 8),
            (Some(whole), _) => self.and(whole, 0xFF),
            (None, _) => self.load8(layout::PAIRS[index] + layout::HALVES[half]),
        };
        self.cache.pairs[index].halves[half] = Some(value);
        value
    }

    fn set_half(&mut self, index: usize, half: usize, value: Value) {
        if self.cache.pairs[index].whole.is_some() {
            self.get_half(index, 1 - half);
        }
        let pair = &mut self.cache.pairs[index];
        pair.whole = None;
        pair.halves[half] = Some(value);
        pair.dirty = true;
    }

    /// As [`Self::flush`], without some registers; true if it left any out.
    fn flush_without(&mut self, omitted: Set) -> bool {
        let mut some = Vec::new();
        for register in SINGLES {
            let cached = &mut self.cache.singles[register as usize];
            if cached.dirty && omitted.contains(register) {
                cached.dirty = false;
                some.push(register);
            }
        }
        self.flush();
        for &register in &some {
            self.cache.singles[register as usize].dirty = true;
        }
        !some.is_empty()
    }

    /// Gives the machine what it does not have yet of the registers.
    fn flush(&mut self) {
        for index in 0..self.cache.pairs.len() {
            self.flush_pair(index);
        }
        self.flush_flags();
        for register in SINGLES {
            let cached = self.cache.singles[register as usize];
            if !cached.dirty {
                continue;
            }
            let value = self.get(register);
            if register == Register::Sp {
                self.store16(value, layout::SP);
            } else {
                self.store8(value, Self::cell_of(register));
            }
            self.cache.singles[register as usize].dirty = false;
        }
    }

    fn flush_pair(&mut self, index: usize) {
        let pair = self.cache.pairs[index];
        if !pair.dirty {
            return;
        }
        // The processor forwards a whole pair to a later load of a half, but not
        // two halves to a load of the whole.
        match (pair.whole, pair.halves) {
            (None, [Some(half), None]) => {
                self.store8(half, layout::PAIRS[index] + layout::HALVES[0]);
            }
            (None, [None, Some(half)]) => {
                self.store8(half, layout::PAIRS[index] + layout::HALVES[1]);
            }
            _ => {
                let whole = self.get_pair(index);
                self.store16(whole, layout::PAIRS[index]);
            }
        }
        self.cache.pairs[index].dirty = false;
    }

    /// Many instructions make two flags, or all, constants: one store then.
    fn flush_flags(&mut self) {
        let constant = |cache: &Cache, register: Register| {
            let cached = cache.singles[register as usize];
            cached.constant.filter(|_| cached.dirty)
        };
        let cache = self.cache;
        let (Some(subtract), Some(half)) = (
            constant(&cache, Register::Subtract),
            constant(&cache, Register::Half),
        ) else {
            return;
        };
        let both = u16::from_ne_bytes([subtract, half]);
        let both = self.constant(both.into());
        self.store16(both, layout::SUBTRACT);
        for register in [Register::Subtract, Register::Half] {
            self.cache.singles[register as usize].dirty = false;
        }
    }

    fn constant(&mut self, value: i64) -> Value {
        self.b.ins().iconst(I32, value)
    }

    /// What a value is, if the translation knows.
    fn constant_of(&self, value: Value) -> Option<i64> {
        let dfg = &self.b.func.dfg;
        let inst = dfg.value_def(value).inst()?;
        match dfg.insts[inst] {
            InstructionData::UnaryImm { imm, .. } => Some(imm.bits()),
            _ => None,
        }
    }

    fn and(&mut self, value: Value, mask: i64) -> Value {
        if let Some(known) = self.constant_of(value) {
            return self.constant(known & mask);
        }
        // Zero extension is shorter than a mask.
        let low = match mask {
            0xFF => I8,
            0xFFFF => I16,
            _ => return self.b.ins().band_imm_u(value, mask),
        };
        let low = self.b.ins().ireduce(low, value);
        self.b.ins().uextend(I32, low)
    }

    fn or(&mut self, left: Value, right: Value) -> Value {
        match (self.constant_of(left), self.constant_of(right)) {
            (Some(left), Some(right)) => self.constant(left | right),
            (Some(0), None) => right,
            (None, Some(0)) => left,
            _ => self.b.ins().bor(left, right),
        }
    }

    fn add(&mut self, value: Value, addend: i64) -> Value {
        match self.constant_of(value) {
            Some(known) => self.constant(known.wrapping_add(addend) & 0xFFFF_FFFF),
            None => self.b.ins().iadd_imm_s(value, addend),
        }
    }

    fn shift_right(&mut self, value: Value, by: i64) -> Value {
        match self.constant_of(value) {
            Some(known) => self.constant(known >> by),
            None => self.b.ins().ushr_imm_u(value, by),
        }
    }

    fn shift_left(&mut self, value: Value, by: i64) -> Value {
        match self.constant_of(value) {
            Some(known) => self.constant(known << by & 0xFFFF_FFFF),
            None => self.b.ins().ishl_imm_u(value, by),
        }
    }

    fn is_zero(&mut self, value: Value) -> Value {
        self.b.ins().icmp_imm_u(IntCC::Equal, value, 0)
    }

    fn load8(&mut self, offset: usize) -> Value {
        let machine = self.machine;
        self.b.ins().uload8(I32, TRUSTED, machine, offset as i32)
    }

    fn load16(&mut self, offset: usize) -> Value {
        let machine = self.machine;
        self.b.ins().uload16(I32, TRUSTED, machine, offset as i32)
    }

    fn load(&mut self, ty: Type, offset: usize) -> Value {
        let machine = self.machine;
        self.b.ins().load(ty, TRUSTED, machine, offset as i32)
    }

    fn store8(&mut self, value: Value, offset: usize) {
        self.store_low(value, I8, self.machine, offset as i32);
    }

    fn store16(&mut self, value: Value, offset: usize) {
        self.store_low(value, I16, self.machine, offset as i32);
    }

    /// Stores the low part of a value; one that is constant needs no register.
    fn store_low(&mut self, value: Value, ty: Type, at: Value, offset: i32) {
        let mask = if ty == I8 { 0xFF } else { 0xFFFF };
        match self.constant_of(value) {
            Some(constant) => {
                let value = self.b.ins().iconst(ty, constant & mask);
                self.b.ins().store(TRUSTED, value, at, offset);
            }
            None if ty == I8 => {
                self.b.ins().istore8(TRUSTED, value, at, offset);
            }
            None => {
                self.b.ins().istore16(TRUSTED, value, at, offset);
            }
        }
    }

    fn store(&mut self, value: Value, offset: usize) {
        let machine = self.machine;
        self.b.ins().store(TRUSTED, value, machine, offset as i32);
    }

    // The frame of the function.

    /// Keeps the machine in the pinned register from here on, so that no value
    /// lives longer than a block, and goes to where PC is.
    fn emit_entry(&mut self) {
        let callers = self.b.ins().get_pinned_reg(I64);
        self.store(callers, layout::SAVED_REGISTER);
        let machine = self.machine;
        self.b.ins().set_pinned_reg(machine);
        let pc = self.load16(layout::PC);
        self.emit_vectors(pc);
        self.b.ins().jump(self.dispatch, &[pc.into()]);
    }

    /// Goes on in a block that knows nothing of the ones before.
    fn begin_afresh(&mut self, block: ir::Block) {
        self.b.switch_to_block(block);
        self.machine = self.b.ins().get_pinned_reg(I64);
        self.cache = Cache::default();
    }

    /// Takes the flags apart.
    fn set_flags(&mut self, f: Value) {
        let z = self.and(f, 0x80);
        let zero = self.b.ins().bxor_imm_u(z, 0x80);
        let subtract = self.and(f, 0x40);
        let half = self.shift_right(f, 1);
        let c = self.shift_right(f, 4);
        let carry = self.and(c, 1);
        self.set(Register::Zero, zero);
        self.set(Register::Subtract, subtract);
        self.set(Register::Half, half);
        self.set(Register::Carry, carry);
    }

    /// Puts the flags together as F.
    fn flags(&mut self) -> Value {
        let zero = self.get(Register::Zero);
        let is_zero = self.is_zero(zero);
        let is_zero = self.b.ins().uextend(I32, is_zero);
        let z = self.shift_left(is_zero, 7);
        let subtract = self.get(Register::Subtract);
        let half = self.get(Register::Half);
        let half = self.and(half, 0x10);
        let h = self.shift_left(half, 1);
        let carry = self.get(Register::Carry);
        let c = self.shift_left(carry, 4);
        let zn = self.b.ins().bor(z, subtract);
        let hc = self.b.ins().bor(h, c);
        self.b.ins().bor(zn, hc)
    }

    /// The one place where native code returns.
    fn emit_exit(&mut self) {
        let exit = self.exit;
        let code = self.b.append_block_param(exit, I64);
        self.begin_afresh(exit);
        self.store16(code, layout::PC);
        let reason = self.b.ins().ushr_imm_u(code, PC_BITS);
        let callers = self.load(I64, layout::SAVED_REGISTER);
        self.b.ins().set_pinned_reg(callers);
        self.b.ins().return_(&[reason]);
    }

    /// Returns to the run loop; the registers have been flushed.
    fn leave(&mut self, pc: u16, exit: Exit) {
        let code = i64::from(pc) | exit.encode() << PC_BITS;
        let code = self.b.ins().iconst(I64, code);
        self.b.ins().jump(self.exit, &[code.into()]);
    }

    /// As [`Self::leave`], to an address that the program made.
    fn leave_to(&mut self, pc: Value, exit: Exit) {
        let pc = self.b.ins().uextend(I64, pc);
        let code = self.b.ins().bor_imm_u(pc, exit.encode() << PC_BITS);
        self.b.ins().jump(self.exit, &[code.into()]);
    }

    fn emit_block(&mut self, block: &Block) {
        let Some(&Emitted { label, inside, .. }) = self.blocks.get(&block.place) else {
            return;
        };
        self.begin_afresh(label);
        if let Some(&head) = self.known.heads.get(&block.place) {
            self.emit_visit(block.place, head);
        }
        if block.path.is_empty() {
            return self.emit_body(block, inside);
        }
        self.is_step = false;
        let over = self.emit_code(block.place, &block.path, inside);
        self.begin_afresh(over);
        self.emit_body(block, None);
    }

    /// Instructions that are run if all fit into the slice; returns the block for where
    /// they do not.
    fn emit_code(
        &mut self,
        place: Place,
        code: &[Instruction],
        inside: Option<Inside>,
    ) -> ir::Block {
        let last_offset = last_offset(code);
        let left = self.load(I64, layout::TIME_LEFT);
        let body = inside.map_or_else(|| self.b.create_block(), |inside| inside.label);
        let over = self.b.create_block();
        self.branch_if_more(left, last_offset, body, over);
        if inside.is_some() {
            self.begin_afresh(body);
        } else {
            self.begin(body);
        }
        self.emit_instructions(place, code);
        over
    }

    /// Counts a visit of the head of a loop; leaves to have it looked at if it is time.
    fn emit_visit(&mut self, place: Place, head: u8) {
        let visits = layout::VISITS + usize::from(head) * 2;
        self.leave_at_zero(I16, visits, place.pc(), Exit::at_head(head));
    }

    /// Counts a counter of the machine down, and leaves when it comes to zero.
    fn leave_at_zero(&mut self, ty: Type, counter: usize, pc: u16, exit: Exit) {
        let left = self.load(ty, counter);
        let left = self.b.ins().iadd_imm_s(left, -1);
        self.store(left, counter);
        let on = self.b.create_block();
        let out = self.b.create_block();
        self.b.set_cold_block(out);
        self.b.ins().brif(left, on, &[], out, &[]);
        self.begin(out);
        self.leave(pc, exit);
        self.begin(on);
    }

    /// The block's code, at the present position, as far as it fits into the slice.
    fn emit_body(&mut self, block: &Block, inside: Option<Inside>) {
        let (machine, cache) = (self.machine, self.cache);
        self.is_step = block.role == Role::Step;
        let over = self.emit_code(block.place, &block.instructions, inside);
        self.b.set_cold_block(over);
        self.begin(over);
        (self.machine, self.cache) = (machine, cache);
        if block.role == Role::Cut {
            self.emit_body(&block.step(0), None);
        } else {
            self.leave(block.place.pc(), Exit::NO_TIME);
        }
    }

    /// Branches by whether more than so much of the slice is left.
    fn branch_if_more(&mut self, left: Value, limit: i64, yes: ir::Block, no: ir::Block) {
        let fits = self
            .b
            .ins()
            .icmp_imm_s(IntCC::SignedGreaterThan, left, limit);
        self.b.ins().brif(fits, yes, &[], no, &[]);
    }

    /// Instructions that follow each other, from `place` on.
    fn emit_instructions(&mut self, place: Place, instructions: &[Instruction]) {
        self.place = place;
        self.last_offset = last_offset(instructions);
        self.offset = 0;
        self.previous_offset = None;
        let mut in_shadow = false;
        let mut rest = instructions;
        while let Some((&instruction, after)) = rest.split_first() {
            rest = after;
            let follower = rest.first().map(|next| next.pc);
            let jumps_on = control::jumps_on(instruction, follower);
            if jumps_on && instruction.is_conditional_jump() {
                self.emit_side_exit(instruction);
            } else if jumps_on {
                // Nothing but time.
            } else if instruction.is_conditional_jump() {
                self.emit_conditional(instruction);
            } else if instruction.ends_block() {
                if in_shadow {
                    self.emit_jump_in_shadow(instruction);
                } else {
                    self.emit_jump(instruction);
                }
                return;
            } else {
                self.emit_straight(instruction);
            }
            let cycles = control::cycles(instruction, follower);
            if in_shadow {
                self.emit_enable(follower.unwrap_or(instruction.next_pc()), cycles);
            }
            in_shadow = instruction.is_ei();
            self.previous_offset = Some(self.offset);
            self.offset += cycles;
        }
        if let Some(last) = instructions.last() {
            let cycles = self.previous_offset.map_or(0, |last| self.offset - last);
            self.offset -= cycles;
            self.end_block_before(last.next_pc(), cycles);
        }
    }

    /// So many cycles of the slice are over; until then the time left is that at the
    /// start of the block. (Kept in memory: a value that lives from block to block
    /// makes allocating registers much slower, and is in memory most of the time.)
    fn spend(&mut self, cycles: i64) -> Value {
        let left = self.load(I64, layout::TIME_LEFT);
        let left = self.b.ins().iadd_imm_s(left, -cycles);
        self.store(left, layout::TIME_LEFT);
        left
    }

    /// The block ends after an instruction that took so long.
    fn note_last(&mut self, cycles: i64) {
        let cycles = self.constant(cycles);
        self.store8(cycles, layout::LAST_CYCLES);
    }

    // Guest registers by their numbers in opcodes.

    fn r8(&mut self, r: u8) -> Value {
        if r == 7 {
            return self.get(Register::A);
        }
        self.get_half(usize::from(r >> 1), usize::from(r & 1))
    }

    fn set_r8(&mut self, r: u8, value: Value) {
        if r == 7 {
            self.set(Register::A, value);
        } else {
            self.set_half(usize::from(r >> 1), usize::from(r & 1), value);
        }
    }

    /// Emits an instruction after which the next one follows.
    fn emit_straight(&mut self, instruction: Instruction) {
        let op = instruction.op;
        let (x, y, z) = (op >> 6, op >> 3 & 7, op & 7);
        let imm8 = i64::from(instruction.operand & 0xFF);
        match x {
            0 => self.emit_block0(instruction),
            1 => match (y, z) {
                (_, 6) => {
                    let hl = self.get(Register::Hl);
                    // LD A,(HL) is one of the three instructions that LCD and DMA see late.
                    let late = y == 7;
                    let value = self.read(hl, 0, late);
                    self.set_r8(y, value);
                }
                (6, _) => {
                    let hl = self.get(Register::Hl);
                    let value = self.r8(z);
                    self.write(
                        hl,
                        value,
                        Timing::at(0),
                        Next {
                            pc: instruction.next_pc(),
                            cycles: 8,
                        },
                    );
                }
                _ if y != z => {
                    let value = self.r8(z);
                    self.set_r8(y, value);
                }
                _ => {}
            },
            2 => {
                let value = if z == 6 {
                    let hl = self.get(Register::Hl);
                    self.read(hl, 0, false)
                } else {
                    self.r8(z)
                };
                self.accumulate(y, value);
            }
            _ => self.emit_block3(instruction, imm8),
        }
    }

    fn emit_block0(&mut self, instruction: Instruction) {
        let op = instruction.op;
        let (y, z) = (op >> 3 & 7, op & 7);
        let pair = y >> 1;
        let imm8 = i64::from(instruction.operand & 0xFF);
        let imm16 = i64::from(instruction.operand);
        let next = instruction.next_pc();
        match (z, y & 1) {
            // NOP, STOP and JR to the next instruction; other jumps end blocks.
            (0, _) => {
                if y == 1 {
                    let next = Next {
                        pc: next,
                        cycles: 20,
                    };
                    self.emit_store_sp(instruction.operand, next);
                }
            }
            (1, 0) => {
                let value = self.constant(imm16);
                self.set(Register::pair(pair), value);
            }
            (1, _) => {
                let value = self.get(Register::pair(pair));
                self.add_to_hl(value);
            }
            (2, is_load) => {
                let addr = self.get(Register::pair(pair.min(2)));
                let late = pair == 1;
                if is_load == 0 {
                    let a = self.get(Register::A);
                    self.step_hl(pair, addr);
                    self.write(
                        addr,
                        a,
                        Timing { at: 0, late },
                        Next {
                            pc: next,
                            cycles: 8,
                        },
                    );
                } else {
                    let value = self.read(addr, 0, late);
                    self.set(Register::A, value);
                    self.step_hl(pair, addr);
                }
            }
            (3, down) => {
                let variable = Register::pair(pair);
                let value = self.get(variable);
                let stepped = self.step16(value, if down == 0 { 1 } else { -1 });
                self.set(variable, stepped);
            }
            (4 | 5, _) => {
                if y == 6 {
                    let hl = self.get(Register::Hl);
                    let value = self.read(hl, 0, false);
                    let stepped = self.step8(value, z == 4);
                    self.write(
                        hl,
                        stepped,
                        Timing::at(4),
                        Next {
                            pc: next,
                            cycles: 12,
                        },
                    );
                } else {
                    let value = self.r8(y);
                    let stepped = self.step8(value, z == 4);
                    self.set_r8(y, stepped);
                }
            }
            (6, _) => {
                let value = self.constant(imm8);
                if y == 6 {
                    let hl = self.get(Register::Hl);
                    self.write(
                        hl,
                        value,
                        Timing::at(4),
                        Next {
                            pc: next,
                            cycles: 12,
                        },
                    );
                } else {
                    self.set_r8(y, value);
                }
            }
            _ => self.emit_accumulator_op(y),
        }
    }

    /// HL after LD (HL+) or LD (HL-).
    fn step_hl(&mut self, pair: u8, addr: Value) {
        let step = match pair {
            2 => 1,
            3 => -1,
            _ => return,
        };
        let stepped = self.step16(addr, step);
        self.set(Register::Hl, stepped);
    }

    /// The address beside another one.
    fn step16(&mut self, addr: Value, step: i64) -> Value {
        let stepped = self.add(addr, step);
        let wrapped = self.and(stepped, 0xFFFF);
        if self.on_stack.contains(&addr) {
            self.on_stack.insert(wrapped);
        }
        wrapped
    }

    fn emit_block3(&mut self, instruction: Instruction, imm8: i64) {
        let op = instruction.op;
        let y = op >> 3 & 7;
        let next = instruction.next_pc();
        let high = 0xFF00 | instruction.operand & 0xFF;
        match op {
            0xC1 | 0xD1 | 0xE1 => {
                let value = self.pop(0);
                self.set(Register::pair(y >> 1), value);
            }
            0xF1 => {
                let value = self.pop(0);
                let a = self.shift_right(value, 8);
                self.set(Register::A, a);
                self.set_flags(value);
            }
            0xC5 | 0xD5 | 0xE5 => {
                let value = self.get(Register::pair(y >> 1));
                self.push(
                    value,
                    8,
                    Next {
                        pc: next,
                        cycles: 16,
                    },
                );
            }
            0xF5 => {
                let a = self.get(Register::A);
                let a = self.shift_left(a, 8);
                let f = self.flags();
                let value = self.b.ins().bor(a, f);
                self.push(
                    value,
                    8,
                    Next {
                        pc: next,
                        cycles: 16,
                    },
                );
            }
            0xCB => self.emit_cb(imm8 as u8, next),
            0xE0 | 0xE2 | 0xEA => {
                let (addr, at, cycles) = match op {
                    0xE0 => (Address::At(high), 4, 12),
                    0xE2 => (self.high_address_in_c(), 0, 8),
                    _ => (Address::At(instruction.operand), 8, 16),
                };
                let a = self.get(Register::A);
                self.write(addr, a, Timing::at(at), Next { pc: next, cycles });
            }
            0xF0 | 0xF2 | 0xFA => {
                let (addr, at) = match op {
                    0xF0 => (Address::At(high), 4),
                    0xF2 => (self.high_address_in_c(), 0),
                    _ => (Address::At(instruction.operand), 8),
                };
                let value = self.read(addr, at, false);
                self.set(Register::A, value);
            }
            0xE8 => {
                let value = self.add_to_sp(imm8);
                self.set(Register::Sp, value);
            }
            0xF8 => {
                let value = self.add_to_sp(imm8);
                self.on_stack.insert(value);
                self.set(Register::Hl, value);
            }
            0xF9 => {
                let hl = self.get(Register::Hl);
                self.set(Register::Sp, hl);
            }
            // It does nothing before the next instruction is over.
            0xFB => {}
            0xF3 => {
                let off = self.constant(0);
                self.store8(off, layout::IME);
            }
            // Arithmetic with an immediate byte
            _ => {
                let value = self.constant(imm8);
                self.accumulate(y, value);
            }
        }
    }

    fn high_address_in_c(&mut self) -> Address {
        let c = self.r8(1);
        let page = self.constant(0xFF00);
        Address::In(self.or(c, page))
    }
}
