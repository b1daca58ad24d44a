//! Reproducible random numbers that any language can compute: SplitMix64.

/// A stream of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound` (0 for a bound of 0), by remainder.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64().checked_rem(bound).unwrap_or(0)
    }

    pub(crate) const fn state(self) -> u64 {
        self.state
    }
}

/// The seed of one stream among many: different for every (seed, stream).
#[must_use]
pub fn derive_seed(seed: u64, stream: u64) -> u64 {
    let mut random = Random::new(seed);
    let first = random.next_u64();
    Random::new(first ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93)).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_splitmix64() {
        // The first outputs for seed 1234567, from the algorithm's public reference.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn streams_differ() {
        let mut seeds: Vec<u64> = (0..100)
            .flat_map(|seed| (0..100).map(move |stream| derive_seed(seed, stream)))
            .collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 10_000);
        assert_eq!(Random::new(3).below(0), 0);
    }
}
