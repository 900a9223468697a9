//! Device functions that ptxas compiles separately (`-c`, nvcc's `-rdc=true`): a kernel with bounds does not link with
//! a function that takes more registers than the kernel may have.
//!
//! Within a whole program, a device function has the registers of the kernel that calls it. Compiled separately, it may
//! use all registers and takes them freely. It prefers the registers that a callee need not save, which are half of the
//! registers from R32 on. This was observed with ptxas 13.0.88 on 50 functions made for the purpose, with 4 to 105
//! words live at once. 10 words fit below R32. Each of the 33 functions with more words takes at least twice its words
//! plus 10 registers; some take four times their words.

use std::fmt;

use super::summary::Summary;
use crate::function::LaunchBounds;
use crate::printable::printable;
use crate::target::machine::{Architecture, CommandLine, Decider, MAX_REGISTERS};

/// Most words of a function that takes no register from R32 on.
const SMALL: u32 = 10;

/// Registers that ptxas gives a larger function beside two for each word.
const BESIDE_WORDS: u32 = 10;

/// Most registers that ptxas gives a function: R255 reads as zero.
const MOST: u32 = MAX_REGISTERS - 1;

/// A callee that takes more registers in separate compilation than the kernel may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkConflict {
    /// Direct or indirect callee of the kernel with the most live words.
    pub function: String,
    /// Most words that are live in it.
    pub words: u32,
    /// Fewest registers that it is likely to take.
    pub registers: u32,
    /// Most registers that the kernel may have, by its own bounds.
    pub limit: u32,
}

impl fmt::Display for LinkConflict {
    /// Prints that the link fails, the reason, and a remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, words, registers, limit } = self;
        let function = printable(function);
        write!(
            f,
            "the kernel does not link after ptxas -c: {words} words are live in {function}, for which ptxas takes {registers} registers or more, and the kernel may have {limit}; pass --device-function-maxrregcount {limit} to ptxas, or inline \
             {function}"
        )
    }
}

impl LinkConflict {
    /// Returns the conflict of a kernel with `callee`; `None` if no conflict is known.
    pub(in crate::forecast) fn of(
        bounds: &LaunchBounds,
        callee: &Summary,
        architecture: &Architecture,
    ) -> Option<Self> {
        let limit = architecture.register_limit(bounds, &CommandLine::default()).ok()?;
        let words = callee.pressure.peak.words;
        let registers = (2 * words + BESIDE_WORDS).min(MOST);
        let is_bounded = limit.decider != Decider::Machine && words > SMALL && registers > limit.registers;
        is_bounded.then(|| Self { function: callee.name.clone(), words, registers, limit: limit.registers })
    }
}

#[cfg(test)]
mod tests {
    use crate::forecast::{Case, Forecast, forecast_by_name};
    use crate::function::Function;
    use crate::target::machine::Architecture;

    /// A kernel with these bounds that calls, through another function, a function with `words` live words.
    fn kernel(bounds: &str, words: usize) -> Forecast {
        let call = |head: &str, callee: &str| {
            format!(
                "mfv 1\nfunction {head}\nopcode CALL\n@0 = \"@{callee}\"\nbb0: frequency 1.0 depth 0\n\
                 CALL @0 :: call_sequence\nend\n"
            )
        };
        let mut heavy = String::from("mfv 1\nfunction \"heavy\"\nopcode LD_i32\nopcode ST_i32\n");
        (0..words).for_each(|word| heavy += &format!("regs %{word} B32\n"));
        heavy += "bb0: frequency 1.0 depth 0\n";
        (0..words).for_each(|word| heavy += &format!("%{word} = LD_i32 {word} :: read ordered\n"));
        (0..words).for_each(|word| heavy += &format!("ST_i32 %{word}, 0 :: write ordered\n"));
        heavy += "end\n";
        let texts = [call(&format!("\"k\"\nkernel {bounds}"), "between"), call("\"between\"", "heavy"), heavy];
        let functions = texts.map(|text| Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")));
        let case = Case { architecture: Architecture::by_name("sm_90").expect("is known"), max_registers: None };
        forecast_by_name(&functions, &case).expect("a forecast").swap_remove(0)
    }

    /// A callee at any depth is reported if it takes more registers than the bounds leave. No callee is reported if the
    /// bounds leave enough registers, or if there are no bounds.
    #[test]
    fn callees_beyond_the_bounds() {
        let conflict = |bounds, words| {
            kernel(bounds, words).link_conflict.map(|conflict| (conflict.function, conflict.registers, conflict.limit))
        };
        let heavy = |registers, limit| Some(("heavy".to_owned(), registers, limit));
        for bounds in ["maxntid 1024", "maxnreg 64", "maxntid 256 minctasm 4"] {
            assert_eq!(conflict(bounds, 120), heavy(250, 64), "{bounds}");
            assert_eq!(conflict(bounds, 28), heavy(66, 64), "{bounds}");
            assert_eq!(conflict(bounds, 27), None, "{bounds}");
        }
        assert_eq!((conflict("maxnreg 24", 11), conflict("maxnreg 24", 10)), (heavy(32, 24), None));
        assert_eq!(conflict("maxnreg 64", 200), heavy(254, 64));
        assert_eq!(conflict("", 120), None);
        assert_eq!(conflict("maxntid 128", 120), None);
    }
}
