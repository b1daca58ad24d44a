//! The CPU: registers, arithmetic, and the interpreter that defines what code does.

pub(crate) mod alu;
pub(crate) mod instructions;
pub(crate) mod interpreter;
pub(crate) mod registers;
