//! Names of addresses, from the `.sym` file of a disassembly.

use std::collections::HashMap;

/// Addresses by name.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    addresses: HashMap<String, (u16, u16)>,
}

impl Symbols {
    /// Bank and address of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<(u16, u16)> {
        self.addresses.get(name).copied()
    }
}
