//! An option whose value is a list of registers, each with the cost and the reloads of its values.

use std::borrow::Cow;
use std::sync::Arc;

use super::value::{Shape, Value};

/// Registers by their names in PTX. Copies share the list, which is never empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegisterNames(Option<Arc<[NamedRegister]>>);

/// A register by its name in PTX.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NamedRegister {
    /// Name.
    pub name: Box<str>,
    /// Words that the spills of its values move, if given.
    pub moves: Option<u32>,
    /// Reloads of its values; empty if none are given.
    pub loads: Vec<NamedLoad>,
}

/// A reload of a register's value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NamedLoad {
    /// Reads of the register that the reload serves. The register's first read has number 1.
    pub reads: Vec<u32>,
    /// Number of executions in a run of the function.
    pub times: u32,
}

impl RegisterNames {
    /// No registers.
    pub(super) const NONE: Self = Self(None);

    fn all(&self) -> &[NamedRegister] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// Yields the registers, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &NamedRegister> {
        self.all().iter()
    }

    /// Prints the first name and the number of others.
    pub fn shortened(&self) -> String {
        match self.all() {
            [] => "none".into(),
            [NamedRegister { name, .. }] => name.to_string(),
            [NamedRegister { name, .. }, others @ ..] => format!("{name} and {} more", others.len()),
        }
    }
}

impl std::fmt::Display for RegisterNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.print())
    }
}

impl FromIterator<NamedRegister> for RegisterNames {
    fn from_iter<I: IntoIterator<Item = NamedRegister>>(registers: I) -> Self {
        Self(Some(registers.into_iter().collect()).filter(|all: &Arc<[_]>| !all.is_empty()))
    }
}

impl<'n> FromIterator<&'n str> for RegisterNames {
    fn from_iter<I: IntoIterator<Item = &'n str>>(names: I) -> Self {
        names.into_iter().map(|name| NamedRegister { name: name.into(), ..NamedRegister::default() }).collect()
    }
}

/// Parses `%r1`, `%r1:20`, or `%r1:20@1.2x10@4x1`.
fn register(text: &str) -> Option<NamedRegister> {
    let (name, numbers) = match text.split_once(':') {
        Some((name, numbers)) => (name, Some(numbers)),
        None => (text, None),
    };
    // Identifiers as in PTX.
    let (first, rest) = name.split_at_checked(1)?;
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let is_first = first.bytes().all(|byte| byte == b'%' || (is_inner(byte) && !byte.is_ascii_digit()));
    if !is_first || !rest.bytes().all(is_inner) {
        return None;
    }
    let mut register = NamedRegister { name: name.into(), ..NamedRegister::default() };
    if let Some(numbers) = numbers {
        let mut numbers = numbers.split('@');
        register.moves = Some(number(numbers.next()?)?);
        register.loads = numbers.map(load).collect::<Option<_>>()?;
    }
    Some(register)
}

/// Parses `1.2x10`.
fn load(text: &str) -> Option<NamedLoad> {
    let (reads, times) = text.split_once('x')?;
    Some(NamedLoad { reads: reads.split('.').map(number).collect::<Option<_>>()?, times: number(times)? })
}

fn number(text: &str) -> Option<u32> {
    u32::parse(text, &u32::SHAPE)
}

impl Value for RegisterNames {
    const SHAPE: Shape = Shape::Registers;

    fn parse(text: &str, _: &Shape) -> Option<Self> {
        if text == "none" {
            return Some(Self::default());
        }
        text.split('+').map(register).collect()
    }

    fn print(&self) -> Cow<'static, str> {
        if self.is_empty() {
            return "none".into();
        }
        let load = |NamedLoad { reads, times }: &NamedLoad| {
            let reads: Vec<String> = reads.iter().map(u32::to_string).collect();
            format!("@{}x{times}", reads.join("."))
        };
        let printed = |NamedRegister { name, moves, loads }: &NamedRegister| match moves {
            Some(moves) => format!("{name}:{moves}{}", loads.iter().map(load).collect::<String>()),
            None => name.to_string(),
        };
        self.iter().map(printed).collect::<Vec<_>>().join("+").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of PTX and numbers are parsed, and the printed text is parsed to the same list. Other text is refused.
    #[test]
    fn names() {
        for text in ["%r1", "%r1+%rd27+$x_1", "%r1:0+%rd2+%r3:4294967295", "%r1:20@1.2x10@4x1+%r2:1@9x1", "none"] {
            let names = RegisterNames::parse(text, &Shape::Registers).expect("names");
            assert_eq!(names.print(), text);
        }
        let names = |text: &str| RegisterNames::parse(text, &Shape::Registers).expect("names").shortened();
        assert_eq!([names("none"), names("%r1:4"), names("%r1+%r2:3+%r3")], ["none", "%r1", "%r1 and 2 more"]);
        for text in [
            "",
            "+",
            "%r1+",
            "1",
            "%r 1",
            "a;b",
            "%r1,%r2",
            "%r1:",
            ":1",
            "%r1:x",
            "%r1:4294967296",
            "%r1@1x1",
            "%r1:2@1",
            "%r1:2@x1",
            "%r1:2@1.x1",
        ] {
            assert_eq!(RegisterNames::parse(text, &Shape::Registers), None, "{text}");
        }
    }
}
