//! What the trainer knows of its machines: which are under way, which have results, which are
//! lost.

use std::collections::VecDeque;

use crate::layout::Shared;
use crate::slot::{Control, OUTCOME_BROKEN};

/// Where a machine stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Idle,
    Sent,
    Ready,
    /// A call to this machine alone is under way.
    Called,
    /// It was made anew and is being reset.
    Recovering {
        /// Somebody waits for its result.
        was_sent: bool,
    },
}

/// What the trainer knows of its machines.
pub(crate) struct Desk {
    pub(crate) states: Vec<State>,
    /// Its worker is gone or its program failed: to be made anew.
    pub(crate) broken: Vec<bool>,
    /// Machines with results, in the order in which they finished.
    pub(crate) ready: VecDeque<u32>,
    pub(crate) sent: usize,
    pub(crate) recovering: usize,
    /// How the call went that was waited for, once it is answered.
    pub(crate) answer: Option<u8>,
    /// Machines whose command failed, not yet told.
    pub(crate) faults: VecDeque<(usize, String)>,
}

impl Desk {
    pub(crate) fn new(machines: usize) -> Self {
        Self {
            states: vec![State::Idle; machines],
            broken: vec![false; machines],
            ready: VecDeque::with_capacity(machines),
            sent: 0,
            recovering: 0,
            answer: None,
            faults: VecDeque::new(),
        }
    }

    #[cfg(unix)]
    pub(crate) fn expect_call(&mut self, machine: usize) {
        self.states[machine] = State::Called;
        self.answer = None;
    }

    #[cfg(unix)]
    pub(crate) fn answer(&mut self) -> Option<u8> {
        self.answer.take()
    }

    #[cfg(unix)]
    pub(crate) fn forget_call(&mut self, machine: usize) {
        self.states[machine] = State::Idle;
    }

    /// Takes in everything that has finished.
    pub(crate) fn drain(&mut self, shared: &Shared) {
        for seat in 0..=shared.layout.parameters.workers {
            let done = shared.done(seat);
            while let Some((machine, outcome)) = done.pop() {
                // A number that is none can only come from stray writes to the block.
                if (machine as usize) < self.states.len() {
                    self.arrived(shared, machine, outcome);
                }
            }
        }
    }

    fn arrived(&mut self, shared: &Shared, number: u32, outcome: u8) {
        let machine = number as usize;
        match self.states[machine] {
            State::Called => {
                self.states[machine] = State::Idle;
                self.answer = Some(outcome);
                return;
            }
            State::Sent => self.sent -= 1,
            State::Recovering { .. } => self.recovering -= 1,
            State::Idle | State::Ready => return,
        }
        let was_sent = self.states[machine] != (State::Recovering { was_sent: false });
        if outcome == OUTCOME_BROKEN {
            let control = Control::new(&shared.memory, &shared.layout, machine);
            self.broken[machine] = true;
            self.faults.push_back((machine, control.message()));
            self.states[machine] = if was_sent { State::Sent } else { State::Idle };
            return;
        }
        self.broken[machine] = false;
        if was_sent {
            self.states[machine] = State::Ready;
            self.ready.push_back(number);
        } else {
            self.states[machine] = State::Idle;
        }
    }

    /// Marks machines whose worker is gone. Those that were sent will give no result. Whether
    /// any was not marked before.
    pub(crate) fn lose(&mut self, machines: &[usize]) -> bool {
        let mut news = false;
        for &machine in machines {
            if !self.broken[machine] {
                self.broken[machine] = true;
                news = true;
                match self.states[machine] {
                    State::Sent => self.sent -= 1,
                    State::Recovering { was_sent } => {
                        self.recovering -= 1;
                        self.states[machine] = if was_sent { State::Sent } else { State::Idle };
                    }
                    _ => {}
                }
            }
        }
        news
    }
}
