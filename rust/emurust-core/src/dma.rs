//! OAM DMA (Pan Docs: OAM DMA Transfer).
//!
//! PyBoy copies lazily: a byte is read from its source when the transfer is next
//! advanced (at a slice end, an access at or above FF00, or an OAM access), not
//! at its nominal time.

use crate::savestate::{state_fields, StateError};

pub(crate) const LENGTH: u8 = 0xA0;
/// Upper three bits of a source in VRAM, which cannot always be read.
pub(crate) const VRAM_SOURCE: u8 = 0b100;
const START_DELAY: u64 = 12;
const RESTART_DELAY: u64 = 8;

#[derive(Debug, Clone, Default)]
pub(crate) struct OamDma {
    pub(crate) active: bool,
    /// High byte of the source, as last written to FF46.
    pub(crate) source: u8,
    /// Bytes copied so far.
    pub(crate) copied: u8,
    pub(crate) starts_at: u64,
}

state_fields!(OamDma {
    active,
    source,
    copied,
    starts_at
});

impl OamDma {
    pub(crate) fn start(&mut self, source: u8, now: u64) {
        let delay = if self.active && self.copied == 0 {
            RESTART_DELAY
        } else {
            START_DELAY
        };
        *self = Self {
            active: true,
            source,
            copied: 0,
            starts_at: now + delay,
        };
    }

    /// Bytes that are due at cycle `now`.
    pub(crate) fn due(&self, now: u64) -> u8 {
        (now.saturating_sub(self.starts_at) / 4).min(u64::from(LENGTH)) as u8
    }

    /// Page that the transfer reads: on the DMG the last two mirror work RAM.
    pub(crate) fn source_page(&self) -> u16 {
        match self.source {
            page @ 0xFE.. => u16::from(page - 0x20) << 8,
            page => u16::from(page) << 8,
        }
    }

    /// The CPU reads FF from OAM.
    pub(crate) fn blocks_reads(&self, now: u64) -> bool {
        self.active && now >= self.starts_at
    }

    /// Checks what a saved state brought.
    pub(crate) fn validate(&self) -> Result<(), StateError> {
        if self.copied > LENGTH {
            return Err(StateError::BadField {
                field: "dma_copied",
                value: self.copied.into(),
            });
        }
        Ok(())
    }
}
