//! Proves that two values are equal, with a worklist of goals. Each goal is reduced to goals that are earlier in the
//! execution. The [module](super) documentation has the argument.

use rustc_hash::FxHashSet;

use super::ids::Location;
use super::pair::{Pair, Which};
use super::terms::{MAX_TERM_SIZE, Operation, Terms, Value};
use super::values::LocalValues;
use crate::function::{Block, Inst, RegClass, Role, VReg};
use crate::index::{EntityIndex, IndexVec};

/// Two values at the same point of a visit of a block, one in each function, that must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Goal {
    pub(super) block: Block,
    pub(super) after: Value,
    pub(super) before: Value,
}

impl Goal {
    fn has_term(&self) -> bool {
        matches!(self.after, Value::Term(_)) || matches!(self.before, Value::Term(_))
    }
}

/// The number of the obligation that a goal belongs to.
pub(super) type ObligationId = u32;

/// Proves obligations.
pub(super) struct Prover<'a> {
    pair: &'a Pair<'a>,
    before: LocalValues<'a>,
    after: LocalValues<'a>,
    terms: Terms,
    untouched: IndexVec<VReg, bool>,
    /// How many goals with terms an obligation may add: enough to carry a few terms through all blocks.
    max_term_goals: u32,
    /// All goals that were added: proven, or assumed while they are being proven.
    seen: FxHashSet<Goal>,
    worklist: Vec<(Goal, ObligationId)>,
    /// For each obligation, the goal that could not be proven.
    failed: Vec<Option<Goal>>,
    /// For each obligation, how many more goals with terms it may add.
    term_goals_left: Vec<u32>,
    num_failed: usize,
}

impl<'a> Prover<'a> {
    pub(super) fn new(pair: &'a Pair<'a>) -> Self {
        let mut terms = Terms::default();
        let before = LocalValues::new(pair, Which::Before, &mut terms);
        let after = LocalValues::new(pair, Which::After, &mut terms);
        Self {
            pair,
            before,
            after,
            terms,
            untouched: untouched_registers(pair),
            max_term_goals: pair.after.function.num_blocks() as u32 * 4 + 256,
            seen: FxHashSet::default(),
            worklist: Vec::new(),
            failed: Vec::new(),
            term_goals_left: Vec::new(),
            num_failed: 0,
        }
    }

    pub(super) fn values(&self, which: Which) -> &LocalValues<'a> {
        match which {
            Which::Before => &self.before,
            Which::After => &self.after,
        }
    }

    pub(super) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns an immediate as a value.
    pub(super) fn literal(&mut self, class: RegClass, value: i64) -> Value {
        self.terms.literal(class, value)
    }

    /// Whether a goal is proven without a search, so that it needs no obligation.
    pub(super) fn is_evident(&self, goal: Goal) -> bool {
        self.at_sight(goal) == Some(true)
    }

    /// Adds an obligation and returns its number. Numbers are consecutive.
    pub(super) fn oblige(&mut self, goal: Goal) -> ObligationId {
        let id = self.failed.len() as ObligationId;
        self.failed.push(None);
        self.term_goals_left.push(self.max_term_goals);
        self.push(goal, id);
        id
    }

    /// Tries to prove all obligations. Stops after `max_failed` obligations have failed.
    pub(super) fn run(&mut self, max_failed: usize) {
        while let Some((goal, obligation)) = self.worklist.pop() {
            if self.num_failed >= max_failed {
                return;
            }
            if self.failed[obligation as usize].is_none() && self.reduce(goal, obligation).is_none() {
                self.fail(goal, obligation);
            }
        }
    }

    /// Returns the goal at which an obligation failed. `None` if the obligation has not failed.
    pub(super) fn failure(&self, obligation: ObligationId) -> Option<Goal> {
        self.failed[obligation as usize]
    }

    fn fail(&mut self, goal: Goal, obligation: ObligationId) {
        if self.failed[obligation as usize].is_none() {
            self.failed[obligation as usize] = Some(goal);
            self.num_failed += 1;
        }
    }

    fn push(&mut self, goal: Goal, obligation: ObligationId) {
        match self.at_sight(goal) {
            Some(true) => {}
            Some(false) => self.fail(goal, obligation),
            None => {
                if self.seen.insert(goal) {
                    if goal.has_term() && !self.spend_term_goal(obligation) {
                        return self.fail(goal, obligation);
                    }
                    self.worklist.push((goal, obligation));
                }
            }
        }
    }

    /// Takes one from the number of goals with terms that the obligation may still add. Returns whether any was left.
    /// In nested loops, a term can take as many forms as there are paths, even within its maximum size.
    fn spend_term_goal(&mut self, obligation: ObligationId) -> bool {
        let left = &mut self.term_goals_left[obligation as usize];
        left.checked_sub(1).map(|less| *left = less).is_some()
    }

    /// Decides a goal without a search. `None` if a search is needed.
    fn at_sight(&self, goal: Goal) -> Option<bool> {
        match (goal.after, goal.before) {
            (_, Value::Undefined) => Some(true),
            (Value::Undefined, _) | (Value::Unknown, Value::Constant(_)) => Some(false),
            (Value::Constant(after), Value::Constant(before)) => Some(after == before),
            (Value::Kept(..), _) if goal.after == goal.before => Some(true),
            (Value::Entry(location), _) if goal.after == goal.before && self.is_untouched(location) => Some(true),
            _ => None,
        }
    }

    fn is_untouched(&self, location: Location) -> bool {
        self.untouched.get(VReg::new(location.index())).copied().unwrap_or(false)
    }

    /// Replaces a goal by goals that together imply it. `None` if there are no such goals.
    fn reduce(&mut self, goal: Goal, obligation: ObligationId) -> Option<()> {
        let after = self.after.application(&mut self.terms, goal.after);
        let before = self.before.application(&mut self.terms, goal.before);
        if let (Some((after_op, after_args)), Some((before_op, before_args))) = (&after, &before) {
            if after_op == before_op && after_args.len() == before_args.len() {
                for (&after, &before) in after_args.iter().zip(before_args) {
                    self.push(Goal { block: goal.block, after, before }, obligation);
                }
                return Some(());
            }
            if matches!((after_op, before_op), (Operation::Other(_), Operation::Other(_))) {
                return None;
            }
        }
        if goal.after == Value::Unknown && before.is_some() {
            return None;
        }
        if let Some((Operation::Pack(of), parts)) = &before
            && self.is_found(goal.after)
            && let Some(whole) = self.before.whole_of(&self.terms, *of, parts)
        {
            self.push(Goal { before: whole, ..goal }, obligation);
            return Some(());
        }
        self.reduce_to_predecessors(goal, obligation)
    }

    /// Whether a value of the edited function does not depend on the path to this point. Only then may a goal be
    /// reduced from a pack of parts and undefined parts to the whole value: a value that depends on the path may
    /// consist of parts of another value on another path.
    fn is_found(&self, after: Value) -> bool {
        match after {
            Value::Undefined | Value::Unknown | Value::Entry(_) => false,
            Value::Constant(_) | Value::Term(_) => true,
            Value::Kept(..) | Value::Own(..) => {
                let definition = self.after.definition(after);
                definition.is_some_and(|(inst, _)| self.after.function().role(inst) != Role::Phi)
            }
        }
    }

    fn reduce_to_predecessors(&mut self, goal: Goal, obligation: ObligationId) -> Option<()> {
        if goal.block == Block(0) {
            let (after, before) = self.cross(goal, None)?;
            self.equal_at_start(after, before).then_some(())?;
        }
        let pair = self.pair;
        for pred in pair.preds(goal.block) {
            let (after, before) = self.cross(goal, Some(pred))?;
            self.push(Goal { block: pred, after, before }, obligation);
        }
        Some(())
    }

    fn cross(&mut self, goal: Goal, pred: Option<Block>) -> Option<(Value, Value)> {
        let (mut left_after, mut left_before) = (MAX_TERM_SIZE, MAX_TERM_SIZE);
        let after = self.after.cross(&mut self.terms, pred, goal.after, &mut left_after).unwrap_or(Value::Unknown);
        let before = self.before.cross(&mut self.terms, pred, goal.before, &mut left_before)?;
        Some((after, before))
    }

    /// Whether two values at the function's start are equal. At the start, only constants and operations on constants
    /// are left.
    fn equal_at_start(&self, after: Value, before: Value) -> bool {
        match (after, before) {
            (_, Value::Undefined) => true,
            (Value::Term(after), Value::Term(before)) => {
                let (after_op, after_args) = self.terms.get_term(after);
                let (before_op, before_args) = self.terms.get_term(before);
                after_op == before_op
                    && after_args.len() == before_args.len()
                    && after_args.iter().zip(before_args).all(|(&after, &before)| self.equal_at_start(after, before))
            }
            (Value::Constant(after), Value::Constant(before)) => after == before,
            _ => false,
        }
    }
}

/// Computes the registers whose definitions are the same instructions in both functions, in the same blocks and order.
///
/// Such a register holds equal values at equal points: the same instruction wrote it last, and the operands of that
/// instruction have obligations of their own. Goals of such registers are proven without a search, so the cost depends
/// on the size of the change.
fn untouched_registers(pair: &Pair<'_>) -> IndexVec<VReg, bool> {
    let (before, after) = (pair.before.function, pair.after.function);
    let mut untouched = IndexVec::filled(true, after.num_regs());
    let mut count: IndexVec<VReg, u32> = IndexVec::filled(0, after.num_regs());
    let mut last: IndexVec<VReg, Inst> = IndexVec::filled(Inst(0), after.num_regs());
    for inst in after.insts() {
        let original = pair.kept_in_place(Which::After, inst);
        for (number, operand) in after.operands(inst).iter().enumerate() {
            let Some(reg) = operand.def() else { continue };
            match original {
                Some(original) if before.operands(original)[number].def() == Some(reg) && last[reg] <= original => {
                    last[reg] = original;
                    count[reg] += 1;
                }
                _ => untouched[reg] = false,
            }
        }
    }
    for reg in before.insts().flat_map(|inst| before.operands(inst)).filter_map(|operand| operand.def()) {
        match count[reg].checked_sub(1) {
            Some(left) => count[reg] = left,
            None => untouched[reg] = false,
        }
    }
    untouched
}
