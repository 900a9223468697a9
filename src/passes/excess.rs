//! Remarks of `nvptx-regalloc` about words that stay live beyond the goal.
//!
//! The pass emits no error: ptxas spills the remaining words, so the code is correct.

use super::{Remark, RemarkKind};
use crate::config::{Config, RegisterTarget};
use crate::error::Error;
use crate::function::{Function, Inst};
use crate::spill::Outcome;
use crate::target::machine::MAX_REGISTERS;

/// Returns a remark if more words stay live than the goal of `regalloc=N` allows. The remark is at the first
/// instruction with the most live words, and has the number of registers that would suffice. `reserved` registers hold
/// no values. `None` if the limit on the number of values ended the selection.
pub(super) fn excess(config: &Config, outcome: &Outcome, reserved: u32) -> Option<Remark> {
    let RegisterTarget::Most(_) = config.regalloc else { return None };
    let fullest = outcome.fullest.filter(|_| outcome.spilled.len() < config.regalloc_values as usize)?;
    let reached = outcome.peaks[1];
    let enough = reached + reserved;
    let remedy = match enough <= MAX_REGISTERS {
        true => format!("use regalloc={enough}"),
        false => "keep fewer values live here: no kernel has this many registers".into(),
    };
    let message = format!("{reached} words are live here though all eligible values are spilled; {remedy}");
    Some(missed(fullest, "ExcessPressure", message))
}

/// Returns a remark at an instruction that exceeds a limit.
pub(super) fn failure(inst: Inst, limit: &Error) -> Remark {
    missed(inst, "RegisterAllocationFailed", format!("{}; {}", limit.problem, limit.remedy))
}

/// Returns the remark as a line of the trace.
pub(super) fn told(function: &Function, remark: &Remark) -> String {
    let line = remark.inst.map_or_else(String::new, |inst| format!("line {}: ", function.line(inst)));
    format!("{line}{}\n", remark.message)
}

fn missed(inst: Inst, name: &'static str, message: String) -> Remark {
    Remark { kind: RemarkKind::Missed, inst: Some(inst), name, message }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::super::tests::context;
    use super::super::{PassOutput, RunContext, run};
    use super::*;
    use crate::config::REGALLOC;
    use crate::target::Classification;

    /// Returns a kernel that loads `words` words, and stores all of them with one instruction.
    pub(in crate::passes) fn kernel(words: usize) -> Function {
        let regs: Vec<String> = (0..words).map(|reg| format!("%{reg}")).collect();
        let loads: String = (0..words).map(|reg| format!("  %{reg} = LD_i32 {reg} :: read\n")).collect();
        let text = format!(
            "mfv 1\nfunction \"k\"\nkernel maxntid 64\nopcode LD_i32\nopcode ST_i32\nopcode Return\nregs %0{}\n\
             bb0: frequency 1.0 depth 0\n{loads}  ST_i32 {} :: write\n  Return :: terminator\nend\n",
            " B32".repeat(words),
            regs.join(", ")
        );
        Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    pub(in crate::passes) fn run_pass(function: &Function, parameters: &str) -> Result<PassOutput, Error> {
        let classification = Arc::new(Classification::by_name(function.opcodes()));
        run(REGALLOC, function, &RunContext { classification, ..context(parameters) })
    }

    pub(in crate::passes) fn output(function: &Function, parameters: &str) -> PassOutput {
        run_pass(function, parameters).expect("too few registers are no error")
    }

    fn names(output: &PassOutput) -> Vec<&'static str> {
        output.remarks.iter().map(|remark| remark.name).collect()
    }

    /// A kernel that does not fit is still compiled, with any engine, and remarks report the number of registers that
    /// would suffice.
    #[test]
    fn too_few_registers_are_told() {
        let function = kernel(40);
        for allocator in ["price", "greedy", "briggs", "fatpoint"] {
            for registers in [16, 32] {
                let set = format!("regalloc={registers};regalloc-slack=0;allocator={allocator};verify;trace=regalloc");
                let output = output(&function, &set);
                assert_eq!(names(&output), ["RegisterAllocationFailed", "ExcessPressure"], "{set}");
                let message = &output.remarks[0].message;
                let said = format!("Register allocation failed with register count of '{registers}'. Compile the");
                assert!(message.starts_with(&said) && message.ends_with("use regalloc=40 or more"), "{message}");
                assert!(output.remarks[1].message.ends_with("use regalloc=42"), "{}", output.remarks[1].message);
                assert!(output.output.contains("Compile the program with a higher register target"));
            }
        }
        assert_eq!(names(&output(&function, "regalloc=40;regalloc-slack=0")), ["ExcessPressure"]);
        assert_eq!(names(&output(&function, "regalloc=42;regalloc-slack=0")), [""; 0]);
        assert_eq!(names(&output(&function, "regalloc=16;regalloc-values=0")), ["RegisterAllocationFailed"]);
    }
}
