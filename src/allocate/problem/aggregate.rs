//! Copies in the arms of a diamond: what is copied there and read nowhere else costs what the copy does, too.
//!
//! PHIs become such copies. ptxas is read to add what spilling a PHI costs to the one value that it takes from an arm: to
//! spill one of the two without the other would gain nothing.

use super::{CopyInst, LiveRange, Problem};
use crate::function::{Block, Inst};
use crate::index::IndexVec;

/// The copies that stand in an arm of a diamond and are the only reader of what they copy, the last one first, so that a
/// chain of copies adds up from its end. O(copies · log blocks + edges).
pub(super) fn in_diamonds(problem: &Problem) -> impl Iterator<Item = &CopyInst> {
    let arms = arms(problem);
    let blocks = problem.flow().blocks();
    let is_in_arm = move |inst: Inst| {
        let number = blocks.as_slice().partition_point(|block| block.insts.end <= inst);
        arms.get(number) == Some(&true)
    };
    let is_alone = |range: LiveRange| problem.accesses(range).iter().filter(|access| access.reads()).count() == 1;
    problem
        .copies()
        .iter()
        .rev()
        .filter(move |copy| copy.to != copy.from && is_in_arm(copy.inst) && is_alone(copy.from))
}

/// By block: whether it is one of two arms between a block that branches and one where both meet.
fn arms(problem: &Problem) -> Vec<bool> {
    let blocks = problem.flow().blocks();
    let mut preds: IndexVec<Block, Vec<Block>> = IndexVec::filled(Vec::new(), blocks.len());
    for (block, data) in blocks.iter_enumerated() {
        data.succs.iter().for_each(|&succ| preds[succ].push(block));
    }
    let is_arm = |block: Block| {
        let ([meeting], [branching]) = (&blocks[block].succs[..], &preds[block][..]) else { return false };
        let both = &preds[*meeting];
        both.len() == 2
            && both[0] != both[1]
            && both.iter().all(|&arm| preds[arm] == [*branching] && blocks[arm].succs.len() == 1)
    };
    blocks.ids().map(is_arm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy in each arm counts where its source is read by it alone; none counts in a triangle or in a line.
    #[test]
    fn copies_of_arms() {
        let found = |blocks: &str, read_again: &str| {
            let text = format!(
                "allocation 1\nproblem k\nfile R\nclass A R\nrange A cost 1 live 2..9 write 0*1 read 2*1{read_again}\n\
                 range A cost 1 live 2..13 write 0*1 read 3*1\nrange A cost 1 live 10..17 write 2*1 write 3*1 read 4*1\n\
                 copy 2 lr2 = lr0 * 1\ncopy 3 lr2 = lr1 * 1\n{blocks}end\n"
            );
            let problem = Problem::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            in_diamonds(&problem).map(|copy| copy.from.0).collect::<Vec<_>>()
        };
        let diamond = "block 0..2 -> 1 2\nblock 2..3 -> 3\nblock 3..4 -> 3\nblock 4..5\n";
        assert_eq!(found(diamond, ""), [1, 0]);
        assert_eq!(found(diamond, " read 4*1"), [1]);
        assert_eq!(found("block 0..2 -> 1 2\nblock 2..3 -> 2\nblock 3..4 -> 3\nblock 4..5\n", ""), [0_u32; 0]);
        assert_eq!(found("block 0..5\n", ""), [0_u32; 0]);
        assert_eq!(found("", ""), [0_u32; 0]);
    }
}
