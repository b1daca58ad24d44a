//! Where a named number lies in memory and how its bytes spell it.

use crate::machine::{Area, Memory};

/// Bytes of memory that can be read without side effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Offset into an area.
    Area(Area, usize),
    /// An address whose bank the game chooses (cartridge RAM).
    Bus(u16),
}

impl Place {
    /// The place of `len` bytes at an address; the message says why there is none.
    pub(crate) fn new(address: u16, bank: Option<u16>, len: usize) -> Result<Self, String> {
        const AREAS: [(Area, u16, u16); 5] = [
            (Area::Vram, 0x8000, 0x9FFF),
            (Area::CartRam, 0xA000, 0xBFFF),
            (Area::Wram, 0xC000, 0xDFFF),
            (Area::Oam, 0xFE00, 0xFE9F),
            (Area::Hram, 0xFF80, 0xFFFE),
        ];
        let found = AREAS
            .iter()
            .find(|(_, first, last)| (*first..=*last).contains(&address));
        let Some(&(area, first, last)) = found else {
            let hint = match address {
                0xE000..=0xFDFF => {
                    format!("it is the echo of work RAM; use 0x{:04X}", address - 0x2000)
                }
                _ => "expected 0x8000-0xDFFF, 0xFE00-0xFE9F or 0xFF80-0xFFFE".to_owned(),
            };
            return Err(format!("address 0x{address:04X} is outside RAM; {hint}"));
        };
        let end = usize::from(address) + len - 1;
        if end > usize::from(last) {
            return Err(format!(
                "0x{address:04X}-0x{end:04X} reaches beyond its part of memory, \
                 which ends at 0x{last:04X}"
            ));
        }
        let offset = usize::from(address - first);
        match (area, bank) {
            (Area::CartRam, None) => Ok(Place::Bus(address)),
            (Area::CartRam, Some(bank)) if bank < 16 => {
                Ok(Place::Area(area, usize::from(bank) * 0x2000 + offset))
            }
            (Area::CartRam, Some(bank)) => Err(format!(
                "bank {bank} does not exist; cartridge RAM has banks 0 to 15"
            )),
            (_, None) => Ok(Place::Area(area, offset)),
            (_, Some(_)) => Err(format!(
                "0x{address:04X} has no banks; only 0xA000-0xBFFF takes a bank"
            )),
        }
    }

    /// The place some bytes further on.
    pub(crate) fn plus(self, bytes: usize) -> Self {
        match self {
            Place::Area(area, offset) => Place::Area(area, offset + bytes),
            Place::Bus(address) => Place::Bus(address.wrapping_add(bytes as u16)),
        }
    }

    /// Copies bytes; cartridge RAM that the cartridge does not have reads as 0.
    pub(crate) fn copy<M: Memory>(self, memory: &M, out: &mut [u8]) {
        match self {
            Place::Area(area, offset) => match memory.area(area).get(offset..offset + out.len()) {
                Some(bytes) => out.copy_from_slice(bytes),
                None => out.fill(0),
            },
            Place::Bus(address) => {
                for (byte, address) in out.iter_mut().zip(address..) {
                    *byte = memory.peek(address);
                }
            }
        }
    }

    /// The bytes themselves where memory has them in one piece.
    fn bytes<M: Memory>(self, memory: &M, len: usize) -> Option<&[u8]> {
        match self {
            Place::Area(area, offset) => memory.area(area).get(offset..offset + len),
            Place::Bus(_) => None,
        }
    }
}

/// How bytes spell a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Binary; first byte lowest.
    LittleEndian,
    /// Binary; first byte highest.
    BigEndian,
    /// One signed byte.
    Signed,
    /// Two decimal digits a byte, highest first.
    Bcd,
    /// Two decimal digits a byte, lowest byte first.
    BcdLittleEndian,
    /// One decimal digit a byte, highest first.
    Digits,
    /// One decimal digit a byte, lowest first.
    DigitsLittleEndian,
    /// One bit, 0 lowest.
    Bit(u8),
    /// Number of set bits.
    PopCount,
    /// No number (0): only for features and watching.
    Bytes,
}

/// What many slots are reduced to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reduce {
    Sum,
    Max,
    Min,
}

/// A named number in memory: one element or several, a fixed distance apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) encoding: Encoding,
    /// Bytes of one element.
    pub(crate) length: usize,
    pub(crate) count: usize,
    pub(crate) stride: usize,
    pub(crate) reduce: Reduce,
    /// Taken from each element.
    pub(crate) subtract: i64,
    /// Then each element is at least this.
    pub(crate) floor: Option<i64>,
}

impl Variable {
    /// Bytes from the first to the last.
    pub(crate) fn span(&self) -> usize {
        (self.count - 1) * self.stride + self.length
    }

    #[inline]
    pub(crate) fn read<M: Memory>(&self, memory: &M) -> f64 {
        // Nearly all variables are plain bytes.
        if self.count == 1 && self.encoding != Encoding::PopCount {
            return self.adjust(self.element(memory, self.place)) as f64;
        }
        let elements = (0..self.count)
            .map(|slot| self.adjust(self.element(memory, self.place.plus(slot * self.stride))));
        let reduced = match self.reduce {
            Reduce::Sum => Some(elements.sum()),
            Reduce::Max => elements.max(),
            Reduce::Min => elements.min(),
        };
        reduced.unwrap_or(0) as f64
    }

    fn adjust(&self, element: i64) -> i64 {
        let element = element - self.subtract;
        self.floor.map_or(element, |floor| element.max(floor))
    }

    #[inline]
    fn element<M: Memory>(&self, memory: &M, place: Place) -> i64 {
        if let Some(bytes) = place.bytes(memory, self.length) {
            return decode(self.encoding, bytes);
        }
        match self.encoding {
            Encoding::PopCount => (0..self.length)
                .map(|index| {
                    let mut byte = [0];
                    place.plus(index).copy(memory, &mut byte);
                    i64::from(byte[0].count_ones())
                })
                .sum(),
            Encoding::Bytes => 0,
            encoding => {
                let mut bytes = [0; 16];
                let bytes = &mut bytes[..self.length.min(16)];
                place.copy(memory, bytes);
                decode(encoding, bytes)
            }
        }
    }
}

fn decode(encoding: Encoding, bytes: &[u8]) -> i64 {
    let forward = || bytes.iter().copied();
    let backward = || bytes.iter().rev().copied();
    match encoding {
        Encoding::LittleEndian => binary(backward()),
        Encoding::BigEndian => binary(forward()),
        Encoding::Signed => i64::from(i8::from_le_bytes([bytes[0]])),
        Encoding::Bcd => bcd(forward()),
        Encoding::BcdLittleEndian => bcd(backward()),
        Encoding::Digits => digits(forward()),
        Encoding::DigitsLittleEndian => digits(backward()),
        Encoding::Bit(bit) => i64::from(bytes[0] >> bit & 1),
        Encoding::PopCount => popcount(bytes),
        Encoding::Bytes => 0,
    }
}

fn binary(bytes: impl Iterator<Item = u8>) -> i64 {
    bytes.fold(0, |sum, byte| sum << 8 | i64::from(byte))
}

fn bcd(bytes: impl Iterator<Item = u8>) -> i64 {
    bytes.fold(0, |sum, byte| {
        sum * 100 + i64::from(byte >> 4) * 10 + i64::from(byte & 15)
    })
}

fn digits(bytes: impl Iterator<Item = u8>) -> i64 {
    bytes.fold(0, |sum, byte| sum * 10 + i64::from(byte))
}

fn popcount(bytes: &[u8]) -> i64 {
    let mut words = bytes.chunks_exact(8);
    let whole: u32 = words
        .by_ref()
        .map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()).count_ones())
        .sum();
    let rest: u32 = words.remainder().iter().map(|byte| byte.count_ones()).sum();
    i64::from(whole + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes() {
        let bytes = [0x12, 0x34, 0x56];
        assert_eq!(decode(Encoding::LittleEndian, &bytes), 0x0056_3412);
        assert_eq!(decode(Encoding::BigEndian, &bytes), 0x0012_3456);
        assert_eq!(decode(Encoding::Bcd, &bytes), 123_456);
        assert_eq!(decode(Encoding::BcdLittleEndian, &bytes), 563_412);
        assert_eq!(decode(Encoding::Digits, &[1, 2, 3]), 123);
        assert_eq!(decode(Encoding::DigitsLittleEndian, &[1, 2, 3]), 321);
        assert_eq!(decode(Encoding::Signed, &[0xFE]), -2);
        assert_eq!(decode(Encoding::Bit(4), &[0x10]), 1);
        assert_eq!(decode(Encoding::Bit(3), &[0x10]), 0);
        assert_eq!(decode(Encoding::PopCount, &[0xFF; 19]), 152);
        assert_eq!(decode(Encoding::PopCount, &[0x81; 8]), 16);
    }

    #[test]
    fn places() {
        let wram = |offset| Ok(Place::Area(Area::Wram, offset));
        assert_eq!(Place::new(0xD356, None, 1), wram(0x1356));
        assert_eq!(
            Place::new(0xFFFE, None, 1),
            Ok(Place::Area(Area::Hram, 0x7E))
        );
        assert_eq!(Place::new(0xA010, None, 1), Ok(Place::Bus(0xA010)));
        assert_eq!(
            Place::new(0xA010, Some(2), 1),
            Ok(Place::Area(Area::CartRam, 0x4010))
        );
        for (address, bank, len, message) in [
            (0x1000, None, 1, "outside RAM"),
            (0xE010, None, 1, "use 0xC010"),
            (0xFF40, None, 1, "outside RAM"),
            (0xFFFF, None, 1, "outside RAM"),
            (0xDFFF, None, 2, "reaches beyond"),
            (0xC000, Some(1), 1, "has no banks"),
            (0xA000, Some(16), 1, "does not exist"),
        ] {
            let error = Place::new(address, bank, len).expect_err("bad");
            assert!(error.contains(message), "{error}");
        }
    }
}
