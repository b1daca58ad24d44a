//! The eight buttons and P1/JOYP (Pan Docs: Joypad Input).
//!
//! P1 is a latch: what a read returns was computed when the program last wrote
//! it, so a program that never rewrites P1 never sees a change.

use crate::savestate::state_fields;

/// A button of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Button {
    /// Direction pad up.
    Up,
    /// Direction pad down.
    Down,
    /// Direction pad right.
    Right,
    /// Direction pad left.
    Left,
    /// The A button.
    A,
    /// The B button.
    B,
    /// The Select button.
    Select,
    /// The Start button.
    Start,
}

impl Button {
    /// Every button, in the order in which delayed events that are due together are handled.
    pub const ALL: [Button; 8] = [
        Button::Up,
        Button::Down,
        Button::Right,
        Button::Left,
        Button::A,
        Button::B,
        Button::Select,
        Button::Start,
    ];

    /// The button's name in PyBoy's vocabulary.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Button::Up => "up",
            Button::Down => "down",
            Button::Right => "right",
            Button::Left => "left",
            Button::A => "a",
            Button::B => "b",
            Button::Select => "select",
            Button::Start => "start",
        }
    }

    /// The button of that name, if there is one. Names are lower case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|button| button.name() == name)
    }

    fn is_direction(self) -> bool {
        (self as u8) < 4
    }

    fn line(self) -> u8 {
        match self {
            Button::Right | Button::A => 1 << 0,
            Button::Left | Button::B => 1 << 1,
            Button::Up | Button::Select => 1 << 2,
            Button::Down | Button::Start => 1 << 3,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Joypad {
    /// Direction lines, a zero bit for a pressed key.
    pub(crate) directions: u8,
    /// Button lines, a zero bit for a pressed key.
    pub(crate) buttons: u8,
    /// What P1 reads.
    pub(crate) latch: u8,
}

state_fields!(Joypad {
    directions,
    buttons,
    latch
});

impl Default for Joypad {
    fn default() -> Self {
        Self {
            directions: 0xF,
            buttons: 0xF,
            latch: 0,
        }
    }
}

impl Joypad {
    fn lines(&mut self, button: Button) -> &mut u8 {
        if button.is_direction() {
            &mut self.directions
        } else {
            &mut self.buttons
        }
    }

    /// Presses a key; true if it was up before, which requests the joypad interrupt.
    pub(crate) fn press(&mut self, button: Button) -> bool {
        let lines = self.lines(button);
        let was_up = *lines & button.line() != 0;
        *lines &= !button.line();
        was_up
    }

    pub(crate) fn release(&mut self, button: Button) {
        *self.lines(button) |= button.line();
    }

    pub(crate) fn is_pressed(&self, button: Button) -> bool {
        let lines = if button.is_direction() {
            self.directions
        } else {
            self.buttons
        };
        lines & button.line() == 0
    }

    pub(crate) fn write_p1(&mut self, value: u8) {
        let directions_selected = value & 0x10 == 0;
        let buttons_selected = value & 0x20 == 0;
        self.latch = 0xC0
            | match (directions_selected, buttons_selected) {
                (true, false) => self.directions,
                (false, true) => self.buttons,
                (true, true) | (false, false) => 0xF,
            };
    }
}
