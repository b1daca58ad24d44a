//! Where random numbers come from: every machine has its own stream, every episode its own seed.
//!
//! Everything is SplitMix64, so that any language can compute the same.

use emurust_task::{derive_seed, Random};

/// The stream of the machine with that number among all machines of a run (not of one worker).
#[must_use]
pub fn stream(seed: u64, global_index: u64) -> u64 {
    derive_seed(seed, global_index)
}

/// The seed of a stream's episode, which counts from 0 since the stream was set.
#[must_use]
pub fn episode_seed(stream: u64, episode: u64) -> u64 {
    derive_seed(stream, episode)
}

/// Which of `count` start states an episode takes; 0 if there is only one or none.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a remainder below a usize is a usize"
)]
pub fn start_index(episode_seed: u64, count: usize) -> usize {
    if count <= 1 {
        return 0;
    }
    // Mixed once more: the episode uses the seed itself for other choices.
    Random::new(!episode_seed).below(count as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn neighbouring_seeds_and_machines_share_no_episode() {
        let mut seen = HashSet::new();
        for seed in 0..40 {
            for index in 0..40 {
                for episode in 0..40 {
                    assert!(seen.insert(episode_seed(stream(seed, index), episode)));
                }
            }
        }
    }

    #[test]
    fn start_index_takes_every_start() {
        let taken: HashSet<_> = (0..100).map(|seed| start_index(seed, 5)).collect();
        assert_eq!(taken.len(), 5);
        assert_eq!(start_index(7, 1), 0);
        assert_eq!(start_index(7, 0), 0);
    }
}
