//! Checks that instructions with effects are the same ones, in the same blocks, and in an order that they allow.

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
            let reason = format!("{} does more than define registers and is deleted", name());
            errors.push(CheckError::at(ErrorKind::Deleted, inst, None, reason));
        }
        Some(after) if stays && pair.after.block_of[after] != block => {
            let now = pair.after.block_of[after];
            let reason = format!("{} must stay in {block} and is in {now}", name());
            errors.push(CheckError::at(ErrorKind::Moved, inst, Some(after), reason));
        }
        Some(after) if stays => {
            // An instruction that is impure only by a physical register is kept in order with everything.
            let effects = view.effects(inst);
            let effects = if effects.is_empty() && role != Role::Debug { Effects::OPAQUE } else { effects };
            if let Some((other, _)) = order.next(inst, after, effects, view.memory_space(inst)) {
                let other_name = view.opcodes().name(view.opcode(other));
                let reason = format!("{} must come after {other} {other_name}", name());
                errors.push(CheckError::at(ErrorKind::Order, inst, Some(after), reason));
            }
        }
        _ => {}
    }
}

/// Checks that nothing but terminators follows a terminator, unless it did before.
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
                let reason = format!("it follows a terminator of {block}");
                errors.push(CheckError {
                    before,
                    after: Some(after),
                    ..CheckError::new(ErrorKind::Terminator, reason)
                });
            }
        }
    }
}

/// The instruction of one kind that comes last in the new order: the view's number and the new one.
type Latest = Option<(Inst, Inst)>;

/// Takes the instructions of a block in their old order and finds those that now come before one that they conflict
/// with ([`Effects::conflict`]). For each kind of conflict it is enough to know the latest place of that kind so far.
#[derive(Default)]
struct OrderCheck {
    any: Latest,
    barrier: Latest,
    convergent: Latest,
    memory: Latest,
    ordered: Latest,
    access: [Latest; SPACES.len()],
    write: [Latest; SPACES.len()],
}

const SPACES: [MemorySpace; 8] = [
    MemorySpace::Generic,
    MemorySpace::Global,
    MemorySpace::Shared,
    MemorySpace::Constant,
    MemorySpace::Local,
    MemorySpace::Tensor,
    MemorySpace::SharedCluster,
    MemorySpace::Param,
];

impl OrderCheck {
    /// Takes the next instruction. Returns one that came before it, conflicts with it, and comes after it now.
    fn next(&mut self, inst: Inst, after: Inst, effects: Effects, space: MemorySpace) -> Latest {
        if effects.is_pure() {
            return None;
        }
        let barrier = effects
            .intersects(Effects::OPAQUE | Effects::TRAP | Effects::TERMINATOR | Effects::CALL_SEQUENCE | Effects::META);
        let memory = effects.intersects(Effects::READ | Effects::WRITE | Effects::ORDERED);
        let mut latest = self.barrier;
        let mut consider = |other: Latest| latest = later(latest, other);
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
            for (&other_space, &other) in SPACES.iter().zip(conflicting) {
                if space.may_alias(other_space) {
                    consider(other);
                }
            }
        }
        self.record(Some((inst, after)), effects, space, barrier, memory);
        latest.filter(|&(_, other)| other > after)
    }

    fn record(&mut self, this: Latest, effects: Effects, space: MemorySpace, barrier: bool, memory: bool) {
        let update = |slot: &mut Latest, applies: bool| {
            if applies {
                *slot = later(*slot, this);
            }
        };
        update(&mut self.any, true);
        update(&mut self.barrier, barrier);
        update(&mut self.convergent, effects.contains(Effects::CONVERGENT));
        update(&mut self.memory, memory);
        update(&mut self.ordered, effects.contains(Effects::ORDERED));
        let spaces = SPACES.iter().zip(self.access.iter_mut().zip(&mut self.write));
        for (&known, (access, write)) in spaces {
            if known == space {
                update(access, memory);
                update(write, effects.contains(Effects::WRITE));
            }
        }
    }
}

fn later(left: Latest, right: Latest) -> Latest {
    if right.map(|(_, after)| after) > left.map(|(_, after)| after) { right } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_effects(bits: u64) -> Effects {
        // Few bits at once, so that many pairs do not conflict.
        let all = [
            Effects::READ,
            Effects::WRITE,
            Effects::READ,
            Effects::CONVERGENT,
            Effects::ORDERED,
            Effects::READ | Effects::WRITE,
            Effects::TRAP,
            Effects::META,
        ];
        all[(bits % 8) as usize]
    }

    /// The order check finds an inversion exactly where comparing all pairs finds one.
    #[test]
    fn agrees_with_all_pairs() {
        arbtest::arbtest(|source| {
            let count = source.int_in_range(0..=8u32)?;
            let mut insts = Vec::new();
            for number in 0..count {
                let space = SPACES[source.int_in_range(0..=7usize)?];
                insts.push((Inst(number), random_effects(source.int_in_range(0..=7u64)?), space));
            }
            let mut after: Vec<u32> = (0..count).collect();
            for index in 1..after.len() {
                after.swap(index, source.int_in_range(0..=index)?);
            }
            let mut order = OrderCheck::default();
            for (index, &(inst, effects, space)) in insts.iter().enumerate() {
                let found = order.next(inst, Inst(after[index]), effects, space).is_some();
                let expected = insts[..index].iter().zip(&after).any(|(&(_, other, other_space), &other_after)| {
                    other.conflict(other_space, effects, space) && other_after > after[index]
                });
                assert_eq!(found, expected, "{insts:?} in the order {after:?}, at {index}");
            }
            Ok(())
        });
    }
}
