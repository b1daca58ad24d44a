//! The moment at which PyBoy's boot program hands over to the cartridge.
//!
//! PyBoy runs its own boot program, which ignores the cartridge, so that this
//! state is a constant. The program and the tiles it draws are not ours to
//! ship: a machine without a boot ROM starts here, with VRAM zero. The tests run
//! the program of an installed PyBoy and check every other value.

use std::sync::Arc;

use thiserror::Error;

/// Length of a DMG boot ROM.
pub(crate) const BOOT_ROM_LEN: usize = 256;
/// Cycle of the first instruction of the cartridge.
pub(crate) const HAND_OVER_AT: u64 = 4_507_360;
/// Index in HRAM and value of the one byte that the boot program leaves there.
pub(crate) const HRAM_BYTE: (usize, u8) = (0x7C, 0xB1);

/// A boot program, mapped over the cartridge's first bytes at power-on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootRom {
    bytes: [u8; BOOT_ROM_LEN],
}

/// Why a file is not a boot ROM.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BootRomError {
    /// Only the 256-byte programs of the original Game Boy fit.
    #[error("a boot ROM of the original Game Boy has exactly 256 bytes, this one has {len}")]
    BadLength {
        /// Length of the file.
        len: usize,
    },
}

impl BootRom {
    /// Checks a boot ROM image.
    ///
    /// # Errors
    /// [`BootRomError`] if it does not have 256 bytes.
    pub fn from_bytes(image: &[u8]) -> Result<Arc<Self>, BootRomError> {
        let bytes = image
            .try_into()
            .map_err(|_| BootRomError::BadLength { len: image.len() })?;
        Ok(Arc::new(Self { bytes }))
    }

    /// The program.
    #[must_use]
    pub fn bytes(&self) -> &[u8; BOOT_ROM_LEN] {
        &self.bytes
    }
}
