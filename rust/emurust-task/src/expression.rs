//! Arithmetic over named values: parsed once, then run as a short stack program.
//!
//! All numbers are 64-bit floats and every operation is IEEE 754, so that another
//! implementation of these rules gives the same bits:
//! - comparisons, `and`, `or`, `not` give 1 or 0; any number but 0 counts as true;
//! - both sides are always evaluated;
//! - dividing by 0 gives 0; `a // b` is `floor(a / b)`, `a % b` is `a - b * floor(a / b)`;
//! - `max(a, b)` is `b` if `b > a`, else `a`; `min` likewise;
//! - a result that is not finite counts as 0.

use std::fmt;

/// Deepest stack that an expression may need.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Op {
    Constant(f64),
    Load(usize),
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Negate,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Not,
    Max,
    Min,
    Abs,
    Floor,
    Sqrt,
    Bit,
    Where,
}

/// A compiled expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expression {
    ops: Box<[Op]>,
}

/// What a name stands for: the index of its value.
pub(crate) trait Names {
    /// A variable or value; the message says why not.
    fn value(&self, name: &str) -> Result<usize, String>;
    /// The argument of `here(...)`: how often the current place was visited.
    fn here(&self, name: &str) -> Result<usize, String>;
}

impl Expression {
    pub(crate) fn constant(number: f64) -> Self {
        Self {
            ops: Box::new([Op::Constant(number)]),
        }
    }

    /// Parses an expression; the message says what is wrong and where.
    pub(crate) fn parse(text: &str, names: &dyn Names) -> Result<Self, String> {
        let tokens = tokenize(text)?;
        let mut parser = Parser {
            tokens: &tokens,
            position: 0,
            names,
            ops: Vec::new(),
            nesting: 0,
        };
        parser.disjunction()?;
        if let Some(token) = parser.peek() {
            return Err(format!(
                "unexpected {token} after the end of the expression"
            ));
        }
        let expression = Self {
            ops: parser.ops.into_boxed_slice(),
        };
        if expression.depth() > MAX_DEPTH {
            return Err(format!(
                "the expression is nested deeper than {MAX_DEPTH} values"
            ));
        }
        Ok(expression)
    }

    fn depth(&self) -> usize {
        let mut depth = 0usize;
        let mut deepest = 0;
        for op in &self.ops {
            match op {
                Op::Constant(_) | Op::Load(_) => depth += 1,
                Op::Negate | Op::Not | Op::Abs | Op::Floor | Op::Sqrt => {}
                Op::Where => depth -= 2,
                _ => depth -= 1,
            }
            deepest = deepest.max(depth);
        }
        deepest
    }

    /// The value that a name alone or a constant needs no stack for; otherwise the program's result.
    #[inline]
    pub(crate) fn evaluate(&self, values: &[f64]) -> f64 {
        match *self.ops {
            [Op::Load(index)] => values[index],
            [Op::Constant(number)] => number,
            _ => self.run(values),
        }
    }

    fn run(&self, values: &[f64]) -> f64 {
        let mut stack = [0.0f64; MAX_DEPTH];
        let mut top = 0usize;
        for op in &self.ops {
            match *op {
                Op::Constant(number) => {
                    stack[top] = number;
                    top += 1;
                }
                Op::Load(index) => {
                    stack[top] = values[index];
                    top += 1;
                }
                Op::Negate => stack[top - 1] = -stack[top - 1],
                Op::Not => stack[top - 1] = truth(stack[top - 1] == 0.0),
                Op::Abs => stack[top - 1] = stack[top - 1].abs(),
                Op::Floor => stack[top - 1] = stack[top - 1].floor(),
                Op::Sqrt => {
                    let x = stack[top - 1];
                    stack[top - 1] = if x > 0.0 { x.sqrt() } else { 0.0 };
                }
                Op::Where => {
                    top -= 2;
                    stack[top - 1] = if stack[top - 1] != 0.0 {
                        stack[top]
                    } else {
                        stack[top + 1]
                    };
                }
                binary => {
                    top -= 1;
                    stack[top - 1] = combine(binary, stack[top - 1], stack[top]);
                }
            }
        }
        finite(stack[0])
    }
}

#[inline]
fn combine(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::Add => a + b,
        Op::Subtract => a - b,
        Op::Multiply => a * b,
        Op::Divide => divide(a, b),
        Op::FloorDivide => divide(a, b).floor(),
        Op::Modulo => a - b * divide(a, b).floor(),
        Op::Less => truth(a < b),
        Op::LessEqual => truth(a <= b),
        Op::Greater => truth(a > b),
        Op::GreaterEqual => truth(a >= b),
        Op::Equal => truth(a == b),
        Op::NotEqual => truth(a != b),
        Op::And => truth(a != 0.0 && b != 0.0),
        Op::Or => truth(a != 0.0 || b != 0.0),
        Op::Max => maximum(a, b),
        Op::Min => minimum(a, b),
        Op::Bit => {
            let scaled = (a / power_of_two(b)).floor();
            scaled - 2.0 * (scaled / 2.0).floor()
        }
        _ => 0.0,
    }
}

/// 2 to the power of a whole number from 0 to 52; others are rounded down and limited.
fn power_of_two(exponent: f64) -> f64 {
    (1u64 << maximum(0.0, minimum(exponent, 52.0)).floor() as u32) as f64
}

fn truth(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

fn divide(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        0.0
    } else {
        a / b
    }
}

/// `b` if it is greater, else `a`: defined also where `f64::max` is not (signed zeros).
pub(crate) fn maximum(a: f64, b: f64) -> f64 {
    if b > a {
        b
    } else {
        a
    }
}

pub(crate) fn minimum(a: f64, b: f64) -> f64 {
    if b < a {
        b
    } else {
        a
    }
}

/// The number, or 0 for infinities and NaN.
pub(crate) fn finite(x: f64) -> f64 {
    if x.is_finite() {
        x
    } else {
        0.0
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Symbol(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Number(number) => write!(f, "number {number}"),
            Token::Name(name) => write!(f, "name {name:?}"),
            Token::Symbol(symbol) => write!(f, "{symbol:?}"),
        }
    }
}

const SYMBOLS: [&str; 15] = [
    "//", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",",
];

fn tokenize(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else {
            return Ok(tokens);
        };
        let column = text.chars().count() - rest.chars().count() + 1;
        let length = if first.is_ascii_digit() || (first == '.' && digit_follows(rest)) {
            let length = number_length(rest);
            tokens.push(Token::Number(parse_number(&rest[..length]).ok_or_else(
                || format!("{:?} at column {column} is not a number", &rest[..length]),
            )?));
            length
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            tokens.push(Token::Name(rest[..length].to_owned()));
            length
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            symbol.len()
        } else {
            return Err(format!("unexpected character {first:?} at column {column}"));
        };
        rest = &rest[length..];
    }
}

fn digit_follows(text: &str) -> bool {
    text.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while let Some(&byte) = bytes.get(end) {
        let exponent_sign = matches!(byte, b'+' | b'-')
            && !text.starts_with("0x")
            && matches!(bytes[end - 1], b'e' | b'E');
        if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || exponent_sign) {
            break;
        }
        end += 1;
    }
    end
}

fn parse_number(text: &str) -> Option<f64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok().map(|n| n as f64);
    }
    // A leading zero would be an error or an octal number elsewhere.
    if text.len() > 1 && text.starts_with('0') && text.as_bytes()[1].is_ascii_digit() {
        return None;
    }
    let allowed = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !text.chars().all(allowed) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The functions: name, number of arguments (`None`: two or more), operation.
const FUNCTIONS: [(&str, Option<usize>, Op); 8] = [
    ("max", None, Op::Max),
    ("min", None, Op::Min),
    ("where", Some(3), Op::Where),
    ("clamp", Some(3), Op::Min),
    ("abs", Some(1), Op::Abs),
    ("floor", Some(1), Op::Floor),
    ("sqrt", Some(1), Op::Sqrt),
    ("bit", Some(2), Op::Bit),
];

/// Names that the language keeps for itself.
pub(crate) fn is_reserved(name: &str) -> bool {
    matches!(name, "and" | "or" | "not" | "here" | "steps")
        || FUNCTIONS.iter().any(|(function, ..)| *function == name)
}

struct Parser<'t> {
    tokens: &'t [Token],
    position: usize,
    names: &'t dyn Names,
    ops: Vec<Op>,
    nesting: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position)
    }

    fn accept_symbol(&mut self, symbols: &[&'static str]) -> Option<&'static str> {
        match self.peek() {
            Some(Token::Symbol(symbol)) if symbols.contains(symbol) => {
                let symbol = *symbol;
                self.position += 1;
                Some(symbol)
            }
            _ => None,
        }
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(name)) if name == word);
        self.position += usize::from(found);
        found
    }

    fn expect_symbol(&mut self, symbol: &'static str) -> Result<(), String> {
        if self.accept_symbol(&[symbol]).is_some() {
            return Ok(());
        }
        match self.peek() {
            Some(token) => Err(format!("expected {symbol:?}, found {token}")),
            None => Err(format!(
                "expected {symbol:?}, found the end of the expression"
            )),
        }
    }

    fn disjunction(&mut self) -> Result<(), String> {
        self.conjunction()?;
        while self.accept_word("or") {
            self.conjunction()?;
            self.ops.push(Op::Or);
        }
        Ok(())
    }

    fn conjunction(&mut self) -> Result<(), String> {
        self.negation()?;
        while self.accept_word("and") {
            self.negation()?;
            self.ops.push(Op::And);
        }
        Ok(())
    }

    fn negation(&mut self) -> Result<(), String> {
        if self.accept_word("not") {
            self.nested(Self::negation)?;
            self.ops.push(Op::Not);
            return Ok(());
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<(), String> {
        const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];
        self.sum()?;
        let Some(symbol) = self.accept_symbol(&COMPARISONS) else {
            return Ok(());
        };
        self.sum()?;
        self.ops.push(match symbol {
            "<" => Op::Less,
            "<=" => Op::LessEqual,
            ">" => Op::Greater,
            ">=" => Op::GreaterEqual,
            "==" => Op::Equal,
            _ => Op::NotEqual,
        });
        match self.accept_symbol(&COMPARISONS) {
            Some(_) => Err("comparisons cannot be chained; join them with \"and\"".to_owned()),
            None => Ok(()),
        }
    }

    fn sum(&mut self) -> Result<(), String> {
        self.product()?;
        while let Some(symbol) = self.accept_symbol(&["+", "-"]) {
            self.product()?;
            self.ops
                .push(if symbol == "+" { Op::Add } else { Op::Subtract });
        }
        Ok(())
    }

    fn product(&mut self) -> Result<(), String> {
        self.unary()?;
        while let Some(symbol) = self.accept_symbol(&["*", "//", "/", "%"]) {
            self.unary()?;
            self.ops.push(match symbol {
                "*" => Op::Multiply,
                "//" => Op::FloorDivide,
                "/" => Op::Divide,
                _ => Op::Modulo,
            });
        }
        Ok(())
    }

    fn unary(&mut self) -> Result<(), String> {
        if self.accept_symbol(&["-"]).is_some() {
            self.nested(Self::unary)?;
            self.ops.push(Op::Negate);
            return Ok(());
        }
        self.atom()
    }

    /// Keeps hostile input from exhausting the host's stack.
    fn nested(&mut self, part: fn(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.nesting += 1;
        if self.nesting > MAX_DEPTH {
            return Err(format!(
                "the expression is nested deeper than {MAX_DEPTH} levels"
            ));
        }
        part(self)?;
        self.nesting -= 1;
        Ok(())
    }

    fn atom(&mut self) -> Result<(), String> {
        let Some(token) = self.peek().cloned() else {
            return Err("the expression ends where a number or name should be".to_owned());
        };
        self.position += 1;
        match token {
            Token::Number(number) => self.ops.push(Op::Constant(number)),
            Token::Symbol("(") => {
                self.nested(Self::disjunction)?;
                self.expect_symbol(")")?;
            }
            Token::Name(name) if self.accept_symbol(&["("]).is_some() => self.call(&name)?,
            Token::Name(name) => {
                let index = self.names.value(&name)?;
                self.ops.push(Op::Load(index));
            }
            Token::Symbol(_) => {
                return Err(format!("expected a number or name, found {token}"));
            }
        }
        Ok(())
    }

    fn call(&mut self, name: &str) -> Result<(), String> {
        if name == "here" {
            let Some(Token::Name(visits)) = self.peek().cloned() else {
                return Err("here(...) needs the name of a visits value".to_owned());
            };
            self.position += 1;
            let index = self.names.here(&visits)?;
            self.ops.push(Op::Load(index));
            return self.expect_symbol(")");
        }
        let Some((_, arity, op)) = FUNCTIONS.iter().find(|(function, ..)| *function == name) else {
            let known: Vec<_> = FUNCTIONS.iter().map(|(function, ..)| *function).collect();
            return Err(format!(
                "the function {name:?} is unknown; expected here, {}",
                known.join(", ")
            ));
        };
        let mut arguments = 0usize;
        loop {
            self.nested(Self::disjunction)?;
            arguments += 1;
            // Pairwise, from the left: max(a, b, c) is max(max(a, b), c), clamp is min(max(x, low), high).
            match (name, arguments) {
                ("max" | "min", 2..) => self.ops.push(*op),
                ("clamp", 2) => self.ops.push(Op::Max),
                _ => {}
            }
            if self.accept_symbol(&[","]).is_none() {
                break;
            }
        }
        self.expect_symbol(")")?;
        match arity {
            Some(count) if *count != arguments => {
                return Err(format!(
                    "{name}(...) takes {count} arguments, found {arguments}"
                ));
            }
            None if arguments < 2 => {
                return Err(format!(
                    "{name}(...) takes two or more arguments, found {arguments}"
                ));
            }
            Some(_) => self.ops.push(*op),
            None => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Letters;

    impl Names for Letters {
        fn value(&self, name: &str) -> Result<usize, String> {
            match name {
                "a" => Ok(0),
                "b" => Ok(1),
                "c" => Ok(2),
                _ => Err(format!("the name {name:?} is unknown")),
            }
        }
        fn here(&self, name: &str) -> Result<usize, String> {
            match name {
                "places" => Ok(2),
                _ => Err(format!("{name:?} is not a visits value")),
            }
        }
    }

    fn value(text: &str) -> f64 {
        Expression::parse(text, &Letters)
            .unwrap_or_else(|message| panic!("{text}: {message}"))
            .evaluate(&[7.0, 2.0, 600.0])
    }

    fn error(text: &str) -> String {
        Expression::parse(text, &Letters).expect_err(text)
    }

    #[test]
    fn follows_precedence() {
        assert_eq!(value("1 + 2 * 3"), 7.0);
        assert_eq!(value("(1 + 2) * 3"), 9.0);
        assert_eq!(value("-a + b"), -5.0);
        assert_eq!(value("2 - 3 - 4"), -5.0);
        assert_eq!(value("a / b * 2"), 7.0);
        assert_eq!(value("not a == 7 or b == 2"), 1.0);
        assert_eq!(value("1 or 0 and 0"), 1.0);
        assert_eq!(value("-7 % 4"), 1.0);
        assert_eq!(value("-7 // 4"), -2.0);
        assert_eq!(value("a // b"), 3.0);
        assert_eq!(value("1.5e2 + 0x10 + .5"), 166.5);
    }

    #[test]
    fn has_functions() {
        assert_eq!(value("max(1, a, b)"), 7.0);
        assert_eq!(value("min(a, b, 5)"), 2.0);
        assert_eq!(value("clamp(a, 0, 5)"), 5.0);
        assert_eq!(value("clamp(-a, 0, 5)"), 0.0);
        assert_eq!(value("where(a > 10, 1, 2)"), 2.0);
        assert_eq!(value("abs(-a) + floor(2.9) + sqrt(16)"), 13.0);
        assert_eq!(value("bit(5, 0) + bit(5, 1) + bit(5, 2)"), 2.0);
        assert_eq!(value("here(places) >= 600"), 1.0);
    }

    #[test]
    fn has_no_exceptions() {
        assert_eq!(value("a / 0"), 0.0);
        assert_eq!(value("a % 0"), 7.0);
        assert_eq!(value("1e300 * 1e300"), 0.0);
        assert_eq!(value("1e300 * 1e300 - 1e300 * 1e300"), 0.0);
        assert_eq!(value("sqrt(-1)"), 0.0);
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(error("a +").contains("ends where"));
        assert!(error("a b").contains("unexpected name \"b\""));
        assert!(error("(a").contains("expected \")\", found the end"));
        assert!(error("q + 1").contains("\"q\" is unknown"));
        assert!(error("foo(1)").contains("function \"foo\" is unknown"));
        assert!(error("abs(1, 2)").contains("takes 1 arguments, found 2"));
        assert!(error("max(1)").contains("two or more"));
        assert!(error("a < b < c").contains("chained"));
        assert!(error("a ? b").contains("unexpected character '?' at column 3"));
        assert!(error("12abc").contains("is not a number"));
        assert!(error("017").contains("is not a number"));
        assert!(error("here(a)").contains("not a visits value"));
        assert!(error(&"(".repeat(1000)).contains("nested"));
        assert!(error(&"-".repeat(1000)).contains("nested"));
        assert!(error("").contains("ends where"));
        let deep = (0..40).map(|_| "max(a, ").collect::<String>() + "b" + &")".repeat(40);
        assert!(error(&deep).contains("nested"));
    }
}
