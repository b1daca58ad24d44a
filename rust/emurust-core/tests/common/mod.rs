//! Cartridges made of random but sensible programs.

#![allow(unreachable_pub, dead_code, reason = "each test file uses its part")]

use std::sync::Arc;

use emurust_core::{GameBoy, Rom};

/// A small generator, so that a seed means the same program everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    pub fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn byte(&mut self) -> u8 {
        self.next() as u8
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Puts a valid header into an image.
pub fn seal(mut image: Vec<u8>, cartridge_type: u8) -> Arc<Rom> {
    image[0x147] = cartridge_type;
    image[0x148] = (image.len() / 0x8000).trailing_zeros() as u8;
    image[0x149] = 3;
    image[0x14D] = image[0x134..=0x14C]
        .iter()
        .fold(0u8, |sum, &byte| sum.wrapping_sub(byte).wrapping_sub(1));
    Rom::from_bytes(&image).expect("the header is valid")
}

/// A cartridge of nothing but random bytes.
pub fn noise(seed: u64) -> Arc<Rom> {
    const TYPES: [u8; 8] = [0x00, 0x03, 0x06, 0x09, 0x10, 0x13, 0x1B, 0x1E];
    let mut random = Random::new(seed);
    let banks = 2 << random.below(4);
    let image = (0..banks * 0x4000).map(|_| random.byte()).collect();
    let kind = TYPES[random.below(8) as usize];
    seal(image, kind)
}

/// A cartridge whose code exercises everything that the scheduler has to get
/// right: interrupts, timer, LCD registers, DMA, bank switches, HALT, EI and DI
/// in all orders, waiting loops, code in RAM.
pub fn program(seed: u64) -> Arc<Rom> {
    let mut random = Random::new(seed);
    let mut image = vec![0; 4 * 0x4000];
    for vector in 0..8 {
        // RST targets: back at once.
        image[vector * 8] = 0xC9;
    }
    for (index, vector) in (0x40..0x68).step_by(8).enumerate() {
        let handler = 0x200 + index * 0x80;
        put(&mut image, vector, &jump_to(handler));
        let mut code = vec![0xF5, 0xE5];
        for _ in 0..random.below(6) {
            instruction(&mut random, &mut code);
        }
        code.extend([0xE1, 0xF1, 0xD9]);
        put(&mut image, handler, &code);
    }
    put(&mut image, 0x100, &jump_to(0x150));
    let mut setup = vec![0x31, 0xF0, 0xDF, 0x21, 0x00, 0xC0];
    // LDH (FF),A and LDH (41),A
    setup.extend([0x3E, random.byte() & 0x1F, 0xE0, 0xFF]);
    setup.extend([0x3E, random.byte() & 0x78, 0xE0, 0x41]);
    setup.extend([0x3E, random.byte() & 7, 0xE0, 0x07, 0xFB]);
    setup.extend(jump_to(0x600));
    put(&mut image, 0x150, &setup);
    // OAM DMA from high RAM, as programs do it, or left too early, or with
    // a look at OAM or a change of the source on the way.
    let source = [0xC1, 0xC1, 0xDF, 0x40, 0x98, 0xFE][random.below(6) as usize];
    let turns = [0x28, 1 + random.byte() % 0x30][random.below(2) as usize];
    let mut routine = vec![0x3E, source, 0xE0, 0x46];
    match random.below(6) {
        0 => routine.extend([0xEA, 0x90 + random.byte() % 16, 0xC1]),
        1 => routine.extend([0xFA, random.byte() % 0xA0, 0xFE]),
        2 => routine.extend([0x21, random.byte() % 0xA0, 0xFE, 0x34]),
        _ => {}
    }
    routine.extend([0x3E, turns, 0x3D, 0x20, 0xFD, 0xC9]);
    put(&mut image, 0x580, &routine);
    let blocks: Vec<usize> = (0..40)
        .map(|index| {
            if index < 20 {
                0x600 + index * 0x180
            } else {
                0x4000 + (index - 20) * 0x180
            }
        })
        .collect();
    for bank in 1..4 {
        for &block in &blocks {
            if block < 0x4000 && bank > 1 {
                continue;
            }
            let mut code = Vec::new();
            for _ in 0..8 + random.below(24) {
                instruction(&mut random, &mut code);
            }
            code.extend(jump_to(blocks[random.below(40) as usize]));
            let offset = if block < 0x4000 {
                block
            } else {
                (bank - 1) * 0x4000 + block
            };
            put(&mut image, offset, &code);
        }
    }
    seal(image, [0x13, 0x1B, 0x03][random.below(3) as usize])
}

/// A cartridge whose program waits for interrupts in a loop that does little, and in some
/// loops something that tells one turn from the next. Its VBlank handler may copy OAM.
pub fn waiting(seed: u64) -> Arc<Rom> {
    let mut random = Random::new(seed);
    let mut image = vec![0; 4 * 0x4000];
    // VBlank counts in work RAM, the timer moves a sprite.
    let mut handler = vec![0xF5, 0xFA, 0xF0, 0xC0, 0x3C, 0xEA, 0xF0, 0xC0];
    if random.chance(60) {
        handler.extend([0xCD, 0x80, 0xFF]);
    }
    handler.extend([0xF1, 0xD9]);
    put(&mut image, 0x40, &jump_to(0x200));
    put(&mut image, 0x200, &handler);
    put(&mut image, 0x50, &jump_to(0x280));
    let timer = [0xE5, 0x21, 0x9C, 0xC0, 0x34, 0x2C, 0x34, 0xE1, 0xD9];
    put(&mut image, 0x280, &timer);
    put(&mut image, 0x100, &jump_to(0x150));
    // The OAM DMA routine goes to high RAM.
    let mut setup = vec![0x31, 0xF0, 0xDF, 0x21, 0x80, 0x05, 0x0E, 0x80, 0x06, 0x10];
    setup.extend([0x2A, 0xE2, 0x0C, 0x05, 0x20, 0xFA]);
    // Sprites go to work RAM and are shown.
    setup.extend([0x21, 0x00, 0x40, 0x11, 0x00, 0xC0, 0x06, 0xA0]);
    setup.extend([0x2A, 0x12, 0x13, 0x05, 0x20, 0xFA, 0x3E, 0x93, 0xE0, 0x40]);
    let sprites: Vec<u8> = (0..0xA0).map(|_| random.byte()).collect();
    put(&mut image, 0x4000, &sprites);
    setup.extend([0x3E, [1, 4, 5][random.below(3) as usize], 0xE0, 0xFF]);
    setup.extend([0x3E, 4 + random.byte() % 4, 0xE0, 0x07, 0xFB]);
    setup.extend(jump_to(0x600));
    put(&mut image, 0x150, &setup);
    let turns = [0x28, 0x28, 0x27, 0x29, 0x30][random.below(5) as usize];
    let source = [0xC0, 0xC0, 0xDF, 0x40][random.below(4) as usize];
    let routine = [
        0x3E, source, 0xE0, 0x46, 0x3E, turns, 0x3D, 0x20, 0xFD, 0xC9,
    ];
    put(&mut image, 0x580, &routine);
    // What the loop calls: the buttons.
    put(&mut image, 0x700, &[0xF0, 0x00, 0x2F, 0xE6, 0x0F, 0xC9]);
    let mut code = Vec::new();
    for _ in 0..1 + random.below(5) {
        idle(&mut random, &mut code);
    }
    if random.chance(50) {
        telling(&mut random, &mut code);
    }
    code.extend(jump_to(0x600));
    put(&mut image, 0x600, &code);
    seal(image, 0x1B)
}

/// Appends what is the same in every turn of a loop.
fn idle(random: &mut Random, code: &mut Vec<u8>) {
    let (turns, more) = (1 + random.byte() % 40, 1 + random.byte() % 6);
    match random.below(9) {
        0 => code.extend([0xCD, 0x00, 0x07]),
        // A flag of the handler.
        1 => code.extend([0xFA, 0xF0, 0xC0, 0xB7, 0x28, 0x01, 0x00]),
        2 => code.extend([0x06, turns, 0x05, 0x20, 0xFD]),
        3 => code.extend([0x16, more, 0x06, turns, 0x05, 0x20, 0xFD, 0x15, 0x20, 0xF8]),
        4 => code.extend([0xE5, 0xC5, 0xC1, 0xE1]),
        5 => code.extend([0x3E, turns, 0xEA, 0x10, 0xC0]),
        6 => code.extend([0x3E, 0x20, 0xE0, 0x00, 0xF0, 0x00, 0x3E, 0x30, 0xE0, 0x00]),
        7 => code.extend([0x08, 0x30, 0xC0, 0xF8, 0x02, 0x7E]),
        _ => code.extend([0xF0, 0x0F, 0xE6, 0x04, 0x18, 0x00]),
    }
}

/// Appends what is not.
fn telling(random: &mut Random, code: &mut Vec<u8>) {
    let high = [0xC0, 0xC0, 0xC0, 0x80, 0xA0, 0xFE][random.below(6) as usize];
    match random.below(9) {
        0..=2 => code.extend([0x21, 0x20, high, 0x34]),
        // The timer, or the LCD.
        kind @ (3 | 4) => {
            let registers = [[0x04, 0x05], [0x41, 0x44]][kind as usize - 3];
            let register = registers[random.below(2) as usize];
            code.extend([0xF0, register, 0xEA, 0x0E + kind as u8, 0xC0]);
        }
        5 => code.extend([0xF0, 0x90, 0x3C, 0xE0, 0x90]),
        // OAM DMA anywhere in the frame.
        6 | 7 => code.extend([0xCD, 0x80, 0xFF]),
        // Another value in every second turn, and a bank that follows it.
        _ => code.extend([
            0xFA, 0x40, 0xC0, 0xEE, 0x01, 0xEA, 0x40, 0xC0, 0xEA, 0x00, 0x20,
        ]),
    }
}

/// A cartridge that changes what the LCD shows from line to line, as games do it: in the
/// handler of the STAT interrupt, or waiting for lines and modes, with sprites about.
pub fn raster(seed: u64) -> Arc<Rom> {
    let mut random = Random::new(seed);
    let mut image = vec![0; 4 * 0x4000];
    for (vector, handler, steps) in [(0x40, 0x200, 4), (0x48, 0x280, 6), (0x50, 0x380, 2)] {
        put(&mut image, vector, &jump_to(handler));
        let mut code = vec![0xF5, 0xE5];
        for _ in 0..random.below(steps) {
            raster_step(&mut random, &mut code);
        }
        code.extend([0xE1, 0xF1, [0xD9, 0xD9, 0xC9][random.below(3) as usize]]);
        put(&mut image, handler, &code);
    }
    put(&mut image, 0x100, &jump_to(0x150));
    // Sprites: some lines have many, and the window may be shown.
    let mut setup = vec![0x31, 0xF0, 0xDF, 0x21, 0x00, 0x40, 0x11, 0x00, 0xFE, 0xAF];
    setup.extend([0xE0, 0x40, 0x06, 0xA0, 0x2A, 0x12, 0x13, 0x05, 0x20, 0xFA]);
    let sprites: Vec<u8> = (0..0xA0)
        .map(|index| match index % 4 {
            0 => random.byte() % [40, 176][random.below(2) as usize],
            _ => random.byte(),
        })
        .collect();
    put(&mut image, 0x4000, &sprites);
    let scx = random.byte();
    setup.extend([
        0x3E,
        0x81 | random.byte() & 0x7E,
        0xE0,
        0x40,
        0x3E,
        scx,
        0xE0,
        0x43,
    ]);
    setup.extend([0x3E, stat_sources(&mut random), 0xE0, 0x41]);
    setup.extend([0x3E, random.byte() % 154, 0xE0, 0x45]);
    setup.extend([0x3E, interrupts(&mut random), 0xE0, 0xFF]);
    setup.extend([0x3E, random.byte() & 7, 0xE0, 0x07, 0xFB]);
    setup.extend(jump_to(0x600));
    put(&mut image, 0x150, &setup);
    let mut code = Vec::new();
    for _ in 0..1 + random.below(8) {
        raster_step(&mut random, &mut code);
    }
    if random.chance(40) {
        code.extend([0x76, 0x00]);
    }
    code.extend(jump_to(0x600));
    put(&mut image, 0x600, &code);
    seal(image, 0x1B)
}

/// One source for STAT most often, as games have it.
fn stat_sources(random: &mut Random) -> u8 {
    [0x08, 0x08, 0x10, 0x20, 0x40, 0x40, 0x48, 0x28, 0x00, 0x78][random.below(10) as usize]
}

/// What is enabled: VBlank and STAT, as a rule.
fn interrupts(random: &mut Random) -> u8 {
    [0x03, 0x03, 0x03, 0x01, 0x02, 0x07, 0x05, 0x00][random.below(8) as usize]
}

/// Appends a step of a program for lines.
fn raster_step(random: &mut Random, code: &mut Vec<u8>) {
    let (line, turns) = (random.byte() % 160, 1 + random.byte() % 40);
    match random.below(20) {
        // At the top or below a line another scroll.
        0 | 1 => {
            let value = random.byte() & 0x0F;
            code.extend([0xF0, 0x44, 0xFE, line, 0x30, 0x04, 0x3E, value, 0xE0, 0x43]);
        }
        // The next line that has an interrupt.
        2 => code.extend([0xF0, 0x45, 0xC6, 1 + line % 16, 0xE0, 0x45]),
        3 => code.extend([0x3E, line, 0xE0, 0x45]),
        4 => code.extend([0x3E, stat_sources(random), 0xE0, 0x41]),
        5 => code.extend([0x3E, interrupts(random), 0xE0, 0xFF]),
        6 => code.extend([
            0xF0,
            0x0F,
            0xE6,
            [0x02, 0x01, 0x1F][random.below(3) as usize],
        ]),
        7 => code.extend([0x3E, random.byte() & 0x03, 0xE0, 0x0F]),
        // LCDC, SCY, SCX, the palettes, WY, WX.
        8 | 9 => {
            let register =
                [0x40, 0x42, 0x43, 0x43, 0x47, 0x48, 0x4A, 0x4B][random.below(8) as usize];
            let value = random.byte() | if register == 0x40 { 0x81 } else { 0 };
            code.extend([0x3E, value, 0xE0, register]);
        }
        // A sprite moves.
        10 => code.extend([0x21, random.byte() % 0xA0, 0xFE, 0x34]),
        // VRAM, by the two ways.
        11 => code.extend([0x11, line, 0x98, 0x12]),
        12 => code.extend([0x21, line, 0x80, 0x34, 0x7E]),
        // Waiting for LY, with one way out or two.
        13 => {
            let jump = [0x20, 0x28, 0x30, 0x38][random.below(4) as usize];
            code.extend([0xF0, 0x44, 0xFE, line, jump, 0xFA]);
        }
        14 => {
            let out = [0x20, 0x28, 0x30, 0x38][random.below(4) as usize];
            let back = [0x20, 0x28, 0x30, 0x38, 0x18][random.below(5) as usize];
            let other = random.byte() % 154;
            code.extend([0xF0, 0x44, 0xFE, line, out, 0x04, 0xD6, other, back, 0xF6]);
        }
        15 => {
            let mask = [0x07, 0x0F, 0x1C][random.below(3) as usize];
            code.extend([0xFA, 0x44, 0xFF, 0xE6, mask, 0x20, 0xF9]);
        }
        // For a mode, or an interrupt's request.
        16 => {
            let (mask, mode) = (0x03, random.byte() & 3);
            code.extend([0xF0, 0x41, 0xE6, mask, 0xFE, mode, 0x20, 0xF8]);
        }
        17 => code.extend([0xF0, 0x41, 0xE6, 0x02, 0x20, 0xFA]),
        // Counting down, for a part of a line or for some.
        18 => code.extend([0x3E, turns, 0x3D, 0x20, 0xFD]),
        _ => code.extend([0x06, turns, 0xC5, 0xC1, 0x05, 0x20, 0xFB]),
    }
}

fn jump_to(target: usize) -> [u8; 3] {
    [0xC3, target as u8, (target >> 8) as u8]
}

fn put(image: &mut [u8], offset: usize, code: &[u8]) {
    image[offset..offset + code.len()].copy_from_slice(code);
}

/// Seeds to try: `usually` so many, many more with `EMURUST_LONG=1`.
pub fn seeds(usually: u64) -> std::ops::Range<u64> {
    let long = std::env::var_os("EMURUST_LONG").is_some();
    0..if long { usually * 200 } else { usually }
}

/// Appends an instruction, or a few that belong together.
fn instruction(random: &mut Random, code: &mut Vec<u8>) {
    const REGISTERS: [u8; 28] = [
        0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x0F, 0x10, 0x11, 0x12, 0x14, 0x1A, 0x1C, 0x1E,
        0x23, 0x26, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x47, 0x48, 0x4A, 0x4B, 0x30,
    ];
    let register = REGISTERS[random.below(28) as usize];
    match random.below(34) {
        // Arithmetic between registers, loads, CB operations.
        0..=6 => code.push(0x40 + (random.byte() & 0x3F)),
        7..=9 => code.push(0x80 + (random.byte() & 0x3F)),
        10 => code.extend([0xCB, random.byte()]),
        11 => code.extend([[0x04, 0x0C, 0x14, 0x1C, 0x3C, 0x34][random.below(6) as usize]]),
        12 => code.extend([0x3E, random.byte()]),
        13 => code.extend([[0x27, 0x2F, 0x37, 0x3F, 0x07, 0x17][random.below(6) as usize]]),
        14 => code.extend([[0xC5, 0xD5, 0xE5, 0xF5][random.below(4) as usize], 0xC1]),
        // HL into work RAM, VRAM, OAM, echo, cartridge RAM.
        15 | 16 => {
            let high = [0xC0, 0xC1, 0x80, 0x98, 0xFE, 0xE0, 0xA0][random.below(7) as usize];
            code.extend([0x21, random.byte() & 0x9F, high]);
        }
        17 => code.push([0x22, 0x2A, 0x32, 0x3A, 0x77, 0x36][random.below(5) as usize]),
        18 => code.extend([
            0x11,
            random.byte(),
            0xC1,
            [0x12, 0x1A][random.below(2) as usize],
        ]),
        // Registers.
        19 | 20 => code.extend([0xF0, register]),
        21 | 22 => {
            // Switching the LCD off all the time would hide the rest.
            let lcd_off = register == 0x40 && !random.chance(10);
            let value = random.byte() | if lcd_off { 0x80 } else { 0 };
            code.extend([0x3E, value, 0xE0, register]);
        }
        23 => code.extend([0x0E, register, [0xF2, 0xE2][random.below(2) as usize]]),
        24 => code.extend([
            0x3E,
            random.byte() & 0x1F,
            0xE0,
            [0xFF, 0x0F][random.below(2) as usize],
        ]),
        // Interrupt control.
        25 => code.push(0xFB),
        26 => code.push(0xF3),
        27 => code.extend([[0xFB, 0x00][random.below(2) as usize], 0x76, 0x00]),
        // Bank switches.
        28 => code.extend([0x3E, random.byte() & 3, 0xEA, 0x00, 0x20]),
        29 => code.extend([
            0x3E,
            [0x0A, 0x00][random.below(2) as usize],
            0xEA,
            0x00,
            0x00,
        ]),
        // Waiting loops: for LY, for STAT, counted, with padding.
        30 => match random.below(5) {
            0 => {
                let jump = [0x20, 0x28, 0x30, 0x38][random.below(4) as usize];
                code.extend([0xF0, 0x44, 0xFE, 1 + random.byte() % 153, jump, 0xFA]);
            }
            1 => code.extend([0xF0, 0x41, 0xE6, 0x03, 0x20, 0xFA]),
            2 => code.extend([0x06, random.byte(), 0x05, 0x20, 0xFD]),
            3 => code.extend([0x01, random.byte(), 0x02, 0x0B, 0x78, 0xB1, 0x20, 0xFB]),
            _ => code.extend([0x0E, random.byte(), 0xC5, 0xC1, 0x00, 0x0D, 0x20, 0xFA]),
        },
        31 => code.extend([0xF0, 0x04, 0xE6, 0x10, 0x28, 0xFA]),
        // The DMA routine: copied to high RAM and called.
        32 => {
            if random.chance(50) {
                // In VBlank.
                code.extend([0xF0, 0x44, 0xFE, 0x90, 0x38, 0xFA]);
            }
            code.extend([0x21, 0x80, 0x05, 0x0E, 0x80, 0x06, 0x10]);
            code.extend([0x2A, 0xE2, 0x0C, 0x05, 0x20, 0xFA, 0xCD, 0x80, 0xFF]);
        }
        // Forward branches.
        _ => code.extend([
            [0x20, 0x28, 0x30, 0x38][random.below(4) as usize],
            0x01,
            0x3C,
        ]),
    }
}

/// Everything that can be seen of two machines, and what cannot, is equal.
pub fn assert_same(fast: &GameBoy, exact: &GameBoy, when: &str) {
    assert_eq!(fast.cycles(), exact.cycles(), "cycles {when}");
    assert_eq!(fast.registers(), exact.registers(), "registers {when}");
    assert_eq!(fast.internals(), exact.internals(), "internals {when}");
    for addr in 0x8000..=0xFFFF {
        let (a, b) = (fast.peek(addr), exact.peek(addr));
        assert_eq!(a, b, "{addr:04X} {when}");
    }
    assert_eq!(fast.cart_ram(), exact.cart_ram(), "cartridge RAM {when}");
    assert!(fast.shades() == exact.shades(), "picture {when}");
    assert_eq!(fast.line_parameters(), exact.line_parameters(), "{when}");
}
