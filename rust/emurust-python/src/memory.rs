//! `Memory`: `memory[addr]`, `memory[a:b]`, `memory[bank, addr]` and
//! `memory[bank, a:b]`, read and written, with PyBoy's meaning.

use std::ops::Range;

use emurust_core::{GameBoy, RAM_BANK_SIZE, ROM_BANK_SIZE};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PySlice, PyTuple};

use crate::errors::python::{AddressError, ArgumentError, ArgumentTypeError, BankError};
use crate::gameboy::{Machine, Running};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Memory>()
}

const WRAM_BANK_SIZE: usize = 0x1000;
const VRAM_SIZE: usize = 0x2000;
const BOOT_ROM_SIZE: usize = 0x100;
/// PyBoy's bank number for the boot ROM.
const BOOT_ROM_BANK: i64 = -1;

/// The 64 KiB that the CPU sees, and the banks behind them.
///
/// memory[addr] -> int and memory[a:b] -> list[int] read as the CPU would, with
/// the side effects of such a read. memory[bank, addr] and memory[bank, a:b] read
/// one bank of ROM (0x0000-0x7FFF, also 0x0000-0x3FFF of any bank), video RAM
/// (bank 0), cartridge RAM or work RAM (0xC000-0xDFFF: bank 0 or 1, and as in PyBoy
/// 0xD000 + n in bank 0 is 0xC000 + n) directly; bank -1 is the boot ROM.
///
/// Assignment writes; a list or one value for all may be assigned to a slice. Without a
/// bank, writing to ROM addresses talks to the mapper; with one it changes the ROM of
/// this machine only (states do not hold the change). Slices may have a step.
///
/// Raises AddressError, BankError, ArgumentError (values, lengths) or
/// ArgumentTypeError.
#[pyclass(frozen, mapping, module = "emurust._emurust")]
pub(crate) struct Memory {
    machine: Py<Machine>,
}

/// What a subscript names.
struct Subscript {
    bank: Option<i64>,
    /// From 0x0000 to 0xFFFF; the end is at most 0x10000.
    addresses: Range<usize>,
    step: usize,
    single: bool,
}

/// A range inside one bank of one memory.
#[derive(Debug)]
enum Banked {
    BootRom(Range<usize>),
    /// Offsets into the whole image.
    Rom(Range<usize>),
    Vram(Range<usize>),
    CartRam(Range<usize>),
    Wram(Range<usize>),
}

fn integer(value: &Bound<'_, PyAny>, what: &str) -> PyResult<i64> {
    // Anything with __index__, numpy's integers among them.
    if let Ok(integer) = value.extract::<i64>() {
        return Ok(integer);
    }
    if value.is_instance_of::<PyInt>() {
        let message = format!("{what} {value} is out of range");
        return Err(AddressError::new_err(message));
    }
    let kind = value.get_type().name()?;
    Err(ArgumentTypeError::new_err(format!(
        "{what} must be an integer, not {kind}"
    )))
}

fn address(value: i64, last: usize, what: &str) -> PyResult<usize> {
    usize::try_from(value)
        .ok()
        .filter(|&address| address <= last)
        .ok_or_else(|| {
            let sign = if value < 0 { "-" } else { "" };
            let found = value.unsigned_abs();
            AddressError::new_err(format!(
                "{what} {sign}0x{found:04X} is outside 0x0000 to 0x{last:04X}"
            ))
        })
}

impl Subscript {
    fn parse(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (bank, place) = match key.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => (
                Some(integer(&pair.get_item(0)?, "bank")?),
                pair.get_item(1)?,
            ),
            Ok(tuple) => {
                return Err(ArgumentTypeError::new_err(format!(
                    "memory[...] takes an address, or a bank and an address, not {} values",
                    tuple.len()
                )))
            }
            Err(_) => (None, key.clone()),
        };
        let Ok(slice) = place.cast::<PySlice>() else {
            let start = address(integer(&place, "address")?, 0xFFFF, "address")?;
            return Ok(Self {
                bank,
                addresses: start..start + 1,
                step: 1,
                single: true,
            });
        };
        let bound = |name: &str, last: usize| -> PyResult<usize> {
            let value = slice.getattr(name)?;
            if value.is_none() {
                return Err(AddressError::new_err(
                    "a slice of memory needs both its start and its stop address",
                ));
            }
            address(integer(&value, "slice address")?, last, "slice address")
        };
        let addresses = bound("start", 0xFFFF)?..bound("stop", 0x1_0000)?;
        if addresses.is_empty() {
            return Err(AddressError::new_err(format!(
                "the slice's start 0x{:04X} must be below its stop 0x{:04X}",
                addresses.start, addresses.end
            )));
        }
        let step = slice.getattr("step")?;
        let step = if step.is_none() {
            1
        } else {
            let step = integer(&step, "slice step")?;
            usize::try_from(step)
                .ok()
                .filter(|&step| step > 0)
                .ok_or_else(|| {
                    ArgumentError::new_err(format!(
                        "the slice's step must be at least 1, not {step}"
                    ))
                })?
        };
        Ok(Self {
            bank,
            addresses,
            step,
            single: false,
        })
    }

    fn len(&self) -> usize {
        self.addresses.len().div_ceil(self.step)
    }

    /// The range in the bank that the subscript names.
    fn banked(&self, bank: i64, gameboy: &GameBoy, has_boot_rom: bool) -> PyResult<Banked> {
        let Range { start, end } = self.addresses;
        // The range as offsets into the area's window, which must hold it.
        let window = |base: usize, size: usize, name: &str| -> PyResult<Range<usize>> {
            if end <= base + size {
                Ok(start - base..end - base)
            } else {
                Err(AddressError::new_err(format!(
                    "the slice 0x{start:04X}:0x{end:04X} leaves {name} (0x{base:04X} to 0x{:04X}); \
                     a slice of a bank must stay inside it",
                    base + size - 1
                )))
            }
        };
        let numbered = |count: usize, size: usize, name: &str| -> PyResult<usize> {
            usize::try_from(bank)
                .ok()
                .filter(|&bank| bank < count)
                .map(|bank| bank * size)
                .ok_or_else(|| {
                    let last = count - 1;
                    BankError::new_err(format!("{name} has banks 0 to {last}, not {bank}"))
                })
        };
        let shift = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        match start {
            0x0000..=0x7FFF if bank == BOOT_ROM_BANK => {
                if !has_boot_rom {
                    return Err(BankError::new_err(
                        "bank -1 is the boot ROM, and this machine was made without one",
                    ));
                }
                Ok(Banked::BootRom(window(0, BOOT_ROM_SIZE, "the boot ROM")?))
            }
            0x0000..=0x7FFF => {
                let base = start / ROM_BANK_SIZE * ROM_BANK_SIZE;
                let range = window(base, ROM_BANK_SIZE, "the ROM bank")?;
                let banks = gameboy.rom().header().rom_banks;
                let by = numbered(banks, ROM_BANK_SIZE, "this cartridge's ROM")?;
                Ok(Banked::Rom(shift(range, by)))
            }
            0x8000..=0x9FFF => {
                let range = window(0x8000, VRAM_SIZE, "video RAM")?;
                let by = numbered(1, VRAM_SIZE, "video RAM of an original Game Boy")?;
                Ok(Banked::Vram(shift(range, by)))
            }
            0xA000..=0xBFFF => {
                let range = window(0xA000, RAM_BANK_SIZE, "the cartridge RAM bank")?;
                let banks = gameboy.cart_ram().len() / RAM_BANK_SIZE;
                let by = numbered(banks, RAM_BANK_SIZE, "this cartridge's RAM")?;
                Ok(Banked::CartRam(shift(range, by)))
            }
            0xC000..=0xDFFF => {
                let base = start / WRAM_BANK_SIZE * WRAM_BANK_SIZE;
                let range = window(base, WRAM_BANK_SIZE, "the work RAM bank")?;
                let by = numbered(2, WRAM_BANK_SIZE, "work RAM of an original Game Boy")?;
                Ok(Banked::Wram(shift(range, by)))
            }
            _ => Err(BankError::new_err(format!(
                "address 0x{start:04X} has no banks; leave the bank out"
            ))),
        }
    }
}

impl Banked {
    fn read<'a>(&self, running: &'a Running) -> &'a [u8] {
        let gameboy = &running.gameboy;
        match self {
            Self::BootRom(range) => &running.boot_rom()[range.clone()],
            Self::Rom(range) => &gameboy.rom().image()[range.clone()],
            Self::Vram(range) => &gameboy.vram()[range.clone()],
            Self::CartRam(range) => &gameboy.cart_ram()[range.clone()],
            Self::Wram(range) => &gameboy.wram()[range.clone()],
        }
    }

    /// Writes one of `values` to every `step`th byte of the range.
    fn write(&self, gameboy: &mut GameBoy, step: usize, values: &[u8]) -> PyResult<()> {
        let cells =
            match self {
                Self::BootRom(_) => return Err(ArgumentError::new_err(
                    "the boot ROM of a machine is fixed; make a new GameBoy with another bootrom",
                )),
                Self::Rom(range) if step == 1 => {
                    gameboy.patch_rom(range.start, values);
                    return Ok(());
                }
                Self::Rom(range) => {
                    for (offset, &value) in range.clone().step_by(step).zip(values) {
                        gameboy.patch_rom(offset, &[value]);
                    }
                    return Ok(());
                }
                Self::Vram(range) => &mut gameboy.vram_mut()[range.clone()],
                Self::CartRam(range) => &mut gameboy.cart_ram_mut()[range.clone()],
                Self::Wram(range) => &mut gameboy.wram_mut()[range.clone()],
            };
        for (cell, &value) in cells.iter_mut().step_by(step).zip(values) {
            *cell = value;
        }
        Ok(())
    }
}

fn byte(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    if let Ok(byte) = value.extract::<u8>() {
        return Ok(byte);
    }
    if value.hasattr("__index__")? {
        let message = format!("a byte is 0 to 255, not {value}");
        return Err(ArgumentError::new_err(message));
    }
    let kind = value.get_type().name()?;
    Err(ArgumentTypeError::new_err(format!(
        "a byte must be an integer, not {kind}"
    )))
}

/// The bytes to write: one for each address, or one for all.
fn values(value: &Bound<'_, PyAny>, subscript: &Subscript) -> PyResult<Vec<u8>> {
    let len = subscript.len();
    if subscript.single {
        return Ok(vec![byte(value)?]);
    }
    // Iterable first: numpy arrays have an __index__ that only some of them mean.
    let Ok(items) = value.try_iter() else {
        return Ok(vec![byte(value)?; len]);
    };
    let bytes = items
        .map(|item| byte(&item?))
        .collect::<PyResult<Vec<u8>>>()?;
    if bytes.len() == len {
        Ok(bytes)
    } else {
        Err(ArgumentError::new_err(format!(
            "the slice has {len} addresses, but {} values were given",
            bytes.len()
        )))
    }
}

#[pymethods]
impl Memory {
    #[new]
    fn new(machine: Py<Machine>) -> Self {
        Self { machine }
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // The common case, before all others: RAM is read byte by byte in a hot loop.
        if let Ok(address) = key.extract::<u16>() {
            let read = |running: &mut Running| Ok(running.gameboy.read(address));
            let value = self.machine.get().brief(py, read)?;
            return Ok(value.into_pyobject(py)?.into_any());
        }
        let subscript = Subscript::parse(key)?;
        let read = |running: &mut Running| -> PyResult<Vec<u8>> {
            let addresses = subscript.addresses.clone();
            let Some(bank) = subscript.bank else {
                return Ok(addresses
                    .step_by(subscript.step)
                    .map(|address| running.gameboy.read(bus_address(address)))
                    .collect());
            };
            let banked = subscript.banked(bank, &running.gameboy, running.has_boot_rom())?;
            let bytes = banked.read(running).iter().step_by(subscript.step);
            Ok(bytes.copied().collect())
        };
        let bytes = self.machine.get().brief(py, read)?;
        if subscript.single {
            Ok(bytes[0].into_pyobject(py)?.into_any())
        } else {
            // A list of integers, as PyBoy's (a Vec<u8> alone would become bytes).
            Ok(PyList::new(py, bytes.into_iter().map(u16::from))?.into_any())
        }
    }

    fn __setitem__(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let subscript = Subscript::parse(key)?;
        let values = values(value, &subscript)?;
        self.machine.get().brief(py, |running| {
            let addresses = subscript.addresses.clone();
            let Some(bank) = subscript.bank else {
                for (address, &value) in addresses.step_by(subscript.step).zip(&values) {
                    running.gameboy.write(bus_address(address), value);
                }
                // A write to a register may draw the lines passed so far.
                running.refresh_views();
                return Ok(());
            };
            let banked = subscript.banked(bank, &running.gameboy, running.has_boot_rom())?;
            banked.write(&mut running.gameboy, subscript.step, &values)?;
            running.refresh_memory_views();
            Ok(())
        })
    }

    fn __repr__(&self) -> &'static str {
        "<emurust memory: [addr], [start:stop], [bank, addr] or [bank, start:stop]>"
    }
}

/// `address` is below 0x10000 by construction.
fn bus_address(address: usize) -> u16 {
    u16::try_from(address).unwrap_or(u16::MAX)
}
