//! What costs registers or occupancy and can be mended: a finding has the line, the reason and the change.
//!
//! * [`input`]: what the rules are told of a kernel, in the same words by a forecast and by a measurement;
//! * [`source`]: what a forecast's subject takes from the code of a function;
//! * [`rules`]: the rules;
//! * [`remedy`]: what to change, in the language of the line.
//!
//! The plugin emits findings as remarks, and the tool prints them as warnings.

pub mod input;
pub mod remedy;
pub mod rules;
pub mod source;

/// The lints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lint {
    /// No launch bounds, on which ptxas's choice depends.
    NoLaunchBounds,
    /// Bounds that ptxas does not follow.
    IgnoredBounds,
    /// Spills.
    Spills,
    /// Spills that more registers would save at no cost.
    NeedlessSpills,
    /// Close to the next step of occupancy.
    OccupancyStep,
    /// Variables in local memory.
    LocalArray,
    /// A function that gets the address of one.
    NotInlined,
    /// A line that is in one block too often.
    UnrolledTooFar,
    /// Calls by the calling convention.
    AbiCall,
    /// `setmaxnreg` that does nothing.
    IgnoredSetmaxnreg,
    /// `setmaxnreg` that asks for more registers than its block has.
    RegisterBudget,
    /// A pragma that ptxas refuses.
    RefusedPragma,
    /// A loop that ptxas is likely to unroll wrongly.
    WrongLoop,
    /// A loop that ptxas unrolls wrongly for numbers next to the ends of their type.
    ExtremeLoop,
}

impl Lint {
    /// All of them.
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

    /// Its name, as users write it, and what it is about, in a sentence.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::NoLaunchBounds => ("no-launch-bounds", "No launch bounds where ptxas's choice depends on them"),
            Self::IgnoredBounds => ("ignored-bounds", "Launch bounds that ptxas does not follow"),
            Self::Spills => ("spills", "Spills, and the lines that move most of them"),
            Self::NeedlessSpills => (
                "needless-spills",
                "A limit on registers that makes the kernel spill, while more registers would cost no warp",
            ),
            Self::OccupancyStep => ("occupancy-step", "A few registers more than the next step of occupancy allows"),
            Self::LocalArray => ("local-array", "Variables in local memory, and what keeps them there"),
            Self::NotInlined => (
                "not-inlined",
                "A function or closure that gets the address of a variable, which keeps the variable in local memory",
            ),
            Self::UnrolledTooFar => (
                "unrolled-too-far",
                "Spills where a line's values are live many times over: its loop is unrolled too far",
            ),
            Self::AbiCall => ("abi-call", "A call of a function that follows the calling convention"),
            Self::IgnoredSetmaxnreg => ("ignored-setmaxnreg", "setmaxnreg that ptxas ignores"),
            Self::RegisterBudget => ("register-budget", "setmaxnreg that asks for more registers than its block has"),
            Self::RefusedPragma => ("refused-pragma", "A pragma that ptxas refuses"),
            Self::WrongLoop => ("wrong-loop", "A loop of which ptxas's code is likely to make another number of turns"),
            Self::ExtremeLoop => (
                "extreme-loop",
                "The same for numbers next to the ends of their type alone; silent unless it is denied",
            ),
        }
    }

    /// Whether it finds what hardly any kernel suffers from, so that it is told only to those who ask for it.
    pub fn is_silent(self) -> bool {
        self == Self::ExtremeLoop
    }

    /// Its name, as users write it.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// What it is about, in a sentence.
    pub fn help(self) -> &'static str {
        self.words().1
    }

    /// The lint of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lint| lint.name() == name)
    }
}

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The path.
    pub file: String,
    /// The line; 0 where only the file is known.
    pub line: u32,
}

/// Something that can be mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub lint: Lint,
    /// The kernel; empty where ptxas does not say which.
    pub kernel: String,
    /// The line.
    pub place: Place,
    /// Why it costs something.
    pub reason: String,
    /// What to change.
    pub remedy: String,
}

/// How a function's name is written for people.
pub type Readable = fn(&str) -> String;

impl Finding {
    /// What is the matter, and what to do.
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

    /// Each lint is among all of them, once, and is known by its name.
    #[test]
    fn names() {
        assert!(Lint::ALL.is_sorted());
        assert!(Lint::ALL.iter().all(|&lint| Lint::by_name(lint.name()) == Some(lint) && lint.help().len() > 9));
        assert_eq!(Lint::by_name("occupancy"), None);
    }
}
