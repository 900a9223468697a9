//! The functions before and after the edits, and the correspondence of their instructions.

use std::collections::HashSet;

use crate::function::{Applied, Block, Effects, Function, Inst, Origin, Role, Value};
use crate::index::{EntityIndex, IndexVec};

/// One of the two functions.
pub(super) struct Side<'a> {
    pub(super) function: &'a Function,
    /// For each instruction, the same instruction in the other function, in any block. `None` if the other function
    /// does not have it.
    pub(super) partner: IndexVec<Inst, Option<Inst>>,
    pub(super) block_of: IndexVec<Inst, Block>,
    /// For each instruction, whether it only computes its definitions from its operands.
    pub(super) pure: IndexVec<Inst, bool>,
}

/// Which of the two functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Before,
    After,
}

/// Both functions. Blocks have the same numbers in both. Blocks that the edits create are empty in the function before.
pub(super) struct Pair<'a> {
    pub(super) before: Side<'a>,
    pub(super) after: Side<'a>,
    pub(super) origin: &'a IndexVec<Inst, Origin>,
    /// Instructions of the view that may fault and that have a copy in another block of the edited function, in order.
    pub(super) carried: Vec<Inst>,
    preds: Vec<Block>,
    pred_start: IndexVec<Block, u32>,
    reachable: IndexVec<Block, bool>,
}

impl<'a> Pair<'a> {
    pub(super) fn new(view: &'a Function, applied: &'a Applied) -> Self {
        let after = &applied.function;
        let mut after_of = IndexVec::filled(None, view.num_insts());
        let mut before_of = IndexVec::filled(None, after.num_insts());
        for (inst, &origin) in applied.origin.iter_enumerated() {
            if let Origin::Kept(original) = origin {
                after_of[original] = Some(inst);
                before_of[inst] = Some(original);
            }
        }
        let written = written_physical(view);
        let (pred_start, preds) = predecessors(after);
        let mut pair = Self {
            before: Side::new(view, after_of, &written),
            after: Side::new(after, before_of, &written),
            origin: &applied.origin,
            carried: Vec::new(),
            preds,
            pred_start,
            reachable: reachable(after, None),
        };
        pair.carried = carried(&pair);
        pair
    }

    /// Returns the original of `after`: the instruction of the view that it is, or of which it is a clone. `None`
    /// unless the original may fault on paths on which it did not execute before.
    pub(super) fn guarded_original(&self, after: Inst) -> Option<Inst> {
        let (Origin::Kept(original) | Origin::Clone(original)) = self.origin[after] else { return None };
        let function = self.before.function;
        let may_fault = function.effects(original).contains(Effects::MAY_FAULT) && self.before.pure[original];
        // An instruction with a role computes what the role defines, and never faults.
        (may_fault && function.role(original) == Role::Other).then_some(original)
    }

    /// Computes the blocks that are reachable without passing through `block`. O(blocks + edges).
    pub(super) fn reachable_around(&self, block: Block) -> IndexVec<Block, bool> {
        reachable(self.after.function, Some(block))
    }

    pub(super) fn side(&self, which: Which) -> &Side<'a> {
        match which {
            Which::Before => &self.before,
            Which::After => &self.after,
        }
    }

    /// Returns the view's number of an instruction that is still in the same block. `None` for all other instructions.
    pub(super) fn kept_in_place(&self, which: Which, inst: Inst) -> Option<Inst> {
        let partner = self.side(which).partner[inst]?;
        let (before, after) = match which {
            Which::Before => (inst, partner),
            Which::After => (partner, inst),
        };
        (self.before.block_of[before] == self.after.block_of[after]).then_some(before)
    }

    /// Returns the reachable predecessors of a block after the edits.
    pub(super) fn preds(&self, block: Block) -> impl Iterator<Item = Block> + use<'_, 'a> {
        let start = self.pred_start[block] as usize;
        let end = self.pred_start[Block::new(block.index() + 1)] as usize;
        self.preds[start..end].iter().copied().filter(|&pred| self.reachable[pred])
    }

    pub(super) fn is_reachable(&self, block: Block) -> bool {
        self.reachable[block]
    }

    /// Returns the block that the PHIs of one function use for a predecessor. Before the edits, it is the start of the
    /// edge if the predecessor splits that edge.
    pub(super) fn named_pred(&self, which: Which, pred: Block) -> Block {
        if which == Which::Before && pred.index() >= self.before.function.num_blocks() {
            self.preds[self.pred_start[pred] as usize]
        } else {
            pred
        }
    }
}

impl<'a> Side<'a> {
    fn new(function: &'a Function, partner: IndexVec<Inst, Option<Inst>>, written: &HashSet<u32>) -> Self {
        let mut block_of = IndexVec::filled(Block(0), function.num_insts());
        for block in function.blocks() {
            for inst in function.block_insts(block) {
                block_of[inst] = block;
            }
        }
        let pure = function.insts().map(|inst| is_pure(function, inst, written)).collect();
        Self { function, partner, block_of, pure }
    }
}

/// Whether an instruction only computes its definitions from its operands.
///
/// A copy inside a call sequence is pure although it is a member. An instruction that uses a physical register is pure
/// only if no instruction writes that register, because the view does not follow values through physical registers.
fn is_pure(function: &Function, inst: Inst, written: &HashSet<u32>) -> bool {
    let effects = function.effects(inst);
    let transparent =
        !matches!(function.role(inst), Role::Other | Role::Phi | Role::Debug | Role::Spill | Role::Reload);
    let allowed = if transparent { Effects::CALL_SEQUENCE } else { Effects::empty() };
    allowed.contains(effects - Effects::MAY_FAULT)
        && function.operands(inst).iter().all(|operand| match operand.value {
            Value::Physical(reg) => !operand.is_def() && !written.contains(&reg),
            _ => true,
        })
}

/// Returns the physical registers that instructions write.
fn written_physical(function: &Function) -> HashSet<u32> {
    let written = function.operands.iter().filter(|operand| operand.is_def());
    written.filter_map(|operand| if let Value::Physical(reg) = operand.value { Some(reg) } else { None }).collect()
}

/// Returns the instructions of the view that may fault and that have a copy in another block of the edited function.
fn carried(pair: &Pair<'_>) -> Vec<Inst> {
    let elsewhere = |after: Inst| {
        let original = pair.guarded_original(after)?;
        (pair.before.block_of[original] != pair.after.block_of[after]).then_some(original)
    };
    let mut carried: Vec<Inst> = pair.after.function.insts().filter_map(elsewhere).collect();
    carried.sort_unstable();
    carried.dedup();
    carried
}

fn predecessors(function: &Function) -> (IndexVec<Block, u32>, Vec<Block>) {
    let mut start = IndexVec::filled(0, function.num_blocks() + 1);
    for block in function.blocks() {
        for &succ in function.succs(block) {
            start[Block::new(succ.index() + 1)] += 1;
        }
    }
    for index in 1..start.len() {
        start[Block::new(index)] += start[Block::new(index - 1)];
    }
    let mut next = start.clone();
    let mut preds = vec![Block(0); function.blocks().map(|block| function.succs(block).len()).sum()];
    for block in function.blocks() {
        for &succ in function.succs(block) {
            preds[next[succ] as usize] = block;
            next[succ] += 1;
        }
    }
    (start, preds)
}

/// Computes the blocks that are reachable from the entry without passing through `around`.
fn reachable(function: &Function, around: Option<Block>) -> IndexVec<Block, bool> {
    let mut reachable = IndexVec::filled(false, function.num_blocks());
    let mut stack: Vec<Block> = function.blocks().take(1).collect();
    while let Some(block) = stack.pop() {
        if Some(block) != around && !std::mem::replace(&mut reachable[block], true) {
            stack.extend(function.succs(block).iter().filter(|&&succ| !reachable[succ]));
        }
    }
    reachable
}
