//! What a kernel chooses ahead of LLVM's optimisations.

use crate::config::{Config, Inline, Unroll};

/// How calls are inlined in a kernel and in what it calls, and how loops are unrolled there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Which calls are inlined.
    pub inline: Inline,
    /// Which loops are unrolled.
    pub unroll: Unroll,
}

impl Choice {
    /// What the options choose.
    pub fn of(config: &Config) -> Self {
        Self { inline: config.inline, unroll: config.unroll }
    }

    /// The choice as a number, which copies of functions have in their names. That of LLVM is 0.
    pub fn number(self) -> u32 {
        let inline = match self.inline {
            Inline::Llvm => 0,
            Inline::Stack => 1,
            Inline::All => 2,
            Inline::Less => 3,
        };
        inline | (number_of(self.unroll) << 8)
    }

    /// Whether everything is as LLVM has it.
    pub fn is_llvms(self) -> bool {
        self.number() == 0
    }
}

/// The number of a choice of unrolling, for the attribute of functions.
pub fn number_of(unroll: Unroll) -> u32 {
    match unroll {
        Unroll::Llvm => 0,
        Unroll::Asked => 1,
        Unroll::Cut => 2,
        Unroll::Stack => 3,
    }
}

/// The choice of a number; as LLVM has it where it is none.
pub fn unroll_of(number: u32) -> Unroll {
    [Unroll::Asked, Unroll::Cut, Unroll::Stack]
        .into_iter()
        .find(|&unroll| number_of(unroll) == number)
        .unwrap_or(Unroll::Llvm)
}

/// What a function has that may not be changed: everything as LLVM has it.
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
