//! Every instruction against recorded single steps (the `sm83` set of
//! SingleStepTests): registers, flags, memory and cycles.
//!
//! The set is not part of the repository: `EMURUST_TEST_ROMS` names the folder
//! that holds `sm83/`, or `../shared/roms` is tried.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::cpu::interpreter::Lookahead;
use crate::machine::Machine;
use crate::{Registers, Rom};

#[derive(Deserialize)]
struct Vector {
    name: String,
    initial: State,
    #[serde(rename = "final")]
    result: State,
    cycles: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct State {
    a: u8,
    b: u8,
    c: u8,
    d: u8,
    e: u8,
    f: u8,
    h: u8,
    l: u8,
    pc: u16,
    sp: u16,
    ime: u8,
    ram: Vec<(u16, u8)>,
}

impl State {
    fn registers(&self) -> Registers {
        Registers {
            a: self.a,
            f: self.f,
            b: self.b,
            c: self.c,
            d: self.d,
            e: self.e,
            hl: u16::from_be_bytes([self.h, self.l]),
            sp: self.sp,
            pc: self.pc,
        }
    }
}

/// STOP and HALT end a machine cycle earlier here, as in PyBoy.
const DIFFERENT_IN_PYBOY: [&str; 2] = ["10", "76"];

/// A cartridge with RAM that is always enabled, and the given bytes in its ROM.
pub(super) fn flat_cartridge(bytes: &[(u16, u8)]) -> Arc<Rom> {
    let mut image = vec![0; 0x8000];
    image[0x147] = 0x08;
    for &(addr, value) in bytes {
        if let Some(cell) = image.get_mut(usize::from(addr)) {
            *cell = value;
        }
    }
    image[0x14D] = image[0x134..=0x14C]
        .iter()
        .fold(0u8, |sum, &byte| sum.wrapping_sub(byte).wrapping_sub(1));
    Rom::from_bytes(&image).expect("the header is valid")
}

fn vectors() -> Option<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder = match std::env::var_os("EMURUST_TEST_ROMS") {
        Some(folder) => PathBuf::from(folder),
        None => here.join("../../../shared/roms"),
    };
    let folder = folder.join("sm83");
    folder.is_dir().then_some(folder)
}

/// Memory that neither registers nor the header get in the way of.
fn is_plain(addr: u16, written: bool) -> bool {
    match addr {
        0x0000..=0x7FFF => !written && !(0x134..0x150).contains(&addr),
        0x8000..=0xDFFF | 0xFF80..=0xFFFE => true,
        _ => false,
    }
}

/// Addresses that the instruction writes, be it with what was there.
fn written(vector: &Vector) -> Vec<u16> {
    let write = |cycle: &serde_json::Value| {
        let is_write = cycle.get(2)?.as_str()?.contains('w');
        let addr = u16::try_from(cycle.get(0)?.as_u64()?).ok()?;
        is_write.then_some(addr)
    };
    vector.cycles.iter().filter_map(write).collect()
}

fn runs_in_plain_memory(vector: &Vector) -> bool {
    let written = written(vector);
    let cells = vector.initial.ram.iter().chain(&vector.result.ram);
    let mut addresses = cells.map(|cell| cell.0);
    addresses.all(|addr| is_plain(addr, written.contains(&addr)))
        // The two last bytes of the first bank are fetched from another bank (PyBoy's quirk).
        && !(0x3FFC..0x4000).contains(&vector.initial.pc)
        && !(0x7FFC..0x8000).contains(&vector.initial.pc)
}

fn check(vector: &Vector) {
    let rom = flat_cartridge(&vector.initial.ram);
    let mut machine = Machine::at_hand_over(&rom, false);
    machine.cpu.set_registers(vector.initial.registers());
    machine.cpu.ime = vector.initial.ime != 0;
    for &(addr, value) in &vector.initial.ram {
        if addr >= 0x8000 {
            machine.write_bus(rom.code(None), addr, value, 0, 0);
        }
    }
    let start = machine.cycles;
    machine.slice_end = u64::MAX;
    machine.slice_target = u64::MAX;
    machine.step(rom.code(None), &mut Lookahead::default());
    let name = &vector.name;
    assert_eq!(machine.cpu.registers(), vector.result.registers(), "{name}");
    let cycles = machine.cycles - start;
    assert_eq!(cycles, 4 * vector.cycles.len() as u64, "cycles of {name}");
    for &(addr, value) in &vector.result.ram {
        assert_eq!(
            machine.peek(rom.code(None), addr),
            value,
            "{addr:04X} after {name}"
        );
    }
}

#[test]
fn instructions_match_the_recorded_steps() {
    let Some(folder) = vectors() else {
        eprintln!("skipped: no sm83 folder in EMURUST_TEST_ROMS or ../shared/roms");
        return;
    };
    let mut checked = 0;
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("");
        let Some(opcode) = name.strip_suffix(".json.gz") else {
            continue;
        };
        files += 1;
        if DIFFERENT_IN_PYBOY.contains(&opcode) {
            continue;
        }
        let file = std::fs::File::open(&path).expect("the file is readable");
        let mut text = String::new();
        GzDecoder::new(file)
            .read_to_string(&mut text)
            .expect("the file is a gzip file");
        let vectors: Vec<Vector> = serde_json::from_str(&text).expect("the file is JSON");
        for vector in vectors.iter().filter(|vector| runs_in_plain_memory(vector)) {
            check(vector);
            checked += 1;
        }
    }
    assert_eq!(files, 500, "one file for each opcode");
    assert!(
        checked > 30_000,
        "only {checked} vectors ran in plain memory"
    );
}
