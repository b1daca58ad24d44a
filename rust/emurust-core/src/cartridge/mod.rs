//! The cartridge's own hardware: bank registers, external RAM, clock
//! (Pan Docs: MBCs), with PyBoy's behaviour at the edges.

mod pyboy_fields;
mod rtc;

use crate::rom::{Header, Mapper, RAM_BANK_SIZE, ROM_BANK_SIZE};
use crate::savestate::{state_fields, StateError};
use rtc::Rtc;

/// Bits of MBC2's built-in RAM that do not exist and read as one.
const MBC2_OPEN_BITS: u8 = 0xF0;
const MBC2_RAM_LEN: usize = 512;

#[derive(Debug, Clone)]
pub(crate) struct Cartridge {
    pub(crate) ram: Box<[u8]>,
    mapper: Mapper,
    rom_banks: u16,
    ram_banks: u8,
    has_rtc: bool,

    pub(crate) rom_bank: u16,
    pub(crate) rom_bank_low: u16,
    /// RAM bank, or an RTC register from 08 to 0C.
    pub(crate) ram_bank: u8,
    pub(crate) ram_enabled: bool,
    /// MBC1: bits 0-4 of the bank. Other mappers leave it.
    pub(crate) bank1: u8,
    /// MBC1: the two upper bits.
    pub(crate) bank2: u8,
    /// MBC1: the banking mode.
    pub(crate) mode: bool,
    pub(crate) rumble: bool,
    rtc: Rtc,
}

state_fields!(Cartridge {
    ram,
    rom_bank,
    rom_bank_low,
    ram_bank,
    ram_enabled,
    bank1,
    bank2,
    mode,
    rumble,
    rtc
});

impl Cartridge {
    pub(crate) fn new(header: &Header) -> Self {
        let rom_banks = header.rom_banks as u16;
        Self {
            ram: vec![0; header.ram_banks * RAM_BANK_SIZE].into_boxed_slice(),
            mapper: header.mapper,
            rom_banks,
            ram_banks: header.ram_banks as u8,
            has_rtc: header.has_rtc,
            rom_bank: 1 % rom_banks,
            rom_bank_low: 0,
            ram_bank: 0,
            // PyBoy enables the RAM of the plain types for good and of no other.
            ram_enabled: header.mapper == Mapper::RomOnly && header.has_ram,
            bank1: 1,
            bank2: 0,
            mode: false,
            rumble: false,
            rtc: Rtc::default(),
        }
    }

    /// Offset in the image of what the CPU sees at 0000.
    pub(crate) fn low_offset(&self) -> usize {
        usize::from(self.rom_bank_low) * ROM_BANK_SIZE
    }

    /// Offset in the image of what the CPU sees at 4000.
    pub(crate) fn high_offset(&self) -> usize {
        usize::from(self.rom_bank) * ROM_BANK_SIZE
    }

    /// Stops the clock for good, or lets it run again; false without one.
    pub(crate) fn lock_clock(&mut self, locked: bool) -> bool {
        if self.has_rtc {
            self.rtc.locked = locked;
        }
        self.has_rtc
    }

    fn rtc_selected(&self) -> bool {
        self.has_rtc && matches!(self.ram_bank, 0x08..=0x0C)
    }

    /// Write to 0000-7FFF.
    pub(crate) fn write_register(&mut self, addr: u16, value: u8, now: u64) {
        if self.has_rtc && addr >= 0x6000 {
            self.rtc.sync(now);
        }
        match self.mapper {
            Mapper::RomOnly => {
                if (0x2000..0x4000).contains(&addr) {
                    self.rom_bank = u16::from(value.max(1) & 1) % self.rom_banks;
                }
            }
            Mapper::Mbc1 { multicart } => self.write_mbc1(addr, value, multicart),
            Mapper::Mbc2 => {
                let value = value & 0x0F;
                if addr < 0x4000 {
                    if addr & 0x100 == 0 {
                        self.ram_enabled = value == 0x0A;
                    } else {
                        self.rom_bank = u16::from(value.max(1)) % self.rom_banks;
                    }
                }
            }
            Mapper::Mbc3 | Mapper::Mbc30 => self.write_mbc3(addr, value),
            Mapper::Mbc5 => self.write_mbc5(addr, value),
        }
    }

    fn write_mbc1(&mut self, addr: u16, value: u8, multicart: bool) {
        match addr >> 13 {
            0 => self.ram_enabled = value & 0x0F == 0x0A,
            1 => self.bank1 = (value & 0x1F).max(1),
            2 => self.bank2 = value & 0b11,
            _ => self.mode = value & 1 != 0,
        }
        let (shift, low_bits) = if multicart {
            // The zero test of the full chip still sees the fifth bit, which the wiring drops.
            (4, self.bank1 & 0x0F)
        } else {
            (5, self.bank1)
        };
        let upper = u16::from(self.bank2) << shift;
        self.rom_bank = (upper | u16::from(low_bits)) % self.rom_banks;
        self.rom_bank_low = if self.mode { upper % self.rom_banks } else { 0 };
    }

    fn write_mbc3(&mut self, addr: u16, value: u8) {
        match addr >> 13 {
            0 => self.ram_enabled = value & 0x0F == 0x0A,
            1 => {
                let bits = if self.mapper == Mapper::Mbc30 {
                    value
                } else {
                    value & 0x7F
                };
                self.rom_bank = u16::from(bits.max(1)) % self.rom_banks;
            }
            2 => {
                self.ram_bank = match value {
                    0x08..=0x0C => value,
                    _ => value % self.ram_banks,
                }
            }
            _ => {
                if self.has_rtc {
                    self.rtc.write_latch(value);
                }
            }
        }
    }

    fn write_mbc5(&mut self, addr: u16, value: u8) {
        match addr >> 12 {
            0 | 1 => self.ram_enabled = value == 0x0A,
            2 => {
                self.rom_bank = (self.rom_bank & 0x100 | u16::from(value)) % self.rom_banks;
            }
            3 => {
                let upper = u16::from(value & 1) << 8;
                self.rom_bank = (upper | self.rom_bank & 0xFF) % self.rom_banks;
            }
            4 | 5 => {
                self.ram_bank = (value & 0x0F) % self.ram_banks;
                self.rumble = value & 0x08 != 0;
            }
            _ => {}
        }
    }

    /// MBC1 decides at each access which bank the RAM window shows.
    fn shown_ram_bank(&self) -> u8 {
        match self.mapper {
            Mapper::Mbc1 { .. } if self.mode => self.bank2 % self.ram_banks,
            Mapper::Mbc1 { .. } => 0,
            _ => self.ram_bank,
        }
    }

    /// Read from A000-BFFF.
    pub(crate) fn read_ram(&mut self, addr: u16, now: u64) -> u8 {
        if self.rtc_selected() {
            self.rtc.sync(now);
        }
        if self.ram_enabled {
            self.ram_bank = self.shown_ram_bank();
        }
        self.peek_ram(addr)
    }

    /// Read from A000-BFFF without side effects.
    pub(crate) fn peek_ram(&self, addr: u16) -> u8 {
        if !self.ram_enabled {
            return 0xFF;
        }
        if self.rtc_selected() {
            return self.rtc.read(self.ram_bank);
        }
        if self.mapper == Mapper::Mbc2 {
            return self.ram[usize::from(addr) % MBC2_RAM_LEN] | MBC2_OPEN_BITS;
        }
        // MBC3 without a clock still selects "banks" 08 to 0C: nothing is there.
        self.ram.get(self.ram_index(addr)).copied().unwrap_or(0)
    }

    /// Write to A000-BFFF.
    pub(crate) fn write_ram(&mut self, addr: u16, value: u8, now: u64) {
        if self.rtc_selected() {
            self.rtc.sync(now);
        }
        if !self.ram_enabled && self.mapper != Mapper::RomOnly {
            return;
        }
        match self.mapper {
            Mapper::Mbc2 => {
                self.ram[usize::from(addr) % MBC2_RAM_LEN] = value | MBC2_OPEN_BITS;
                return;
            }
            Mapper::Mbc3 | Mapper::Mbc30 if self.rtc_selected() => {
                self.rtc.write(self.ram_bank, value);
                return;
            }
            _ => {}
        }
        self.ram_bank = self.shown_ram_bank();
        let index = self.ram_index(addr);
        if let Some(cell) = self.ram.get_mut(index) {
            *cell = value;
        }
    }

    fn ram_index(&self, addr: u16) -> usize {
        usize::from(self.shown_ram_bank()) * RAM_BANK_SIZE + usize::from(addr & 0x1FFF)
    }

    /// Becomes a copy of `other`, which has the same header; its RAM stays where it is.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let mut ram = std::mem::take(&mut self.ram);
        ram.copy_from_slice(&other.ram);
        *self = Self {
            ram,
            mapper: other.mapper,
            rtc: other.rtc.clone(),
            ..*other
        };
    }

    /// Checks what a saved state brought.
    pub(crate) fn validate(&mut self) -> Result<(), StateError> {
        let bad = |field, value: u64| Err(StateError::BadField { field, value });
        if self.rom_bank >= self.rom_banks {
            return bad("rom_bank", self.rom_bank.into());
        }
        if self.rom_bank_low >= self.rom_banks {
            return bad("rom_bank_low", self.rom_bank_low.into());
        }
        if self.ram_bank > 0x0F {
            return bad("ram_bank", self.ram_bank.into());
        }
        self.rtc.mask_loaded();
        Ok(())
    }
}
