//! Jumps, and how blocks find each other.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, Value};

use super::memory::Next;
use super::{Emitted, Emitter, Register};
use crate::translator::context;
use crate::translator::exit::Exit;
use crate::translator::layout;
use crate::translator::plan::{Block, Instruction, Place, Plan};
use crate::waiting::Wait;

/// Banks that a jump from below 4000 to above looks for itself.
const MAX_BANKS_TRIED: usize = 3;

/// Instructions of a routine that is emitted wherever it is called.
const MAX_INLINE: usize = 16;

/// A routine of one block, from its start to its return.
fn is_short_routine(block: &Block) -> bool {
    const RET: u8 = 0xC9;
    block.instructions.len() <= MAX_INLINE
        && block.instructions.last().is_some_and(|last| last.op == RET)
}

/// T-cycles of an instruction that does not jump.
pub(super) fn straight_cycles(op: u8, operand: u16) -> i64 {
    let (x, y, z) = (op >> 6, op >> 3 & 7, op & 7);
    match (x, z) {
        (0, 0) if y == 1 => 20,
        // To the next instruction.
        (0, 0) if y == 3 => 12,
        (0, 0) if y >= 4 => 8,
        (0, 0) => 4,
        (0, 1) if y & 1 == 0 => 12,
        (0, 1..=3) => 8,
        (0, 4 | 5) if y == 6 => 12,
        (0, 6) if y == 6 => 12,
        (0, 6) => 8,
        (0, _) => 4,
        (1, 6) | (2, 6) => 8,
        (1, _) if y == 6 => 8,
        (1 | 2, _) => 4,
        _ => match op {
            0xC1 | 0xD1 | 0xE1 | 0xF1 | 0xE0 | 0xF0 | 0xF8 => 12,
            0xC5 | 0xD5 | 0xE5 | 0xF5 | 0xE8 | 0xEA | 0xFA => 16,
            0xCB => match operand & 0xC7 {
                0x46 => 12,
                0x06 | 0x86 | 0xC6 => 16,
                _ => 8,
            },
            0xF3 | 0xFB => 4,
            // Jumps that are not taken.
            0xC2 | 0xCA | 0xD2 | 0xDA | 0xC4 | 0xCC | 0xD4 | 0xDC => 12,
            _ => 8,
        },
    }
}

/// The instruction jumps to the one that is emitted next.
pub(super) fn jumps_on(instruction: Instruction, follower: Option<u16>) -> bool {
    instruction.is_jump()
        && follower.is_some_and(|next| next != instruction.next_pc())
        && follower == instruction.target()
}

/// T-cycles of an instruction after which `follower` is next; without one, what is next
/// in memory.
pub(super) fn cycles(instruction: Instruction, follower: Option<u16>) -> i64 {
    if jumps_on(instruction, follower) {
        jump_cycles(instruction)
    } else {
        straight_cycles(instruction.op, instruction.operand)
    }
}

/// T-cycles of JR and JP that are taken.
fn jump_cycles(instruction: Instruction) -> i64 {
    if instruction.op & 0xC7 == 0 {
        12
    } else {
        16
    }
}

impl<'a> Emitter<'a, '_> {
    /// The block ends with the present instruction, which takes so long.
    fn end_block(&mut self, cycles: i64) {
        self.note_last(cycles);
        self.flush();
        self.spend(self.offset + cycles);
    }

    /// The block ends with the present instruction, which takes so long; execution goes on
    /// at an address that is known.
    pub(super) fn end_block_before(&mut self, pc: u16, cycles: i64) {
        let Some(Emitted {
            label,
            inside: Some(inside),
            ..
        }) = self.next_block(pc).filter(|_| !self.is_step)
        else {
            self.end_block(cycles);
            return self.go_to(pc);
        };
        if inside.needs_last {
            self.note_last(cycles);
        }
        let is_incomplete = self.flush_without(inside.overwritten);
        let left = self.spend(self.offset + cycles);
        if !is_incomplete && inside.needs_last {
            return self.branch_if_more(left, inside.last_offset, inside.label, label);
        }
        let over = self.b.create_block();
        self.b.set_cold_block(over);
        self.branch_if_more(left, inside.last_offset, inside.label, over);
        self.begin(over);
        self.flush();
        if !inside.needs_last {
            self.note_last(cycles);
        }
        self.b.ins().jump(label, &[]);
    }

    /// The block at an address, if it is known which that is.
    fn next_block(&self, pc: u16) -> Option<Emitted<'a>> {
        let leaves_low_code = self.place.pc() < 0x4000 && pc >= 0x4000;
        let place = self.place.at(pc);
        let known = self.blocks.get(&place).copied();
        known.filter(|_| !leaves_low_code)
    }

    /// Emits an instruction that may jump.
    pub(super) fn emit_jump(&mut self, instruction: Instruction) {
        let op = instruction.op;
        let next_pc = instruction.next_pc();
        let target = instruction.target().unwrap_or(0);
        match op {
            0x18 | 0xC3 => self.jump_to(instruction, target),
            0x76 => self.emit_halt(instruction.pc),
            0xCD => self.emit_call(next_pc, target, 24),
            0xC9 => self.emit_return(instruction.pc, 4, 16),
            0xD9 => self.emit_return_from_interrupt(),
            0xE9 => {
                self.end_block(4);
                let hl = self.get(Register::Hl);
                self.b.ins().jump(self.dispatch, &[hl.into()]);
            }
            // RST
            _ => self.emit_rst(next_pc, target),
        }
    }

    /// Branches on the condition of an instruction: the blocks where it is met and where
    /// it is not.
    fn emit_condition(&mut self, instruction: Instruction) -> (ir::Block, ir::Block) {
        let condition = (instruction.op >> 3) & 3;
        let taken = self.b.create_block();
        let otherwise = self.b.create_block();
        let flag = if condition & 2 == 0 {
            Register::Zero
        } else {
            Register::Carry
        };
        let flag = self.get(flag);
        // `Zero` is zero if the flag is set, `Carry` is one.
        if matches!(condition, 0 | 3) {
            self.b.ins().brif(flag, taken, &[], otherwise, &[]);
        } else {
            self.b.ins().brif(flag, otherwise, &[], taken, &[]);
        }
        (taken, otherwise)
    }

    /// Emits a conditional jump that is followed where it is taken.
    pub(super) fn emit_side_exit(&mut self, instruction: Instruction) {
        let (taken, otherwise) = self.emit_condition(instruction);
        self.b.set_cold_block(otherwise);
        let cache = self.cache;
        self.begin(otherwise);
        let cycles = straight_cycles(instruction.op, instruction.operand);
        self.end_block_before(instruction.next_pc(), cycles);
        self.cache = cache;
        self.begin(taken);
    }

    /// Emits a conditional jump, call or return; the block goes on where it is
    /// not taken.
    pub(super) fn emit_conditional(&mut self, instruction: Instruction) {
        let op = instruction.op;
        let (taken, otherwise) = self.emit_condition(instruction);
        let cache = self.cache;
        self.begin(taken);
        let target = instruction.target().unwrap_or(0);
        match op & 0xE7 {
            0x20 | 0xC2 => self.jump_to(instruction, target),
            0xC4 => self.emit_call(instruction.next_pc(), target, 24),
            _ => self.emit_return(instruction.pc, 8, 20),
        }
        self.cache = cache;
        self.begin(otherwise);
    }

    fn emit_rst(&mut self, next_pc: u16, target: u16) {
        let value = self.constant(next_pc.into());
        let next = Next {
            pc: target,
            cycles: 16,
        };
        self.push(value, 8, next);
        self.end_block_before(target, next.cycles);
    }

    fn emit_call(&mut self, next_pc: u16, target: u16, cycles: i64) {
        let value = self.constant(next_pc.into());
        self.push(value, 16, Next { pc: target, cycles });
        let routine = self
            .next_block(target)
            .map(|emitted| emitted.block)
            .filter(|routine| !self.is_step && is_short_routine(routine));
        match routine.filter(|_| self.returns_to.is_none()) {
            Some(routine) => {
                self.end_block(cycles);
                self.emit_inline(routine, self.place.at(next_pc));
            }
            None => self.end_block_before(target, cycles),
        }
    }

    /// Emits a routine where it is called, so that its return needs no search.
    fn emit_inline(&mut self, routine: &Block, returns_to: Place) {
        let (place, offset, previous_offset) = (self.place, self.offset, self.previous_offset);
        let (last_offset, is_step) = (self.last_offset, self.is_step);
        let cache = self.cache;
        self.returns_to = Some(returns_to);
        // The caller has flushed the registers; what is known of them stays true.
        self.emit_body(routine, None);
        self.returns_to = None;
        (self.place, self.offset, self.previous_offset) = (place, offset, previous_offset);
        (self.last_offset, self.is_step) = (last_offset, is_step);
        self.cache = cache;
    }

    fn emit_return(&mut self, ret: u16, low_at: u8, cycles: i64) {
        let pc = self.pop(low_at);
        self.end_block(cycles);
        let known = self
            .returns_to
            .and_then(|place| Some((place, self.label(place)?)));
        let Some((place, label)) = known else {
            return self.emit_return_to_callers(ret, pc);
        };
        // The program may have changed the address, or the bank.
        let mut is_there = self
            .b
            .ins()
            .icmp_imm_u(IntCC::Equal, pc, i64::from(place.pc()));
        if place.pc() >= 0x4000 {
            let bits = self.high_bits();
            let same_bank =
                self.b
                    .ins()
                    .icmp_imm_u(IntCC::Equal, bits, i64::from(place.bits() & 0xFFFF_0000));
            is_there = self.b.ins().band(is_there, same_bank);
        }
        let elsewhere = [pc.into()];
        self.b
            .ins()
            .brif(is_there, label, &[], self.dispatch, &elsewhere);
    }

    /// Tries where the routine is called before searching among all blocks.
    fn emit_return_to_callers(&mut self, ret: u16, pc: Value) {
        let callers = self.known.returns.get(&self.place.at(ret));
        let callers = callers.filter(|_| !self.is_step).cloned();
        let callers = callers.unwrap_or_default();
        let some_are_high = callers.iter().any(|caller| caller.pc() >= 0x4000);
        let place = if some_are_high { self.place_of(pc) } else { pc };
        for caller in callers {
            let Some(label) = self.label(caller) else {
                continue;
            };
            let is_there = self
                .b
                .ins()
                .icmp_imm_u(IntCC::Equal, place, i64::from(caller.bits()));
            let other = self.b.create_block();
            self.b.ins().brif(is_there, label, &[], other, &[]);
            self.begin(other);
        }
        self.b.ins().jump(self.dispatch, &[pc.into()]);
    }

    /// The place that an address is now, as a number.
    fn place_of(&mut self, pc: Value) -> Value {
        let bits = self.high_bits();
        let high = self.b.ins().bor(pc, bits);
        let is_low = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, pc, 0x4000);
        self.b.ins().select(is_low, pc, high)
    }

    /// PC stays where it is, and the slice ends.
    fn emit_halt(&mut self, pc: u16) {
        self.end_block(4);
        let yes = self.constant(1);
        let no = self.constant(0);
        self.store8(yes, layout::HALTED);
        self.store8(no, layout::HALTED_DURING_EI);
        self.end_slice();
        self.leave(pc, Exit::AGAIN);
    }

    /// RETI, and EI with RET.
    fn emit_return_from_interrupt(&mut self) {
        let pending = self.enable_interrupts();
        let pc = self.pop(4);
        self.end_block(16);
        let waiting = self.b.create_block();
        self.b.set_cold_block(waiting);
        let back = [pc.into()];
        self.b
            .ins()
            .brif(pending, waiting, &[], self.dispatch, &back);
        self.begin(waiting);
        self.end_slice();
        self.leave_to(pc, Exit::AGAIN);
    }

    fn end_slice(&mut self) {
        let ended = self.b.ins().iconst(I64, 0);
        self.store(ended, layout::SLICE_END);
    }

    /// Sets IME; the result is not zero if an interrupt waits for it.
    fn enable_interrupts(&mut self) -> Value {
        let on = self.constant(1);
        self.store8(on, layout::IME);
        let requested = self.load8(layout::INTERRUPTS_REQUESTED);
        let enabled = self.load8(layout::INTERRUPTS_ENABLED);
        let pending = self.b.ins().band(requested, enabled);
        self.and(pending, 0x1F)
    }

    /// EI takes effect after an instruction that takes so long: the slice ends if an
    /// interrupt waits.
    pub(super) fn emit_enable(&mut self, next_pc: u16, cycles: i64) {
        let pending = self.enable_interrupts();
        let out = self.b.create_block();
        let on = self.b.create_block();
        self.b.set_cold_block(out);
        self.b.ins().brif(pending, out, &[], on, &[]);
        self.begin(out);
        let cache = self.cache;
        self.end_block(cycles);
        self.cache = cache;
        self.end_slice();
        self.leave(next_pc, Exit::AGAIN);
        self.begin(on);
    }

    /// As [`Self::emit_jump`], right after EI.
    pub(super) fn emit_jump_in_shadow(&mut self, instruction: Instruction) {
        const RET: u8 = 0xC9;
        let Some(target) = instruction.target() else {
            debug_assert_eq!(instruction.op, RET);
            return self.emit_return_from_interrupt();
        };
        self.emit_enable(target, jump_cycles(instruction));
        self.emit_jump(instruction);
    }

    /// A jump within the code: on the way back it may close a waiting loop.
    fn jump_to(&mut self, instruction: Instruction, target: u16) {
        let cycles = jump_cycles(instruction);
        let jump = instruction.pc;
        let goes_back = if instruction.op & 0xC7 == 0 {
            instruction.operand as u8 >= 0x80
        } else {
            target < instruction.next_pc()
        };
        let same_bank = target >> 14 == jump >> 14;
        let offset = Place::offset(self.place.at(jump));
        let wait = self.known.waits.find(offset);
        let Some(wait) = wait.filter(|_| goes_back && same_bank) else {
            return self.end_block_before(target, cycles);
        };
        self.end_block(cycles);
        let body = self.loop_body(target, jump);
        let body_cycles: i64 = body
            .iter()
            .map(|instruction| straight_cycles(instruction.op, instruction.operand))
            .sum();
        let turn = body_cycles + cycles;
        // What a turn pushes stays in memory.
        if !self.is_step && !body.iter().any(|instruction| instruction.is_push()) {
            self.skip_turns(wait, target, turn);
        }
        self.count_turn(wait, target, Exit::waiting(jump, turn as u16));
        self.go_to(target);
    }

    /// After a turn of a loop that counts down: passes all others but the last at once, if
    /// they fit into the slice.
    fn skip_turns(&mut self, wait: Wait, top: u16, turn: i64) {
        let left = match wait {
            Wait::Count8 { register } => self.load8(layout::register(register)),
            Wait::Count16 { pair } => self.load16(layout::PAIRS[usize::from(pair)]),
            _ => return,
        };
        let skipped = self.add(left, -1);
        let skipped = self.b.ins().uextend(I64, skipped);
        let cycles = self.b.ins().imul_imm_s(skipped, turn);
        let time_left = self.load(I64, layout::TIME_LEFT);
        let time_left = self.b.ins().isub(time_left, cycles);
        let skip = self.b.create_block();
        let other = self.b.create_block();
        self.branch_if_more(time_left, turn, skip, other);
        self.begin(skip);
        // As the turn before the last leaves it.
        let one = self.constant(1);
        self.store8(one, layout::ZERO);
        match wait {
            Wait::Count16 { pair } => {
                self.store16(one, layout::PAIRS[usize::from(pair)]);
                self.store8(one, layout::A);
            }
            Wait::Count8 { register } => {
                let no = self.constant(0);
                self.store8(no, layout::HALF);
                self.store8(one, layout::register(register));
            }
            _ => {}
        }
        self.store(time_left, layout::TIME_LEFT);
        self.go_to(top);
        self.begin(other);
    }

    /// After a turn of a waiting loop: leaves if it is time to have the rest skipped.
    fn count_turn(&mut self, wait: Wait, top: u16, exit: Exit) {
        let on = self.b.create_block();
        if let Wait::Count8 { register } = wait {
            // The last turns are not worth while.
            let left = self.load8(layout::register(register));
            let few =
                self.b
                    .ins()
                    .icmp_imm_u(IntCC::UnsignedLessThan, left, i64::from(context::TURNS));
            let many = self.b.create_block();
            self.b.ins().brif(few, on, &[], many, &[]);
            self.begin(many);
        }
        self.leave_at_zero(I32, layout::TURNS_LEFT, top, exit);
        self.b.ins().jump(on, &[]);
        self.begin(on);
    }

    /// The straight code from `top` to the jump that closes the loop.
    fn loop_body(&self, top: u16, jump: u16) -> Vec<Instruction> {
        let mut body = Vec::new();
        let mut pc = top;
        while pc < jump {
            let Some(instruction) = Instruction::decode(self.known.image, self.place.at(pc)) else {
                break;
            };
            body.push(instruction);
            pc = instruction.next_pc();
        }
        body
    }

    /// Goes on at an address that is known.
    pub(super) fn go_to(&mut self, pc: u16) {
        let leaves_low_code = self.place.pc() < 0x4000 && pc >= 0x4000;
        if leaves_low_code {
            self.go_to_high(pc);
        } else if let Some(label) = self.label(self.place.at(pc)) {
            self.b.ins().jump(label, &[]);
        } else {
            self.leave_unknown(pc);
        }
    }

    fn leave_unknown(&mut self, pc: u16) {
        let out = self.b.create_block();
        self.b.set_cold_block(out);
        self.b.ins().jump(out, &[]);
        self.begin(out);
        self.leave(pc, Exit::UNKNOWN);
    }

    fn high_bits(&mut self) -> Value {
        self.load(I32, layout::HIGH_BITS)
    }

    /// From below 4000 to above, in whichever bank is there.
    fn go_to_high(&mut self, pc: u16) {
        let mut candidates: Vec<Place> = self
            .blocks
            .keys()
            .copied()
            .filter(|place| place.pc() == pc)
            .collect();
        candidates.sort_unstable();
        if candidates.is_empty() {
            return self.leave_unknown(pc);
        }
        if candidates.len() > MAX_BANKS_TRIED {
            let pc = self.constant(pc.into());
            self.b.ins().jump(self.dispatch, &[pc.into()]);
            return;
        }
        let bits = self.high_bits();
        for place in candidates {
            let Some(label) = self.label(place) else {
                continue;
            };
            let is_here =
                self.b
                    .ins()
                    .icmp_imm_u(IntCC::Equal, bits, i64::from(place.bits() & 0xFFFF_0000));
            let other = self.b.create_block();
            self.b.ins().brif(is_here, label, &[], other, &[]);
            self.begin(other);
        }
        self.leave_unknown(pc);
    }

    /// Goes to an interrupt's handler, if that is where PC is: native code is entered there
    /// more often than anywhere else.
    pub(super) fn emit_vectors(&mut self, pc: Value) {
        const FIRST: i64 = 0x40;
        const COUNT: i64 = 5;
        let vectors = (0..COUNT).map(|index| FIRST + 8 * index);
        let labels: Vec<_> = vectors
            .filter_map(|vector| Some((vector, self.label(Place::new(vector as u16, 0))?)))
            .collect();
        let other = self.b.create_block();
        let vector = self.b.create_block();
        let offset = self.b.ins().iadd_imm_s(pc, -FIRST);
        let is_vector = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, offset, 8 * COUNT);
        self.b.ins().brif(is_vector, vector, &[], other, &[]);
        self.begin(vector);
        for (vector, label) in labels {
            let next = self.b.create_block();
            let is_here = self.b.ins().icmp_imm_u(IntCC::Equal, pc, vector);
            self.b.ins().brif(is_here, label, &[], next, &[]);
            self.begin(next);
        }
        self.b.ins().jump(other, &[]);
        self.begin(other);
    }

    /// Finds the block of an address by halving: conditional branches are
    /// predicted where indirect ones are not (see `cpu/interpreter.rs`).
    pub(super) fn emit_dispatch(&mut self, plan: &Plan) {
        let dispatch = self.dispatch;
        let pc = self.b.append_block_param(dispatch, I32);
        self.begin_afresh(dispatch);
        let place = self.place_of(pc);
        let unknown = self.b.create_block();
        self.b.set_cold_block(unknown);
        self.emit_search(&plan.blocks, place, unknown);
        self.begin(unknown);
        self.leave_to(pc, Exit::UNKNOWN);
    }

    /// Halves by heat, so that what runs often is found early.
    fn emit_search(
        &mut self,
        blocks: &[Block],
        place: Value,
        unknown: cranelift_codegen::ir::Block,
    ) {
        match blocks {
            [] => {
                self.b.ins().jump(unknown, &[]);
            }
            [block] => {
                let Some(label) = self.label(block.place) else {
                    self.b.ins().jump(unknown, &[]);
                    return;
                };
                let found =
                    self.b
                        .ins()
                        .icmp_imm_u(IntCC::Equal, place, i64::from(block.place.bits()));
                self.b.ins().brif(found, label, &[], unknown, &[]);
            }
            _ => {
                let total: u64 = blocks.iter().map(Block::weight).sum();
                let mut before = 0;
                let half = blocks
                    .iter()
                    .position(|block| {
                        before += block.weight();
                        before * 2 >= total
                    })
                    .unwrap_or(0)
                    .clamp(1, blocks.len() - 1);
                let (lower, upper) = blocks.split_at(half);
                let below = self.b.create_block();
                let above = self.b.create_block();
                let is_below = self.b.ins().icmp_imm_u(
                    IntCC::UnsignedLessThan,
                    place,
                    i64::from(upper[0].place.bits()),
                );
                self.b.ins().brif(is_below, below, &[], above, &[]);
                self.begin(below);
                self.emit_search(lower, place, unknown);
                self.begin(above);
                self.emit_search(upper, place, unknown);
            }
        }
    }
}
