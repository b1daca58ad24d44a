//! Where episodes start.

use std::sync::Arc;

use emurust_core::Rom;
use emurust_core::{CoreError, GameBoy, Options, StateError};

/// A machine as it is at the start of an episode. Resetting copies it, which costs microseconds.
#[derive(Debug, Clone)]
pub struct StartState {
    name: String,
    machine: GameBoy,
}

impl StartState {
    /// The machine just switched on.
    ///
    /// # Errors
    /// Those of [`GameBoy::new`].
    pub fn power_on(rom: Arc<Rom>, options: Options) -> Result<Self, CoreError> {
        Ok(Self {
            name: "power_on".to_owned(),
            machine: GameBoy::new(rom, options)?,
        })
    }

    /// The machine as it is now.
    #[must_use]
    pub fn from_machine(name: &str, machine: GameBoy) -> Self {
        Self {
            name: name.to_owned(),
            machine,
        }
    }

    /// A machine put into a saved state.
    ///
    /// # Errors
    /// Those of [`GameBoy::load_state`].
    pub fn from_state(name: &str, mut machine: GameBoy, state: &[u8]) -> Result<Self, StateError> {
        machine.load_state(state)?;
        Ok(Self::from_machine(name, machine))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &GameBoy {
        &self.machine
    }
}
