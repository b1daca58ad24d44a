//! The fast path against the machine that runs every slice of PyBoy's.

mod common;

use common::{assert_same, noise, program, raster, seeds, Random};
use emurust_core::{Button, GameBoy, Options, Rom};
use std::sync::Arc;

fn twins(rom: &Arc<Rom>) -> [GameBoy; 2] {
    [false, true].map(|exact_slices| {
        let options = Options {
            exact_slices,
            ..Options::default()
        };
        GameBoy::new(Arc::clone(rom), options).expect("the options are valid")
    })
}

fn run_twins(rom: &Arc<Rom>, seed: u64, frames: u32) {
    let [mut fast, mut exact] = twins(rom);
    let mut random = Random::new(!seed);
    for frame in 0..frames {
        if random.chance(20) {
            let button = Button::ALL[random.below(8) as usize];
            for machine in [&mut fast, &mut exact] {
                machine.queue_press(button);
                machine.queue_release_delayed(button, 2);
            }
        }
        let render = random.chance(40);
        fast.tick(1, render, false);
        exact.tick(1, render, false);
        assert_same(&fast, &exact, &format!("seed {seed}, frame {frame}"));
    }
}

/// What once differed: frame ends and two LCD transitions close to a write; OAM DMA from a
/// bank that is switched meanwhile.
const PROGRAMS: [u64; 3] = [9215, 9868, 16364];
const NOISE: [u64; 2] = [1206, 19912];

#[test]
fn programs_run_the_same_on_both() {
    for seed in seeds(300).chain(PROGRAMS) {
        run_twins(&program(seed), seed, 12);
    }
}

#[test]
fn noise_runs_the_same_on_both() {
    for seed in seeds(200).chain(NOISE) {
        run_twins(&noise(seed), seed, 6);
    }
}

#[test]
fn what_changes_from_line_to_line_runs_the_same_on_both() {
    for seed in seeds(200) {
        run_twins(&raster(seed), seed, 8);
    }
}

#[test]
fn writes_from_outside_are_seen_the_same() {
    for seed in seeds(60) {
        let rom = program(seed);
        let [mut fast, mut exact] = twins(&rom);
        let mut random = Random::new(seed);
        for frame in 0..12 {
            let addr = (0x8000 + random.below(0x8000)) as u16;
            let value = random.byte();
            for machine in [&mut fast, &mut exact] {
                machine.write(addr, value);
                machine.tick(1, true, false);
            }
            assert_same(&fast, &exact, &format!("seed {seed}, frame {frame}"));
        }
    }
}

#[test]
fn tracing_changes_nothing() {
    for seed in 0..20 {
        let rom = program(seed);
        let [mut traced, mut plain] = twins(&rom);
        let mut last = 0;
        for frame in 0..6 {
            let mut instructions = 0;
            traced.trace_tick(true, |moment| {
                assert!(moment.cycles >= last);
                last = moment.cycles;
                instructions += 1;
            });
            plain.tick(1, true, false);
            assert!(instructions > 0 || traced.is_halted() || traced.is_locked());
            assert_same(&traced, &plain, &format!("seed {seed}, frame {frame}"));
        }
    }
}
