//! Queued button events, with PyBoy's timing.
//!
//! An event takes effect at the start of the next frame. A delayed event is due
//! when the frame count equals the count at queueing plus the delay. The queue
//! is not part of a saved state, as in PyBoy.

use crate::joypad::Button;

/// A key going down or up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) button: Button,
    pub(crate) pressed: bool,
}

impl Event {
    /// Order of events that become due together: presses first, by button.
    fn rank(self) -> (bool, u8) {
        (!self.pressed, self.button as u8)
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct InputQueue {
    now: Vec<Event>,
    later: Vec<(u64, Event)>,
}

impl InputQueue {
    pub(crate) fn push(&mut self, event: Event) {
        self.now.push(event);
    }

    pub(crate) fn push_delayed(&mut self, event: Event, due_frame: u64) {
        self.later.push((due_frame, event));
    }

    /// Hands the events for this frame to `apply`, in order.
    pub(crate) fn apply_all(&mut self, apply: impl FnMut(Event)) {
        self.now.drain(..).for_each(apply);
    }

    /// Moves what is due at `frame` into the queue of the next frame.
    pub(crate) fn release_due(&mut self, frame: u64) {
        if self.later.is_empty() {
            return;
        }
        self.later.sort_by_key(|&(due, event)| (due, event.rank()));
        // PyBoy looks for an exact match at the head of its queue: an event whose
        // frame has passed (queued with the count of another time) blocks it.
        let due = self
            .later
            .iter()
            .take_while(|(due, _)| *due == frame)
            .count();
        self.now
            .extend(self.later.drain(..due).map(|(_, event)| event));
    }
}
