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

/// Tells the trainer, if it sleeps, that a machine is in a queue of finished ones.
pub(crate) fn report(shared: &Shared) {
    let count = shared.done_count().fetch_add(1, SeqCst).wrapping_add(1);
    if shared.waiting().load(SeqCst) == 0 {
        return;
    }
    let early = shared.wake_at().load(SeqCst).wrapping_sub(count);
    // As signed numbers: at or past the count that the trainer waits for.
    if early == 0 || early > u32::MAX / 2 {
        signal::wake(shared.done_count());
    }
}

/// Sleeps until `missing` more machines have finished since `done_count` was `seen`, at most for
/// `limit`.
pub(crate) fn wait_for_reports(shared: &Shared, seen: u32, missing: usize, limit: Duration) {
    let missing = u32::try_from(missing).unwrap_or(u32::MAX / 4);
    shared.wake_at().store(seen.wrapping_add(missing), SeqCst);
    shared.waiting().store(1, SeqCst);
    fence(SeqCst);
    let reached = || {
        let early = seen
            .wrapping_add(missing)
            .wrapping_sub(shared.done_count().load(SeqCst));
        early == 0 || early > u32::MAX / 2
    };
    let end = Instant::now() + limit;
    while !reached() {
        let now = Instant::now();
        if now >= end {
            break;
        }
        let count = shared.done_count().load(SeqCst);
        if !reached() {
            signal::sleep_while(shared.done_count(), count, end - now);
            // Interrupted by a signal to this process, perhaps: let the caller look.
            break;
        }
    }
    shared.waiting().store(0, SeqCst);
}
