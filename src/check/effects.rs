//! Checks that instructions with effects are kept, in the same blocks, in an order that their effects allow.

use super::error::{CheckError, ErrorKind};
use super::pair::{Pair, Which};
use crate::function::{Block, Effects, Inst, MemorySpace, Role};

/// Checks deletions, moves and the order of effects. O(size).
pub(super) fn check(pair: &Pair<'_>, errors: &mut Vec<CheckError>) {
    for block in pair.before.function.blocks() {
        let mut order = OrderCheck::default();
        for inst in pair.before.function.block_insts(block) {
            check_inst(pair, block, inst, &mut order, errors);
        }
    }
    check_terminators(pair, errors);
}

fn check_inst(pair: &Pair<'_>, block: Block, inst: Inst, order: &mut OrderCheck, errors: &mut Vec<CheckError>) {
    let view = pair.before.function;
    let role = view.role(inst);
    let stays = !pair.before.pure[inst] || role == Role::Debug;
    let name = || view.opcodes().name(view.opcode(inst));
    match pair.before.partner[inst] {
        None if stays && !matches!(role, Role::Debug | Role::Undef | Role::Phi) => {
            let reason = format!("{} does more than define registers, and is deleted", name());
            errors.push(CheckError::at(ErrorKind::Deleted, inst, None, reason));
        }
        Some(after) if stays && pair.after.block_of[after] != block => {
            let now = pair.after.block_of[after];
            let reason = format!("{} must stay in {block}, but is in {now}", name());
            errors.push(CheckError::at(ErrorKind::Moved, inst, Some(after), reason));
        }
        Some(after) if stays => {
            // An instruction that is impure only because of a physical register keeps its order with all instructions.
            let effects = view.effects(inst);
            let effects = if effects.is_pure() && role != Role::Debug { Effects::OPAQUE } else { effects };
            if let Some(latest) = order.next(after, effects, view.memory_space(inst)) {
                let other = pair.after.partner[latest].expect("only instructions of the view are taken");
                let other_name = view.opcodes().name(view.opcode(other));
                let reason = format!("{} must come after {other} {other_name}", name());
                errors.push(CheckError::at(ErrorKind::Order, inst, Some(after), reason));
            }
        }
        _ => {}
    }
}

/// Checks that only terminators follow a terminator, apart from instructions that followed a terminator in the view.
fn check_terminators(pair: &Pair<'_>, errors: &mut Vec<CheckError>) {
    let (view, function) = (pair.before.function, pair.after.function);
    for block in function.blocks() {
        let is_terminator = |&inst: &Inst| function.effects(inst).contains(Effects::TERMINATOR);
        let Some(first) = function.block_insts(block).find(is_terminator) else { continue };
        let mut followers = function.block_range(block);
        followers.start = first;
        let mut old_first = None;
        for after in (followers.start.0..followers.end.0).map(Inst).filter(|inst| !is_terminator(inst)) {
            let before = pair.kept_in_place(Which::After, after);
            let old_first = *old_first.get_or_insert_with(|| {
                let old = if block.0 < view.num_blocks() as u32 { view.block_range(block) } else { Inst(0)..Inst(0) };
                (old.start.0..old.end.0).map(Inst).find(|&inst| view.effects(inst).contains(Effects::TERMINATOR))
            });
            if before.is_none_or(|before| old_first.is_none_or(|first| before < first)) {
                let reason = format!("the instruction follows a terminator of {block}");
                errors.push(CheckError {
                    before,
                    after: Some(after),
                    ..CheckError::new(ErrorKind::Terminator, reason)
                });
            }
        }
    }
}

/// For one kind of instruction, the latest position in the new order, plus 1. 0 if there is no instruction of that
/// kind.
type End = u32;

/// Receives the instructions of a block in their old order. Finds instructions that are now before an instruction that
/// preceded them and conflicts with them ([`Effects::conflict`]). For each kind of conflict, the latest position of
/// that kind is sufficient.
#[derive(Default)]
struct OrderCheck {
    any: End,
    barrier: End,
    convergent: End,
    memory: End,
    ordered: End,
    access: [End; MemorySpace::ALL.len()],
    write: [End; MemorySpace::ALL.len()],
}

impl OrderCheck {
    /// Receives the next instruction, by its number in the new order. Returns an instruction that preceded it,
    /// conflicts with it, and is after it in the new order.
    fn next(&mut self, after: Inst, effects: Effects, space: MemorySpace) -> Option<Inst> {
        if effects.is_pure() {
            return None;
        }
        let barrier = effects.intersects(Effects::BARRIER);
        let memory = effects.intersects(Effects::MEMORY);
        let mut end = self.barrier;
        let mut consider = |other: End| end = end.max(other);
        if barrier {
            consider(self.any);
        }
        if effects.contains(Effects::CONVERGENT) {
            consider(self.convergent);
        }
        if memory {
            consider(self.ordered);
            if effects.contains(Effects::ORDERED) {
                consider(self.memory);
            }
            let conflicting = if effects.contains(Effects::WRITE) { &self.access } else { &self.write };
            for (&other_space, &other) in MemorySpace::ALL.iter().zip(conflicting) {
                if space.may_alias(other_space) {
                    consider(other);
                }
            }
        }
        let this = after.0 + 1;
        self.record(this, effects, space, barrier, memory);
        (end > this).then(|| Inst(end - 1))
    }

    fn record(&mut self, this: End, effects: Effects, space: MemorySpace, barrier: bool, memory: bool) {
        let update = |slot: &mut End, applies: bool| {
            if applies {
                *slot = this.max(*slot);
            }
        };
        update(&mut self.any, true);
        update(&mut self.barrier, barrier);
        update(&mut self.convergent, effects.contains(Effects::CONVERGENT));
        update(&mut self.memory, memory);
        update(&mut self.ordered, effects.contains(Effects::ORDERED));
        let spaces = MemorySpace::ALL.iter().zip(self.access.iter_mut().zip(&mut self.write));
        for (&known, (access, write)) in spaces {
            if known == space {
                update(access, memory);
                update(write, effects.contains(Effects::WRITE));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Usually returns few effects, so that many pairs do not conflict. Sometimes returns any effects.
    fn random_effects(source: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<Effects> {
        let few = [
            Effects::READ,
            Effects::WRITE,
            Effects::READ,
            Effects::CONVERGENT,
            Effects::ORDERED,
            Effects::READ | Effects::WRITE,
            Effects::MAY_FAULT,
        ];
        let any = Effects::from_bits_truncate(source.arbitrary()?);
        Ok(if source.ratio(1, 8)? { any } else { few[source.choose_index(few.len())?] })
    }

    /// The order check reports an inversion exactly if a comparison of all pairs finds one, and it reports the latest
    /// instruction.
    #[test]
    fn agrees_with_all_pairs() {
        arbtest::arbtest(|source| {
            let count = source.int_in_range(0..=8u32)?;
            let mut insts = Vec::new();
            for _ in 0..count {
                let space = MemorySpace::ALL[source.int_in_range(0..=7usize)?];
                insts.push((random_effects(source)?, space));
            }
            let mut after: Vec<u32> = (0..count).collect();
            for index in 1..after.len() {
                after.swap(index, source.int_in_range(0..=index)?);
            }
            let mut order = OrderCheck::default();
            for (index, &(effects, space)) in insts.iter().enumerate() {
                let found = order.next(Inst(after[index]), effects, space);
                let earlier = insts[..index].iter().zip(&after);
                let conflicting = earlier.filter(|&(&(other, other_space), &other_after)| {
                    other.conflict(other_space, effects, space) && other_after > after[index]
                });
                let expected = conflicting.map(|(_, &other_after)| Inst(other_after)).max();
                assert_eq!(found, expected, "{insts:?} in the order {after:?}, at {index}");
            }
            Ok(())
        });
    }
}
