//! A plain byte format for recipes: little-endian numbers and length-prefixed bytes.

/// Collects values.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }
    pub(crate) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    pub(crate) fn usize(&mut self, value: usize) {
        self.u64(value as u64);
    }
    pub(crate) fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }
    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.usize(value.len());
        self.0.extend_from_slice(value);
    }
    pub(crate) fn text(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }
    pub(crate) fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.u8(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }
    pub(crate) fn list<T>(&mut self, values: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.usize(values.len());
        for value in values {
            write(self, value);
        }
    }
}

/// The bytes are not what the reader expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("is truncated or damaged")
    }
}

/// Reads back in the same order.
#[derive(Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }
    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }
    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        let bytes = self.take(8)?.try_into().map_err(|_| Malformed)?;
        Ok(u64::from_le_bytes(bytes))
    }
    pub(crate) fn usize(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.u64()?).map_err(|_| Malformed)
    }
    /// A number that the writer had as another unsigned or signed type.
    pub(crate) fn number<T: TryFrom<u64>>(&mut self) -> Result<T, Malformed> {
        T::try_from(self.u64()?).map_err(|_| Malformed)
    }
    pub(crate) fn f64(&mut self) -> Result<f64, Malformed> {
        Ok(f64::from_bits(self.u64()?))
    }
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.usize()?;
        self.take(len)
    }
    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }
    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        match self.u8()? {
            0 => Ok(None),
            1 => read(self).map(Some),
            _ => Err(Malformed),
        }
    }
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let len = self.usize()?;
        // Grown as it is read: a damaged length must not reserve memory.
        let mut values = Vec::new();
        for _ in 0..len {
            values.push(read(self)?);
        }
        Ok(values)
    }
    /// Everything was read.
    pub(crate) fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Malformed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_was_written_and_notices_cuts() {
        let mut writer = Writer::default();
        writer.u8(7);
        writer.f64(-0.5);
        writer.text("äb");
        writer.option(Some(3u64), Writer::u64);
        writer.option(None, Writer::u64);
        writer.list(&[1usize, 2], |w, v| w.usize(*v));
        let bytes = writer.finish();
        let read = |bytes: &[u8]| -> Result<(), Malformed> {
            let mut reader = Reader::new(bytes);
            assert_eq!(reader.u8()?, 7);
            assert_eq!(reader.f64()?.to_bits(), (-0.5f64).to_bits());
            assert_eq!(reader.text()?, "äb");
            assert_eq!(reader.option(Reader::u64)?, Some(3));
            assert_eq!(reader.option(Reader::u64)?, None);
            assert_eq!(reader.list(Reader::usize)?, vec![1, 2]);
            reader.end()
        };
        assert_eq!(read(&bytes), Ok(()));
        for len in 0..bytes.len() {
            assert_eq!(read(&bytes[..len]), Err(Malformed), "cut to {len}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert_eq!(read(&longer), Err(Malformed));
    }
}
