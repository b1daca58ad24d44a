//! What a step costs beyond the emulation: `cargo bench -p emurust-task`.
//!
//! Steps of no frames on the shipped cartridge: variables, reward, observation.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use emurust_core::{Button, GameBoy, Options, Rom};
use emurust_task::{Episode, ObservationKind, Task, TaskOptions};

const POKEMON: &str = include_str!("../../../python/emurust/tasks/pokemon.toml");
const CARTRIDGE: &[u8] = include_bytes!("../../../python/emurust/data/cartridge.gb");
/// Short rounds, of which the fastest counts: on a busy machine the others measure the neighbours.
const STEPS: u32 = 100;
const ROUNDS: usize = 500;

fn played_cartridge() -> GameBoy {
    let rom = Rom::from_bytes(CARTRIDGE).expect("the shipped cartridge is a ROM");
    let mut gb = GameBoy::new(rom, Options::default()).expect("a DMG");
    gb.tick(120, false, false);
    for button in [Button::Start, Button::A].into_iter().cycle().take(40) {
        gb.queue_press(button);
        gb.tick(8, false, false);
        gb.queue_release(button);
        gb.tick(32, true, false);
    }
    gb
}

/// Microseconds of one call: the fastest of many rounds.
fn fastest(calls: u32, mut call: impl FnMut()) -> f64 {
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
        })
        .fold(f64::INFINITY, f64::min)
}

/// Microseconds of a step.
fn microseconds(episode: &mut Episode, gb: &mut GameBoy) -> f64 {
    let task = Arc::clone(episode.task());
    let mut obs = vec![0; task.observation_len()];
    let mut info = vec![0.0; task.info_layout().len()];
    episode.begin(gb, 0, &mut obs);
    let mut action = 0;
    fastest(STEPS, || {
        action = (action + 1) % 7;
        black_box(episode.step(gb, action, &mut obs, &mut info, &mut []));
    })
}

fn main() {
    let mut gb = played_cartridge();
    let task = Task::from_toml(POKEMON, "pokemon.toml", None).expect("a good file");
    println!("microseconds of task per step (fastest of {ROUNDS} rounds of {STEPS} steps)");
    for name in ObservationKind::NAMES {
        let options = TaskOptions {
            observation: ObservationKind::from_name(name),
            frame_skip: Some(0),
            ..TaskOptions::default()
        };
        let task = Arc::new(task.with_options(&options).expect("good options"));
        let bytes = task.observation_len();
        let mut episode = Episode::new(task);
        let step = microseconds(&mut episode, &mut gb);
        let saved = episode.save();
        let load = fastest(5, || {
            episode.load(black_box(&saved)).expect("its own state");
        });
        let mut fork = episode.clone();
        let copy = fastest(5, || {
            fork.copy_from(black_box(&episode)).expect("the same task");
        });
        println!(
            "{name:8}{step:7.2}   record {bytes:6} bytes; fork {copy:5.2}, load {load:6.1}, \
             state {:6} bytes",
            saved.len()
        );
    }
}
