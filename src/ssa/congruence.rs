//! Congruent PHIs: PHIs of one block whose inputs from each predecessor hold the same value.
//!
//! LLVM leaves such pairs when it promotes a variable in memory to registers. For example, the last loaded and the last
//! stored value of an accumulator may be two PHIs. All PHIs of a block are assumed equal until their inputs differ
//! (Alpern, Wegman and Zadeck, "Detecting equality of variables in programs", POPL 1988). This also finds values that
//! are equal around loops.

use std::collections::HashMap;

use super::phis::Phi;
use super::registers::{Register, constant_held, copied_from};
use crate::function::{Block, Function, Opcode, RegClass, VReg, Value};
use crate::index::IndexVec;

/// Limit on the refinements of the partition. If the partition is not stable by then, no PHIs count as equal, because an
/// unstable partition claims too many equalities.
const ROUNDS: usize = 8;

/// Value of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum InputValue {
    /// The common value of the PHIs of a class.
    Class(u32),
    Constant(Opcode, Value),
    Register(VReg),
}

/// Returns for each register the first of the PHI results in `phis` that always holds the same value. For a register
/// without such a PHI, returns the register itself. O(registers, and inputs of the PHIs a few times).
pub(super) fn congruent(
    function: &Function,
    phis: &[Phi],
    registers: &IndexVec<VReg, Register>,
) -> IndexVec<VReg, VReg> {
    let mut congruent: IndexVec<VReg, VReg> = function.regs().collect();
    if let Some(classes) = Classes::new(function, phis, registers).settle() {
        // The map is only looked up, never iterated.
        let mut first: HashMap<u32, VReg> = HashMap::new();
        for phi in phis {
            congruent[phi.result] = *first.entry(classes[phi.result]).or_insert(phi.result);
        }
    }
    congruent
}

struct Classes<'a> {
    function: &'a Function,
    phis: &'a [Phi],
    registers: &'a IndexVec<VReg, Register>,
    /// Class of each PHI result; 0 for other registers.
    classes: IndexVec<VReg, u32>,
    count: usize,
}

impl<'a> Classes<'a> {
    /// Puts the PHIs of each block and register class into one class.
    fn new(function: &'a Function, phis: &'a [Phi], registers: &'a IndexVec<VReg, Register>) -> Self {
        let mut classes = IndexVec::filled(0, function.num_regs());
        let mut numbers: HashMap<(Block, RegClass), u32> = HashMap::new();
        for phi in phis {
            let next = numbers.len() as u32 + 1;
            classes[phi.result] = *numbers.entry((phi.block, function.class(phi.result))).or_insert(next);
        }
        Self { function, phis, registers, classes, count: numbers.len() }
    }

    /// Refines the classes until they are stable. `None` if this takes too many refinements.
    fn settle(mut self) -> Option<IndexVec<VReg, u32>> {
        for _ in 0..ROUNDS {
            let before = self.count;
            self.refine();
            if self.count == before {
                return Some(self.classes);
            }
        }
        None
    }

    /// Divides each class of PHIs by the values of their inputs.
    fn refine(&mut self) {
        let mut numbers: HashMap<(u32, Vec<(Block, InputValue)>), u32> = HashMap::new();
        let refined: Vec<u32> = self
            .phis
            .iter()
            .map(|&phi| {
                let next = numbers.len() as u32 + 1;
                *numbers.entry((self.classes[phi.result], self.inputs(phi))).or_insert(next)
            })
            .collect();
        for (phi, class) in self.phis.iter().zip(refined) {
            self.classes[phi.result] = class;
        }
        self.count = numbers.len();
    }

    fn inputs(&self, phi: Phi) -> Vec<(Block, InputValue)> {
        let mut inputs: Vec<(Block, InputValue)> = phi
            .inputs(self.function)
            .map(|input| (input.from, input.reg.map_or(InputValue::Register(phi.result), |reg| self.input_value(reg))))
            .collect();
        inputs.sort_by_key(|&(from, _)| from);
        inputs
    }

    fn input_value(&self, reg: VReg) -> InputValue {
        let reg = copied_from(self.registers, reg);
        match constant_held(self.function, self.registers, reg) {
            Some((opcode, value)) => InputValue::Constant(opcode, value),
            None if self.classes[reg] != 0 => InputValue::Class(self.classes[reg]),
            None => InputValue::Register(reg),
        }
    }
}
