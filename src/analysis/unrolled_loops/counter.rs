//! Integer counters of loops.

use super::{Decision, LONGEST_CHAIN, UnrolledLoops};
use crate::analysis::{Loop, Occurrence};
use crate::function::ptx_opcode::as_llvm;
use crate::function::{Comparison, Inst, Operand, Role, VReg, Value};

/// The integer counter of a loop, with its comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The comparison that decides whether the loop continues.
    pub comparison: Inst,
    /// The register that holds the counter's new value at the comparison.
    pub counted: VReg,
    /// The register with which the counter is compared; `None` if it is compared with a constant.
    pub against: Option<VReg>,
    /// The relation that holds while the loop continues.
    pub goes_on: Comparison,
    /// The amount added in each iteration.
    pub step: i64,
    /// The initial value; `None` if it is unknown.
    pub start: Option<i64>,
    /// The constant with which the counter is compared; `None` if it is unknown.
    pub bound: Option<i64>,
}

impl Counter {
    /// Whether the trip count is known.
    pub fn has_known_turns(&self) -> bool {
        self.turns().is_some()
    }

    /// Returns the trip count, at least 1: the number of the first iteration after which the comparison fails. `None`
    /// if the trip count is unknown.
    pub(super) fn turns(&self) -> Option<u32> {
        let (start, step, bound) = (i128::from(self.start?), i128::from(self.step), i128::from(self.bound?));
        let (distance, step, is_up) =
            if step > 0 { (bound - start, step, true) } else { (start - bound, -step, false) };
        let turns = match self.goes_on {
            Comparison::Ne if distance % step == 0 => distance / step,
            Comparison::Lt(_) if is_up => (distance + step - 1) / step,
            Comparison::Gt(_) if !is_up => (distance + step - 1) / step,
            Comparison::Le(_) if is_up => distance / step + 1,
            Comparison::Ge(_) if !is_up => distance / step + 1,
            _ => return None,
        };
        u32::try_from(turns).ok().filter(|_| distance > 0)
    }
}

impl UnrolledLoops<'_> {
    pub(super) fn counter_of(&self, this: Loop, decision: &Decision) -> Option<Counter> {
        let function = self.function;
        let predicate = function.operands(decision.branch).iter().find_map(Operand::read_reg)?;
        let comparison = self.only_definition_in(this, predicate)?.inst;
        let kind = Comparison::of(function, comparison)?;
        let goes_on = if decision.goes_on_if_true { kind } else { kind.complement() };
        if goes_on == Comparison::Eq {
            return None;
        }
        let mut compared = function.operands(comparison).iter().filter(|operand| !operand.is_def());
        let (first, second) = (compared.next()?, compared.next()?);
        let is_left_alone = |operand: &Operand| match operand.value {
            Value::Immediate(_) => true,
            Value::Reg(reg) => self.definitions_in(this, reg).next().is_none(),
            _ => false,
        };
        // ptxas recognises the counter on either side of the comparison.
        let (counted, bound, goes_on) =
            if is_left_alone(second) { (first, second, goes_on) } else { (second, first, goes_on.mirrored()) };
        let counted = counted.reg().filter(|_| is_left_alone(bound))?;
        let definition = *self.only_definition_in(this, counted)?;
        // A comparison in the latch must follow the addition: ptxas does not recognise a comparison with the counter's
        // old value. A comparison in the header may precede it.
        if decision.is_at_latch && definition.inst > comparison {
            return None;
        }
        let (sum, step) = self.sum(this, counted, definition.inst)?;
        let start = self.number_ahead(this, sum, LONGEST_CHAIN);
        let against = bound.reg();
        let bound = match bound.value {
            Value::Reg(reg) => self.number_ahead(this, reg, LONGEST_CHAIN),
            _ => bound.as_immediate(),
        };
        Some(Counter { comparison, counted, against, goes_on, step, start, bound })
    }

    /// Returns the register that holds a counter across iterations, and the step. The definition of `counted` adds a
    /// constant to itself or to a copy of itself.
    fn sum(&self, this: Loop, counted: VReg, definition: Inst) -> Option<(VReg, i64)> {
        let function = self.function;
        let name = function.opcodes().name(function.opcode(definition));
        let name = as_llvm(name);
        let sign = match &*name {
            "ADD32ri" | "ADD64ri" => 1,
            "SUB32ri" | "SUB64ri" => -1,
            _ => return None,
        };
        let mut operands = function.operands(definition).iter().filter(|operand| !operand.is_def());
        let from = operands.next()?.reg()?;
        let step = sign * operands.next()?.as_immediate()?;
        let is_itself = from == counted || {
            let copy = self.only_definition_in(this, from)?.inst;
            function.as_copy(copy).is_some()
                && function.operands(copy).iter().any(|operand| operand.read_reg() == Some(counted))
        };
        (is_itself && step != 0).then_some((from, step))
    }

    /// Returns the constant that a register holds before a loop. `None` if it holds no known constant.
    fn number_ahead(&self, this: Loop, reg: VReg, chain: u32) -> Option<i64> {
        let is_ahead = |one: &&Occurrence| one.is_def() && !self.loops.contains(this, one.block);
        let mut ahead = self.occurrences.of(reg).iter().filter(is_ahead);
        let definition = ahead.next().filter(|_| ahead.next().is_none())?.inst;
        let operands = self.function.operands(definition);
        if self.function.role(definition) == Role::Constant {
            return operands.iter().find(|operand| !operand.is_def())?.as_immediate();
        }
        let copied = self.function.as_copy(definition).and_then(|_| operands.iter().find_map(Operand::read_reg))?;
        self.number_ahead(this, copied, chain.checked_sub(1)?)
    }

    fn definitions_in(&self, this: Loop, reg: VReg) -> impl Iterator<Item = &Occurrence> {
        let is_inside = move |one: &&Occurrence| one.is_def() && self.loops.innermost(one.block) == Some(this);
        self.occurrences.of(reg).iter().filter(is_inside)
    }

    pub(super) fn only_definition_in(&self, this: Loop, reg: VReg) -> Option<&Occurrence> {
        let mut definitions = self.definitions_in(this, reg);
        definitions.next().filter(|_| definitions.next().is_none())
    }
}
