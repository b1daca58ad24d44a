//! Names of addresses, from the `.sym` file of a disassembly.

use std::collections::HashMap;

use crate::error::TaskError;

/// Names that the public disassembly of Pokemon Red has changed: old and new.
const RENAMED: [(&str, &str); 4] = [
    ("wMissableObjectFlags", "wToggleableObjectFlags"),
    ("wMissableObjectList", "wToggleableObjectList"),
    ("wHiddenObjectIndex", "wHiddenEventIndex"),
    ("hSpriteIndexOrTextID", "hTextID"),
];

/// Banks and addresses by name.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    addresses: HashMap<String, (u16, u16)>,
}

impl Symbols {
    /// Reads a `.sym` file: lines of `bank:address name` in hexadecimal, `;` starts a comment.
    ///
    /// # Errors
    /// Names the line that is not of that form.
    pub fn from_sym(text: &str, file_name: &str) -> Result<Self, TaskError> {
        let mut addresses = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split(';').next().unwrap_or_default().trim();
            if line.is_empty() || line.starts_with('[') {
                continue;
            }
            let Some((name, place)) = parse_line(line) else {
                return Err(TaskError::File {
                    file: file_name.to_owned(),
                    line: index + 1,
                    field: "symbol".to_owned(),
                    message: format!(
                        "expected \"bank:address name\" in hexadecimal, found {line:?}"
                    ),
                });
            };
            addresses.insert(name.to_owned(), place);
        }
        Ok(Self { addresses })
    }

    /// Adds a name.
    pub fn insert(&mut self, name: &str, bank: u16, address: u16) {
        self.addresses.insert(name.to_owned(), (bank, address));
    }

    /// Bank and address of a name, also by the name's older or newer form.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<(u16, u16)> {
        let find = |name: &str| self.addresses.get(name).copied();
        find(name).or_else(|| {
            RENAMED.iter().find_map(|&(old, new)| match name {
                _ if name == old => find(new),
                _ if name == new => find(old),
                _ => None,
            })
        })
    }
}

fn parse_line(line: &str) -> Option<(&str, (u16, u16))> {
    let (place, name) = line.split_once(char::is_whitespace)?;
    let (bank, address) = place.split_once(':')?;
    let bank = u16::from_str_radix(bank, 16).ok()?;
    let address = u16::from_str_radix(address, 16).ok()?;
    Some((name.trim(), (bank, address)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_comments_and_sections() {
        let text = "; comment\n[labels]\n01:d356 wObtainedBadges\n00:FFB4 hJoyHeld ; held\n";
        let symbols = Symbols::from_sym(text, "game.sym").expect("valid");
        assert_eq!(symbols.get("wObtainedBadges"), Some((1, 0xD356)));
        assert_eq!(symbols.get("hJoyHeld"), Some((0, 0xFFB4)));
        assert_eq!(symbols.get("other"), None);
    }

    #[test]
    fn knows_renamed_symbols_both_ways() {
        let new = Symbols::from_sym("01:d5a6 wToggleableObjectFlags", "new.sym").expect("valid");
        assert_eq!(new.get("wMissableObjectFlags"), Some((1, 0xD5A6)));
        let old = Symbols::from_sym("01:d5a6 wMissableObjectFlags", "old.sym").expect("valid");
        assert_eq!(old.get("wToggleableObjectFlags"), Some((1, 0xD5A6)));
    }

    #[test]
    fn names_the_bad_line() {
        let error = Symbols::from_sym("00:C000 a\nC001 b\n", "bad.sym").expect_err("bad");
        assert!(
            error.to_string().starts_with("bad.sym:2: symbol: expected"),
            "{error}"
        );
    }
}
