//! Saved states: complete, checked, and harmless when broken.

mod common;

use common::{noise, program, Random};
use emurust_core::{GameBoy, Options, StateError, Unsaved};

fn machine(seed: u64, sound: bool) -> GameBoy {
    let options = Options {
        sound,
        ..Options::default()
    };
    GameBoy::new(program(seed), options).expect("the options are valid")
}

#[test]
fn restoring_and_continuing_equals_never_having_stopped() {
    for seed in 0..40 {
        for sound in [false, true] {
            let mut straight = machine(seed, sound);
            straight.tick(1 + seed as u32 % 7, true, false);
            let state = straight.save_state();
            assert_eq!(state.len(), straight.state_len());
            let mut restored = machine(seed, sound);
            restored.tick(3, false, false);
            restored.load_state(&state).expect("the state fits");
            for frame in 0..6 {
                straight.tick(1, frame % 2 == 0, false);
                restored.tick(1, frame % 2 == 0, false);
                let same = straight.save_state() == restored.save_state();
                assert!(same, "seed {seed}, sound {sound}, frame {frame}");
            }
        }
    }
}

#[test]
fn a_fork_equals_its_origin_and_then_leaves_it_alone() {
    let mut origin = machine(1, false);
    origin.tick(5, true, false);
    let mut fork = machine(1, false);
    fork.copy_from(&origin).expect("the cartridge is the same");
    assert!(fork.save_state() == origin.save_state());
    let before = origin.save_state();
    fork.tick(3, true, false);
    assert!(origin.save_state() == before);
    origin.tick(3, true, false);
    assert!(fork.save_state() == origin.save_state());
}

#[test]
fn states_that_do_not_fit_are_refused_and_change_nothing() {
    let mut gb = machine(1, false);
    gb.tick(4, true, false);
    let state = gb.save_state();
    let mut other_version = state.clone();
    other_version[8] = 99;
    let mut damaged = state.clone();
    damaged[500] ^= 1;
    let mut longer = state.clone();
    longer.push(0);
    let other_rom = machine(2, false).save_state();
    let with_sound = machine(1, true).save_state();
    type Check = fn(&StateError) -> bool;
    let refused: [(&[u8], Check); 8] = [
        (b"", |e| matches!(e, StateError::BadMagic)),
        (b"not a state of anything", |e| {
            matches!(e, StateError::BadMagic)
        }),
        (&state[..10], |e| {
            matches!(e, StateError::BadLength { found: 10, .. })
        }),
        (&state[..state.len() - 1], |e| {
            matches!(e, StateError::BadLength { .. })
        }),
        (&longer, |e| matches!(e, StateError::BadLength { .. })),
        (&other_version, |e| {
            matches!(e, StateError::BadVersion { found: 99, .. })
        }),
        (&damaged, |e| matches!(e, StateError::BadChecksum)),
        (&other_rom, |e| matches!(e, StateError::OtherRom { .. })),
    ];
    for (bytes, expected) in refused {
        let error = gb.load_state(bytes).expect_err("the state does not fit");
        assert!(expected(&error), "{error}");
        assert!(gb.save_state() == state, "the machine changed: {error}");
    }
    let error = gb.load_state(&with_sound).expect_err("the settings differ");
    assert!(
        matches!(
            error,
            StateError::OtherSound {
                saved: true,
                here: false
            }
        ),
        "{error}"
    );
}

#[test]
fn a_buffer_that_is_too_short_is_refused() {
    let gb = machine(1, false);
    let mut short = vec![0; gb.state_len() - 1];
    assert!(gb.save_state_into(&mut short).is_err());
    let mut long = vec![7; gb.state_len() + 3];
    let written = gb.save_state_into(&mut long).expect("it fits");
    assert_eq!(written, gb.state_len());
    assert_eq!(long[written..], [7, 7, 7]);
}

#[test]
fn noise_neither_panics_nor_hangs() {
    for seed in 0..150 {
        let options = Options {
            sound: seed % 2 == 0,
            ..Options::default()
        };
        let mut gb = GameBoy::new(noise(seed), options).expect("the options are valid");
        let mut random = Random::new(seed);
        for _ in 0..20 {
            gb.set_buttons(random.byte());
            gb.tick(1, true, true);
        }
    }
}

#[test]
fn pyboy_files_hold_everything_but_what_pyboy_forgets() {
    for seed in 0..40 {
        for sound in [false, true] {
            let mut straight = machine(seed, sound);
            straight.tick(2 + seed as u32 % 7, true, false);
            if straight.is_locked() {
                // PyBoy has no such state: it would not have come back.
                continue;
            }
            let file = straight.save_pyboy_state();
            assert_eq!(file[0], 29);
            // Everything else is there already.
            let mut restored = straight.clone();
            restored
                .load_pyboy_state(&file, Unsaved::Keep)
                .expect("the file fits");
            assert!(restored.save_pyboy_state() == file);
            for frame in 0..6 {
                straight.tick(1, true, false);
                restored.tick(1, true, false);
                assert_eq!(straight.registers(), restored.registers());
                assert_eq!(straight.cycles(), restored.cycles());
                let same = straight.wram() == restored.wram()
                    && straight.hram() == restored.hram()
                    && straight.shades() == restored.shades();
                assert!(same, "seed {seed}, sound {sound}, frame {frame}");
            }
        }
    }
}

#[test]
fn files_that_are_none_of_pyboys_are_named() {
    let mut gb = machine(1, false);
    let file = gb.save_pyboy_state();
    let len = file.len();
    let mut cgb = file.clone();
    cgb[5] = 1;
    let mut rate = file.clone();
    rate[9169..9177].copy_from_slice(&736_u64.to_le_bytes());
    let mut boot = file.clone();
    boot[1] = 1;
    let mut newer = file.clone();
    newer[0] = 30;
    let mut older = file.clone();
    older[0] = 6;
    let mut times = file.clone();
    times[9135] ^= 1;
    let before = gb.save_state();
    let cases: [(&[u8], StateError); 9] = [
        (&[], StateError::BadMagic),
        (&newer, StateError::BadMagic),
        (&older, StateError::BadMagic),
        (&cgb, StateError::OtherModel),
        (
            &rate,
            StateError::OtherSampleRate {
                samples_per_frame: 736,
            },
        ),
        (&boot, StateError::NeedsBootRom),
        (
            &file[..len - 1],
            StateError::BadLength {
                found: len - 1,
                expected: len,
            },
        ),
        (
            &[&file[..], &[0]].concat(),
            StateError::BadLength {
                found: len + 1,
                expected: len,
            },
        ),
        (
            &times,
            StateError::BadField {
                field: "lcd_last_cycle",
                value: gb.cycles() ^ 1,
            },
        ),
    ];
    for (state, error) in cases {
        assert_eq!(gb.load_state(state), Err(error));
    }
    assert!(gb.save_state() == before);
}
