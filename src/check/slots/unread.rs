//! Stores to a slot that no path reads afterwards.

use super::access::Accesses;
use super::finding::{Finding, FindingKind};
use crate::function::Block;
use crate::index::IndexVec;

/// One bit for each slot.
type Bits = Vec<u64>;

/// Notes stores from which every path to a reload contains another store to the slot. O(accesses + edges · slots / 64)
/// for each loop depth.
pub(super) fn check(accesses: &Accesses<'_>, findings: &mut Vec<Finding>) {
    let after = accesses.after();
    let mut read_at_entry: IndexVec<Block, Bits> =
        IndexVec::filled(vec![0; accesses.num_slots().div_ceil(64)], after.num_blocks());
    let at_end = |read_at_entry: &IndexVec<Block, Bits>, block: Block| {
        let mut read = vec![0; accesses.num_slots().div_ceil(64)];
        for &succ in after.succs(block) {
            read.iter_mut().zip(&read_at_entry[succ]).for_each(|(bits, more)| *bits |= more);
        }
        read
    };
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for block in after.blocks().rev() {
            let mut read = at_end(&read_at_entry, block);
            go_back(accesses, block, &mut read, &mut Vec::new());
            if read_at_entry[block] != read {
                read_at_entry[block] = read;
                is_changed = true;
            }
        }
    }
    for block in after.blocks() {
        let mut unread = Vec::new();
        go_back(accesses, block, &mut at_end(&read_at_entry, block), &mut unread);
        findings.extend(unread.into_iter().rev());
    }
}

/// Walks backwards through a block. `read` has the slots that are read after the block's end.
fn go_back(accesses: &Accesses<'_>, block: Block, read: &mut Bits, unread: &mut Vec<Finding>) {
    for access in accesses.of_block(block).iter().rev() {
        let slot = accesses.number(access.slot);
        let (word, bit) = (slot / 64, 1 << (slot % 64));
        if access.is_store {
            if read[word] & bit == 0 {
                let reason = "no path leads from the store to a reload".into();
                unread.push(accesses.finding(FindingKind::Unread, access, reason));
            }
            read[word] &= !bit;
        } else {
            read[word] |= bit;
        }
    }
}
