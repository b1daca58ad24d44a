//! States whose checksum is right and whose content is not.

use proptest::prelude::*;

use crate::savestate::{checksum, CHECKSUM_LEN, HEADER_LEN};
use crate::tests::sm83::flat_cartridge;
use crate::{GameBoy, Options};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Such a state is refused, or it is a machine that runs.
    #[test]
    fn no_content_panics_or_hangs(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        sound in any::<bool>(),
        early in any::<bool>(),
    ) {
        let rom = flat_cartridge(&[]);
        let mut gb = GameBoy::new(rom, Options { sound, ..Options::default() })
            .expect("the options are valid");
        gb.tick(3, true, false);
        let mut state = gb.save_state();
        let body_end = state.len() - CHECKSUM_LEN;
        // The registers come first, the small parts after work RAM.
        let body = if early { HEADER_LEN..HEADER_LEN + 60 } else { HEADER_LEN..body_end };
        for (index, value) in changes {
            state[body.start + index.index(body.len())] = value;
        }
        let sum = checksum(&state[..body_end]);
        state[body_end..].copy_from_slice(&sum.to_le_bytes());
        let before = gb.save_state();
        if gb.load_state(&state).is_err() {
            prop_assert!(gb.save_state() == before);
        }
        gb.tick(3, true, true);
    }

    /// PyBoy's files have no checksum: anything in them is refused, or it is a
    /// machine that runs.
    #[test]
    fn no_pyboy_file_panics_or_hangs(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        cut in proptest::option::weighted(0.1, any::<prop::sample::Index>()),
        sound in any::<bool>(),
        part in 0_usize..5,
    ) {
        let rom = flat_cartridge(&[]);
        let mut gb = GameBoy::new(rom, Options { sound, ..Options::default() })
            .expect("the options are valid");
        gb.tick(3, true, false);
        let mut state = gb.save_pyboy_state();
        // CPU and DMA, LCD, sound, timer and cartridge, anything.
        let place = match part {
            0 => 0..45,
            1 => 8397..9161,
            2 => 9161..11193,
            3 => 126_393..state.len(),
            _ => 0..state.len(),
        };
        for (index, value) in changes {
            state[place.start + index.index(place.len())] = value;
        }
        if let Some(cut) = cut {
            state.truncate(cut.index(state.len()));
        }
        let before = gb.save_state();
        if gb.load_state(&state).is_err() {
            prop_assert!(gb.save_state() == before);
        } else {
            // What was loaded can be saved, in both formats, and loaded again.
            let (ours, theirs) = (gb.save_state(), gb.save_pyboy_state());
            gb.load_state(&ours).expect("a machine loads what it saved");
            prop_assert!(gb.save_state() == ours);
            gb.load_state(&theirs).expect("and what it saved for PyBoy");
            prop_assert!(gb.save_pyboy_state() == theirs);
        }
        gb.tick(3, true, true);
    }
}
