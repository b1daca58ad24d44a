//! Why native code returned.

/// What the run loop has to do next: a reason in the lowest byte, and for waiting
/// loops more above it. (A number, as native code returns it: it is looked at as
/// often as native code is called.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exit(i64);

impl Exit {
    const WAITING: i64 = 3;
    const AT_HEAD: i64 = 4;

    /// Look again: the slice ended or another bank was mapped.
    pub(super) const AGAIN: Self = Self(0);
    /// The next block does not fit into the slice.
    pub(super) const NO_TIME: Self = Self(1);
    /// There is no translation at PC.
    pub(super) const UNKNOWN: Self = Self(2);

    /// The jump at this address went back to PC and closes a waiting loop, of which
    /// a turn takes so many T-cycles.
    pub(super) fn waiting(jump: u16, turn: u16) -> Self {
        Self(Self::WAITING | i64::from(jump) << 8 | i64::from(turn) << 24)
    }

    /// Address of the jump and T-cycles of a turn, if native code is in a waiting loop.
    #[inline]
    pub(super) fn waiting_loop(self) -> Option<(u16, u16)> {
        let is_waiting = self.0 & 0xFF == Self::WAITING;
        is_waiting.then_some(((self.0 >> 8) as u16, (self.0 >> 24) as u16))
    }

    /// At the head of a loop that may only pass the time: its number.
    pub(super) fn at_head(head: u8) -> Self {
        Self(Self::AT_HEAD | i64::from(head) << 8)
    }

    /// The number of the head, if native code is at one.
    #[inline]
    pub(super) fn head(self) -> Option<u8> {
        (self.0 & 0xFF == Self::AT_HEAD).then_some((self.0 >> 8) as u8)
    }

    pub(super) fn encode(self) -> i64 {
        self.0
    }

    pub(super) fn decode(code: i64) -> Self {
        Self(code)
    }
}
