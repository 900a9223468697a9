//! Random control-flow graphs and their dominators. The dominators are computed naively, without any other analysis.

use arbitrary::{Result, Unstructured};

use crate::function::Block;
use crate::index::{EntityIndex, IndexVec};

/// Draws the successors of each block. The entry has no predecessors; everything else is possible: loops with several
/// entries, unreachable blocks, critical edges, edges from a block to itself.
pub(super) fn successors(u: &mut Unstructured<'_>, max_blocks: usize) -> Result<IndexVec<Block, Vec<Block>>> {
    let count = u.int_in_range(1..=max_blocks.max(1))?;
    let mut all = IndexVec::new();
    for index in 0..count {
        let mut succs = Vec::new();
        let next = index + 1;
        // Most blocks branch to the next block, so most blocks are reachable.
        if next < count && u.int_in_range(0..=7u8)? < 7 {
            succs.push(Block::new(next));
        }
        for _ in 0..[0, 1, 0, 1, 1, 2, 3, 0][u.choose_index(8)?] {
            if count > 1 {
                let succ = Block::new(u.int_in_range(1..=count - 1)?);
                if !succs.contains(&succ) {
                    succs.push(succ);
                }
            }
        }
        if succs.len() > 1 && u.arbitrary()? {
            succs.rotate_left(1);
        }
        all.push(succs);
    }
    Ok(all)
}

/// Returns the predecessors of each block.
pub(super) fn predecessors(succs: &IndexVec<Block, Vec<Block>>) -> IndexVec<Block, Vec<Block>> {
    let mut predecessors = IndexVec::filled(Vec::new(), succs.len());
    for (block, succs) in succs.iter_enumerated() {
        for &succ in succs {
            predecessors[succ].push(block);
        }
    }
    predecessors
}

/// Returns the blocks in an order in which each follows its immediate dominator, with that dominator. Unreachable
/// blocks come last and count as dominated by the entry.
pub(super) fn by_dominance(succs: &IndexVec<Block, Vec<Block>>) -> Vec<(Block, Option<Block>)> {
    let entry = Block::new(0);
    let reached_without = |removed: Option<Block>| {
        let mut reached = IndexVec::<Block, bool>::filled(false, succs.len());
        let mut worklist = Vec::from_iter((removed != Some(entry)).then_some(entry));
        while let Some(block) = worklist.pop() {
            if Some(block) != removed && !std::mem::replace(&mut reached[block], true) {
                worklist.extend(&succs[block]);
            }
        }
        reached
    };
    // A block dominates the blocks that are unreachable without it.
    let reachable = reached_without(None);
    let without: IndexVec<Block, _> = succs.ids().map(|block| reached_without(Some(block))).collect();
    let dominates = |a: Block, b: Block| a != b && reachable[a] && reachable[b] && !without[a][b];
    let depth = |block: Block| succs.ids().filter(|&other| dominates(other, block)).count();
    // The dominators of a block form a chain. The immediate dominator is the deepest of them.
    let immediate =
        |block: Block| succs.ids().filter(|&other| dominates(other, block)).max_by_key(|&other| depth(other));
    let mut order: Vec<Block> = succs.ids().collect();
    order.sort_by_key(|&block| (!reachable[block], depth(block)));
    order.into_iter().map(|block| (block, immediate(block).or((block != entry).then_some(entry)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dominators_of_a_diamond_and_an_unreachable_block() {
        let block = Block::new;
        // 0 -> 1, 2; 1 -> 3; 2 -> 3; 3 -> 3; 4 -> 3
        let succs: IndexVec<Block, Vec<Block>> = [vec![1, 2], vec![3], vec![3], vec![3], vec![3]]
            .map(|s| s.into_iter().map(block).collect())
            .into_iter()
            .collect();
        let found = by_dominance(&succs);
        assert_eq!(found[0], (block(0), None));
        assert!(found[1..].iter().all(|&(_, dominator)| dominator == Some(block(0))));
        assert_eq!(found[4].0, block(4));
    }
}
