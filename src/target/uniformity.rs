//! Whether the threads of a warp receive the same value from an instruction of the view.

use super::{OpcodeInfo, Purity, Uniformity};
use crate::function::{Effects, Function, Inst, MemorySpace, Operand, Value};

impl OpcodeInfo {
    /// Whether all threads of a warp receive the same value from an instruction with this opcode that accesses `space`,
    /// when they execute it together. `in_kernel`: the function is a kernel, whose parameters are the same in all
    /// threads.
    pub fn uniformity_in(&self, space: MemorySpace, in_kernel: bool) -> Uniformity {
        if self.purity != Purity::Reads || self.space.is_some() {
            return self.uniformity;
        }
        match space {
            MemorySpace::Constant => Uniformity::Propagates,
            MemorySpace::Param if in_kernel => Uniformity::Propagates,
            _ => Uniformity::Divergent,
        }
    }

    /// Whether all threads of a warp receive the same value from an instruction of `function` with this opcode,
    /// whenever they execute it. `in_kernel`: the function is a kernel, whose parameters are the same in all threads.
    ///
    /// Threads need not execute the instruction together: since sm_70, each thread of a warp has its own program
    /// counter. Therefore values that change over time are divergent. Results of instructions with effects are
    /// divergent, too, for example effects on the carry flag, which registers do not show. Results of calls are also
    /// divergent, although they are read from the parameter space.
    pub fn uniformity_of(&self, function: &Function, inst: Inst, in_kernel: bool) -> Uniformity {
        let effects = function.effects(inst);
        let is_load = self.purity == Purity::Reads && (Effects::READ | Effects::MAY_FAULT).contains(effects);
        if !is_load && (!effects.is_pure() || self.purity == Purity::Volatile) {
            return Uniformity::Divergent;
        }
        // For instructions that do not load, the space has no influence.
        if self.purity != Purity::Reads || self.space.is_some() {
            return self.uniformity;
        }
        // The view has no memory space for loads that count as pure.
        let space = match function.memory_space(inst) {
            MemorySpace::Generic => named_space(function.operands(inst)),
            known => known,
        };
        self.uniformity_in(space, in_kernel)
    }
}

/// Returns the space that `LD_*` and `LDV_*` name: their third source, after order and scope (LLVM 22,
/// `NVPTXInstrInfo.td`). LLVM prints this space.
pub(crate) fn named_space(operands: &[Operand]) -> MemorySpace {
    match operands.iter().filter(|operand| !operand.is_def()).nth(2).map(|operand| operand.value) {
        Some(Value::Immediate(number)) => u32::try_from(number).map_or(MemorySpace::Generic, MemorySpace::from_number),
        _ => MemorySpace::Generic,
    }
}

#[cfg(test)]
mod tests {
    use super::Uniformity;
    use crate::function::{Function, Inst};
    use crate::target::classify;

    /// Returns the uniformity of the only instruction of a function.
    fn uniformity(opcode: &str, inst: &str, in_kernel: bool) -> Uniformity {
        let text = format!(
            "mfv 1\nfunction \"f\"\nopcode {opcode}\nregs %0 B32 B64\n@0 = \"&p\"\n\
             bb0: frequency 1.0 depth 0\n{inst}\nend\n"
        );
        let function = Function::parse(&text).expect("a view");
        classify(opcode).uniformity_of(&function, Inst(0), in_kernel)
    }

    /// Parameters are uniform only in kernels. Results of calls are never uniform, although they look like parameters.
    #[test]
    fn parameters_and_results_of_calls() {
        let load = "%0 = LD_i32 0, 0, 101, 3, 32, -1, @0, 0";
        assert_eq!(uniformity("LD_i32", load, true), Uniformity::Propagates);
        assert_eq!(uniformity("LD_i32", &format!("{load} :: read param"), true), Uniformity::Propagates);
        assert_eq!(uniformity("LD_i32", load, false), Uniformity::Divergent);
        let result = format!("{load} :: read call_sequence param");
        assert_eq!(uniformity("LD_i32", &result, true), Uniformity::Divergent);
    }

    /// A load from constant memory is as uniform as its address. Other memory may differ between threads.
    #[test]
    fn loads() {
        let load = |space: u32| format!("%0 = LD_i32 0, 0, {space}, 3, 32, -1, %1, 0");
        assert_eq!(uniformity("LD_i32", &load(4), false), Uniformity::Propagates);
        assert_eq!(uniformity("LD_i32", &load(1), true), Uniformity::Divergent);
        assert_eq!(uniformity("LD_i32", &format!("{} :: read global", load(1)), true), Uniformity::Divergent);
    }

    /// Values that change over time, reads of the carry flag, and results that depend on other threads are divergent. A
    /// sum is as uniform as its operands.
    #[test]
    fn effects_make_divergent() {
        assert_eq!(uniformity("SREG_SMID", "%0 = SREG_SMID :: ordered", true), Uniformity::Divergent);
        assert_eq!(uniformity("ADDCCCi32ri", "%0 = ADDCCCi32ri %0, 0 :: opaque", true), Uniformity::Divergent);
        assert_eq!(uniformity("ADD32ri", "%0 = ADD32ri %0, 0 :: convergent", true), Uniformity::Divergent);
        assert_eq!(uniformity("ADD32ri", "%0 = ADD32ri %0, 0", true), Uniformity::Propagates);
        assert_eq!(uniformity("INT_PTX_SREG_CTAID_x", "%0 = INT_PTX_SREG_CTAID_x", true), Uniformity::Uniform);
    }
}
