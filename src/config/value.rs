//! The types of an option's value: how each is parsed, printed and described.

use std::borrow::Cow;
use std::path::PathBuf;

/// One of the words of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Word.
    pub name: &'static str,
    /// Description.
    pub help: &'static str,
}

/// Shape of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `on` or `off`. The name alone means `on`, and `no-NAME` means `off`.
    Switch,
    /// A whole number in a range, its ends included.
    Integer {
        /// Least value.
        min: u32,
        /// Greatest value.
        max: u32,
    },
    /// One of a few words.
    Choice(&'static [Choice]),
    /// Any words of a list, joined by `+`; or `none`, or `all`.
    List(&'static [Choice]),
    /// One of a few words, or a whole number in a range, its ends included.
    ChoiceOrInteger {
        /// Words.
        choices: &'static [Choice],
        /// Least number.
        min: u32,
        /// Greatest number.
        max: u32,
    },
    /// A file or folder.
    Path,
    /// Registers by name, each optionally with a number, joined by `+`, or `none`.
    Registers,
    /// Settings by name, separated by commas or `+`, or `none`.
    Settings(&'static [Choice]),
}

impl Shape {
    /// Narrows the shape of an integer to a range. Other shapes have no range and do not change.
    pub(super) const fn within(self, range: std::ops::RangeInclusive<u32>) -> Self {
        match self {
            Self::Integer { .. } => Self::Integer { min: *range.start(), max: *range.end() },
            other => other,
        }
    }

    /// Returns the placeholder of the value in a help text: `on|off`, `N`, `before|after`, `PATH`.
    pub fn meta(&self) -> String {
        match self {
            Self::Switch => "on|off".into(),
            Self::Integer { .. } => "N".into(),
            Self::Choice(choices) => names(choices).join("|"),
            Self::List(choices) => format!("none|all|{}", names(choices).join("+")),
            Self::ChoiceOrInteger { choices, .. } => format!("{}|N", names(choices).join("|")),
            Self::Path => "PATH".into(),
            Self::Registers => "none|REGISTER:N@READ.READxN+REGISTER:N".into(),
            Self::Settings(_) => "none|NAME=VALUE,NAME=VALUE".into(),
        }
    }

    /// Describes the type in words, with its range.
    pub fn describe(&self) -> String {
        match self {
            Self::Switch => "switch, on or off".into(),
            Self::Integer { min, max } => format!("whole number from {min} to {max}"),
            Self::Choice(choices) => format!("one of {}", list(&names(choices))),
            Self::List(choices) => format!("none, all, or some of {} joined by +", list(&names(choices))),
            Self::ChoiceOrInteger { choices, min, max } => {
                format!("{}, or a whole number from {min} to {max}", names(choices).join(", "))
            }
            Self::Path => "path".into(),
            Self::Registers => {
                "none, or names of registers joined by +, each optionally followed by a colon and a number".into()
            }
            Self::Settings(_) => "none, or settings NAME=VALUE, separated by commas, or by + in pass parameters".into(),
        }
    }

    /// Returns the words of a choice.
    pub fn choices(&self) -> &'static [Choice] {
        match self {
            Self::Choice(choices)
            | Self::List(choices)
            | Self::ChoiceOrInteger { choices, .. }
            | Self::Settings(choices) => choices,
            _ => &[],
        }
    }

    /// Returns the problem with a value that could not be parsed, and the allowed values.
    pub(super) fn refuse(&self, text: &str) -> (&'static str, String) {
        if text.is_empty() {
            return ("no value", format!("use {}", self.allowed()));
        }
        let problem = match self {
            Self::Switch => "neither on nor off",
            Self::Integer { .. } if text.bytes().all(|byte| byte.is_ascii_digit()) => "out of range",
            Self::Integer { .. } => "not a whole number",
            Self::ChoiceOrInteger { .. } if text.bytes().all(|byte| byte.is_ascii_digit()) => "out of range",
            Self::Choice(_) | Self::List(_) | Self::ChoiceOrInteger { .. } => "unknown",
            Self::Path => "not a path",
            Self::Registers => "not a list of registers",
            Self::Settings(_) => "not a list of settings",
        };
        (problem, format!("use {}", self.allowed()))
    }

    fn allowed(&self) -> String {
        match self {
            Self::Switch => "on or off".into(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Choice(choices) => list(&names(choices)),
            Self::List(_) | Self::ChoiceOrInteger { .. } | Self::Registers | Self::Settings(_) => self.describe(),
            Self::Path => "a path".into(),
        }
    }
}

fn names(choices: &[Choice]) -> Vec<&'static str> {
    choices.iter().map(|choice| choice.name).collect()
}

/// Joins words: `a, b or c`.
fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

/// A type that an option can have.
pub(super) trait Value: Sized {
    /// Shape of the values.
    const SHAPE: Shape;

    /// Parses `text`; `None` if it is not a value of this shape.
    fn parse(text: &str, shape: &Shape) -> Option<Self>;

    /// Prints a value in the form that [`parse`](Self::parse) reads.
    fn print(&self) -> Cow<'static, str>;
}

impl Value for bool {
    const SHAPE: Shape = Shape::Switch;

    fn parse(text: &str, _: &Shape) -> Option<Self> {
        match text {
            "on" | "true" | "1" => Some(true),
            "off" | "false" | "0" => Some(false),
            _ => None,
        }
    }

    fn print(&self) -> Cow<'static, str> {
        if *self { "on".into() } else { "off".into() }
    }
}

impl Value for u32 {
    const SHAPE: Shape = Shape::Integer { min: 0, max: u32::MAX };

    fn parse(text: &str, shape: &Shape) -> Option<Self> {
        let Shape::Integer { min, max } = *shape else { return None };
        // `str::parse` accepts a leading `+`, which the grammar does not.
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|value| digits && (min..=max).contains(value))
    }

    fn print(&self) -> Cow<'static, str> {
        self.to_string().into()
    }
}

impl Value for Option<PathBuf> {
    const SHAPE: Shape = Shape::Path;

    fn parse(text: &str, _: &Shape) -> Option<Self> {
        if text.is_empty() { None } else { Some(Some(text.into())) }
    }

    fn print(&self) -> Cow<'static, str> {
        self.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default().into()
    }
}

/// Defines an enum whose variants are the words of a [`Shape::Choice`]; their documentation is the help.
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[doc = $help:literal])+ $word:literal => $variant:ident,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[doc = $help])+ $variant,)+
        }

        impl $name {
            /// Returns the option's value for this variant.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::config::value::Value for $name {
            const SHAPE: Shape = Shape::Choice(&[$(Choice { name: $word, help: concat!($($help),+).trim_ascii() },)+]);

            fn parse(text: &str, _: &Shape) -> Option<Self> {
                match text {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            fn print(&self) -> std::borrow::Cow<'static, str> {
                self.word().into()
            }
        }
    };
}
pub(super) use choices;

/// Defines bit flags that are the words of a [`Shape::List`]; their documentation is the help.
macro_rules! flags {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[doc = $help:literal])+ $word:literal => $flag:ident = $bit:literal,)+ }) => {
        bitflags::bitflags! {
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name: u32 {
                $($(#[doc = $help])+ const $flag = 1 << $bit;)+
            }
        }

        impl $name {
            /// Returns the option's value for these flags.
            pub fn words(self) -> std::borrow::Cow<'static, str> {
                $crate::config::value::Value::print(&self)
            }
        }

        impl $crate::config::value::Value for $name {
            const SHAPE: Shape = Shape::List(&[$(Choice { name: $word, help: concat!($($help),+).trim_ascii() },)+]);

            fn parse(text: &str, _: &Shape) -> Option<Self> {
                match text {
                    "none" | "off" => return Some(Self::empty()),
                    "all" => return Some(Self::all()),
                    _ => {}
                }
                let mut flags = Self::empty();
                for word in text.split(['+', ',']) {
                    flags |= match word {
                        $($word => Self::$flag,)+
                        _ => return None,
                    };
                }
                Some(flags)
            }

            fn print(&self) -> std::borrow::Cow<'static, str> {
                let words = [$((Self::$flag, $word),)+];
                let given: Vec<_> =
                    words.iter().filter(|(flag, _)| self.contains(*flag)).map(|(_, word)| *word).collect();
                if given.is_empty() { "none".into() } else { given.join("+").into() }
            }
        }
    };
}
pub(super) use flags;
