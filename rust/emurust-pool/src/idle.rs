//! What a worker does when it has nothing to do, and how it is called: the same for threads and
//! processes.

use std::sync::atomic::{fence, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::layout::Shared;
use crate::signal;

/// A sleeping worker looks around this often, so that a lost call costs time but no deadlock.
const NAP: Duration = Duration::from_millis(500);
/// Looks at the queues between two looks at the clock.
const LOOKS: u32 = 32;

/// Returns when there may be work or a reason to stop: looks for it for `spin`, then sleeps.
pub(crate) fn wait_for_call(
    shared: &Shared,
    seat: usize,
    spin: Duration,
    work_or_stop: impl Fn() -> bool,
) {
    let start = Instant::now();
    loop {
        for _ in 0..LOOKS {
            if work_or_stop() {
                return;
            }
            std::hint::spin_loop();
        }
        if start.elapsed() >= spin {
            break;
        }
    }
    let doorbell = shared.doorbell(seat);
    let heard = doorbell.load(SeqCst);
    shared.asleep(seat).store(1, SeqCst);
    // Either this sees the work that `call` announces, or `call` sees that this sleeps.
    fence(SeqCst);
    if !work_or_stop() {
        signal::sleep_while(doorbell, heard, NAP);
    }
    shared.asleep(seat).store(0, SeqCst);
}

/// Calls a worker to work that is in its queue already.
pub(crate) fn call(shared: &Shared, seat: usize) {
    shared.doorbell(seat).fetch_add(1, SeqCst);
    fence(SeqCst);
    if shared.asleep(seat).load(SeqCst) != 0 {
        signal::wake(shared.doorbell(seat));
    }
}

/// Tells the trainer how many machines have finished, not more often than is of use: each time
/// takes a cache line from a trainer that looks at it.
pub(crate) struct Reporter {
    finished: u32,
    last: Instant,
}

/// Reports wait at most this long for others to go with.
const REPORT_INTERVAL: Duration = Duration::from_micros(10);

impl Reporter {
    pub(crate) fn new() -> Self {
        Self {
            finished: 0,
            last: Instant::now(),
        }
    }

    /// A machine is in the queue of finished ones.
    pub(crate) fn add(&mut self, shared: &Shared) {
        self.finished += 1;
        let now = Instant::now();
        if now - self.last >= REPORT_INTERVAL {
            self.last = now;
            self.flush(shared);
        }
    }

    /// Tells what was not told yet, and wakes the trainer if it sleeps and waits for no more.
    pub(crate) fn flush(&mut self, shared: &Shared) {
        if self.finished == 0 {
            return;
        }
        let finished = std::mem::take(&mut self.finished);
        let count = shared
            .done_count()
            .fetch_add(finished, SeqCst)
            .wrapping_add(finished);
        if shared.waiting().load(SeqCst) != 0 && reached(count, shared.wake_at().load(SeqCst)) {
            signal::wake(shared.done_count());
        }
    }
}

/// Whether a count that wraps around is at or past a target.
pub(crate) fn reached(count: u32, target: u32) -> bool {
    count.wrapping_sub(target) <= u32::MAX / 2
}

/// Sleeps until `missing` more machines have finished since `done_count` was `seen`, at most for
/// `limit`.
pub(crate) fn wait_for_reports(shared: &Shared, seen: u32, missing: usize, limit: Duration) {
    let target = seen.wrapping_add(u32::try_from(missing).unwrap_or(u32::MAX / 4));
    shared.wake_at().store(target, SeqCst);
    shared.waiting().store(1, SeqCst);
    fence(SeqCst);
    let count = shared.done_count().load(SeqCst);
    if !reached(count, target) {
        // May be interrupted, by a signal to this process for example: let the caller look.
        signal::sleep_while(shared.done_count(), count, limit);
    }
    shared.waiting().store(0, SeqCst);
}
