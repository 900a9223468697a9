//! Whether the threads of a warp get one value from an instruction of the view.

use super::{OpcodeInfo, Purity, Uniformity};
use crate::function::{Effects, Function, Inst, MemorySpace, Operand, Value};

impl OpcodeInfo {
    /// Whether all threads of a warp get the same value from an instruction of the opcode that accesses `space`, when
    /// they execute it together. `in_kernel`: the function is a kernel, whose parameters are the same for all threads.
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

    /// Whether all threads of a warp get the same value from an instruction of `function`, whose opcode is this,
    /// whenever they execute it. `in_kernel`: the function is a kernel, whose parameters are the same for all threads.
    ///
    /// They need not execute it together (since sm_70 the threads of a warp have a program counter each), so what
    /// changes by itself is divergent; so is what has effects, for instance on the carry flag, which registers do not
    /// show; and so are the results of calls, though they are read from the space of parameters.
    pub fn uniformity_of(&self, function: &Function, inst: Inst, in_kernel: bool) -> Uniformity {
        let effects = function.effects(inst);
        let is_load = self.purity == Purity::Reads && (Effects::READ | Effects::MAY_FAULT).contains(effects);
        if !is_load && (!effects.is_pure() || self.purity == Purity::Volatile) {
            return Uniformity::Divergent;
        }
        // Of what does not load, the space says nothing.
        if self.purity != Purity::Reads || self.space.is_some() {
            return self.uniformity;
        }
        // The view names no space where a load counts as pure.
        let space = match function.memory_space(inst) {
            MemorySpace::Generic => named_space(function.operands(inst)),
            known => known,
        };
        self.uniformity_in(space, in_kernel)
    }
}

/// The space that `LD_*` and `LDV_*` name: the third of their sources, after order and scope (LLVM 22,
/// `NVPTXInstrInfo.td`). It is what is printed.
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

    /// The uniformity of the only instruction of a function.
    fn uniformity(opcode: &str, inst: &str, in_kernel: bool) -> Uniformity {
        let text = format!(
            "mfv 1\nfunction \"f\"\nopcode {opcode}\nregs %0 B32 B64\n@0 = \"&p\"\n\
             bb0: frequency 1.0 depth 0\n{inst}\nend\n"
        );
        let function = Function::parse(&text).expect("a view");
        classify(opcode).uniformity_of(&function, Inst(0), in_kernel)
    }

    /// Parameters are uniform in kernels alone, and the results of calls nowhere, though they look alike.
    #[test]
    fn parameters_and_results_of_calls() {
        let load = "%0 = LD_i32 0, 0, 101, 3, 32, -1, @0, 0";
        assert_eq!(uniformity("LD_i32", load, true), Uniformity::Propagates);
        assert_eq!(uniformity("LD_i32", &format!("{load} :: read param"), true), Uniformity::Propagates);
        assert_eq!(uniformity("LD_i32", load, false), Uniformity::Divergent);
        let result = format!("{load} :: read call_sequence param");
        assert_eq!(uniformity("LD_i32", &result, true), Uniformity::Divergent);
    }

    /// Constant memory gives what its address gives; other memory may differ between threads.
    #[test]
    fn loads() {
        let load = |space: u32| format!("%0 = LD_i32 0, 0, {space}, 3, 32, -1, %1, 0");
        assert_eq!(uniformity("LD_i32", &load(4), false), Uniformity::Propagates);
        assert_eq!(uniformity("LD_i32", &load(1), true), Uniformity::Divergent);
        assert_eq!(uniformity("LD_i32", &format!("{} :: read global", load(1)), true), Uniformity::Divergent);
    }

    /// What changes by itself, what reads the carry flag and what only threads together decide is divergent; a sum is
    /// what its operands are.
    #[test]
    fn effects_make_divergent() {
        assert_eq!(uniformity("SREG_SMID", "%0 = SREG_SMID :: ordered", true), Uniformity::Divergent);
        assert_eq!(uniformity("ADDCCCi32ri", "%0 = ADDCCCi32ri %0, 0 :: opaque", true), Uniformity::Divergent);
        assert_eq!(uniformity("ADD32ri", "%0 = ADD32ri %0, 0 :: convergent", true), Uniformity::Divergent);
        assert_eq!(uniformity("ADD32ri", "%0 = ADD32ri %0, 0", true), Uniformity::Propagates);
        assert_eq!(uniformity("INT_PTX_SREG_CTAID_x", "%0 = INT_PTX_SREG_CTAID_x", true), Uniformity::Uniform);
    }
}
