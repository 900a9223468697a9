//! Converts a parallel copy, in which all sources are read before any destination is written, to a sequence of copies.
//!
//! The algorithm is that of Boissinot, Darte, Rastello, Dupont de Dinechin and Guillon, "Revisiting Out-of-SSA
//! Translation for Correctness, Code Quality, and Efficiency" (CGO 2009). A destination whose old value is not needed
//! is written first. Then only cycles remain, and each cycle is broken by one temporary. If a value of a cycle also has
//! a destination outside of the cycle, the cycle needs no temporary, because that destination replaces it. The sequence
//! has one copy for each nontrivial pair, plus one for each cycle without an outside destination. No sequence is
//! shorter.

use super::{EditList, Function, Inst, Position, RegClass, VReg};

/// The reason for which pairs of registers are not a parallel copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParallelCopyError {
    /// Two values have the same destination.
    #[error("{0} is written twice by one parallel copy; give it one source")]
    DuplicateDestination(VReg),
    /// Source and destination differ in class.
    #[error("{0} is copied from {1}, a register of another class; use registers of the same class")]
    DifferentClass(VReg, VReg),
    /// The register is neither in the function nor created by the edits.
    #[error("{0} does not exist; create it first")]
    UnknownRegister(VReg),
}

/// Returns copies `(destination, source)` whose sequence has the same effect as all `pairs` at once.
///
/// `temporary` is called once for each cycle, with a register of the cycle. It returns a new register of the same
/// class. Each cycle gets its own register, so that every register stays one connected live range. O(n log n).
pub fn sequentialize(
    pairs: &[(VReg, VReg)],
    mut temporary: impl FnMut(VReg) -> VReg,
) -> Result<Vec<(VReg, VReg)>, ParallelCopyError> {
    let mut regs: Vec<VReg> = pairs.iter().flat_map(|&(dst, src)| [dst, src]).collect();
    regs.sort_unstable();
    regs.dedup();
    let number_of = |reg: VReg| regs.partition_point(|&other| other < reg);

    let mut is_destination = vec![false; regs.len()];
    let mut is_read = vec![false; regs.len()];
    let mut sequence = Sequence { source: vec![None; regs.len()], location: regs.clone(), regs: &regs, copies: vec![] };
    let pairs: Vec<(usize, usize)> = pairs.iter().map(|&(dst, src)| (number_of(dst), number_of(src))).collect();
    for &(dst, src) in &pairs {
        if std::mem::replace(&mut is_destination[dst], true) {
            return Err(ParallelCopyError::DuplicateDestination(regs[dst]));
        }
        if dst != src {
            sequence.source[dst] = Some(src);
            is_read[src] = true;
        }
    }

    for &(dst, _) in pairs.iter().filter(|&&(dst, _)| !is_read[dst]) {
        sequence.write(dst);
    }
    // Each remaining register is both written and read. Only cycles remain, because all outside destinations have been
    // written.
    for &(dst, _) in &pairs {
        if sequence.source[dst].is_some() {
            let saved = temporary(regs[dst]);
            sequence.save(dst, saved);
            sequence.write(dst);
        }
    }
    Ok(sequence.copies)
}

/// The copies so far, and the pairs that remain. Registers are numbered as in `regs`.
struct Sequence<'a> {
    regs: &'a [VReg],
    /// The source of each register's new value, until that value is written.
    source: Vec<Option<usize>>,
    /// The register that currently holds the old value of each register.
    location: Vec<VReg>,
    copies: Vec<(VReg, VReg)>,
}

impl Sequence<'_> {
    /// Writes `dst`, whose old value is not needed there. If this copy is the first of the source's old value, the
    /// source can be written next, and so on.
    fn write(&mut self, mut dst: usize) {
        while let Some(src) = self.source[dst].take() {
            self.copies.push((self.regs[dst], self.location[src]));
            let read_from = std::mem::replace(&mut self.location[src], self.regs[dst]);
            if read_from != self.regs[src] {
                return;
            }
            // The first copy of an old value frees its register. Later copies of the value read the destination of the
            // first.
            dst = src;
        }
    }

    /// Copies the old value of a register to `saved`.
    fn save(&mut self, reg: usize, saved: VReg) {
        self.copies.push((saved, self.regs[reg]));
        self.location[reg] = saved;
    }
}

impl EditList {
    /// Inserts copies with the effect of all `pairs` (destination, source) at once, with a new register for each cycle;
    /// see [`sequentialize`]. On an error, nothing is inserted.
    pub fn insert_parallel_copy(
        &mut self,
        function: &Function,
        at: Position,
        pairs: &[(VReg, VReg)],
    ) -> Result<Vec<Inst>, ParallelCopyError> {
        let class = |edits: &Self, reg| edits.class(function, reg).ok_or(ParallelCopyError::UnknownRegister(reg));
        let mut destinations = Vec::with_capacity(pairs.len());
        for &(dst, src) in pairs {
            if class(self, dst)? != class(self, src)? {
                return Err(ParallelCopyError::DifferentClass(dst, src));
            }
            destinations.push(dst);
        }
        destinations.sort_unstable();
        if let Some(twice) = destinations.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ParallelCopyError::DuplicateDestination(twice[0]));
        }
        let copies = sequentialize(pairs, |reg| {
            let class = self.class(function, reg).unwrap_or(RegClass::Other);
            self.create_register(class)
        })?;
        Ok(copies.into_iter().map(|(dst, src)| self.insert_copy(at, dst, src)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::function::{Block, Edit, FunctionBuilder, OpcodeTable};

    /// Returns the sequence for `pairs`, with temporaries numbered from 100.
    fn sequence(pairs: &[(u32, u32)]) -> Result<Vec<(u32, u32)>, ParallelCopyError> {
        let pairs: Vec<_> = pairs.iter().map(|&(dst, src)| (VReg(dst), VReg(src))).collect();
        let mut next = 99;
        let copies = sequentialize(&pairs, |_| {
            next += 1;
            VReg(next)
        })?;
        Ok(copies.into_iter().map(|(dst, src)| (dst.0, src.0)).collect())
    }

    #[test]
    fn nothing_and_copies_to_themselves_need_no_copy() {
        assert_eq!(sequence(&[]), Ok(vec![]));
        assert_eq!(sequence(&[(1, 1), (2, 2)]), Ok(vec![]));
    }

    #[test]
    fn a_chain_is_written_from_its_end() {
        assert_eq!(sequence(&[(2, 1), (3, 2), (4, 3)]), Ok(vec![(4, 3), (3, 2), (2, 1)]));
    }

    #[test]
    fn a_swap_takes_one_temporary() {
        assert_eq!(sequence(&[(1, 2), (2, 1)]), Ok(vec![(100, 1), (1, 2), (2, 100)]));
    }

    #[test]
    fn two_cycles_take_two_temporaries() {
        let copies = sequence(&[(1, 2), (2, 1), (3, 4), (4, 5), (5, 3)]).unwrap();
        assert_eq!(copies.len(), 7);
        assert!(copies.contains(&(100, 1)) && copies.contains(&(101, 3)), "{copies:?}");
    }

    #[test]
    fn a_cycle_with_a_branch_takes_no_temporary() {
        assert_eq!(sequence(&[(1, 2), (2, 1), (3, 1)]), Ok(vec![(3, 1), (1, 2), (2, 3)]));
    }

    #[test]
    fn a_register_that_keeps_its_value_may_be_read() {
        assert_eq!(sequence(&[(1, 1), (2, 1), (3, 1)]), Ok(vec![(2, 1), (3, 2)]));
    }

    #[test]
    fn a_destination_stands_once() {
        assert_eq!(sequence(&[(1, 2), (1, 2)]), Err(ParallelCopyError::DuplicateDestination(VReg(1))));
        assert_eq!(sequence(&[(1, 1), (1, 2)]), Err(ParallelCopyError::DuplicateDestination(VReg(1))));
    }

    /// Builds a function of one empty block, two 32-bit registers and two 64-bit registers.
    fn function() -> Function {
        let mut builder = FunctionBuilder::new("f", Arc::new(OpcodeTable::new()));
        builder.block(&[], 1.0, 0);
        for class in [RegClass::B32, RegClass::B32, RegClass::B64, RegClass::B64] {
            builder.reg(class);
        }
        builder.finish()
    }

    #[test]
    fn the_temporary_of_a_cycle_has_its_class() {
        let function = function();
        let mut edits = EditList::new(&function);
        let at = Position { block: Block(0), before: None };
        let insts = edits.insert_parallel_copy(&function, at, &[(VReg(2), VReg(3)), (VReg(3), VReg(2))]).unwrap();
        assert_eq!(insts, [Inst(0), Inst(1), Inst(2)]);
        assert_eq!(edits.edits()[0], Edit::CreateRegister { reg: VReg(4), class: RegClass::B64 });
        assert_eq!(edits.edits()[1], Edit::InsertCopy { inst: Inst(0), at, dst: VReg(4), src: VReg(2) });
        assert_eq!(edits.len(), 4);
    }

    #[test]
    fn registers_made_by_the_edits_may_be_copied() {
        let function = function();
        let mut edits = EditList::new(&function);
        let (a, b) = (edits.create_register(RegClass::B1), edits.create_register(RegClass::B1));
        let at = Position { block: Block(0), before: None };
        edits.insert_parallel_copy(&function, at, &[(a, b), (b, a)]).unwrap();
        assert_eq!(edits.edits()[2], Edit::CreateRegister { reg: VReg(6), class: RegClass::B1 });
    }

    #[test]
    fn a_wrong_parallel_copy_leaves_the_edits_alone() {
        let function = function();
        let at = Position { block: Block(0), before: None };
        for (pairs, error) in [
            ([(0, 1), (0, 1)], ParallelCopyError::DuplicateDestination(VReg(0))),
            ([(0, 1), (1, 2)], ParallelCopyError::DifferentClass(VReg(1), VReg(2))),
            ([(0, 1), (1, 9)], ParallelCopyError::UnknownRegister(VReg(9))),
        ] {
            let mut edits = EditList::new(&function);
            let pairs = pairs.map(|(dst, src)| (VReg(dst), VReg(src)));
            assert_eq!(edits.insert_parallel_copy(&function, at, &pairs), Err(error));
            assert!(edits.is_empty());
        }
    }
}
