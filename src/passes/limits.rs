//! The limits about which `nvptx-regalloc` warns, and that are errors with `strict`: registers for the operands of an
//! instruction, shared memory for slots, and the frame of a function.
//!
//! Registers and shared memory are limits only if a number of registers is requested. `regalloc=auto` chooses a number
//! that is possible, so only the frame is a limit there. The code is correct even if a limit is exceeded: ptxas spills
//! the remaining values.

use crate::config::{Config, RegisterTarget, SpillTo, Warn};
use crate::error::{Error, ErrorKind};
use crate::function::{Function, Inst};
use crate::spill::spiller::{FRAME_LIMIT, Facts, Refusal, own_frame};
use crate::spill::{Outcome, SpillSpace};
use crate::target::machine::MAX_REGISTERS;

fn limit(function: &Function, problem: String, remedy: String) -> Error {
    Error::new(ErrorKind::Limit, problem, remedy).in_function(function.name())
}

/// Whether warnings about limits are enabled.
pub(super) fn are_told(config: &Config) -> bool {
    config.warn.contains(Warn::LIMITS)
}

/// Returns an error with ptxas's wording if the operands of one instruction need more registers than `regalloc=N`
/// allows, whatever is spilled.
pub(super) fn of_operands(function: &Function, config: &Config, facts: &Facts<'_>) -> Option<(Inst, Error)> {
    let RegisterTarget::Most(registers) = config.regalloc else { return None };
    let (widest, needed) = facts.widest().filter(|&(_, needed)| needed > registers)?;
    let at = match function.line(widest) {
        0 => String::new(),
        line => format!("line {line}: "),
    };
    let problem = format!(
        "{at}Register allocation failed with register count of '{registers}'. Compile the program with a higher register \
         target: the operands of this instruction of '{}' alone take {needed}",
        function.name(),
    );
    let remedy = format!("use regalloc={} or more", needed.min(MAX_REGISTERS));
    Some((widest, limit(function, problem, remedy)))
}

/// Returns errors if shared memory has no room for all values that exceed `regalloc=N`, or if slots make the frame too
/// large. `reserved` registers hold no values.
pub(super) fn of_outcome(function: &Function, config: &Config, outcome: &Outcome, reserved: u32) -> Vec<Error> {
    let is_asked = matches!(config.regalloc, RegisterTarget::Most(_)) && config.regalloc_registers.is_empty();
    let is_ended_by_number = outcome.spilled.len() >= config.regalloc_values as usize;
    let shared = outcome.too_few_bytes.filter(|_| is_asked && !is_ended_by_number).map(|most| {
        let number = outcome.spilled.iter().filter(|spilled| spilled.space == SpillSpace::Shared).count();
        let problem = format!(
            "shared memory is full: {number} values have slots in {} of at most {most} bytes, and {} words stay live",
            outcome.bytes.shared, outcome.peaks[1]
        );
        limit(function, problem, remedy(config, Some(outcome.peaks[1] + reserved)))
    });
    let frame = u64::from(outcome.bytes.local) + own_frame(function);
    let deep = (outcome.bytes.local > 0 && frame > FRAME_LIMIT).then(|| {
        let problem = format!(
            "a thread has {frame} bytes of local memory, {} of them for slots, but the limit of a frame is \
             {FRAME_LIMIT}",
            outcome.bytes.local
        );
        let remedy = "spill fewer values with regalloc-values=N, or spill none to local memory with spill-to";
        limit(function, problem, remedy.into())
    });
    shared.into_iter().chain(deep).collect()
}

/// Returns an error if shared memory has no room for a single slot, though `regalloc=N` needs one.
pub(super) fn of_refusal(function: &Function, config: &Config, refusal: &Refusal) -> Option<Error> {
    let is_asked = matches!(config.regalloc, RegisterTarget::Most(_)) && config.regalloc_registers.is_empty();
    let is_full = *refusal == Refusal::NoSlotMemory && config.regalloc_values > 0 && is_asked;
    is_full.then(|| limit(function, format!("spills no value to shared memory: {refusal}"), remedy(config, None)))
}

/// Returns the remedy for full shared memory. `enough` is the number of registers that would suffice.
fn remedy(config: &Config, enough: Option<u32>) -> String {
    let registers = enough.filter(|&enough| enough <= MAX_REGISTERS).map(|enough| format!("use regalloc={enough}"));
    let local = match config.spill_to.contains(SpillTo::LOCAL) {
        true => "limit the values with regalloc-values=N and leave the rest to ptxas",
        false => "allow spills to local memory, too, with spill-to=shared+local",
    };
    registers.into_iter().chain([local.to_owned()]).collect::<Vec<_>>().join(", or ")
}

#[cfg(test)]
mod tests {
    use super::super::excess::tests::{kernel, output};
    use super::*;

    fn told(words: usize, parameters: &str) -> Vec<String> {
        output(&kernel(words), &format!("regalloc-slack=0;{parameters}")).limits.iter().map(Error::to_string).collect()
    }

    /// An instruction with too many operands causes a warning with ptxas's wording, but only for a requested number of
    /// registers.
    #[test]
    fn operands() {
        let words = "nvptx-ra: kernel 'k': Register allocation failed with register count of '32'. Compile the program with \
                     a higher register target: the operands of this instruction of 'k' alone take 40; use regalloc=40 or \
                     more";
        assert_eq!(told(40, "regalloc=32"), [words]);
        for silent in ["regalloc=40", "regalloc=auto", "regalloc=32;warn=none", "regalloc=off"] {
            assert_eq!(told(40, silent), [""; 0], "{silent}");
        }
    }

    /// With `strict`, the limit is an error of its own kind with the function's name.
    #[test]
    fn strict() {
        let error = super::super::excess::tests::run_pass(&kernel(40), "regalloc=32;strict").expect_err("a limit");
        assert_eq!((error.kind, error.function.as_deref()), (ErrorKind::Limit, Some("k")));
        assert!(super::super::excess::tests::run_pass(&kernel(40), "regalloc=32;strict;warn=none").is_ok());
    }
}
