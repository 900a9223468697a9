//! Accesses to shared memory with a changed base and a changed offset: the sum of base and offset must be unchanged.

use rustc_hash::FxHashSet;

use super::pair::{Pair, Which};
use crate::function::assembly::{assembly_text, shared_access};
use crate::function::shared_address::{self, Access, Sums};
use crate::function::{Block, Function, Inst, VReg};
use crate::index::{EntityIndex, IndexVec};

/// For each register, its only definition, if that definition comes before all reads.
type Definitions = IndexVec<VReg, Option<Inst>>;

/// Operands of the edited function that differ from the view inside an address with an unchanged sum: the base, and the
/// operand that has the offset.
pub(super) type Proven = FxHashSet<(Inst, u32)>;

/// Proves that changed accesses keep their addresses. O(size) if an address changes; otherwise only one comparison for
/// each access.
///
/// The new base must have one definition, which is the same instruction in the same block in both functions, and which
/// comes before all reads. Then the new base holds the same value at the access as in the view, because the operands of
/// its definition have obligations of their own. Therefore both bases are expanded into sums in the view, and these
/// sums are compared.
pub(super) fn proven(pair: &Pair<'_>) -> Proven {
    let changed: Vec<ChangedAccess> =
        pair.after.function.insts().filter_map(|inst| changed_access(pair, inst)).collect();
    if changed.is_empty() {
        return Proven::default();
    }
    let (before, after) = (definitions(pair.before.function), definitions(pair.after.function));
    let mut sums = Sums::new(pair.before.function, &before);
    let same = changed
        .iter()
        .filter(|changed_access| is_same(pair, changed_access, (&before, &after), &mut sums).unwrap_or(false));
    same.flat_map(|changed_access| {
        [changed_access.after.number, changed_access.number].map(|operand| (changed_access.inst, operand))
    })
    .collect()
}

/// An access with another base or offset than in the view.
struct ChangedAccess {
    /// The instruction of the edited function.
    inst: Inst,
    before: Access,
    after: Access,
    /// The operand that has the offset.
    number: u32,
}

fn changed_access(pair: &Pair<'_>, inst: Inst) -> Option<ChangedAccess> {
    let kept = pair.kept_in_place(Which::After, inst)?;
    let after = shared_address::access(pair.after.function, inst)?;
    let before = shared_address::access(pair.before.function, kept)?;
    if before == after || before.number != after.number {
        return None;
    }
    let number = offset_operand(pair, (kept, before), (inst, after))?;
    Some(ChangedAccess { inst, before, after, number })
}

/// Returns the operand that has the offset of an access. `None` for inline assembly whose new text differs from the old
/// text in more than the offset.
fn offset_operand(pair: &Pair<'_>, before: (Inst, Access), after: (Inst, Access)) -> Option<u32> {
    match (assembly_text(pair.before.function, before.0), assembly_text(pair.after.function, after.0)) {
        (Some(old), Some(new)) => (shared_access(old)?.with_offset(old, after.1.offset) == new).then_some(TEXT),
        (None, None) => Some(after.1.number + 1),
        _ => None,
    }
}

/// Number of the operand that is the text of inline assembly.
const TEXT: u32 = 0;

fn is_same(
    pair: &Pair<'_>,
    &ChangedAccess { before, after, .. }: &ChangedAccess,
    definitions: (&Definitions, &Definitions),
    sums: &mut Sums<'_>,
) -> Option<bool> {
    let (view, function) = (pair.before.function, pair.after.function);
    let definition = definitions.1[after.base]?;
    let kept = pair.kept_in_place(Which::After, definition)?;
    let result = function.operands(definition).iter().position(|operand| operand.def() == Some(after.base))?;
    let base_before = view.operands(kept)[result].def()?;
    if definitions.0[base_before] != Some(kept) {
        return None;
    }
    let (old, old_rest) = sums.of(before.base)?.split();
    let (new, new_rest) = sums.of(base_before)?.split();
    // Addresses are computed modulo 2³².
    Some(old_rest == new_rest && old.wrapping_add(before.offset as u32) == new.wrapping_add(after.offset as u32))
}

fn definitions(function: &Function) -> Definitions {
    let idoms = immediate_dominators(function);
    shared_address::definitions(function, &mut |above, block| {
        let mut at = Some(block);
        while let Some(current) = at.filter(|&current| current != above) {
            at = idoms[current];
        }
        at == Some(above)
    })
}

/// Computes the nearest strict dominator of each reachable block (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
/// Algorithm", 2001). It shares no code with the dominators that the passes use.
fn immediate_dominators(function: &Function) -> IndexVec<Block, Option<Block>> {
    let mut order = Vec::new();
    let mut is_seen = IndexVec::filled(false, function.num_blocks());
    let mut stack: Vec<(Block, usize)> = function.blocks().take(1).map(|entry| (entry, 0)).collect();
    stack.iter().for_each(|&(entry, _)| is_seen[entry] = true);
    while let Some((block, next)) = stack.pop() {
        match function.succs(block).get(next) {
            Some(&succ) => {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut is_seen[succ], true) {
                    stack.push((succ, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    let mut number = IndexVec::filled(usize::MAX, function.num_blocks());
    order.iter().enumerate().for_each(|(at, &block)| number[block] = at);
    let mut preds: IndexVec<Block, Vec<Block>> = IndexVec::filled(Vec::new(), function.num_blocks());
    for &block in &order {
        function.succs(block).iter().for_each(|&succ| preds[succ].push(block));
    }
    let mut idoms: IndexVec<Block, Option<Block>> = IndexVec::filled(None, function.num_blocks());
    let mut changes = true;
    while std::mem::take(&mut changes) {
        for &block in order.iter().skip(1) {
            let known = preds[block].iter().copied().filter(|&pred| pred.index() == 0 || idoms[pred].is_some());
            let nearest = known.reduce(|mut left, mut right| {
                while left != right {
                    let later = if number[left] > number[right] { &mut left } else { &mut right };
                    *later = idoms[*later].unwrap_or(order[0]);
                }
                left
            });
            changes |= idoms[block] != nearest;
            idoms[block] = nearest;
        }
    }
    idoms
}

#[cfg(test)]
mod tests {
    use crate::check::{ErrorKind, check};
    use crate::function::{Edit, EditList, Function, Inst, VReg};

    /// Returns the checker's result for an access at `[%1+8]`, where %1 is %0 + 64, that gets another base and offset.
    fn changed_access(base: u32, offset: i64, more: &str) -> Result<(), ErrorKind> {
        let text = format!(
            "mfv 1\nfunction \"k\"\nopcode ADD64ri\nopcode LD_i64\nopcode ST_i64\nregs %0 B64 B64 B64\n\
             bb0: frequency 1.0 depth 0\n%0 = LD_i64 0\n%2 = LD_i64 0\n%1 = ADD64ri %0, 64\n{more}\
             ST_i64 %0, 0, %1, 8 :: write shared\nend\n"
        );
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let access = Inst(function.num_insts() as u32 - 1);
        let mut edits = EditList::new(&function);
        edits.push(Edit::SetAddress { inst: access, operand: 2, base: VReg(base), offset });
        check(&function, &edits).map_err(|errors| errors[0].kind)
    }

    /// An equal sum is proven, modulo 2³². Another offset, another value, and a base that is written again before the
    /// access are refused.
    #[test]
    fn sums_are_compared() {
        assert_eq!(
            [changed_access(0, 72, ""), changed_access(1, 8, ""), changed_access(0, 72 - (1 << 32), "")]
                .map(|said| said.is_ok()),
            [true, true, false]
        );
        assert_eq!(changed_access(0, 68, ""), Err(ErrorKind::Operand));
        assert_eq!(changed_access(1, 72, ""), Err(ErrorKind::Operand));
        assert_eq!(changed_access(2, 72, ""), Err(ErrorKind::Operand));
        assert_eq!(changed_access(0, 72, "%0 = ADD64ri %0, 1\n"), Err(ErrorKind::Operand));
    }

    /// Returns the checker's result for assembly at `[%1 + 8]`, where %1 is %0 + 64, that gets another base and text.
    fn assembly(base: u32, new: &str) -> Result<(), ErrorKind> {
        let text = "mfv 1\nfunction \"k\"\nopcode INLINEASM\nopcode ADD64ri\nopcode LD_i64\nregs %0 B64 B64 B32\n\
                    @0 = \"&ld.shared.b32 $0, [$1 + 8];\"\nbb0: frequency 1.0 depth 0\n%0 = LD_i64 0\n%1 = ADD64ri %0, 64\n\
                    INLINEASM @0, 1, 131082, def %2, 393225, %1 :: opaque\nend\n";
        let function = Function::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut edits = EditList::new(&function);
        edits.push(Edit::SetRegister { inst: Inst(2), operand: 5, reg: VReg(base) });
        edits.push(Edit::SetAssembly { inst: Inst(2), text: new.into() });
        check(&function, &edits).map_err(|errors| errors[0].kind)
    }

    /// Only the offset in the text of assembly may change. It must change by the difference of the bases.
    #[test]
    fn texts_are_compared() {
        assert_eq!(assembly(0, "ld.shared.b32 $0, [$1+72];"), Ok(()));
        for (base, other) in [
            (0, "ld.shared.b32 $0, [$1+8];"),
            (1, "ld.shared.b32 $0, [$1+72];"),
            (0, "ld.shared.u32 $0, [$1+72];"),
            (0, "ld.shared.b32 $0, [$1+72]; "),
            (1, "ld.shared.v2.b32 $0, [$1 + 8];"),
            (1, "st.global.b32 [$1], $0;"),
            (0, "ld.shared.b32 $1, [$1+72];"),
        ] {
            assert_eq!(assembly(base, other), Err(ErrorKind::Operand), "{other}");
        }
    }
}
