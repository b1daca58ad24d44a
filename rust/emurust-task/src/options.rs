//! What a user may change about a task without writing a new file.

/// Which observation a task gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ObservationKind {
    /// Every field, as a Dict.
    #[default]
    Dict,
    /// The screens only, as one Box.
    Screen,
    /// Everything but the screens, as a Dict; nothing is rendered.
    Ram,
    /// Every field, as one flat box of bytes: the record itself.
    All,
    /// Every field in its smallest form (2 bits a pixel, one bit a flag), as one flat box of bytes.
    Packed,
}

impl ObservationKind {
    /// The option's values, in the order of the variants.
    pub const NAMES: [&'static str; 5] = ["dict", "screen", "ram", "all", "packed"];

    /// The option value.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Whether Gymnasium sees the record as one flat box of bytes.
    #[must_use]
    pub const fn is_flat(self) -> bool {
        matches!(self, ObservationKind::All | ObservationKind::Packed)
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        use ObservationKind::{All, Dict, Packed, Ram, Screen};
        [Dict, Screen, Ram, All, Packed]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// Size of the screen in observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// 144 x 160.
    Full,
    /// 72 x 80.
    Half,
}

/// One piece of RAM to hand out each step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watch {
    /// A variable of the task, or a symbol.
    Name(String),
    /// `len` bytes from an address.
    Range {
        /// First address.
        address: u16,
        /// Number of bytes.
        len: u16,
    },
}

/// Changes to a task. `None` leaves what the file says, and so do weights that are not named.
#[derive(Debug, Clone, Default)]
pub struct TaskOptions {
    /// Observation kind.
    pub observation: Option<ObservationKind>,
    /// Frames per step (1 to 10,000). 0 runs no frames at all: for measuring the overhead.
    pub frame_skip: Option<u32>,
    /// Frames for which the button is held (1 to `frame_skip`).
    pub hold_frames: Option<u32>,
    /// Number of screens in an observation (1 to 16).
    pub frame_stack: Option<u32>,
    /// Size of the screens.
    pub resolution: Option<Resolution>,
    /// Weights by reward term.
    pub reward_weights: Vec<(String, f64)>,
    /// Factor on every weight.
    pub reward_scale: Option<f64>,
    /// Steps until truncation; 0: never.
    pub max_steps: Option<u64>,
    /// RAM to hand out each step, instead of the file's list.
    pub watch: Option<Vec<Watch>>,
    /// Where each map lies in the world, instead of the file's list: (map number, column, row).
    pub map_offsets: Option<Vec<(u8, i32, i32)>>,
    /// Draw the last frame of each step even when the observation does not show it.
    pub render: Option<bool>,
}
