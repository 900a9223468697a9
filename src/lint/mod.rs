//! Avoidable costs in registers or occupancy: a finding has the line, the reason and the change.
//!
//! * [`input`]: facts about a kernel for the rules, in the same form for a forecast and a measurement;
//! * [`source`]: facts from the code of a function, for a forecast;
//! * [`rules`]: the rules;
//! * [`remedy`]: the change, in the language of the line.
//!
//! The plugin emits findings as remarks, and the tool prints them as warnings.

pub mod input;
pub mod remedy;
pub mod rules;
pub mod source;

/// The lints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lint {
    /// The kernel has no launch bounds, though ptxas's choice depends on them.
    NoLaunchBounds,
    /// ptxas ignores bounds.
    IgnoredBounds,
    /// The kernel spills.
    Spills,
    /// The kernel spills, though more registers would cost no occupancy.
    NeedlessSpills,
    /// The kernel is close to the next occupancy step.
    OccupancyStep,
    /// Variables stay in local memory.
    LocalArray,
    /// A called function gets the address of a variable and so keeps the variable in local memory.
    NotInlined,
    /// A line occurs many times in one block of a kernel that spills.
    UnrolledTooFar,
    /// ptxas follows the calling convention at a call.
    AbiCall,
    /// `setmaxnreg` has no effect.
    IgnoredSetmaxnreg,
    /// `setmaxnreg` requests more registers than its block has.
    RegisterBudget,
    /// ptxas refuses a pragma.
    RefusedPragma,
    /// ptxas is likely to unroll a loop wrongly.
    WrongLoop,
    /// ptxas unrolls a loop wrongly for numbers next to the ends of their type.
    ExtremeLoop,
}

impl Lint {
    /// All lints.
    pub const ALL: [Self; 14] = [
        Self::NoLaunchBounds,
        Self::IgnoredBounds,
        Self::Spills,
        Self::NeedlessSpills,
        Self::OccupancyStep,
        Self::LocalArray,
        Self::NotInlined,
        Self::UnrolledTooFar,
        Self::AbiCall,
        Self::IgnoredSetmaxnreg,
        Self::RegisterBudget,
        Self::RefusedPragma,
        Self::WrongLoop,
        Self::ExtremeLoop,
    ];

    /// Returns the name, as users write it, and a description in one sentence.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::NoLaunchBounds => ("no-launch-bounds", "No launch bounds, though ptxas's choice depends on them"),
            Self::IgnoredBounds => ("ignored-bounds", "Launch bounds that ptxas ignores"),
            Self::Spills => ("spills", "Spills, and the lines that move most of them"),
            Self::NeedlessSpills => (
                "needless-spills",
                "A register limit that makes the kernel spill, though more registers would cost no occupancy",
            ),
            Self::OccupancyStep => ("occupancy-step", "A few registers more than the next occupancy step allows"),
            Self::LocalArray => ("local-array", "Variables in local memory, and the cause"),
            Self::NotInlined => (
                "not-inlined",
                "A function or closure that gets the address of a variable, which keeps the variable in local memory",
            ),
            Self::UnrolledTooFar => (
                "unrolled-too-far",
                "Spills at a line with many live copies of its values: its loop is unrolled too far",
            ),
            Self::AbiCall => ("abi-call", "A call of a function that follows the calling convention"),
            Self::IgnoredSetmaxnreg => ("ignored-setmaxnreg", "setmaxnreg that ptxas ignores"),
            Self::RegisterBudget => ("register-budget", "setmaxnreg that requests more registers than its block has"),
            Self::RefusedPragma => ("refused-pragma", "A pragma that ptxas refuses"),
            Self::WrongLoop => ("wrong-loop", "A loop whose trip count is likely to be wrong in ptxas's code"),
            Self::ExtremeLoop => (
                "extreme-loop",
                "A loop whose trip count is wrong in ptxas's code only for numbers next to the ends of their type; \
                 silent unless denied",
            ),
        }
    }

    /// Whether the lint is reported only on request, because its findings affect hardly any kernel.
    pub fn is_silent(self) -> bool {
        self == Self::ExtremeLoop
    }

    /// Returns the name, as users write it.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns a description in one sentence.
    pub fn help(self) -> &'static str {
        self.words().1
    }

    /// Returns the lint with a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lint| lint.name() == name)
    }
}

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The path.
    pub file: String,
    /// The line; 0 if only the file is known.
    pub line: u32,
}

/// A finding of a lint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The lint that found it.
    pub lint: Lint,
    /// The kernel; empty if ptxas does not name it.
    pub kernel: String,
    /// The line.
    pub place: Place,
    /// The cost, and its reason.
    pub reason: String,
    /// The change.
    pub remedy: String,
}

/// Converts a function's name to its readable form.
pub type Readable = fn(&str) -> String;

impl Finding {
    /// Returns the reason and the remedy.
    pub fn message(&self, readable: Readable) -> String {
        let kernel = match self.kernel.as_str() {
            "" => String::new(),
            kernel => format!("kernel '{}': ", readable(kernel)),
        };
        format!("{kernel}{}; {}", self.reason, self.remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each lint is in the list once, and is found by its name.
    #[test]
    fn names() {
        assert!(Lint::ALL.is_sorted());
        assert!(Lint::ALL.iter().all(|&lint| Lint::by_name(lint.name()) == Some(lint) && lint.help().len() > 9));
        assert_eq!(Lint::by_name("occupancy"), None);
    }
}
