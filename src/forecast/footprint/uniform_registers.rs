//! Registers that ptxas keeps in uniform registers, one for all threads of a warp.
//!
//! A value that is the same in all threads is not always in a uniform register. The uniform datapath must compute the
//! value, and it handles only integers. The operands must be in uniform registers, because moving a value there from an
//! ordinary register is not free. Among loads, only those of the kernel's own parameters count as uniform; ptxas can
//! also load some constant variables there.
//!
//! In a loop that the threads of a warp leave at different iterations, ptxas 13.0.88 mostly computes nothing in uniform
//! registers. If clang unrolled such a loop with 64-bit divisions (dfdx's and candle's binary operations), ptxas adds
//! the 20 registers of its subroutine to counters and addresses that are the same in all threads. If clang did not
//! unroll the loop, ptxas keeps the counters in uniform registers (dfdx's `slice`). The cause of this difference is not
//! known.

use super::behaviour::Behaviours;
use super::opcode_facts::reads_own_parameter;
use super::words::Words;
use crate::analysis::{Occurrence, Occurrences, UniformityInfo};
use crate::function::{Function, Operand, VReg};
use crate::index::IndexVec;

/// Registers that are kept in uniform registers. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct UniformRegisters {
    is_uniform: IndexVec<VReg, bool>,
    /// Ordinary registers whose readers are not visited yet.
    worklist: Vec<VReg>,
}

impl UniformRegisters {
    /// Finds the uniform registers of a function. Registers without words are skipped: predicates, constants,
    /// parameters. O(occurrences of the registers that are the same in all threads).
    pub(in crate::forecast) fn compute(
        &mut self,
        function: &Function,
        (behaviours, words): (&Behaviours, &Words),
        occurrences: &Occurrences,
        uniformity: &UniformityInfo,
    ) {
        let is_ordinary = |write: &Occurrence| {
            let info = &behaviours.opcode(function, write.inst).info;
            !(info.has_uniform_form || reads_own_parameter(function, info, write.inst))
                || (function.loop_depth(write.block) > 0 && uniformity.is_in_divergent_region(write.block))
        };
        self.is_uniform.clear();
        self.is_uniform.extend(function.regs().map(|reg| uniformity.is_uniform(reg)));
        let is_looked_at = |reg: &VReg| uniformity.is_uniform(*reg) && words.occupied(*reg).next().is_some();
        for reg in function.regs().filter(is_looked_at) {
            if occurrences.of(reg).iter().any(|occurrence| occurrence.is_def() && is_ordinary(occurrence)) {
                self.become_ordinary(reg);
            }
        }
        while let Some(reg) = self.worklist.pop() {
            for read in occurrences.of(reg).iter().filter(|occurrence| occurrence.is_use()) {
                let written = function.operands(read.inst).iter().filter_map(Operand::def);
                written.for_each(|reg| self.become_ordinary(reg));
            }
        }
    }

    fn become_ordinary(&mut self, reg: VReg) {
        if std::mem::replace(&mut self.is_uniform[reg], false) {
            self.worklist.push(reg);
        }
    }

    /// Whether a register is kept in a uniform register. O(1).
    #[inline]
    pub(in crate::forecast) fn has(&self, reg: VReg) -> bool {
        self.is_uniform[reg]
    }
}

#[cfg(test)]
mod tests {
    use crate::forecast::footprint::RegisterFootprint;
    use crate::fuzzing::view;

    const HEAD: &str = "mfv 1\nfunction \"f\"\nopcode INT_PTX_SREG_TID_x\nopcode INT_PTX_SREG_CTAID_x\nopcode ADD32ri\n\
        opcode ADD32rr\nopcode FADD_rnf32rr\nopcode SETP_i32ri\nopcode MOV_B32_i constant\nopcode CBranch\n\
        opcode Return\nopcode ST\nregs %0 B32 B32 B32 B32 B1 B32\nbb0: frequency 1.0 depth 0";

    /// Returns which registers of the function with these blocks are uniform registers.
    fn uniform(blocks: &str) -> Vec<bool> {
        let function = view(HEAD, blocks);
        let footprint = RegisterFootprint::by_name(&function);
        function.regs().map(|reg| footprint.uniform_registers.has(reg)).collect()
    }

    /// Sums of integers are uniform registers. Sums of floating-point numbers and values computed from them are not.
    #[test]
    fn the_uniform_datapath_knows_integers() {
        let sums = "\n%0 = INT_PTX_SREG_CTAID_x\n%1 = ADD32ri %0, 7\n%2 = FADD_rnf32rr %0, %1\n%3 = ADD32rr %2, %1\n\
            %5 = INT_PTX_SREG_TID_x\nST %3, %5 :: write\nReturn :: terminator";
        assert_eq!(uniform(sums), [true, true, false, false, false, false]);
    }

    /// In a loop that threads leave at different iterations, no computed value is a uniform register. After the loop,
    /// sums are uniform registers again.
    #[test]
    fn no_uniform_registers_in_loops_where_threads_part() {
        let left_by = |thread_or_block: &str| {
            uniform(&format!(
                " -> bb1\n%0 = INT_PTX_SREG_TID_x\n%5 = INT_PTX_SREG_CTAID_x\n\
                 bb1: frequency 8.0 depth 1 -> bb1 bb2\n%2 = ADD32ri %5, 3\n%4 = SETP_i32ri {thread_or_block}, 8, 0\n\
                 ST %2 :: write\nCBranch %4, bb1 :: terminator\nbb2: frequency 1.0 depth 0\n%3 = ADD32ri %5, 1\n\
                 ST %3 :: write\nReturn :: terminator"
            ))
        };
        assert_eq!(
            ["%5", "%0"].map(left_by).map(|is_uniform| [is_uniform[2], is_uniform[3]]),
            [[true; 2], [false, true]]
        );
    }
}
