//! How to make all machines of a pool: in this process, or from bytes in another.

use std::sync::Arc;

use emurust_task::Task;

use crate::dummy::{Dummy, DummySpec};
use crate::error::PoolError;
use crate::game::{GameRecipe, PreparedGames};
use crate::machine::{Machine, Shape};
use crate::wire::{Malformed, Reader, Writer};

const KIND_DUMMY: u8 = 0;
const KIND_GAMES: u8 = 1;

/// How to make all machines of a pool.
#[derive(Debug)]
pub struct Recipe(Source);

#[derive(Debug)]
enum Source {
    Dummies {
        spec: DummySpec,
        machines: usize,
    },
    Games {
        recipe: GameRecipe,
        prepared: PreparedGames,
    },
}

impl Recipe {
    /// Machines that only count.
    #[must_use]
    pub const fn dummies(spec: DummySpec, machines: usize) -> Self {
        Self(Source::Dummies { spec, machines })
    }

    /// Game Boys that play tasks.
    ///
    /// # Errors
    /// A cartridge, task or start state is wrong, or they do not fit each other.
    pub fn games(recipe: GameRecipe) -> Result<Self, PoolError> {
        let prepared = recipe.prepare()?;
        Ok(Self(Source::Games { recipe, prepared }))
    }

    /// Number of machines.
    #[must_use]
    pub fn machines(&self) -> usize {
        match &self.0 {
            Source::Dummies { machines, .. } => *machines,
            Source::Games { prepared, .. } => prepared.machines(),
        }
    }

    /// Their sizes.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match &self.0 {
            Source::Dummies { spec, .. } => spec.shape(),
            Source::Games { prepared, .. } => prepared.shape(),
        }
    }

    /// Names of their info values.
    #[must_use]
    pub fn info_names(&self) -> Vec<String> {
        match &self.0 {
            Source::Dummies { .. } => DummySpec::INFO_NAMES.map(str::to_owned).to_vec(),
            Source::Games { prepared, .. } => prepared.info_names().to_vec(),
        }
    }

    /// The task that the first machine plays, if it plays any. Its layouts are everybody's.
    #[must_use]
    pub fn task(&self) -> Option<&Arc<Task>> {
        match &self.0 {
            Source::Dummies { .. } => None,
            Source::Games { prepared, .. } => Some(prepared.task()),
        }
    }

    /// Makes one.
    pub(crate) fn make(&self, index: usize) -> Result<Box<dyn Machine>, PoolError> {
        if index >= self.machines() {
            return Err(PoolError::NoSuchMachine {
                index,
                last: self.machines().saturating_sub(1),
            });
        }
        Ok(match &self.0 {
            Source::Dummies { spec, .. } => Box::new(Dummy::new(spec.clone())),
            Source::Games { prepared, .. } => prepared.make(index),
        })
    }

    /// The recipe as bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match &self.0 {
            Source::Dummies { spec, machines } => {
                writer.u8(KIND_DUMMY);
                spec.write(&mut writer);
                writer.usize(*machines);
            }
            Source::Games { recipe, .. } => {
                writer.u8(KIND_GAMES);
                recipe.write(&mut writer);
            }
        }
        writer.finish()
    }

    /// The recipe of these bytes.
    #[cfg(unix)]
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, PoolError> {
        let malformed = |error: Malformed| PoolError::Segment(format!("has a recipe that {error}"));
        let mut reader = Reader::new(bytes);
        let recipe = match reader.u8().map_err(malformed)? {
            KIND_DUMMY => {
                let spec = DummySpec::read(&mut reader).map_err(malformed)?;
                Self::dummies(spec, reader.usize().map_err(malformed)?)
            }
            KIND_GAMES => Self::games(GameRecipe::read(&mut reader).map_err(malformed)?)?,
            _ => return Err(malformed(Malformed)),
        };
        reader.end().map_err(malformed)?;
        Ok(recipe)
    }
}
