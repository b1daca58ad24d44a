//! Native code for what a cartridge's programs do all the time.
//!
//! The interpreter defines what code does; this module makes the same happen
//! faster. A [`Translation`] belongs to a cartridge and is shared by all its
//! machines in a process: they note what runs in the interpreter (`profile`),
//! and when enough has run, a thread chooses the blocks (`plan`), writes them
//! down for the code generator (`emit`) and makes them callable (`native`).
//! Machines pick the result up at their next frame. See `docs/translator.md`.

pub(crate) mod context;
mod emit;
mod engine;
mod exit;
mod idle;
mod layout;
mod native;
mod plan;
mod profile;
mod region;
mod returns;
mod shared;

pub use engine::Engine;
pub(crate) use engine::Handle;
pub use native::translator_available;
pub use native::TranslatorError;
pub(crate) use region::Region;
pub(crate) use shared::Translation;
