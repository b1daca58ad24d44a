//! Reading a TOML document so that every complaint names the file, the line and the field.

use std::cell::Cell;
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};

use toml::de::{DeTable, DeValue};
use toml::Spanned;

use crate::error::TaskError;

/// The document's name and text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) file: &'s str,
    pub(crate) text: &'s str,
}

impl<'s> Source<'s> {
    pub(crate) fn error(&self, at: usize, field: &str, message: impl Into<String>) -> TaskError {
        let before = self.text.get(..at).unwrap_or(self.text);
        TaskError::File {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            field: field.to_owned(),
            message: message.into(),
        }
    }

    pub(crate) fn parse(&self) -> Result<Spanned<DeTable<'s>>, TaskError> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.error(at, "TOML syntax", error.message())
        })
    }
}

/// A value of the document and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node<'s> {
    source: Source<'s>,
    path: String,
    at: usize,
    value: &'s DeValue<'s>,
}

impl<'s> Node<'s> {
    pub(crate) fn error(&self, message: impl Into<String>) -> TaskError {
        self.source.error(self.at, &self.path, message)
    }

    fn wrong_type(&self, wanted: &str) -> TaskError {
        let found = match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.error(format!("expected {wanted}, found {found}"))
    }

    pub(crate) fn is_string(&self) -> bool {
        matches!(self.value, DeValue::String(_))
    }

    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.value, DeValue::Integer(_))
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self.value, DeValue::Integer(_) | DeValue::Float(_))
    }

    pub(crate) fn string(&self) -> Result<&'s str, TaskError> {
        match self.value {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type("a string")),
        }
    }

    pub(crate) fn integer(&self) -> Result<i64, TaskError> {
        match self.value {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| self.error("the integer does not fit into 64 bits")),
            _ => Err(self.wrong_type("an integer")),
        }
    }

    pub(crate) fn integer_in(&self, range: RangeInclusive<i64>) -> Result<i64, TaskError> {
        let number = self.integer()?;
        if range.contains(&number) {
            Ok(number)
        } else {
            let (low, high) = range.into_inner();
            Err(self.error(format!(
                "{number} is out of range; expected {low} to {high}"
            )))
        }
    }

    /// An integer from 0 to `high`.
    pub(crate) fn count(&self, low: u32, high: u32) -> Result<u32, TaskError> {
        let number = self.integer_in(i64::from(low)..=i64::from(high))?;
        Ok(u32::try_from(number).unwrap_or(high))
    }

    pub(crate) fn number(&self) -> Result<f64, TaskError> {
        match self.value {
            DeValue::Integer(_) => Ok(self.integer_in(-(1 << 53)..=1 << 53)? as f64),
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(number),
                _ => Err(self.error("expected a finite number")),
            },
            _ => Err(self.wrong_type("a number")),
        }
    }

    pub(crate) fn boolean(&self) -> Result<bool, TaskError> {
        match self.value {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    pub(crate) fn array(&self) -> Result<Vec<Node<'s>>, TaskError> {
        let DeValue::Array(items) = self.value else {
            return Err(self.wrong_type("an array"));
        };
        let nodes = items.iter().enumerate().map(|(index, item)| Node {
            source: self.source,
            path: format!("{}[{index}]", self.path),
            at: item.span().start,
            value: item.get_ref(),
        });
        Ok(nodes.collect())
    }

    pub(crate) fn table(&self) -> Result<Table<'s>, TaskError> {
        match self.value {
            DeValue::Table(table) => Ok(Table::new(self.source, &self.path, self.at, table)),
            _ => Err(self.wrong_type("a table")),
        }
    }

    /// One of some names; the position in the list.
    pub(crate) fn one_of(&self, names: &[&str]) -> Result<usize, TaskError> {
        let text = self.string()?;
        names.iter().position(|name| *name == text).ok_or_else(|| {
            self.error(format!(
                "{text:?} is unknown; expected one of {}",
                list(names)
            ))
        })
    }
}

/// `"a", "b" or "c"`-like list for messages.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        let _ = write!(text, "{separator}{}", name.as_ref());
    }
    text
}

struct Entry<'s> {
    key: &'s str,
    key_span: Range<usize>,
    value: &'s Spanned<DeValue<'s>>,
    taken: Cell<bool>,
}

/// A table whose fields are taken one by one; what is left over is unknown.
pub(crate) struct Table<'s> {
    source: Source<'s>,
    path: String,
    at: usize,
    /// In the order of the file.
    entries: Vec<Entry<'s>>,
}

impl<'s> Table<'s> {
    pub(crate) fn new(source: Source<'s>, path: &str, at: usize, table: &'s DeTable<'s>) -> Self {
        let mut entries: Vec<_> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref(),
                key_span: key.span(),
                value,
                taken: Cell::new(false),
            })
            .collect();
        entries.sort_by_key(|entry| entry.key_span.start);
        Self {
            source,
            path: path.to_owned(),
            at,
            entries,
        }
    }

    fn node(&self, entry: &Entry<'s>) -> Node<'s> {
        let path = if self.path.is_empty() {
            entry.key.to_owned()
        } else {
            format!("{}.{}", self.path, entry.key)
        };
        Node {
            source: self.source,
            path,
            at: entry.key_span.start,
            value: entry.value.get_ref(),
        }
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> TaskError {
        let path = if self.path.is_empty() {
            "file"
        } else {
            &self.path
        };
        self.source.error(self.at, path, message)
    }

    pub(crate) fn take(&self, key: &str) -> Option<Node<'s>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        entry.taken.set(true);
        Some(self.node(entry))
    }

    pub(crate) fn require(&self, key: &str) -> Result<Node<'s>, TaskError> {
        self.take(key)
            .ok_or_else(|| self.error(format!("the field {key:?} is missing")))
    }

    /// All fields, in the order of the file.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'s str, Node<'s>)> + '_ {
        self.entries.iter().map(|entry| {
            entry.taken.set(true);
            (entry.key, self.node(entry))
        })
    }

    /// Complains about fields that nobody took.
    pub(crate) fn finish(&self, known: &[&str]) -> Result<(), TaskError> {
        match self.entries.iter().find(|entry| !entry.taken.get()) {
            None => Ok(()),
            Some(entry) => Err(self.node(entry).error(format!(
                "the field {:?} is unknown here; expected {}",
                entry.key,
                list(known)
            ))),
        }
    }
}
