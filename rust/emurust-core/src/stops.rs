//! Stops: addresses at which a frame is interrupted before the instruction there
//! runs, so that a caller can look and change things. PyBoy's hooks.
//!
//! PyBoy puts an illegal opcode in the place of the hooked one, and both the
//! program and the user can read it there. The same is done here, so that code
//! without stops is run as fast as ever. At a stop the real opcode is put back,
//! the instruction is run alone, and the stop is put there again.
//!
//! While there are stops, code is interpreted and waiting loops are not skipped.

use std::collections::HashMap;
use std::sync::Arc;

use thiserror::Error;

use crate::machine::Machine;
use crate::rom::{Code, Rom, RAM_BANK_SIZE, ROM_BANK_SIZE};

/// The opcode that marks a stop; illegal on the console.
pub const STOP_OPCODE: u8 = 0xDB;

const BOOT_ROM_BANK: i32 = -1;
const BOOT_ROM_LEN: u16 = 0x100;

/// A place in memory: a bank (-1 for the boot ROM) and an address.
pub type StopPlace = (i32, u16);

/// Why there can be no stop.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StopError {
    /// There is no memory there, or none that code is run from.
    #[error(
        "there can be no stop at bank {bank}, address 0x{addr:04X}: code is run from ROM \
         (0x0000 to 0x7FFF), cartridge RAM (0xA000) and work RAM (0xC000 to 0xDFFF), and from \
         the boot ROM (bank -1) of a machine that has one"
    )]
    NoSuchPlace {
        /// The bank.
        bank: i32,
        /// The address.
        addr: u16,
    },
    /// A stop is there already.
    #[error("there is a stop at bank {bank}, address 0x{addr:04X} already")]
    Occupied {
        /// The bank.
        bank: i32,
        /// The address.
        addr: u16,
    },
    /// No stop is there.
    #[error("there is no stop at bank {bank}, address 0x{addr:04X}")]
    NotThere {
        /// The bank.
        bank: i32,
        /// The address.
        addr: u16,
    },
}

/// The stops of a machine, and how far the frame is between them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stops {
    /// The opcodes that the stops replace.
    opcodes: HashMap<StopPlace, u8>,
    /// The stop whose real opcode is in its place until the instruction has run.
    lifted: Option<StopPlace>,
    /// The next slice is of one instruction.
    stepping: bool,
}

/// What a stop's place is made of.
enum Cell<'a> {
    Rom(usize),
    Memory(&'a mut u8),
}

fn cell(machine: &mut Machine, rom_len: usize, (bank, addr): StopPlace) -> Option<Cell<'_>> {
    if bank == BOOT_ROM_BANK && addr < BOOT_ROM_LEN {
        let boot_rom = machine.boot_rom.as_mut()?;
        return Some(Cell::Memory(&mut boot_rom[usize::from(addr)]));
    }
    let bank = usize::try_from(bank).ok()?;
    let memory: (&mut [u8], usize) = match addr {
        0x0000..=0x7FFF => {
            let offset = bank * ROM_BANK_SIZE + usize::from(addr) % ROM_BANK_SIZE;
            return (offset < rom_len).then_some(Cell::Rom(offset));
        }
        0xA000..=0xBFFF => (
            &mut machine.cartridge.ram,
            bank * RAM_BANK_SIZE + usize::from(addr - 0xA000),
        ),
        // The bank is not looked at, as in PyBoy.
        0xC000..=0xDFFF => (&mut machine.wram, usize::from(addr - 0xC000)),
        _ => return None,
    };
    let (memory, offset) = memory;
    memory.get_mut(offset).map(Cell::Memory)
}

impl Stops {
    pub(crate) fn is_empty(&self) -> bool {
        self.opcodes.is_empty() && self.lifted.is_none()
    }

    fn contains(&self, place: StopPlace) -> bool {
        self.opcodes.contains_key(&place)
    }

    /// Puts the stop's opcode in its place.
    pub(crate) fn set(
        &mut self,
        machine: &mut Machine,
        rom: &mut Arc<Rom>,
        place: StopPlace,
    ) -> Result<(), StopError> {
        let (bank, addr) = place;
        if self.contains(place) || self.lifted == Some(place) {
            return Err(StopError::Occupied { bank, addr });
        }
        let opcode = exchange(machine, rom, place, STOP_OPCODE)
            .ok_or(StopError::NoSuchPlace { bank, addr })?;
        self.opcodes.insert(place, opcode);
        machine.stops_armed = true;
        Ok(())
    }

    /// Takes the stop away and puts the real opcode back. Not the stop at which
    /// the machine stands: its opcode is back already, and it will be set again.
    pub(crate) fn clear(
        &mut self,
        machine: &mut Machine,
        rom: &mut Arc<Rom>,
        place: StopPlace,
    ) -> Result<(), StopError> {
        let (bank, addr) = place;
        let opcode = self
            .opcodes
            .remove(&place)
            .ok_or(StopError::NotThere { bank, addr })?;
        exchange(machine, rom, place, opcode);
        machine.stops_armed = !self.is_empty();
        Ok(())
    }

    /// Goes on with the frame that was begun: to its end, or to a stop, whose
    /// place is returned. The instruction there has not been run.
    pub(crate) fn run(&mut self, machine: &mut Machine, rom: &mut Arc<Rom>) -> Option<StopPlace> {
        loop {
            let stepping = std::mem::take(&mut self.stepping);
            let stopped = machine.run_to_stop(rom.code(None), stepping);
            let finished = machine.ppu.frame_done;
            if let Some(place) = self.lifted.take() {
                // Nobody can have taken the place meanwhile.
                let _ = self.set(machine, rom, place);
            }
            let place = machine.stop_place();
            if (stopped || stepping) && self.contains(place) {
                let _ = self.clear(machine, rom, place);
                self.lifted = Some(place);
                machine.stops_armed = true;
                if finished {
                    // The frame is over. PyBoy would call for ever.
                    return None;
                }
                self.stepping = true;
                return Some(place);
            }
            if stopped {
                // The opcode is the program's own: illegal.
                machine.lock_up();
            }
            if finished {
                return None;
            }
        }
    }
}

/// Writes a byte of code and returns what was there; none if nothing is there.
fn exchange(machine: &mut Machine, rom: &mut Arc<Rom>, place: StopPlace, value: u8) -> Option<u8> {
    match cell(machine, rom.image().len(), place)? {
        Cell::Rom(offset) => {
            let old = rom.image()[offset];
            Arc::make_mut(rom).set_opcode(offset, value);
            Some(old)
        }
        Cell::Memory(byte) => Some(std::mem::replace(byte, value)),
    }
}

impl Machine {
    /// Runs slices to the end of the frame, or until a stop's opcode was fetched
    /// (true). A step is a slice of one instruction, or of an interrupt's dispatch.
    fn run_to_stop(&mut self, rom: Code<'_>, step: bool) -> bool {
        self.stopped = false;
        if step {
            self.run_step(rom);
        } else {
            while !self.ppu.frame_done && !self.stopped {
                self.run_slice(rom, &mut ());
            }
        }
        self.end_run();
        self.stopped
    }

    /// Where the CPU stands, as PyBoy names it.
    fn stop_place(&self) -> StopPlace {
        let pc = self.cpu.pc;
        let bank = match pc {
            0x0000..=0x00FF if self.boot_rom_mapped => BOOT_ROM_BANK,
            0x0000..=0x3FFF => 0,
            0x4000..=0x7FFF => self.cartridge.rom_bank.into(),
            0xA000..=0xBFFF => self.cartridge.ram_bank.into(),
            _ => 0,
        };
        (bank, pc)
    }

    /// The opcode of stops was fetched; PC is on it. It takes no time.
    #[cold]
    pub(crate) fn stop_here(&mut self) {
        // What is due was performed at the boundary before, not at this one.
        self.replay_lcd();
        self.stopped = true;
        self.end_slice();
    }
}
