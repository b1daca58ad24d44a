//! Tests that need the inside of the machine.

mod broken_states;
mod sm83;
