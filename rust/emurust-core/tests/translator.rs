//! Native code against the interpreter, in lockstep.
//!
//! `EMURUST_LONG=1` runs many more programs.

mod common;

use common::{assert_same, noise, program, raster, seeds, waiting, Random};
use emurust_core::{Button, Engine, GameBoy, Options, Rom};
use std::sync::Arc;

fn machine(rom: &Arc<Rom>, engine: Engine, sound: bool) -> GameBoy {
    let options = Options {
        engine,
        sound,
        ..Options::default()
    };
    GameBoy::new(Arc::clone(rom), options).expect("native code can be had here")
}

/// Frames after which everything seen so far is translated, and whether well.
const TRANSLATED_AFTER: [(u32, bool); 3] = [(1, false), (3, true), (8, true)];

fn run_pair(rom: &Arc<Rom>, seed: u64, frames: u32, sound: bool) {
    let mut native = machine(rom, Engine::Translator, sound);
    let mut interpreted = machine(rom, Engine::Interpreter, sound);
    let mut random = Random::new(!seed);
    for frame in 0..frames {
        if random.chance(20) {
            let button = Button::ALL[random.below(8) as usize];
            for machine in [&mut native, &mut interpreted] {
                machine.queue_press(button);
                machine.queue_release_delayed(button, 2);
            }
        }
        if random.chance(5) {
            let addr = (0x8000 + random.below(0x8000)) as u16;
            let value = random.byte();
            for machine in [&mut native, &mut interpreted] {
                machine.write(addr, value);
            }
        }
        let render = random.chance(40);
        native.tick(1, render, false);
        interpreted.tick(1, render, false);
        assert_same(
            &native,
            &interpreted,
            &format!("seed {seed}, frame {frame}, sound {sound}"),
        );
        for (_, well) in TRANSLATED_AFTER.iter().filter(|(after, _)| *after == frame) {
            native.translate_now(*well).expect("it can be translated");
        }
    }
}

#[test]
fn programs_run_the_same_translated() {
    for seed in seeds(60) {
        run_pair(&program(seed), seed, 16, seed % 4 == 3);
    }
}

#[test]
fn noise_runs_the_same_translated() {
    for seed in seeds(30) {
        run_pair(&noise(seed), seed, 12, false);
    }
}

#[test]
fn loops_that_wait_run_the_same_translated() {
    for seed in seeds(150) {
        run_pair(&waiting(seed), seed, 24, seed % 8 == 7);
    }
}

#[test]
fn what_changes_from_line_to_line_runs_the_same_translated() {
    for seed in seeds(80) {
        run_pair(&raster(seed), seed, 16, seed % 8 == 7);
    }
}

#[test]
fn a_patched_cartridge_is_translated_anew() {
    // JR to itself at 0150, reached from 0100.
    let mut image = vec![0; 0x8000];
    image[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
    // INC A; JR -3
    image[0x150..0x153].copy_from_slice(&[0x3C, 0x18, 0xFD]);
    image[0x14D] = image[0x134..0x14D]
        .iter()
        .fold(0u8, |sum, byte| sum.wrapping_sub(*byte).wrapping_sub(1));
    let rom = Rom::from_bytes(&image).expect("a valid header");
    let mut native = machine(&rom, Engine::Translator, false);
    let mut interpreted = machine(&rom, Engine::Interpreter, false);
    native.tick(2, false, false);
    native.translate_now(true).expect("it can be translated");
    native.tick(2, false, false);
    interpreted.tick(4, false, false);
    // DEC A instead of INC A.
    for machine in [&mut native, &mut interpreted] {
        machine.patch_rom(0x150, &[0x3D]);
        machine.tick(3, false, false);
    }
    assert_same(&native, &interpreted, "after the patch");
}

#[test]
fn one_translation_serves_all_machines_of_a_cartridge() {
    let rom = program(5);
    let again = Rom::from_bytes(rom.image()).expect("the same image");
    assert!(Arc::ptr_eq(&rom, &again));
    let mut first = machine(&rom, Engine::Translator, false);
    first.tick(4, false, false);
    first.translate_now(true).expect("it can be translated");
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let mut native = machine(&again, Engine::Translator, false);
            let mut interpreted = machine(&again, Engine::Interpreter, false);
            std::thread::spawn(move || {
                for frame in 0..30 {
                    native.tick(1, false, false);
                    interpreted.tick(1, false, false);
                    assert_same(&native, &interpreted, &format!("frame {frame}"));
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().expect("no difference");
    }
}
