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
}
