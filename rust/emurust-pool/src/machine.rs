//! What the pool knows of a machine.

use std::any::Any;

/// Sizes that all machines of a pool share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// Bytes of an observation.
    pub observation_len: usize,
    /// Number of `f32` info values.
    pub info_len: usize,
    /// Bytes of watched RAM.
    pub watch_len: usize,
    /// Number of actions; an action is a number below it.
    pub num_actions: usize,
    /// Bytes of a machine's RAM as [`Inspect::Ram`] gives it.
    pub ram_len: usize,
    /// Bytes of a machine's screen as [`Inspect::Screen`] gives it.
    pub screen_len: usize,
}

/// Where a machine puts what the agent sees. Lengths are those of the [`Shape`].
#[derive(Debug)]
pub struct Record<'a> {
    /// The observation. A machine finds here what it wrote last.
    pub observation: &'a mut [u8],
    /// Named progress values.
    pub info: &'a mut [f32],
    /// Watched RAM.
    pub watch: &'a mut [u8],
}

/// What a step gives besides its record.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepOutcome {
    /// Reward.
    pub reward: f32,
    /// The episode reached an end that belongs to the task.
    pub terminated: bool,
    /// The episode was cut off.
    pub truncated: bool,
}

/// What to look at in a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inspect {
    /// All of its address space, as a program on it would read it but without side effects.
    Ram,
    /// The picture that it drew last.
    Screen,
}

/// One machine with the program that plays episodes on it.
///
/// Everything that it does follows from its state, the seeds and the actions alone; that is what
/// makes a pool give the same bytes whatever the number of threads or workers.
pub trait Machine: Send {
    /// Starts an episode and writes its first record.
    ///
    /// # Errors
    /// A message that says why no episode can be started.
    fn reset(&mut self, seed: u64, record: Record<'_>) -> Result<(), String>;

    /// Takes an action, which is below the shape's `num_actions`, and writes the record.
    fn step(&mut self, action: u32, record: Record<'_>) -> StepOutcome;

    /// Appends everything that [`Machine::load`] needs to go on exactly.
    fn save(&self, out: &mut Vec<u8>);

    /// Goes on from saved bytes.
    ///
    /// # Errors
    /// A message that says why not; the machine is then unchanged.
    fn load(&mut self, state: &[u8]) -> Result<(), String>;

    /// Becomes a copy of another machine.
    ///
    /// # Errors
    /// A message that says why the other does not fit; this machine is then unchanged.
    fn copy_from(&mut self, other: &dyn Machine) -> Result<(), String>;

    /// Sets where the following episodes start: a name that the machine knows, or its bytes.
    /// An empty name goes back to what the machine was made with.
    ///
    /// # Errors
    /// A message that says why not; starts are then as before.
    fn set_start(&mut self, start: StartChoice<'_>) -> Result<(), String>;

    /// Writes what is asked for; `out` has the length that the shape says.
    fn inspect(&self, what: Inspect, out: &mut [u8]);

    /// This machine, for [`Machine::copy_from`].
    fn as_any(&self) -> &dyn Any;
}

/// Where episodes are to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartChoice<'a> {
    /// As when the machine was made.
    Usual,
    /// One of the machine's start states.
    Name(&'a str),
    /// A saved state of the bare machine.
    State(&'a [u8]),
}
