//! An option whose value is a list of registers.

use std::borrow::Cow;
use std::sync::Arc;

use super::value::{Shape, Value};

/// Registers by their names in PTX. Copies share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegisterNames(Arc<[Box<str>]>);

impl RegisterNames {
    /// Whether no register is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|name| &**name)
    }
}

impl std::fmt::Display for RegisterNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.print())
    }
}

impl<'n> FromIterator<&'n str> for RegisterNames {
    fn from_iter<I: IntoIterator<Item = &'n str>>(names: I) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }
}

impl Value for RegisterNames {
    const SHAPE: Shape = Shape::Registers;

    fn parse(text: &str, _: &Shape) -> Option<Self> {
        if text == "none" {
            return Some(Self::default());
        }
        // The identifiers of PTX.
        let is_name = |name: &str| {
            let (first, rest) = name.split_at_checked(1).unwrap_or_default();
            let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
            let is_first = first.bytes().all(|byte| byte == b'%' || (is_inner(byte) && !byte.is_ascii_digit()));
            !first.is_empty() && is_first && rest.bytes().all(is_inner)
        };
        text.split('+').all(is_name).then(|| text.split('+').collect())
    }

    fn print(&self) -> Cow<'static, str> {
        if self.is_empty() { "none".into() } else { self.0.join("+").into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of PTX are read and printed back; what is no name is refused.
    #[test]
    fn names() {
        for text in ["%r1", "%r1+%rd27+$x_1", "none"] {
            let names = RegisterNames::parse(text, &Shape::Registers).expect("names");
            assert_eq!(names.print(), text);
        }
        for text in ["", "+", "%r1+", "1", "%r 1", "a;b", "%r1,%r2"] {
            assert_eq!(RegisterNames::parse(text, &Shape::Registers), None, "{text}");
        }
    }
}
