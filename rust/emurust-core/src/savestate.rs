//! Saved states: a header, every field of the machine in a fixed order, a checksum.
//!
//! Each part lists its fields once, with [`state_fields!`]; saving and loading
//! both follow that list, so they cannot disagree.

use thiserror::Error;

/// First bytes of a state.
pub(crate) const MAGIC: [u8; 8] = *b"EMURUST\x1A";
/// Format version; raised whenever a field is added, removed or reordered.
pub(crate) const VERSION: u32 = 1;
/// Magic, version, flags, ROM fingerprint.
pub(crate) const HEADER_LEN: usize = 8 + 4 + 4 + 8;
/// Length of the checksum at the end.
pub(crate) const CHECKSUM_LEN: usize = 8;

/// Why a saved state cannot be loaded. The machine is unchanged in every case.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StateError {
    /// The bytes do not begin with the signature.
    #[error(
        "this is no saved state: it has neither EmuRust's signature nor the first byte of one of \
         PyBoy's formats 7 to 29"
    )]
    BadMagic,
    /// Written by another version of the format.
    #[error("the state has format version {found}, this build reads version {supported}")]
    BadVersion {
        /// Version in the state.
        found: u32,
        /// Version of this build.
        supported: u32,
    },
    /// Truncated, or with trailing bytes.
    #[error("the state has {found} bytes, a state of this machine has {expected}; it is truncated, damaged or of another cartridge")]
    BadLength {
        /// Length of the state.
        found: usize,
        /// Length of this machine's states.
        expected: usize,
    },
    /// The content was changed after saving.
    #[error("the state is damaged: its checksum does not match its content")]
    BadChecksum,
    /// Saved while another cartridge was running.
    #[error(
        "the state belongs to another cartridge (ROM fingerprint {found:016x}, this machine runs \
         {expected:016x})"
    )]
    OtherRom {
        /// Fingerprint in the state.
        found: u64,
        /// Fingerprint of this machine's ROM.
        expected: u64,
    },
    /// Saved by a machine with the other sound setting.
    #[error("the state was saved with sound={saved}, this machine has sound={here}")]
    OtherSound {
        /// Setting of the machine that saved.
        saved: bool,
        /// Setting of this machine.
        here: bool,
    },
    /// Saved by a Game Boy Color.
    #[error("the state is of a Game Boy Color; this machine is an original Game Boy (DMG)")]
    OtherModel,
    /// Saved by PyBoy with a sample rate of its own.
    #[error(
        "the state was saved with another sound sample rate ({samples_per_frame} samples in a \
         frame); only PyBoy's default of 48000 Hz (804) is read"
    )]
    OtherSampleRate {
        /// Samples in a frame, as the state says.
        samples_per_frame: u64,
    },
    /// Saved while the boot program ran, and this machine has none.
    #[error("the state was saved while the boot ROM ran; make the machine with the same boot ROM")]
    NeedsBootRom,
    /// A field holds a value that no machine can have.
    #[error("the state is damaged: field {field} has the impossible value {value}")]
    BadField {
        /// Name of the field.
        field: &'static str,
        /// The value found.
        value: u64,
    },
}

/// Writes fields one after another; without a buffer it only counts.
pub(crate) struct Writer<'a> {
    out: Option<&'a mut [u8]>,
    pos: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(out: &'a mut [u8]) -> Self {
        Self {
            out: Some(out),
            pos: 0,
        }
    }

    pub(crate) fn counting() -> Self {
        Self { out: None, pos: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.pos
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if let Some(out) = &mut self.out {
            out[self.pos..self.pos + bytes.len()].copy_from_slice(bytes);
        }
        self.pos += bytes.len();
    }
}

/// Reads fields one after another.
pub(crate) struct Reader<'a> {
    input: &'a [u8],
}

/// The input ended early. (The length is checked before, so this is a bug in
/// the field lists, reported rather than panicked on.)
#[derive(Debug)]
pub(crate) struct Exhausted;

impl<'a> Reader<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self { input }
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8], Exhausted> {
        if len > self.input.len() {
            return Err(Exhausted);
        }
        let (head, tail) = self.input.split_at(len);
        self.input = tail;
        Ok(head)
    }
}

/// A value that is part of a saved state.
pub(crate) trait State {
    fn save(&self, out: &mut Writer<'_>);
    fn load(&mut self, input: &mut Reader<'_>) -> Result<(), Exhausted>;
}

macro_rules! number_state {
    ($($number:ty),*) => {$(
        impl State for $number {
            fn save(&self, out: &mut Writer<'_>) {
                out.bytes(&self.to_le_bytes());
            }
            fn load(&mut self, input: &mut Reader<'_>) -> Result<(), Exhausted> {
                let mut bytes = [0; size_of::<$number>()];
                bytes.copy_from_slice(input.bytes(size_of::<$number>())?);
                *self = Self::from_le_bytes(bytes);
                Ok(())
            }
        }
    )*};
}
number_state!(u8, u16, u32, u64, i16, i32, i64, f64);

impl State for bool {
    fn save(&self, out: &mut Writer<'_>) {
        out.bytes(&[u8::from(*self)]);
    }
    fn load(&mut self, input: &mut Reader<'_>) -> Result<(), Exhausted> {
        *self = input.bytes(1)? != [0];
        Ok(())
    }
}

impl<const N: usize> State for [u8; N] {
    fn save(&self, out: &mut Writer<'_>) {
        out.bytes(self);
    }
    fn load(&mut self, input: &mut Reader<'_>) -> Result<(), Exhausted> {
        self.copy_from_slice(input.bytes(N)?);
        Ok(())
    }
}

impl State for Box<[u8]> {
    fn save(&self, out: &mut Writer<'_>) {
        out.bytes(self);
    }
    fn load(&mut self, input: &mut Reader<'_>) -> Result<(), Exhausted> {
        let len = self.len();
        self.copy_from_slice(input.bytes(len)?);
        Ok(())
    }
}

impl<const N: usize, const M: usize> State for [[u8; M]; N] {
    fn save(&self, out: &mut Writer<'_>) {
        out.bytes(self.as_flattened());
    }
    fn load(&mut self, input: &mut Reader<'_>) -> Result<(), Exhausted> {
        self.as_flattened_mut().copy_from_slice(input.bytes(N * M)?);
        Ok(())
    }
}

/// Lists the fields of a part that belong to a saved state, in order.
macro_rules! state_fields {
    ($part:ty { $($field:ident),* $(,)? }) => {
        impl $crate::savestate::State for $part {
            fn save(&self, out: &mut $crate::savestate::Writer<'_>) {
                $( self.$field.save(out); )*
            }
            fn load(
                &mut self,
                input: &mut $crate::savestate::Reader<'_>,
            ) -> Result<(), $crate::savestate::Exhausted> {
                $( self.$field.load(input)?; )*
                Ok(())
            }
        }
    };
}
pub(crate) use state_fields;

/// A checksum of a whole state, eight bytes at a time so that it costs microseconds.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut lanes = [1u64, 2, 3, 4];
    let mut chunks = bytes.chunks_exact(32);
    for chunk in &mut chunks {
        for (lane, word) in lanes.iter_mut().zip(chunk.chunks_exact(8)) {
            *lane = (*lane ^ le_word(word))
                .wrapping_mul(MULTIPLIER)
                .rotate_left(29);
        }
    }
    let mut hash = bytes.len() as u64;
    for word in chunks.remainder().chunks(8) {
        hash = (hash ^ le_word(word))
            .wrapping_mul(MULTIPLIER)
            .rotate_left(29);
    }
    for lane in lanes {
        hash = (hash ^ lane).wrapping_mul(MULTIPLIER).rotate_left(29);
    }
    hash ^ (hash >> 32)
}

fn le_word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}
