//! Options whose value is a word or a number: numbers of registers, and bytes that somebody may know.

use std::borrow::Cow;

use super::value::{Choice, Shape, Value};

/// Registers that a thread can have: below, ptxas cannot compile anything.
const MIN: u32 = 16;
const MAX: u32 = 255;

/// Defines an option that is `off`, `auto` or a number of registers.
macro_rules! registers {
    ($(#[$doc:meta])* $name:ident, $(#[$off_doc:meta])* $off:literal, $(#[$auto_doc:meta])* $auto:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[$off_doc])*
            Off,
            $(#[$auto_doc])*
            Auto,
            /// This number.
            Most(u32),
        }

        impl Value for $name {
            const SHAPE: Shape = Shape::ChoiceOrInteger {
                choices: &[Choice { name: "off", help: $off }, Choice { name: "auto", help: $auto }],
                min: MIN,
                max: MAX,
            };

            fn parse(text: &str, _: &Shape) -> Option<Self> {
                match text {
                    "off" => Some(Self::Off),
                    "auto" => Some(Self::Auto),
                    _ => u32::parse(text, &Shape::Integer { min: MIN, max: MAX }).map(Self::Most),
                }
            }

            fn print(&self) -> Cow<'static, str> {
                match self {
                    Self::Off => "off".into(),
                    Self::Auto => "auto".into(),
                    Self::Most(number) => number.to_string().into(),
                }
            }
        }
    };
}

registers! {
    /// The limit on registers that kernels get which set none themselves.
    RegisterBudget,
    /// None.
    "None.",
    /// What the hardware has for a block of the kernel's size, where it is expected to spill much below that.
    "What the hardware has for a block of the kernel's size, for kernels that say how large their blocks are, but not how \
     many of them are wanted, and are expected to spill much with less than half of that."
}

registers! {
    /// The registers for which values are kept in memory.
    RegisterTarget,
    /// No value is.
    "No value is kept in memory.",
    /// As many as ptxas may give the kernel, where it is expected to spill and shared memory has room for much of it.
    "As many as ptxas may give the kernel by its launch bounds. A kernel is left alone if it is not expected to spill, or if \
     shared memory has room for less than two fifths of what does not fit: ptxas spills the rest anyway, or gives \
     registers up for warps."
}

/// Bytes of shared memory that the launch adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DynamicShared {
    /// Nobody says.
    Unknown,
    /// So many.
    Bytes(u32),
}

/// More than a block may have on any processor.
const MOST_SHARED: u32 = 256 * 1024;

impl Value for DynamicShared {
    const SHAPE: Shape = Shape::ChoiceOrInteger {
        choices: &[Choice { name: "unknown", help: "A kernel that has dynamic shared memory is left alone." }],
        min: 0,
        max: MOST_SHARED,
    };

    fn parse(text: &str, _: &Shape) -> Option<Self> {
        match text {
            "unknown" => Some(Self::Unknown),
            _ => u32::parse(text, &Shape::Integer { min: 0, max: MOST_SHARED }).map(Self::Bytes),
        }
    }

    fn print(&self) -> Cow<'static, str> {
        match self {
            Self::Unknown => "unknown".into(),
            Self::Bytes(number) => number.to_string().into(),
        }
    }
}
