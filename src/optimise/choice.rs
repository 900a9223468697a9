//! The choice of a kernel before LLVM's optimisations.

use crate::config::{Config, Inline, Unroll};

/// Inlining and unrolling in a kernel and in the functions that it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The calls that are inlined.
    pub inline: Inline,
    /// The loops that are unrolled.
    pub unroll: Unroll,
}

impl Choice {
    /// Returns the choice of the options.
    pub fn of(config: &Config) -> Self {
        Self { inline: config.inline, unroll: config.unroll }
    }

    /// Returns the number of the choice, which is part of the names of copies. LLVM's own choice is 0.
    pub fn number(self) -> u32 {
        let inline = match self.inline {
            Inline::Llvm => 0,
            Inline::Stack => 1,
            Inline::All => 2,
            Inline::Less => 3,
        };
        inline | (number_of(self.unroll) << 8)
    }

    /// Whether the choice is LLVM's own.
    pub fn is_llvms(self) -> bool {
        self.number() == 0
    }
}

/// Returns the number of a choice of unrolling, which is the value of the functions' attribute.
pub fn number_of(unroll: Unroll) -> u32 {
    match unroll {
        Unroll::Llvm => 0,
        Unroll::Asked => 1,
        Unroll::Cut => 2,
        Unroll::Stack => 3,
    }
}

/// Returns the choice of unrolling with a number; LLVM's own choice for an unknown number.
pub fn unroll_of(number: u32) -> Unroll {
    [Unroll::Asked, Unroll::Cut, Unroll::Stack]
        .into_iter()
        .find(|&unroll| number_of(unroll) == number)
        .unwrap_or(Unroll::Llvm)
}

/// The choice for a function that may not be changed: LLVM's own.
impl Default for Choice {
    fn default() -> Self {
        Self { inline: Inline::Llvm, unroll: Unroll::Llvm }
    }
}

impl PartialOrd for Choice {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Choice {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number().cmp(&other.number())
    }
}
