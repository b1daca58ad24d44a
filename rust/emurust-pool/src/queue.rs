//! Queues in shared memory: jobs to the workers, and machines that have finished back.
//!
//! What travels is one word each, so that a step of a machine touches no memory of its own
//! between trainer and worker but its results. Both are rings with room for every machine of the pool, and no machine is in them twice, so
//! they cannot overflow. Heads and tails only count up; the ring's length is a power of two.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What one worker is to do with one machine: machine in the low half, command and action above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Job(u64);

const COMMAND_BITS: u32 = 8;
/// Actions are below it.
pub(crate) const MOST_ACTIONS: usize = 1 << (32 - COMMAND_BITS);

impl Job {
    /// `action` is below [`MOST_ACTIONS`].
    pub(crate) const fn new(machine: u32, command: u8, action: u32) -> Self {
        let order = (action << COMMAND_BITS) | command as u32;
        Self((order as u64) << 32 | machine as u64)
    }
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    pub(crate) const fn machine(self) -> u32 {
        self.0 as u32
    }
    #[expect(clippy::cast_possible_truncation, reason = "its lowest byte")]
    pub(crate) const fn command(self) -> u8 {
        (self.0 >> 32) as u8
    }
    pub(crate) const fn action(self) -> u32 {
        (self.0 >> 32) as u32 >> COMMAND_BITS
    }
}

/// Jobs for one worker: the trainer pushes, the worker and those who steal from it pop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobQueue<'m> {
    pub(crate) head: &'m AtomicU32,
    pub(crate) tail: &'m AtomicU32,
    pub(crate) cells: &'m [AtomicU64],
}

impl JobQueue<'_> {
    fn cell(&self, position: u32) -> &AtomicU64 {
        &self.cells[position as usize & (self.cells.len() - 1)]
    }

    /// Adds a job. Only the trainer does.
    pub(crate) fn push(&self, job: Job) {
        let tail = self.tail.load(Ordering::Relaxed);
        self.cell(tail).store(job.0, Ordering::Relaxed);
        // Publishes the cell and what goes with it in the machine's control block.
        self.tail.store(tail.wrapping_add(1), Ordering::Release);
    }

    /// Takes the oldest job.
    pub(crate) fn pop(&self) -> Option<Job> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            if head == self.tail.load(Ordering::Acquire) {
                return None;
            }
            // The cell is overwritten only after the head has moved on, and then the exchange
            // fails and the number read here is not used.
            let job = Job(self.cell(head).load(Ordering::Relaxed));
            let next = head.wrapping_add(1);
            match self
                .head
                .compare_exchange_weak(head, next, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return Some(job),
                Err(now) => head = now,
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.load(Ordering::SeqCst) == self.tail.load(Ordering::SeqCst)
    }

    /// Forgets all jobs. Nobody else may be using the queue.
    pub(crate) fn clear(&self) {
        self.head.store(0, Ordering::Relaxed);
        self.tail.store(0, Ordering::Release);
    }
}

/// Finished jobs of one worker: the worker pushes, the trainer pops.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DoneQueue<'m>(pub(crate) JobQueue<'m>);

impl DoneQueue<'_> {
    /// Adds a finished machine and how it went; publishes its results. Only the worker does.
    pub(crate) fn push(&self, machine: u32, outcome: u8) {
        self.0.push(Job::new(machine, outcome, 0));
    }

    /// Takes the machine that finished first. Only the trainer does.
    pub(crate) fn pop(&self) -> Option<(u32, u8)> {
        let queue = &self.0;
        let head = queue.head.load(Ordering::Relaxed);
        if head == queue.tail.load(Ordering::Acquire) {
            return None;
        }
        let done = Job(queue.cell(head).load(Ordering::Relaxed));
        queue.head.store(head.wrapping_add(1), Ordering::Relaxed);
        Some((done.machine(), done.command()))
    }

    pub(crate) fn clear(&self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_job_is_one_word() {
        let job = Job::new(u32::MAX, 200, (1 << 24) - 1);
        assert_eq!(
            (job.machine(), job.command(), job.action()),
            (u32::MAX, 200, (1 << 24) - 1)
        );
    }

    #[test]
    fn every_job_is_taken_once_by_somebody() {
        const JOBS: u32 = 40_000;
        let (head, tail) = (
            AtomicU32::new(u32::MAX - 100),
            AtomicU32::new(u32::MAX - 100),
        );
        let cells: Vec<AtomicU64> = (0..64).map(|_| AtomicU64::new(0)).collect();
        let queue = JobQueue {
            head: &head,
            tail: &tail,
            cells: &cells,
        };
        let taken: Vec<AtomicUsize> = (0..JOBS).map(|_| AtomicUsize::new(0)).collect();
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while count.load(Ordering::Relaxed) < JOBS as usize {
                        if let Some(job) = queue.pop() {
                            taken[job.machine() as usize].fetch_add(1, Ordering::Relaxed);
                            count.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
            for job in 0..JOBS {
                // The pool's promise: never more jobs in the queue than cells.
                while job as usize >= count.load(Ordering::Relaxed) + 64 {
                    std::hint::spin_loop();
                }
                queue.push(Job::new(job, 1, 2));
            }
        });
        assert!(taken.iter().all(|taken| taken.load(Ordering::Relaxed) == 1));
        assert!(queue.is_empty());
    }

    #[test]
    fn done_queue_keeps_the_order() {
        let (head, tail) = (AtomicU32::new(0), AtomicU32::new(0));
        let cells: Vec<AtomicU64> = (0..4).map(|_| AtomicU64::new(0)).collect();
        let queue = DoneQueue(JobQueue {
            head: &head,
            tail: &tail,
            cells: &cells,
        });
        for round in 0..10 {
            queue.push(round, 0);
            queue.push(round + 100, 2);
            assert_eq!(queue.pop(), Some((round, 0)));
            assert_eq!(queue.pop(), Some((round + 100, 2)));
            assert_eq!(queue.pop(), None);
        }
    }
}
