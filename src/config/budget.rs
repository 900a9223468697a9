//! The option `budget`: a word or a number.

use std::borrow::Cow;

use super::value::{Choice, Shape, Value};

/// The limit on registers that kernels get which set none themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterBudget {
    /// None.
    Off,
    /// What the hardware has for a block of the kernel's size, where it is expected to spill much below that.
    Auto,
    /// This number.
    Most(u32),
}

const CHOICES: &[Choice] = &[
    Choice { name: "off", help: "None." },
    Choice {
        name: "auto",
        help: "What the hardware has for a block of the kernel's size, for kernels that say how large their blocks are, \
               but not how many of them are wanted, and are expected to spill much with less than half of that.",
    },
];

/// Registers that a thread can have: below, ptxas cannot compile anything.
const MIN: u32 = 16;
const MAX: u32 = 255;

impl Value for RegisterBudget {
    const SHAPE: Shape = Shape::ChoiceOrInteger { choices: CHOICES, min: MIN, max: MAX };

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
