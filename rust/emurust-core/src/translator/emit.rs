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

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Type, Value};
use cranelift_frontend::FunctionBuilder;

use super::context::Timing;
use super::exit::Exit;
use super::layout;
use super::plan::{Block, Instruction, Place, Plan};
use crate::waiting::WaitTable;
use memory::{Address, Next};

/// A guest register or flag, kept in the machine between blocks and in a value within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Register {
    A,
    Bc,
    De,
    Hl,
    Sp,
    /// Zero exactly if the zero flag is set.
    Zero,
    /// The subtract flag, in its place in F.
    Subtract,
    /// The half carry flag is bit 4; other bits are anything.
    Half,
    /// 1 if the carry flag is set, else 0.
    Carry,
}

impl Register {
    const ALL: [Self; 9] = [
        Self::A,
        Self::Bc,
        Self::De,
        Self::Hl,
        Self::Sp,
        Self::Zero,
        Self::Subtract,
        Self::Half,
        Self::Carry,
    ];

    /// Register pair by its number in opcodes.
    fn pair(number: u8) -> Self {
        match number {
            0 => Self::Bc,
            1 => Self::De,
            2 => Self::Hl,
            _ => Self::Sp,
        }
    }
}

/// What is known of a register at some point of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Cached {
    value: Option<Value>,
    /// The machine does not have it yet.
    dirty: bool,
}

type Cache = [Cached; Register::ALL.len()];

/// Signatures of the functions that native code calls.
pub(super) struct HelperSignatures {
    /// `(machine, address, moment) -> value`.
    pub(super) read: ir::SigRef,
    /// `(machine, address, value, moment) -> whether to leave`.
    pub(super) write: ir::SigRef,
}

struct Emitter<'a, 'f> {
    b: FunctionBuilder<'f>,
    image: &'a [u8],
    waits: &'a WaitTable,
    /// The blocks of the plan, and where each is emitted.
    blocks: HashMap<Place, (ir::Block, &'a Block)>,
    /// Inside of a routine that is emitted where it is called: where it returns to.
    returns_to: Option<Place>,
    signatures: HelperSignatures,
    cache: Cache,
    machine: Value,
    /// T-cycles at the start of the block.
    cycles: Value,
    /// Returns to the run loop; parameters are PC and the reason.
    exit: ir::Block,
    /// Finds the block for an address; its parameter.
    dispatch: ir::Block,
    /// Where the block being emitted is.
    place: Place,
    /// T-cycles from the start of the block to the instruction, and to the one before it.
    offset: i64,
    previous_offset: Option<i64>,
}

const TRUSTED: MemFlagsData = MemFlagsData::trusted();

/// Fills `function` with the translation of all blocks of the plan.
pub(super) fn emit<'f>(
    mut builder: FunctionBuilder<'f>,
    signatures: HelperSignatures,
    plan: &Plan,
    image: &[u8],
    waits: &WaitTable,
) -> FunctionBuilder<'f> {
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let machine = builder.block_params(entry)[0];
    let blocks = plan
        .blocks
        .iter()
        .map(|block| (block.place, (builder.create_block(), block)))
        .collect();
    let exit = builder.create_block();
    builder.set_cold_block(exit);
    let dispatch = builder.create_block();
    let mut emitter = Emitter {
        b: builder,
        image,
        waits,
        blocks,
        returns_to: None,
        signatures,
        cache: Cache::default(),
        machine,
        cycles: machine,
        exit,
        dispatch,
        place: Place::new(0, 0),
        offset: 0,
        previous_offset: None,
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

impl Emitter<'_, '_> {
    // Small words for what is said often.

    /// Where the block of a place is emitted, if there is one.
    fn label(&self, place: Place) -> Option<ir::Block> {
        self.blocks.get(&place).map(|&(label, _)| label)
    }

    /// Goes on in a block to which all jumps have been emitted.
    fn begin(&mut self, block: ir::Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }

    fn get(&mut self, register: Register) -> Value {
        if let Some(value) = self.cache[register as usize].value {
            return value;
        }
        let value = match register {
            Register::A => self.load8(layout::A),
            Register::Bc => self.load16(layout::BC),
            Register::De => self.load16(layout::DE),
            Register::Hl => self.load16(layout::HL),
            Register::Sp => self.load16(layout::SP),
            Register::Zero => self.load(I32, layout::ZERO),
            Register::Subtract => self.load(I32, layout::SUBTRACT),
            Register::Half => self.load(I32, layout::HALF),
            Register::Carry => self.load(I32, layout::CARRY),
        };
        self.cache[register as usize].value = Some(value);
        value
    }

    fn set(&mut self, register: Register, value: Value) {
        self.cache[register as usize] = Cached {
            value: Some(value),
            dirty: true,
        };
    }

    /// Gives the machine what it does not have yet of the registers.
    fn flush(&mut self) {
        for register in Register::ALL {
            let Cached { value, dirty } = self.cache[register as usize];
            let (Some(value), true) = (value, dirty) else {
                continue;
            };
            match register {
                Register::A => self.store8(value, layout::A),
                Register::Bc => self.store16(value, layout::BC),
                Register::De => self.store16(value, layout::DE),
                Register::Hl => self.store16(value, layout::HL),
                Register::Sp => self.store16(value, layout::SP),
                Register::Zero => self.store(value, layout::ZERO),
                Register::Subtract => self.store(value, layout::SUBTRACT),
                Register::Half => self.store(value, layout::HALF),
                Register::Carry => self.store(value, layout::CARRY),
            }
            self.cache[register as usize].dirty = false;
        }
    }

    fn constant(&mut self, value: i64) -> Value {
        self.b.ins().iconst(I32, value)
    }

    fn and(&mut self, value: Value, mask: i64) -> Value {
        self.b.ins().band_imm_u(value, mask)
    }

    fn add(&mut self, value: Value, addend: i64) -> Value {
        self.b.ins().iadd_imm_s(value, addend)
    }

    fn shift_right(&mut self, value: Value, by: i64) -> Value {
        self.b.ins().ushr_imm_u(value, by)
    }

    fn shift_left(&mut self, value: Value, by: i64) -> Value {
        self.b.ins().ishl_imm_u(value, by)
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
        let machine = self.machine;
        self.b.ins().istore8(TRUSTED, value, machine, offset as i32);
    }

    fn store16(&mut self, value: Value, offset: usize) {
        let machine = self.machine;
        self.b
            .ins()
            .istore16(TRUSTED, value, machine, offset as i32);
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
        let pc = self.b.append_block_param(exit, I32);
        let reason = self.b.append_block_param(exit, I64);
        self.begin_afresh(exit);
        self.store16(pc, layout::PC);
        let callers = self.load(I64, layout::SAVED_REGISTER);
        self.b.ins().set_pinned_reg(callers);
        self.b.ins().return_(&[reason]);
    }

    /// Returns to the run loop; the registers have been flushed and the time set.
    fn leave(&mut self, pc: Value, exit: Exit) {
        let reason = self.b.ins().iconst(I64, exit.encode());
        self.b.ins().jump(self.exit, &[pc.into(), reason.into()]);
    }

    fn emit_block(&mut self, block: &Block) {
        let Some(label) = self.label(block.place) else {
            return;
        };
        self.begin_afresh(label);
        self.cycles = self.load(I64, layout::CYCLES);
        self.emit_body(block);
    }

    /// The block's code, at the present position; `cycles` is the time there.
    fn emit_body(&mut self, block: &Block) {
        self.place = block.place;
        self.offset = 0;
        self.previous_offset = None;
        self.emit_time_check(block);
        for &instruction in &block.instructions {
            let cycles = if instruction.is_conditional_jump() {
                self.emit_conditional(instruction)
            } else if instruction.ends_block() {
                self.emit_jump(instruction);
                return;
            } else {
                self.emit_straight(instruction)
            };
            self.previous_offset = Some(self.offset);
            self.offset += cycles;
        }
        if let Some(last) = block.instructions.last() {
            self.finish_time();
            self.flush();
            self.go_to(last.next_pc());
        }
    }

    /// Every instruction of the block must begin before the slice ends.
    fn emit_time_check(&mut self, block: &Block) {
        let last_offset: i64 = block.instructions.split_last().map_or(0, |(_, before)| {
            before
                .iter()
                .map(|i| control::straight_cycles(i.op, i.operand))
                .sum()
        });
        let cycles = self.cycles;
        let last_start = self.add(cycles, last_offset);
        let slice_end = self.load(I64, layout::SLICE_END);
        let fits = self
            .b
            .ins()
            .icmp(IntCC::UnsignedLessThan, last_start, slice_end);
        let body = self.b.create_block();
        let over = self.b.create_block();
        self.b.set_cold_block(over);
        self.b.ins().brif(fits, body, &[], over, &[]);
        self.begin(over);
        let pc = self.constant(block.place.pc().into());
        self.leave(pc, Exit::NoTime);
        self.begin(body);
    }

    /// Cycle at which the present instruction begins.
    fn now(&mut self) -> Value {
        let cycles = self.cycles;
        self.add(cycles, self.offset)
    }

    /// The block ends after the instruction before `offset`.
    fn finish_time(&mut self) {
        let cycles = self.cycles;
        if let Some(offset) = self.previous_offset {
            let previous = self.add(cycles, offset);
            self.store(previous, layout::PREVIOUS_START);
        }
        let now = self.add(cycles, self.offset);
        self.store(now, layout::CYCLES);
    }

    // Guest registers by their numbers in opcodes.

    fn r8(&mut self, r: u8) -> Value {
        if r == 7 {
            return self.get(Register::A);
        }
        let pair = self.get(Register::pair(r >> 1));
        if r & 1 == 0 {
            self.shift_right(pair, 8)
        } else {
            self.and(pair, 0xFF)
        }
    }

    fn set_r8(&mut self, r: u8, value: Value) {
        if r == 7 {
            self.set(Register::A, value);
            return;
        }
        let variable = Register::pair(r >> 1);
        let pair = self.get(variable);
        let whole = if r & 1 == 0 {
            let low = self.and(pair, 0xFF);
            let high = self.shift_left(value, 8);
            self.b.ins().bor(high, low)
        } else {
            let high = self.and(pair, 0xFF00);
            self.b.ins().bor(high, value)
        };
        self.set(variable, whole);
    }

    /// Emits an instruction after which the next one follows; returns its T-cycles.
    fn emit_straight(&mut self, instruction: Instruction) -> i64 {
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
        control::straight_cycles(op, instruction.operand)
    }

    fn emit_block0(&mut self, instruction: Instruction) {
        let op = instruction.op;
        let (y, z) = (op >> 3 & 7, op & 7);
        let pair = y >> 1;
        let imm8 = i64::from(instruction.operand & 0xFF);
        let imm16 = i64::from(instruction.operand);
        let next = instruction.next_pc();
        match (z, y & 1) {
            // NOP and STOP; the jumps end blocks.
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
                let stepped = self.add(value, if down == 0 { 1 } else { -1 });
                let wrapped = self.and(stepped, 0xFFFF);
                self.set(variable, wrapped);
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
        let stepped = self.add(addr, step);
        let wrapped = self.and(stepped, 0xFFFF);
        self.set(Register::Hl, wrapped);
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
                self.set(Register::Hl, value);
            }
            0xF9 => {
                let hl = self.get(Register::Hl);
                self.set(Register::Sp, hl);
            }
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
        Address::In(self.b.ins().bor_imm_u(c, 0xFF00))
    }
}
