//! Why native code returned.

/// What the run loop has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// Look again: the slice ended or another bank was mapped.
    Again,
    /// The next block does not fit into the slice.
    NoTime,
    /// There is no translation at PC.
    Unknown,
    /// A jump went back to PC and closes a waiting loop.
    Wait {
        /// Address of the jump.
        jump: u16,
        /// T-cycles of a turn of the loop.
        turn: u16,
    },
}

impl Exit {
    pub(super) fn encode(self) -> i64 {
        match self {
            Self::Again => 0,
            Self::NoTime => 1,
            Self::Unknown => 2,
            Self::Wait { jump, turn } => 3 | i64::from(jump) << 8 | i64::from(turn) << 24,
        }
    }

    pub(super) fn decode(code: i64) -> Self {
        match code & 0xFF {
            1 => Self::NoTime,
            2 => Self::Unknown,
            3 => Self::Wait {
                jump: (code >> 8) as u16,
                turn: (code >> 24) as u16,
            },
            _ => Self::Again,
        }
    }
}
