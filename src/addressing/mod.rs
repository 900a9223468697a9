//! Shared addresses that differ by a constant share one register.
//!
//! LLVM addresses shared memory by 64 bits, and widens 32-bit indices for it. A constant that is added before the
//! widening cannot be moved out of the index, because the sum might overflow: `tile[i + 32]` and `tile[i]` get separate
//! registers. Loop-invariant code motion then hoists all of these sums out of the loop, and an unrolled tile occupies a
//! hundred registers. NVIDIA's compiler addresses by 32 bits. It uses one register and a hundred offsets, which cost
//! nothing.
//!
//! The shared base belongs to an access that has already executed, so the base is a valid address. The other accesses
//! are less than the window of shared memory away from the base. Their addresses are therefore equal in 64 bits, too,
//! as required for the generic addresses that `ldmatrix` may have.
//!
//! An access uses the register of an access that precedes it on all paths, if both addresses are the same sum up to a
//! constant ([`shared_address`]). The constant becomes part of the offset. Definitions without remaining readers are
//! removed. LLVM's `separate-const-offset-from-gep` has the same idea, but stops at the widening.
//!
//! * [`mod@dead`]: removes definitions without remaining readers.

mod dead;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use crate::analysis::{Cfg, Dominators};
use crate::function::assembly::{assembly_text, shared_access};
use crate::function::shared_address::{self, Access, Sum, Sums};
use crate::function::{Block, Edit, EditList, Function, Inst, VReg};

/// The largest offset of an access to shared memory in machine code, which has 24 bits including the sign.
const LARGEST_OFFSET: i64 = (1 << 23) - 1;

/// Result of sharing base registers.
#[derive(Debug)]
pub struct Outcome {
    /// The edits.
    pub edits: EditList,
    /// Number of accesses that use another register than before.
    pub accesses: usize,
    /// Number of removed instructions.
    pub removed: usize,
}

/// An access whose register later accesses may use.
struct Base {
    block: Block,
    reg: VReg,
    /// The constant part of the address in `reg`; `known` has the other parts as its key.
    number: u32,
}

/// Uses one register for shared addresses that differ by a constant. O(n log n) in operands and blocks.
pub fn share_bases(function: &Function) -> Outcome {
    let mut outcome = Outcome { edits: EditList::new(function), accesses: 0, removed: 0 };
    if !has_two_bases(function) {
        return outcome;
    }
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let definitions =
        shared_address::definitions(function, &mut |above, block| dominators.strictly_dominates(above, block));
    let mut sums = Sums::new(function, &definitions);
    let mut moves = Vec::new();
    let mut known: FxHashMap<Sum, Base> = FxHashMap::default();
    let mut blocks: Vec<Block> = function.blocks().filter(|&block| cfg.is_reachable(block)).collect();
    blocks.sort_unstable_by_key(|&block| dominators.preorder(block));
    for block in blocks {
        for (inst, access) in accesses(function, function.block_insts(block)) {
            let Some(sum) = sums.of(access.base) else { continue };
            let (number, rest) = sum.split();
            match known.get(&rest) {
                Some(base) if dominators.dominates(base.block, block) => {
                    if let Some(offset) = offset_from(function, access, base, number) {
                        set_address(function, (inst, access), base.reg, offset, &mut outcome.edits);
                        moves.push((access.base, base.reg));
                    }
                }
                // The blocks come in the preorder of the dominator tree: a block that does not dominate this block
                // dominates no later block.
                _ => _ = known.insert(rest, Base { block, reg: access.base, number }),
            }
        }
    }
    outcome.accesses = moves.len();
    outcome.removed = dead::remove(function, &definitions, &moves, &mut outcome.edits);
    outcome.edits.finish();
    outcome
}

/// Returns the offset of an access from another base, if the offset fits. `number` is the constant part of the access's
/// own base.
fn offset_from(function: &Function, access: Access, base: &Base, number: u32) -> Option<i64> {
    // Addresses are computed modulo 2³², so only the signed difference can be an offset.
    let offset = i64::from(number.wrapping_sub(base.number).wrapping_add(access.offset as u32) as i32);
    let is_other = base.reg != access.base && function.class(base.reg) == function.class(access.base);
    (is_other && offset.abs() <= LARGEST_OFFSET).then_some(offset)
}

/// Changes the address register and offset of an access.
fn set_address(function: &Function, (inst, access): (Inst, Access), base: VReg, offset: i64, edits: &mut EditList) {
    let operand = access.number;
    let in_text = assembly_text(function, inst).and_then(|text| Some(shared_access(text)?.with_offset(text, offset)));
    match in_text {
        None => edits.push(Edit::SetAddress { inst, operand, base, offset }),
        Some(text) => {
            edits.push(Edit::SetRegister { inst, operand, reg: base });
            edits.push(Edit::SetAssembly { inst, text });
        }
    }
}

fn accesses(function: &Function, insts: impl Iterator<Item = Inst>) -> impl Iterator<Item = (Inst, Access)> {
    insts.filter_map(|inst| Some((inst, shared_address::access(function, inst)?)))
}

fn has_two_bases(function: &Function) -> bool {
    let mut bases = accesses(function, function.insts()).map(|(_, access)| access.base);
    bases.next().is_some_and(|first| bases.any(|reg| reg != first))
}
