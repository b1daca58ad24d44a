//! Why native code returned.

/// What the run loop has to do next: a reason in the lowest byte, and for waiting
/// loops more above it. (A number, as native code returns it: it is looked at as
/// often as native code is called.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exit(i64);

impl Exit {
    /// Look again: the slice ended or another bank was mapped.
    pub(super) const AGAIN: Self = Self(0);
    /// The next block does not fit into the slice.
    pub(super) const NO_TIME: Self = Self(1);
    /// There is no translation at PC.
    pub(super) const UNKNOWN: Self = Self(2);

    /// The jump at this address went back to PC and closes a waiting loop, of which
    /// a turn takes so many T-cycles.
    pub(super) fn waiting(jump: u16, turn: u16) -> Self {
        Self(3 | i64::from(jump) << 8 | i64::from(turn) << 24)
    }

    /// Address of the jump and T-cycles of a turn, of a waiting loop.
    pub(super) fn waiting_loop(self) -> (u16, u16) {
        ((self.0 >> 8) as u16, (self.0 >> 24) as u16)
    }

    pub(super) fn encode(self) -> i64 {
        self.0
    }

    pub(super) fn decode(code: i64) -> Self {
        Self(code)
    }
}
