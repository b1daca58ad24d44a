//! An episode as bytes: everything that it needs to go on exactly.
//!
//! Little endian: signature, version, the task's fingerprint, then the fields in the order of
//! [`Episode::save`], then an FNV-1a checksum of all that.

use std::sync::Arc;

use crate::episode::Episode;
use crate::error::TaskError;
use crate::random::Random;

const SIGNATURE: [u8; 4] = *b"ERTE";
const VERSION: u32 = 1;

fn error(message: impl Into<String>) -> TaskError {
    TaskError::State {
        message: message.into(),
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    // Whole words: the state has tens of kilobytes, and forks should cost microseconds.
    let mut words = bytes.chunks_exact(8);
    let mix = |hash: u64, word: u64| {
        (hash ^ word)
            .wrapping_mul(0x0000_0100_0000_01B3)
            .rotate_left(29)
    };
    let hash = words.by_ref().fold(0xCBF2_9CE4_8422_2325, |hash, word| {
        mix(
            hash,
            u64::from_le_bytes(word.try_into().unwrap_or_default()),
        )
    });
    words
        .remainder()
        .iter()
        .fold(hash, |hash, byte| mix(hash, u64::from(*byte)))
}

struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    fn take(&mut self, len: usize) -> Result<&'b [u8], TaskError> {
        let (head, tail) = self
            .bytes
            .split_at_checked(len)
            .ok_or_else(|| error("it is truncated"))?;
        self.bytes = tail;
        Ok(head)
    }

    fn u64(&mut self) -> Result<u64, TaskError> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    fn numbers(&mut self, out: &mut [f64]) -> Result<(), TaskError> {
        for number in out {
            *number = f64::from_bits(self.u64()?);
            if !number.is_finite() {
                return Err(error("it has a number that is not finite; it is damaged"));
            }
        }
        Ok(())
    }
}

impl Episode {
    /// Everything that [`Episode::load`] needs to go on exactly, but the machine.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 * 1024);
        out.extend_from_slice(&SIGNATURE);
        out.extend_from_slice(&VERSION.to_le_bytes());
        let mut word = |word: u64| out.extend_from_slice(&word.to_le_bytes());
        word(self.task.fingerprint);
        word(self.steps);
        word(self.random.state());
        word(self.total.to_bits());
        for numbers in [&self.values, &self.memories, &self.terms, &self.first_terms] {
            numbers.iter().for_each(|number| word(number.to_bits()));
        }
        for visits in &self.visits {
            word(visits.distinct() as u64);
            visits.entries().for_each(&mut word);
        }
        if let Some(world) = &self.world {
            world.words().iter().copied().for_each(&mut word);
        }
        out.extend_from_slice(&self.recent_actions);
        if let Some(screens) = &self.screens {
            out.extend_from_slice(screens.bytes());
        }
        let sum = checksum(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Goes on from saved bytes.
    ///
    /// # Errors
    /// [`TaskError::State`] for bytes that are no episode, are damaged or belong to another task;
    /// the episode is unchanged then.
    pub fn load(&mut self, state: &[u8]) -> Result<(), TaskError> {
        let Some((body, sum)) = state.split_last_chunk::<8>() else {
            return Err(error("it is truncated"));
        };
        let mut reader = Reader { bytes: body };
        if reader.take(4)? != SIGNATURE {
            return Err(error("it does not start with the signature of an episode"));
        }
        let version = u32::from_le_bytes(reader.take(4)?.try_into().unwrap_or_default());
        if version != VERSION {
            return Err(error(format!(
                "it has format version {version}; this build reads version {VERSION}"
            )));
        }
        self.check_fingerprint(reader.u64()?)?;
        if checksum(body) != u64::from_le_bytes(*sum) {
            return Err(error("its checksum does not match; it is damaged"));
        }
        let mut loaded = Episode::new(Arc::clone(&self.task));
        loaded.steps = reader.u64()?;
        loaded.random = Random::new(reader.u64()?);
        let mut total = [0.0];
        reader.numbers(&mut total)?;
        [loaded.total] = total;
        reader.numbers(&mut loaded.values)?;
        reader.numbers(&mut loaded.memories)?;
        reader.numbers(&mut loaded.terms)?;
        reader.numbers(&mut loaded.first_terms)?;
        for visits in &mut loaded.visits {
            let count = usize::try_from(reader.u64()?).unwrap_or(usize::MAX);
            let entries = reader.take(count.saturating_mul(8))?.chunks_exact(8);
            let entries =
                entries.map(|entry| u64::from_le_bytes(entry.try_into().unwrap_or_default()));
            if !visits.restore(entries) {
                return Err(error("its visited places are impossible; it is damaged"));
            }
        }
        if let Some(world) = &mut loaded.world {
            let words = reader.take(world.words().len() * 8)?.chunks_exact(8);
            let words = words.map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
            if !world.restore(words) {
                return Err(error("its visited map is impossible; it is damaged"));
            }
        }
        let actions = reader.take(loaded.recent_actions.len())?;
        if actions
            .iter()
            .any(|action| usize::from(*action) >= self.task.num_actions())
        {
            return Err(error("it has an unknown action; it is damaged"));
        }
        loaded.recent_actions.copy_from_slice(actions);
        if let Some(screens) = &mut loaded.screens {
            let bytes = screens.bytes_mut();
            bytes.copy_from_slice(reader.take(bytes.len())?);
        }
        if !reader.bytes.is_empty() {
            return Err(error(format!(
                "it has {} bytes too many",
                reader.bytes.len()
            )));
        }
        *self = loaded;
        Ok(())
    }
}
