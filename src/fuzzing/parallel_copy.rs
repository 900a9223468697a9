//! Tests sequences of copies with a simulator, and against the smallest possible number.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};

use super::reached;
use crate::function::{ParallelCopyError, VReg, sequentialize};

/// The first number of temporaries.
const TEMPORARIES: u32 = 1000;

/// Checks that a sequence has the effect of the parallel copy, with as few copies and temporaries as possible.
pub fn check_parallel_copy(u: &mut Unstructured<'_>) -> Result<()> {
    let count = u.int_in_range(0..=12usize)?;
    let regs = u.int_in_range(1..=12u32)?;
    // In random pairs, most registers would be written more than once, and cycles would be rare.
    let mut unwritten: Vec<VReg> = (0..=regs).map(VReg).collect();
    let is_permutation = u.arbitrary()?;
    let mut unread = unwritten.clone();
    let mut pairs = Vec::new();
    for _ in 0..count {
        let mut take = |from: &mut Vec<VReg>, is_taken: bool| -> Result<Option<VReg>> {
            if from.is_empty() {
                return Ok(None);
            }
            let at = u.choose_index(from.len())?;
            Ok(Some(if is_taken { from.swap_remove(at) } else { from[at] }))
        };
        let (dst, src) = (take(&mut unwritten, true)?, take(&mut unread, is_permutation)?);
        pairs.extend(dst.zip(src));
    }
    // A parallel copy with a repeated destination is invalid.
    if !pairs.is_empty() && u.ratio(1, 8)? {
        pairs.push((pairs[0].0, VReg(u.int_in_range(0..=regs)?)));
    }
    let mut sources = BTreeMap::new();
    let is_parallel_copy = pairs.iter().all(|&(dst, src)| sources.insert(dst, src).is_none());
    let mut temporaries = 0;
    let copies = sequentialize(&pairs, |_| {
        temporaries += 1;
        VReg(TEMPORARIES + temporaries - 1)
    });
    reached("a parallel copy", is_parallel_copy && !pairs.is_empty());
    reached("temporaries", temporaries > 0);
    match copies {
        Ok(copies) => {
            assert!(is_parallel_copy, "{pairs:?}");
            check_sequence(&sources, &copies, temporaries as usize);
        }
        Err(error) => {
            assert!(matches!(error, ParallelCopyError::DuplicateDestination(_)), "{pairs:?}: {error}");
            assert!(!is_parallel_copy, "{pairs:?}: {error}");
        }
    }
    Ok(())
}

/// Checks a sequence against destinations and their sources.
fn check_sequence(sources: &BTreeMap<VReg, VReg>, copies: &[(VReg, VReg)], temporaries: usize) {
    // Each register initially holds its own number.
    let mut content: BTreeMap<VReg, VReg> = BTreeMap::new();
    let holds = |content: &BTreeMap<VReg, VReg>, reg: VReg| content.get(&reg).copied().unwrap_or(reg);
    for &(dst, src) in copies {
        let value = holds(&content, src);
        content.insert(dst, value);
    }
    for (&dst, &src) in sources {
        assert_eq!(holds(&content, dst), src, "{dst} after {copies:?} for {sources:?}");
    }
    let written = content.keys().filter(|reg| reg.0 < TEMPORARIES);
    assert!(written.into_iter().all(|reg| sources.contains_key(reg)), "{copies:?} for {sources:?}");

    let trivial = sources.iter().filter(|(dst, src)| dst == src).count();
    let cycles = pure_cycles(sources);
    assert_eq!(temporaries, cycles, "{copies:?} for {sources:?}");
    assert_eq!(copies.len(), sources.len() - trivial + cycles, "{copies:?} for {sources:?}");
}

/// Counts the cycles in which each register is read only by the next register of the cycle.
fn pure_cycles(sources: &BTreeMap<VReg, VReg>) -> usize {
    let readers = |reg: VReg| sources.iter().filter(|&(&dst, &src)| src == reg && dst != reg).count();
    let is_first_of_pure_cycle = |first: VReg| {
        let mut reg = first;
        for _ in 0..sources.len() {
            match sources.get(&reg) {
                Some(&src) if src != reg && readers(src) == 1 => reg = src,
                _ => return false,
            }
            if reg == first {
                return true;
            }
            if reg < first {
                return false;
            }
        }
        false
    };
    sources.keys().filter(|&&reg| is_first_of_pure_cycle(reg)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    #[test]
    fn sequences_do_what_parallel_copies_do() {
        explore(check_parallel_copy, 1_000, &[("a parallel copy", 40), ("temporaries", 8)]);
    }
}
