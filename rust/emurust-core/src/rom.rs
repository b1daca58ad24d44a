//! A cartridge image: parsed once, then shared read-only by every machine that runs it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use thiserror::Error;

use crate::translator::{Region, Translation};
use crate::waiting::WaitTable;

/// Size of one switchable ROM bank in bytes.
pub const ROM_BANK_SIZE: usize = 0x4000;
/// Size of one external RAM bank in bytes.
pub const RAM_BANK_SIZE: usize = 0x2000;

/// Bytes appended to the image in memory, so that eight bytes of code can be
/// read at once anywhere.
const PADDING: usize = 8;

/// Why a file is not a cartridge this machine can run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RomError {
    /// The file has no bytes at all.
    #[error("the ROM is empty; expected a Game Boy ROM image of at least 32768 bytes")]
    Empty,
    /// The length is not a whole number of 16 KiB banks.
    #[error(
        "the ROM has {len} bytes, which is not a multiple of 16384; \
         the file is truncated or is not a Game Boy ROM image"
    )]
    BadLength {
        /// The length of the file in bytes.
        len: usize,
    },
    /// The header checksum at 014D does not match 0134-014C.
    #[error(
        "header checksum mismatch: the byte at 0x014D is 0x{found:02X}, but the header sums to \
         0x{expected:02X}; the file is damaged or is not a Game Boy ROM image"
    )]
    HeaderChecksum {
        /// Checksum computed over 0134-014C.
        expected: u8,
        /// Checksum stored at 014D.
        found: u8,
    },
    /// The cartridge type byte names a mapper that is not emulated.
    #[error(
        "cartridge type 0x{code:02X} ({name}) is not supported; supported are ROM only, MBC1, \
         MBC2, MBC3 and MBC5"
    )]
    UnsupportedMapper {
        /// The byte at 0147.
        code: u8,
        /// The mapper's usual name.
        name: &'static str,
    },
    /// The RAM size byte at 0149 has no meaning.
    #[error(
        "RAM size code 0x{code:02X} at 0x0149 is not one of 0x00 to 0x05; the header is wrong"
    )]
    BadRamSize {
        /// The byte at 0149.
        code: u8,
    },
}

/// The bank switching hardware of a cartridge (Pan Docs: MBCs).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapper {
    /// No bank switching.
    RomOnly,
    /// MBC1; a multicart wires bank bits differently.
    Mbc1 {
        /// True for the 1 MiB multicart wiring.
        multicart: bool,
    },
    /// MBC2 with its built-in 512 x 4 bit RAM.
    Mbc2,
    /// MBC3, with or without clock.
    Mbc3,
    /// MBC3 with more than 128 ROM or more than 4 RAM banks.
    Mbc30,
    /// MBC5, with or without rumble.
    Mbc5,
}

impl Mapper {
    /// The mapper's usual name, such as `"MBC3"`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mapper::RomOnly => "ROM",
            Mapper::Mbc1 { multicart: false } => "MBC1",
            Mapper::Mbc1 { multicart: true } => "MBC1M",
            Mapper::Mbc2 => "MBC2",
            Mapper::Mbc3 => "MBC3",
            Mapper::Mbc30 => "MBC30",
            Mapper::Mbc5 => "MBC5",
        }
    }
}

/// What the cartridge header says (Pan Docs: The Cartridge Header).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Title, up to the first zero byte.
    pub title: String,
    /// The byte at 0143: bit 7 set for cartridges with Game Boy Color features.
    pub cgb_flag: u8,
    /// The byte at 0146: 03 for Super Game Boy features.
    pub sgb_flag: u8,
    /// The byte at 0147.
    pub cartridge_type: u8,
    /// Bank switching hardware.
    pub mapper: Mapper,
    /// The type names external RAM.
    pub has_ram: bool,
    /// The RAM (or clock) keeps its content without power.
    pub has_battery: bool,
    /// The cartridge has the MBC3 real time clock.
    pub has_rtc: bool,
    /// The cartridge has a rumble motor.
    pub has_rumble: bool,
    /// Number of 16 KiB ROM banks, from the file's length.
    pub rom_banks: usize,
    /// Number of ROM banks that the size byte at 0148 promises, if it is one of the known codes.
    pub declared_rom_banks: Option<usize>,
    /// Number of 8 KiB RAM banks that the machine has for this cartridge (at least one, as in PyBoy).
    pub ram_banks: usize,
    /// The byte at 0149.
    pub ram_size_code: u8,
    /// The checksum byte at 014D.
    pub header_checksum: u8,
    /// The 16-bit checksum at 014E, big endian.
    pub global_checksum: u16,
    /// The 16-bit sum of all bytes but the checksum's own.
    pub computed_global_checksum: u16,
    /// The mask ROM version byte at 014C.
    pub version: u8,
}

/// A cartridge image and its header.
#[derive(Debug)]
pub struct Rom {
    bytes: Vec<u8>,
    header: Header,
    fingerprint: u64,
    waits: WaitTable,
    translation: Translation,
}

impl Clone for Rom {
    /// Copies the image; native code stays with the original.
    fn clone(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            header: self.header.clone(),
            fingerprint: self.fingerprint,
            waits: self.waits.clone(),
            translation: Translation::new(self.image().len()),
        }
    }
}

impl PartialEq for Rom {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Rom {}

/// Cartridges that somebody uses.
static IN_USE: Mutex<Vec<Weak<Rom>>> = Mutex::new(Vec::new());

/// The cartridge's image as the run loop sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Code<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) waits: &'a WaitTable,
    /// Native code, if there is any to be used.
    pub(crate) region: Option<&'a Region>,
}

impl Code<'_> {
    /// The byte at an offset of the image.
    #[inline(always)]
    pub(crate) fn byte(&self, offset: usize) -> u8 {
        self.bytes.get(offset).copied().unwrap_or(0xFF)
    }
}

impl Rom {
    /// Checks and parses a cartridge image. While an equal one is in use, that
    /// one is returned: its memory and its native code are shared.
    ///
    /// # Errors
    /// [`RomError`] says what is wrong with the image.
    pub fn from_bytes(image: &[u8]) -> Result<Arc<Self>, RomError> {
        if image.is_empty() {
            return Err(RomError::Empty);
        }
        if !image.len().is_multiple_of(ROM_BANK_SIZE) {
            return Err(RomError::BadLength { len: image.len() });
        }
        let header = Header::parse(image)?;
        let fingerprint = fnv1a(image);
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(|rom| rom.strong_count() > 0);
        let same = |rom: &Arc<Self>| rom.fingerprint == fingerprint && rom.image() == image;
        if let Some(rom) = in_use.iter().filter_map(Weak::upgrade).find(same) {
            return Ok(rom);
        }
        let mut bytes = Vec::with_capacity(image.len() + PADDING);
        bytes.extend_from_slice(image);
        bytes.extend_from_slice(&[0; PADDING]);
        let rom = Arc::new(Self {
            bytes,
            header,
            fingerprint,
            waits: WaitTable::scan(image),
            translation: Translation::new(image.len()),
        });
        in_use.push(Arc::downgrade(&rom));
        Ok(rom)
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The image, without padding.
    #[must_use]
    pub fn image(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - PADDING]
    }

    /// What the run loop reads: the image, followed by a few zero bytes so that
    /// code can be read at any offset of it.
    pub(crate) fn code<'a>(&'a self, region: Option<&'a Region>) -> Code<'a> {
        Code {
            bytes: &self.bytes,
            waits: &self.waits,
            region,
        }
    }

    pub(crate) fn waits(&self) -> &WaitTable {
        &self.waits
    }

    /// Native code of this cartridge.
    pub(crate) fn translation(&self) -> &Translation {
        &self.translation
    }

    /// Overwrites bytes of the image; what lies outside of it is ignored. The
    /// fingerprint stays that of the original.
    pub(crate) fn patch(&mut self, offset: usize, bytes: &[u8]) {
        let len = self.image().len();
        let end = offset.saturating_add(bytes.len()).min(len);
        if offset < end {
            self.bytes[offset..end].copy_from_slice(&bytes[..end - offset]);
            self.waits = WaitTable::scan(self.image());
            self.translation = Translation::new(len);
        }
    }

    /// Overwrites one byte for as long as waiting loops are not looked for.
    pub(crate) fn set_opcode(&mut self, offset: usize, value: u8) {
        self.bytes[offset] = value;
    }

    /// A 64-bit hash of the image, by which a saved state recognises its cartridge.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl Header {
    fn parse(image: &[u8]) -> Result<Self, RomError> {
        let expected = header_checksum(image);
        let found = image[0x14D];
        if expected != found {
            return Err(RomError::HeaderChecksum { expected, found });
        }
        let cartridge_type = image[0x147];
        let ram_size_code = image[0x149];
        let ram_banks = match ram_size_code {
            // Sizes 0 and 1 still get one bank: PyBoy maps RAM even where the header promises none.
            0..=2 => 1,
            3 => 4,
            4 => 16,
            5 => 8,
            code => return Err(RomError::BadRamSize { code }),
        };
        let rom_banks = image.len() / ROM_BANK_SIZE;
        let (mapper, has_ram, has_battery, has_rtc, has_rumble) = match cartridge_type {
            0x00 => (Mapper::RomOnly, false, false, false, false),
            0x08 => (Mapper::RomOnly, true, false, false, false),
            0x09 => (Mapper::RomOnly, true, true, false, false),
            0x01..=0x03 => {
                let multicart = is_mbc1_multicart(image);
                let (ram, battery) = (cartridge_type >= 2, cartridge_type == 3);
                (Mapper::Mbc1 { multicart }, ram, battery, false, false)
            }
            0x05 => (Mapper::Mbc2, true, false, false, false),
            0x06 => (Mapper::Mbc2, true, true, false, false),
            0x0F..=0x13 => {
                let mapper = if ram_banks > 4 || rom_banks > 128 {
                    Mapper::Mbc30
                } else {
                    Mapper::Mbc3
                };
                let ram = matches!(cartridge_type, 0x10 | 0x12 | 0x13);
                let battery = matches!(cartridge_type, 0x0F | 0x10 | 0x13);
                (mapper, ram, battery, cartridge_type <= 0x10, false)
            }
            0x19..=0x1E => {
                let ram = matches!(cartridge_type, 0x1A | 0x1B | 0x1D | 0x1E);
                let battery = matches!(cartridge_type, 0x1B | 0x1E);
                (Mapper::Mbc5, ram, battery, false, cartridge_type >= 0x1C)
            }
            code => {
                let name = unsupported_mapper_name(code);
                return Err(RomError::UnsupportedMapper { code, name });
            }
        };
        let cgb_flag = image[0x143];
        let title_end = if cgb_flag & 0x80 != 0 { 0x142 } else { 0x143 };
        let title = image[0x134..title_end]
            .iter()
            .take_while(|&&byte| byte != 0)
            .map(|&byte| char::from(byte))
            .collect();
        let declared_rom_banks = match image[0x148] {
            code @ 0..=8 => Some(2 << code),
            0x52 => Some(72),
            0x53 => Some(80),
            0x54 => Some(96),
            _ => None,
        };
        Ok(Self {
            title,
            cgb_flag,
            sgb_flag: image[0x146],
            cartridge_type,
            mapper,
            has_ram,
            has_battery,
            has_rtc,
            has_rumble,
            rom_banks,
            declared_rom_banks,
            ram_banks,
            ram_size_code,
            header_checksum: found,
            global_checksum: u16::from_be_bytes([image[0x14E], image[0x14F]]),
            computed_global_checksum: global_checksum(image),
            version: image[0x14C],
        })
    }
}

/// The checksum that the boot program of the console verifies (Pan Docs: 014D).
fn header_checksum(image: &[u8]) -> u8 {
    image[0x134..=0x14C]
        .iter()
        .fold(0u8, |sum, &byte| sum.wrapping_sub(byte).wrapping_sub(1))
}

fn global_checksum(image: &[u8]) -> u16 {
    let all = image
        .iter()
        .fold(0u16, |sum, &byte| sum.wrapping_add(u16::from(byte)));
    all.wrapping_sub(u16::from(image[0x14E]))
        .wrapping_sub(u16::from(image[0x14F]))
}

/// A 1 MiB MBC1 image whose banks all carry the same logo bytes is wired as a
/// multicart; this is PyBoy's test (other emulators look at four banks only).
fn is_mbc1_multicart(image: &[u8]) -> bool {
    const LOGO: std::ops::Range<usize> = 0x104..0x134;
    let mut banks = image.chunks_exact(ROM_BANK_SIZE);
    banks.len() == 64 && banks.all(|bank| bank[LOGO] == image[LOGO])
}

fn unsupported_mapper_name(code: u8) -> &'static str {
    match code {
        0x0B..=0x0D => "MMM01",
        0x20 => "MBC6",
        0x22 => "MBC7",
        0xFC => "Pocket Camera",
        0xFD => "Bandai TAMA5",
        0xFE => "HuC3",
        0xFF => "HuC1",
        _ => "unknown",
    }
}

/// FNV-1a: enough to tell cartridges apart, and the same on every platform.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
