//! Two jumps at the end of a block that have changed places: their comparison must be the complement of the old
//! comparison.

use rustc_hash::FxHashSet;

use super::error::{CheckError, ErrorKind};
use super::pair::Pair;
use crate::function::{Block, Complement, Function, Inst, Operand, Role, TwoJumps, VReg, Value, complement};
use crate::index::EntityIndex;

/// The comparisons of the edited function that are proven to be the complements of the view's comparisons, in blocks
/// whose jumps have changed places.
pub(super) type Turned = FxHashSet<Inst>;

/// Proves jumps that have changed places, and reports every other jump to another block. O(size).
///
/// The control flow is unchanged if, in both functions, the first jump reads the result of the comparison, and nothing
/// else reads that result: the predicate is one register with one definition and one reader, counting debug values. The
/// comparison stays in its block. The equality of its operands is an obligation of its own.
pub(super) fn proven(pair: &Pair<'_>, errors: &mut Vec<CheckError>) -> Turned {
    let mut turned = Turned::default();
    let mut occurrences = None;
    for block in pair.before.function.blocks() {
        for after in pair.after.function.block_insts(block) {
            let Some(before) = pair.after.partner[after] else { continue };
            if !is_redirected(pair, before, after) {
                continue;
            }
            let counted = occurrences
                .get_or_insert_with(|| (Occurrences::new(pair.before.function), Occurrences::new(pair.after.function)));
            match comparison(pair, block, (&counted.0, &counted.1)) {
                Some(comparison) => drop(turned.insert(comparison)),
                None => {
                    let reason =
                        "the jump goes to another block, and the comparison is not provably the complement".to_owned();
                    errors.push(CheckError::at(ErrorKind::Branch, before, Some(after), reason));
                }
            }
        }
    }
    turned
}

/// Whether a block operand of an instruction differs from the view by more than a split edge.
fn is_redirected(pair: &Pair<'_>, before: Inst, after: Inst) -> bool {
    if pair.before.function.role(before) == Role::Phi {
        return false;
    }
    let operands = pair.before.function.operands(before).iter().zip(pair.after.function.operands(after));
    operands.into_iter().any(|(was, is)| match (was.value, is.value) {
        (Value::Block(was), Value::Block(is)) => was != end_of_edge(pair, is),
        (Value::Block(_), _) | (_, Value::Block(_)) => true,
        _ => false,
    })
}

/// Returns the block that a jump reaches, through an empty block that the edits create on the edge.
fn end_of_edge(pair: &Pair<'_>, to: Block) -> Block {
    if to.index() < pair.before.function.num_blocks() {
        return to;
    }
    pair.after.function.succs(to).first().copied().unwrap_or(to)
}

/// Returns the comparison, in the edited function, of a block whose jumps are proven to have changed places. `None` if
/// there is no proof.
fn comparison(pair: &Pair<'_>, block: Block, (old_counts, new_counts): (&Occurrences, &Occurrences)) -> Option<Inst> {
    let (old, new) = (pair.before.function, pair.after.function);
    let (was, is) = (TwoJumps::of(old, block)?, TwoJumps::of(new, block)?);
    let stays = |before: Inst, after: Inst| {
        pair.after.partner[after] == Some(before)
            && pair.after.block_of[after] == pair.before.block_of[before]
            && old.opcode(before) == new.opcode(after)
    };
    let has_swapped = was.taken == end_of_edge(pair, is.other) && was.other == end_of_edge(pair, is.taken);
    let definition = old_counts.only_definition(was.predicate)?;
    let new_definition = new_counts.only_definition(is.predicate)?;
    let is_only_reader = old_counts.reads(was.predicate) == 1 && new_counts.reads(is.predicate) == 1;
    let is_proven = stays(was.branch, is.branch)
        && stays(was.jump, is.jump)
        && was.is_negated == is.is_negated
        && has_swapped
        && is_only_reader
        && pair.after.partner[new_definition] == Some(definition)
        && pair.before.block_of[definition] == block
        && pair.after.block_of[new_definition] == block
        && definition < was.branch
        && new_definition < is.branch
        && is_complement(old, definition, new, new_definition);
    is_proven.then_some(new_definition)
}

/// Whether an instruction is the complement of another instruction, apart from registers, which have obligations of
/// their own.
fn is_complement(old: &Function, before: Inst, new: &Function, after: Inst) -> bool {
    let (Some(expected), was, is) = (complement(old, before), old.operands(before), new.operands(after)) else {
        return false;
    };
    let has_same_value =
        |was: &Operand, is: &Operand| was.reg().is_some() && is.reg().is_some() || was.value == is.value;
    let differs = |number: usize| !has_same_value(&was[number], &is[number]);
    was.len() == is.len()
        && match expected {
            Complement::Number { operand, value } => {
                let is_changed = is.get(operand as usize).is_some_and(|operand| operand.as_immediate() == Some(value));
                old.opcode(before) == new.opcode(after)
                    && is_changed
                    && (0..was.len()).all(|number| number == operand as usize || !differs(number))
            }
            Complement::Opcode(name) => {
                new.opcodes().name(new.opcode(after)) == name && (0..was.len()).all(|number| !differs(number))
            }
        }
}

/// The definitions and reads of registers.
struct Occurrences {
    /// For each register, its definition if there is only one, and the number of reads.
    of: Vec<(Definition, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Definition {
    None,
    One(Inst),
    Many,
}

impl Occurrences {
    fn new(function: &Function) -> Self {
        let mut of = vec![(Definition::None, 0); function.num_regs()];
        for inst in function.insts() {
            for operand in function.operands(inst) {
                let Some(reg) = operand.reg() else { continue };
                let (definition, reads) = &mut of[reg.index()];
                if operand.is_def() {
                    *definition =
                        if *definition == Definition::None { Definition::One(inst) } else { Definition::Many };
                } else {
                    *reads += 1;
                }
            }
        }
        Self { of }
    }

    fn only_definition(&self, reg: VReg) -> Option<Inst> {
        match self.of[reg.index()].0 {
            Definition::One(inst) => Some(inst),
            _ => None,
        }
    }

    fn reads(&self, reg: VReg) -> u32 {
        self.of[reg.index()].1
    }
}
