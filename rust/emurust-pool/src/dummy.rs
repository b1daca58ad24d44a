//! A machine that only counts: for tests, for measuring the hand-over, and as an example of
//! everything that a [`Machine`] does.

use std::any::Any;

use emurust_task::Random;

use crate::machine::{Inspect, Machine, Record, Shape, StartChoice, StepOutcome};
use crate::wire::{Malformed, Reader, Writer};

/// What a [`Dummy`] is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DummySpec {
    /// Bytes of its observation.
    pub observation_len: usize,
    /// Steps of an episode; 0: endless.
    pub episode_len: u64,
    /// Rounds of arithmetic that each step takes (about a nanosecond each); the number in the
    /// machine's state decides whether it is this or half of it, as steps differ in games.
    pub work: u64,
    /// An action that panics, for testing.
    pub panic_action: Option<u32>,
}

impl Default for DummySpec {
    fn default() -> Self {
        Self {
            observation_len: 16,
            episode_len: 10,
            work: 0,
            panic_action: None,
        }
    }
}

const NUM_ACTIONS: usize = 8;
const STATE_LEN: usize = 24;
const RAM_LEN: usize = 256;
const SCREEN_LEN: usize = 64;

impl DummySpec {
    /// The shape of its machines.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        Shape {
            observation_len: self.observation_len,
            info_len: 2,
            watch_len: 1,
            num_actions: NUM_ACTIONS,
            ram_len: RAM_LEN,
            screen_len: SCREEN_LEN,
        }
    }

    /// Names of the info values.
    pub const INFO_NAMES: [&'static str; 2] = ["steps", "episode_return"];

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.usize(self.observation_len);
        writer.u64(self.episode_len);
        writer.u64(self.work);
        writer.option(self.panic_action, |w, action| w.u64(u64::from(action)));
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            observation_len: reader.usize()?,
            episode_len: reader.u64()?,
            work: reader.u64()?,
            panic_action: reader.option(Reader::number)?,
        })
    }
}

/// A machine whose state is one number, stirred by seeds and actions.
#[derive(Debug, Clone)]
pub struct Dummy {
    spec: DummySpec,
    state: u64,
    steps: u64,
    episode_return: f32,
    start: Option<u64>,
}

impl Dummy {
    /// A machine that has not begun an episode.
    #[must_use]
    pub const fn new(spec: DummySpec) -> Self {
        Self {
            spec,
            state: 0,
            steps: 0,
            episode_return: 0.0,
            start: None,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "any byte of the state will do, and steps are few"
    )]
    fn write(&self, record: Record<'_>) {
        for (index, byte) in record.observation.iter_mut().enumerate() {
            *byte = (self.state >> (index % 8 * 8)) as u8;
        }
        record
            .info
            .copy_from_slice(&[self.steps as f32, self.episode_return]);
        record.watch.copy_from_slice(&[self.state as u8]);
    }
}

fn stir(state: u64) -> u64 {
    Random::new(state).next_u64()
}

impl Machine for Dummy {
    fn reset(&mut self, seed: u64, record: Record<'_>) -> Result<(), String> {
        self.state = self.start.unwrap_or_else(|| stir(seed));
        self.steps = 0;
        self.episode_return = 0.0;
        self.write(record);
        Ok(())
    }

    #[expect(clippy::panic, reason = "asked for by a test")]
    #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
    fn step(&mut self, action: u32, record: Record<'_>) -> StepOutcome {
        if self.spec.panic_action == Some(action) {
            panic!("the dummy was told to panic by action {action}");
        }
        let rounds = self.spec.work >> (self.state & 1);
        for _ in 0..rounds {
            self.state = std::hint::black_box(self.state).rotate_left(5) ^ 0x5A;
        }
        self.state = stir(self.state ^ u64::from(action));
        self.steps += 1;
        let reward = f32::from(self.state as u8);
        self.episode_return += reward;
        self.write(record);
        let over = self.spec.episode_len != 0 && self.steps >= self.spec.episode_len;
        // A tenth of the states end the episode early.
        StepOutcome {
            reward,
            terminated: self.spec.episode_len != 0 && self.state.checked_rem(10) == Some(0),
            truncated: over,
        }
    }

    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.state.to_le_bytes());
        out.extend_from_slice(&self.steps.to_le_bytes());
        out.extend_from_slice(&u64::from(self.episode_return.to_bits()).to_le_bytes());
    }

    #[expect(clippy::cast_possible_truncation, reason = "written from 32 bits")]
    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        if state.len() != STATE_LEN {
            return Err(format!(
                "the state has {} bytes, expected {STATE_LEN}",
                state.len()
            ));
        }
        let word = |index: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&state[index * 8..][..8]);
            u64::from_le_bytes(bytes)
        };
        self.state = word(0);
        self.steps = word(1);
        self.episode_return = f32::from_bits(word(2) as u32);
        Ok(())
    }

    fn copy_from(&mut self, other: &dyn Machine) -> Result<(), String> {
        let other = other
            .as_any()
            .downcast_ref::<Self>()
            .ok_or("the other machine is no dummy")?;
        self.state = other.state;
        self.steps = other.steps;
        self.episode_return = other.episode_return;
        Ok(())
    }

    fn set_start(&mut self, start: StartChoice<'_>) -> Result<(), String> {
        self.start = match start {
            StartChoice::Usual => None,
            StartChoice::Name("zero") => Some(0),
            StartChoice::Name(name) => {
                return Err(format!(
                    "there is no start state {name:?}; there is \"zero\""
                ))
            }
            StartChoice::State(bytes) => {
                let bytes = bytes
                    .try_into()
                    .map_err(|_| format!("a start has 8 bytes, this one has {}", bytes.len()))?;
                Some(u64::from_le_bytes(bytes))
            }
        };
        Ok(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
    fn inspect(&self, what: Inspect, out: &mut [u8]) {
        let mask = match what {
            Inspect::Ram => 0,
            Inspect::Screen => 3,
        };
        for (index, byte) in out.iter_mut().enumerate() {
            let value = (self.state as u8).wrapping_add(index as u8);
            *byte = if mask == 0 { value } else { value & mask };
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
