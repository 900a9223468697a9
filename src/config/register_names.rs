//! An option whose value is a list of registers, each with what its values cost.

use std::borrow::Cow;
use std::sync::Arc;

use super::value::{Shape, Value};

/// Registers by their names in PTX, each with a number if it has one. Copies share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegisterNames(Arc<[(Box<str>, Option<u32>)]>);

impl RegisterNames {
    /// Whether no register is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names and numbers, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<u32>)> {
        self.0.iter().map(|(name, number)| (&**name, *number))
    }

    /// The first name, and how many others there are: for people.
    pub fn shortened(&self) -> String {
        match &*self.0 {
            [] => "none".into(),
            [(name, _)] => name.to_string(),
            [(name, _), others @ ..] => format!("{name} and {} more", others.len()),
        }
    }
}

impl std::fmt::Display for RegisterNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.print())
    }
}

impl<'n> FromIterator<(&'n str, Option<u32>)> for RegisterNames {
    fn from_iter<I: IntoIterator<Item = (&'n str, Option<u32>)>>(names: I) -> Self {
        Self(names.into_iter().map(|(name, number)| (name.into(), number)).collect())
    }
}

impl<'n> FromIterator<&'n str> for RegisterNames {
    fn from_iter<I: IntoIterator<Item = &'n str>>(names: I) -> Self {
        names.into_iter().map(|name| (name, None)).collect()
    }
}

/// Reads `%r1` or `%r1:20`.
fn register(text: &str) -> Option<(&str, Option<u32>)> {
    let (name, number) = match text.split_once(':') {
        Some((name, number)) => (name, Some(u32::parse(number, &u32::SHAPE)?)),
        None => (text, None),
    };
    // The identifiers of PTX.
    let (first, rest) = name.split_at_checked(1)?;
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let is_first = first.bytes().all(|byte| byte == b'%' || (is_inner(byte) && !byte.is_ascii_digit()));
    (is_first && rest.bytes().all(is_inner)).then_some((name, number))
}

impl Value for RegisterNames {
    const SHAPE: Shape = Shape::Registers;

    fn parse(text: &str, _: &Shape) -> Option<Self> {
        if text == "none" {
            return Some(Self::default());
        }
        let registers: Option<Vec<_>> = text.split('+').map(register).collect();
        registers.map(|registers| registers.into_iter().collect())
    }

    fn print(&self) -> Cow<'static, str> {
        if self.is_empty() {
            return "none".into();
        }
        let printed = |(name, number): (&str, Option<u32>)| match number {
            Some(number) => format!("{name}:{number}"),
            None => name.to_owned(),
        };
        self.iter().map(printed).collect::<Vec<_>>().join("+").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of PTX and numbers are read and printed back; what is neither is refused.
    #[test]
    fn names() {
        for text in ["%r1", "%r1+%rd27+$x_1", "%r1:0+%rd2+%r3:4294967295", "none"] {
            let names = RegisterNames::parse(text, &Shape::Registers).expect("names");
            assert_eq!(names.print(), text);
        }
        let names = |text: &str| RegisterNames::parse(text, &Shape::Registers).expect("names").shortened();
        assert_eq!([names("none"), names("%r1:4"), names("%r1+%r2:3+%r3")], ["none", "%r1", "%r1 and 2 more"]);
        for text in ["", "+", "%r1+", "1", "%r 1", "a;b", "%r1,%r2", "%r1:", ":1", "%r1:x", "%r1:4294967296"] {
            assert_eq!(RegisterNames::parse(text, &Shape::Registers), None, "{text}");
        }
    }
}
