//! Passing fields through a stream of bytes: in, out, or only counted.
//!
//! A file format is one list of fields that is walked in the same order whether
//! it is read, written or measured, so that these cannot disagree.

/// The bytes ended inside a field.
#[derive(Debug)]
pub(crate) struct Ended;

/// Where fields come from or go to.
pub(crate) enum Stream<'a> {
    /// Fields take their values from here.
    Read(&'a [u8]),
    /// Fields append their values here.
    Write(Vec<u8>),
    /// Bytes passed so far.
    Count(usize),
}

impl Stream<'_> {
    pub(crate) fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), Ended> {
        match self {
            Self::Read(input) => {
                let (head, tail) = input.split_at_checked(bytes.len()).ok_or(Ended)?;
                bytes.copy_from_slice(head);
                *input = tail;
            }
            Self::Write(out) => out.extend_from_slice(bytes),
            Self::Count(len) => *len += bytes.len(),
        }
        Ok(())
    }

    /// Bytes without meaning: ignored, or written as zero.
    pub(crate) fn skip(&mut self, len: usize) -> Result<(), Ended> {
        match self {
            Self::Read(input) => *input = input.get(len..).ok_or(Ended)?,
            Self::Write(out) => out.resize(out.len() + len, 0),
            Self::Count(count) => *count += len,
        }
        Ok(())
    }
}

/// A value of a file.
pub(crate) trait Field {
    fn pass(&mut self, stream: &mut Stream<'_>) -> Result<(), Ended>;
}

macro_rules! number_field {
    ($($number:ty),*) => {$(
        impl Field for $number {
            fn pass(&mut self, stream: &mut Stream<'_>) -> Result<(), Ended> {
                let mut bytes = self.to_le_bytes();
                stream.bytes(&mut bytes)?;
                *self = Self::from_le_bytes(bytes);
                Ok(())
            }
        }
    )*};
}
number_field!(u8, u16, u64, i64, f64);

/// One byte; any value but zero is true.
impl Field for bool {
    fn pass(&mut self, stream: &mut Stream<'_>) -> Result<(), Ended> {
        let mut byte = u8::from(*self);
        byte.pass(stream)?;
        *self = byte != 0;
        Ok(())
    }
}

impl<const N: usize> Field for [u8; N] {
    fn pass(&mut self, stream: &mut Stream<'_>) -> Result<(), Ended> {
        stream.bytes(self)
    }
}

/// As many bytes as it has.
impl Field for Vec<u8> {
    fn pass(&mut self, stream: &mut Stream<'_>) -> Result<(), Ended> {
        stream.bytes(self)
    }
}

/// Passes fields one after another.
macro_rules! pass {
    ($stream:ident; $($field:expr),* $(,)?) => {
        $( $crate::pyboy_state::stream::Field::pass(&mut $field, $stream)?; )*
    };
}
pub(crate) use pass;
