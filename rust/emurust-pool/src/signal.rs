//! Sleeping until a word changes, across threads and processes.
//!
//! Linux has futexes for it. Elsewhere the sleeper looks again in growing intervals, which
//! needs nothing of the system and wakes within a millisecond.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Sleeps while `word` is `expected`, at most for `limit`. May return early for no reason.
pub(crate) fn sleep_while(word: &AtomicU32, expected: u32, limit: Duration) {
    #[cfg(target_os = "linux")]
    if !crate::portable::forced() {
        return futex::wait(word, expected, limit);
    }
    look_while(word, expected, limit);
}

/// Wakes everybody that sleeps on `word`.
pub(crate) fn wake(word: &AtomicU32) {
    #[cfg(target_os = "linux")]
    if !crate::portable::forced() {
        futex::wake(word);
    }
    // Others look by themselves.
    let _ = word;
}

/// Sleeps in pauses of up to a millisecond and looks in between.
fn look_while(word: &AtomicU32, expected: u32, limit: Duration) {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_micros(20);
    while word.load(Ordering::SeqCst) == expected && Instant::now() < end {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}

#[cfg(target_os = "linux")]
mod futex {
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    use rustix::thread::futex::{self, Flags};

    pub(super) fn wait(word: &AtomicU32, expected: u32, limit: Duration) {
        let limit = rustix::fs::Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        };
        // Changed already, interrupted, timed out: the caller looks for itself.
        // Not a private futex: the word may be shared with other processes.
        let _ = futex::wait(word, Flags::empty(), expected, Some(&limit));
    }

    pub(super) fn wake(word: &AtomicU32) {
        let _ = futex::wake(word, Flags::empty(), u32::MAX >> 1);
    }
}

/// How long to look for work in a loop before going to sleep: about as long as waking takes, and
/// hardly at all where the threads are more than the cores and would keep each other from working.
pub(crate) fn spin_time(runnable: usize) -> Duration {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if runnable <= cores {
        Duration::from_micros(50)
    } else {
        Duration::from_micros(5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_ends_with_the_word_and_with_the_time() {
        let word = AtomicU32::new(7);
        look_while(&word, 6, Duration::from_secs(60));
        let start = Instant::now();
        look_while(&word, 7, Duration::from_millis(20));
        assert!(start.elapsed() >= Duration::from_millis(20));
        std::thread::scope(|scope| {
            scope.spawn(|| look_while(&word, 7, Duration::from_secs(60)));
            word.store(8, Ordering::SeqCst);
        });
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
