//! Sleeping until a word changes, across threads and processes.
//!
//! Linux has futexes for it. Elsewhere the sleeper looks again in growing intervals, which
//! needs nothing of the system and wakes within a millisecond.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while `word` is `expected`, at most for `limit`. May return early for no reason.
#[cfg(target_os = "linux")]
pub(crate) fn sleep_while(word: &AtomicU32, expected: u32, limit: Duration) {
    use rustix::thread::futex::{self, Flags};

    let limit = rustix::fs::Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    // Changed already, interrupted, timed out: the caller looks for itself.
    // Not a private futex: the word may be shared with other processes.
    let _ = futex::wait(word, Flags::empty(), expected, Some(&limit));
}

/// Wakes everybody that sleeps on `word`.
#[cfg(target_os = "linux")]
pub(crate) fn wake(word: &AtomicU32) {
    use rustix::thread::futex::{self, Flags};

    let _ = futex::wake(word, Flags::empty(), u32::MAX >> 1);
}

/// Sleeps while `word` is `expected`, at most for `limit`.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sleep_while(word: &AtomicU32, expected: u32, limit: Duration) {
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    let end = Instant::now() + limit;
    let mut pause = Duration::from_micros(20);
    while word.load(Ordering::SeqCst) == expected && Instant::now() < end {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}

/// Wakes everybody that sleeps on `word`: they look by themselves.
#[cfg(not(target_os = "linux"))]
pub(crate) fn wake(_word: &AtomicU32) {}

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
