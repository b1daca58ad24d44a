//! Where everything lies in the block of memory that trainer and workers share.
//!
//! ```text
//! header      magic, version, the numbers that everything below follows from; counters
//! seats       per worker, and one for the trainer itself: status, doorbell, two queues
//! controls    per machine: command, action, seeds, outcome, message
//! arrays      observations, rewards, terminations, truncations, infos, watched RAM and, for
//!             same-step reset, the same of ended episodes: each one array over all machines
//! mailboxes   per worker: a state or picture on its way
//! recipe      how workers make their machines
//! ```
//!
//! A worker process works out the same layout from the header and refuses a block of another
//! version or length.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::machine::Shape;
use crate::memory::Memory;
use crate::queue::{DoneQueue, JobQueue};

/// First bytes of the block: "EMURPOOL".
const MAGIC: u64 = u64::from_le_bytes(*b"EMURPOOL");
/// Changes with anything in this file, in `slot.rs` or in a recipe's bytes.
const VERSION: u32 = 1;

/// Values that different processors write lie on different cache lines.
const LINE: usize = 64;
const PAGE: usize = 4096;

const AT_MAGIC: usize = 0;
const AT_VERSION: usize = 8;
const AT_LEN: usize = 16;
const AT_PARAMETERS: usize = 24;
const AT_DONE_COUNT: usize = 256;
const AT_WAKE_AT: usize = 320;
const AT_WAITING: usize = 324;
const AT_STOP: usize = 384;

const SEAT_LEN: usize = 6 * LINE;
pub(crate) const CONTROL_LEN: usize = 4 * LINE;

/// The numbers that a layout follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub(crate) machines: usize,
    pub(crate) workers: usize,
    pub(crate) shape: Shape,
    /// Final observations and infos are kept apart.
    pub(crate) same_step: bool,
    /// Finished machines wait for the next step to be reset.
    pub(crate) next_step: bool,
    pub(crate) mailbox_len: usize,
    pub(crate) recipe_len: usize,
}

impl Parameters {
    fn to_words(self) -> [u64; 13] {
        let shape = self.shape;
        [
            self.machines,
            self.workers,
            shape.observation_len,
            shape.info_len,
            shape.watch_len,
            shape.num_actions,
            shape.ram_len,
            shape.screen_len,
            usize::from(self.same_step),
            usize::from(self.next_step),
            self.mailbox_len,
            self.recipe_len,
            PAGE,
        ]
        .map(|value| value as u64)
    }

    fn from_words(words: [u64; 13]) -> Option<Self> {
        let [machines, workers, observation_len, info_len, watch_len, num_actions, ram_len, screen_len, same_step, next_step, mailbox_len, recipe_len, page] =
            words.map(|word| usize::try_from(word).ok());
        if page? != PAGE {
            return None;
        }
        Some(Self {
            machines: machines?,
            workers: workers?,
            shape: Shape {
                observation_len: observation_len?,
                info_len: info_len?,
                watch_len: watch_len?,
                num_actions: num_actions?,
                ram_len: ram_len?,
                screen_len: screen_len?,
            },
            same_step: same_step? != 0,
            next_step: next_step? != 0,
            mailbox_len: mailbox_len?,
            recipe_len: recipe_len?,
        })
    }
}

/// Offsets of the parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) parameters: Parameters,
    seats: usize,
    cells: usize,
    cells_per_queue: usize,
    controls: usize,
    pub(crate) observations: usize,
    pub(crate) rewards: usize,
    pub(crate) terminations: usize,
    pub(crate) truncations: usize,
    pub(crate) infos: usize,
    pub(crate) watch: usize,
    /// Whether a machine was lost and made anew; only the trainer writes it.
    pub(crate) lost: usize,
    pub(crate) final_observations: usize,
    pub(crate) final_infos: usize,
    pub(crate) final_watch: usize,
    mailboxes: usize,
    pub(crate) recipe: usize,
    pub(crate) len: usize,
}

/// Hands out consecutive aligned ranges; `None` once the sum does not fit a usize.
struct Allocator(Option<usize>);

impl Allocator {
    fn take(&mut self, count: usize, size: usize, align: usize) -> usize {
        let start = self.0.and_then(|end| end.checked_next_multiple_of(align));
        self.0 = start.and_then(|start| start.checked_add(count.checked_mul(size)?));
        start.unwrap_or(0)
    }
}

impl Layout {
    /// The layout, or `None` if it would be larger than an address space.
    pub(crate) fn new(parameters: Parameters) -> Option<Self> {
        let Parameters {
            machines,
            workers,
            shape,
            same_step,
            mailbox_len,
            recipe_len,
            ..
        } = parameters;
        let cells_per_queue = machines.checked_next_power_of_two()?;
        let finals = if same_step { machines } else { 0 };
        let seats = workers.checked_add(1)?;
        let info_size = shape.info_len.checked_mul(4)?;
        let mut space = Allocator(Some(PAGE));
        let mut layout = Self {
            parameters,
            seats: space.take(seats, SEAT_LEN, LINE),
            cells: space.take(seats, cells_per_queue.checked_mul(16)?, LINE),
            cells_per_queue,
            controls: space.take(machines, CONTROL_LEN, LINE),
            observations: space.take(machines, shape.observation_len, PAGE),
            rewards: space.take(machines, 4, LINE),
            terminations: space.take(machines, 1, LINE),
            truncations: space.take(machines, 1, LINE),
            infos: space.take(machines, info_size, LINE),
            watch: space.take(machines, shape.watch_len, LINE),
            lost: space.take(machines, 1, LINE),
            final_observations: space.take(finals, shape.observation_len, PAGE),
            final_infos: space.take(finals, info_size, LINE),
            final_watch: space.take(finals, shape.watch_len, LINE),
            mailboxes: space.take(workers, mailbox_len, PAGE),
            recipe: space.take(1, recipe_len, LINE),
            len: 0,
        };
        let end = space.take(0, 1, PAGE);
        space.0?;
        layout.len = end;
        Some(layout)
    }

    /// Writes the header.
    pub(crate) fn write_header(&self, memory: &Memory) {
        for (index, word) in self.parameters.to_words().into_iter().enumerate() {
            memory
                .u64(AT_PARAMETERS + index * 8)
                .store(word, Ordering::Relaxed);
        }
        memory.u64(AT_LEN).store(self.len as u64, Ordering::Relaxed);
        memory.u32(AT_VERSION).store(VERSION, Ordering::Relaxed);
        memory.u64(AT_MAGIC).store(MAGIC, Ordering::Release);
    }

    /// The layout of a block that another process made; the message says what is wrong with it.
    pub(crate) fn read_header(memory: &Memory) -> Result<Self, String> {
        if memory.len() < PAGE || memory.u64(AT_MAGIC).load(Ordering::Acquire) != MAGIC {
            return Err("is not one of a pool (it does not start with the signature)".to_owned());
        }
        let version = memory.u32(AT_VERSION).load(Ordering::Relaxed);
        if version != VERSION {
            return Err(format!(
                "has layout version {version}, this worker reads {VERSION}: trainer and worker \
                 must be of the same EmuRust version"
            ));
        }
        let words = std::array::from_fn(|index| {
            memory
                .u64(AT_PARAMETERS + index * 8)
                .load(Ordering::Relaxed)
        });
        let layout = Parameters::from_words(words)
            .and_then(Self::new)
            .ok_or("has impossible sizes in its header")?;
        let declared = memory.u64(AT_LEN).load(Ordering::Relaxed);
        if declared != layout.len as u64 || layout.len != memory.len() {
            return Err(format!(
                "has {} bytes, its header says {declared}, its sizes give {}",
                memory.len(),
                layout.len
            ));
        }
        Ok(layout)
    }

    /// The machines that a worker owns.
    pub(crate) fn range(&self, worker: usize) -> Range<usize> {
        let Parameters {
            machines, workers, ..
        } = self.parameters;
        worker * machines / workers..(worker + 1) * machines / workers
    }

    /// The worker that owns a machine.
    pub(crate) fn owner(&self, machine: usize) -> usize {
        let Parameters {
            machines, workers, ..
        } = self.parameters;
        // The greatest worker whose range begins at or before the machine.
        ((machine + 1) * workers).div_ceil(machines) - 1
    }

    /// Offset of a machine's control block.
    pub(crate) fn control(&self, machine: usize) -> usize {
        assert!(machine < self.parameters.machines, "machine out of range");
        self.controls + machine * CONTROL_LEN
    }

    /// Offset of a worker's mailbox.
    pub(crate) fn mailbox(&self, worker: usize) -> usize {
        assert!(worker < self.parameters.workers, "worker out of range");
        self.mailboxes + worker * self.parameters.mailbox_len
    }
}

/// The block together with its layout: everything shared, by name.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) memory: Memory,
    pub(crate) layout: Layout,
}

impl Shared {
    /// How many jobs all workers have finished (wraps around); the trainer sleeps on it.
    pub(crate) fn done_count(&self) -> &AtomicU32 {
        self.memory.u32(AT_DONE_COUNT)
    }
    /// The count at which the sleeping trainer wants to be woken.
    pub(crate) fn wake_at(&self) -> &AtomicU32 {
        self.memory.u32(AT_WAKE_AT)
    }
    /// Whether the trainer sleeps or is about to.
    pub(crate) fn waiting(&self) -> &AtomicU32 {
        self.memory.u32(AT_WAITING)
    }
    /// Not 0: workers are to end.
    pub(crate) fn stop(&self) -> &AtomicU32 {
        self.memory.u32(AT_STOP)
    }
    fn seat(&self, seat: usize, line: usize) -> usize {
        self.layout.seats + seat * SEAT_LEN + line * LINE
    }
    /// Where a worker process stands: one of `worker::STATUS_*`.
    #[cfg(unix)]
    pub(crate) fn status(&self, worker: usize) -> &AtomicU32 {
        self.memory.u32(self.seat(worker, 0))
    }
    /// Length of the message in its mailbox when it could not start.
    #[cfg(unix)]
    pub(crate) fn failure_len(&self, worker: usize) -> &AtomicU32 {
        self.memory.u32(self.seat(worker, 0) + 4)
    }
    /// Counts the times the worker was called; it sleeps on it.
    pub(crate) fn doorbell(&self, seat: usize) -> &AtomicU32 {
        self.memory.u32(self.seat(seat, 1))
    }
    /// Whether the worker sleeps or is about to.
    pub(crate) fn asleep(&self, seat: usize) -> &AtomicU32 {
        self.memory.u32(self.seat(seat, 1) + 4)
    }
    fn cells(&self, queue: usize) -> &[AtomicU64] {
        let count = self.layout.cells_per_queue;
        self.memory
            .u64s(self.layout.cells + queue * count * 8, count)
    }
    /// Jobs for a worker.
    pub(crate) fn jobs(&self, seat: usize) -> JobQueue<'_> {
        JobQueue {
            head: self.memory.u32(self.seat(seat, 2)),
            tail: self.memory.u32(self.seat(seat, 3)),
            cells: self.cells(seat * 2),
        }
    }
    /// What a worker has finished. The last seat is the trainer's own.
    pub(crate) fn done(&self, seat: usize) -> DoneQueue<'_> {
        DoneQueue(JobQueue {
            head: self.memory.u32(self.seat(seat, 4)),
            tail: self.memory.u32(self.seat(seat, 5)),
            cells: self.cells(seat * 2 + 1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(machines: usize, workers: usize) -> Parameters {
        Parameters {
            machines,
            workers,
            shape: Shape {
                observation_len: 100,
                info_len: 3,
                watch_len: 5,
                num_actions: 7,
                ram_len: 10,
                screen_len: 20,
            },
            same_step: true,
            next_step: false,
            mailbox_len: 1000,
            recipe_len: 77,
        }
    }

    #[test]
    fn every_machine_has_the_owner_in_whose_range_it_is() {
        for machines in 1..40 {
            for workers in 1..=machines {
                let layout = Layout::new(parameters(machines, workers)).expect("fits");
                let mut next = 0;
                for worker in 0..workers {
                    let range = layout.range(worker);
                    assert_eq!(range.start, next);
                    assert!(!range.is_empty());
                    for machine in range.clone() {
                        assert_eq!(layout.owner(machine), worker, "{machines} {workers}");
                    }
                    next = range.end;
                }
                assert_eq!(next, machines);
            }
        }
    }

    #[test]
    fn header_is_read_back_and_checked() {
        let layout = Layout::new(parameters(9, 2)).expect("fits");
        let memory = Memory::private(layout.len).expect("memory");
        assert!(Layout::read_header(&memory)
            .expect_err("empty")
            .contains("signature"));
        layout.write_header(&memory);
        assert_eq!(Layout::read_header(&memory), Ok(layout.clone()));
        memory.u32(AT_VERSION).store(99, Ordering::Relaxed);
        assert!(Layout::read_header(&memory)
            .expect_err("version")
            .contains("version 99"));
        layout.write_header(&memory);
        memory.u64(AT_PARAMETERS).store(1000, Ordering::Relaxed);
        assert!(Layout::read_header(&memory)
            .expect_err("length")
            .contains("its sizes give"));
    }

    #[test]
    fn sizes_that_no_memory_has_are_refused() {
        let mut huge = parameters(usize::MAX / 8, 2);
        assert_eq!(Layout::new(huge), None);
        huge = parameters(1 << 40, 2);
        huge.shape.observation_len = 1 << 40;
        assert_eq!(Layout::new(huge), None);
    }
}
