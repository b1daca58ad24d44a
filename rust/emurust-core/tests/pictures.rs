//! Lines are drawn only where something has changed: that must not show.

mod common;

use common::{program, seal, seeds, Random};
use emurust_core::{GameBoy, Options, Rom};
use std::sync::Arc;

fn machine(rom: &Arc<Rom>) -> GameBoy {
    GameBoy::new(Arc::clone(rom), Options::default()).expect("the options are plain")
}

/// Something that a program might do to the picture between two frames.
fn change_picture(machine: &mut GameBoy, random: &mut Random) {
    let value = random.byte();
    match random.below(8) {
        0 => machine.vram_mut()[random.below(0x2000) as usize] = value,
        1 => machine.write(0x8000 + random.below(0x2000) as u16, value),
        // Of the sprites or of their places.
        2 => machine.write(0xFE00 + random.below(0xA0) as u16, value),
        3 => machine.oam_mut()[random.below(40) as usize * 4] = value % 160,
        // Palettes, scrolling, the window.
        4 => machine.write(0xFF42 + random.below(10) as u16 % 2, value),
        5 => machine.write(0xFF47 + random.below(5) as u16, value),
        6 => machine.write(0xFF40, value | 0x80),
        _ => {}
    }
}

/// A cartridge that runs `code` over and over, at 0150.
fn cartridge(code: &[u8]) -> Arc<Rom> {
    let mut image = vec![0; 0x8000];
    image[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
    image[0x150..0x150 + code.len()].copy_from_slice(code);
    let jump = 0x150 + code.len();
    image[jump..jump + 3].copy_from_slice(&[0xC3, 0x50, 0x01]);
    seal(image, 0)
}

fn compare(rom: &Arc<Rom>, seed: u64, frames: u32) {
    let mut random = Random::new(!seed);
    let mut playing = machine(rom);
    let mut fresh = machine(rom);
    playing.vram_mut().fill_with(|| random.byte());
    playing.oam_mut().fill_with(|| random.byte());
    for frame in 0..frames {
        if random.chance(50) {
            change_picture(&mut playing, &mut random);
        }
        let render = random.chance(70);
        // A machine that loads a state knows nothing of how its screen was drawn.
        fresh
            .load_state(&playing.save_state())
            .expect("its own state");
        for machine in [&mut playing, &mut fresh] {
            machine.run_frame(render, false);
        }
        assert!(
            playing.shades() == fresh.shades(),
            "seed {seed}, frame {frame}"
        );
    }
}

#[test]
fn what_is_not_drawn_again_is_right() {
    // JR to itself
    let quiet = cartridge(&[0x18, 0xFE]);
    for seed in seeds(40) {
        compare(&quiet, seed, 60);
    }
}

#[test]
fn what_a_program_writes_to_vram_is_drawn() {
    // LD HL,9800; LD B,40; INC (HL); INC HL; DEC B; JR NZ; LD A,(FF44); LD (FF43),A
    let scribbling = cartridge(&[
        0x21, 0x00, 0x98, 0x06, 0x40, 0x34, 0x23, 0x05, 0x20, 0xFB, 0xF0, 0x44, 0xE0, 0x43,
    ]);
    for seed in seeds(10) {
        compare(&scribbling, seed, 20);
    }
    // The same now and then only: HALT, until nothing wakes it.
    let pausing = cartridge(&[0x21, 0x00, 0x98, 0x34, 0x76]);
    for seed in seeds(10) {
        compare(&pausing, seed, 40);
    }
}

#[test]
fn random_programs_are_drawn_right() {
    for seed in seeds(40) {
        compare(&program(seed), seed, 40);
    }
}
