//! Steps, resets and forks allocate nothing.

#![expect(
    unsafe_code,
    reason = "a counting allocator can only be written with it"
)]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use emurust_task::{Area, Episode, Machine, Memory, ObservationKind, Task, TaskOptions};
use support::Flat;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is left to the system's allocator; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Flat memory that keeps no log, which would allocate.
struct Silent(Flat);

impl Memory for Silent {
    fn area(&self, area: Area) -> &[u8] {
        self.0.area(area)
    }
    fn peek(&self, address: u16) -> u8 {
        self.0.peek(address)
    }
    fn shades(&self) -> &[u8] {
        self.0.shades()
    }
}

impl Machine for Silent {
    fn press(&mut self, _: emurust_core::Button) {}
    fn release(&mut self, _: emurust_core::Button) {}
    fn run(&mut self, _: u32, _: bool) {}
}

#[test]
fn nothing_is_allocated_per_step() {
    const POKEMON: &str = include_str!("../../../python/emurust/tasks/pokemon.toml");
    let pokemon = Task::from_toml(POKEMON, "pokemon.toml", None).expect("valid");
    for name in ObservationKind::NAMES {
        let options = TaskOptions {
            observation: ObservationKind::from_name(name),
            ..TaskOptions::default()
        };
        let task = Arc::new(pokemon.with_options(&options).expect("valid"));
        let mut machine = Silent(Flat::new());
        let mut obs = vec![0; task.observation_len()];
        let mut info = vec![0.0; task.info_layout().len()];
        let mut fork = Episode::new(Arc::clone(&task));
        let mut episode = Episode::new(task);
        let before = ALLOCATIONS.with(Cell::get);
        for step in 0..2000u32 {
            if step % 500 == 0 {
                episode.begin(&mut machine, 0, &mut obs);
            }
            // Some 500 places an episode: well within the first size of the table.
            machine.0.set(0xD361, &[(step % 100) as u8]);
            machine.0.set(0xD35E, &[(step / 100) as u8]);
            episode.step(&mut machine, step % 7, &mut obs, &mut info, &mut []);
            if step % 300 == 0 {
                fork.copy_from(&episode).expect("same task");
            }
        }
        assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0, "{name}");
    }
}
