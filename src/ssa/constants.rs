//! Constants that only PHIs read: which keep their one definition, and which are written anew where they are read.
//!
//! One register cannot be in several webs. So the web that takes a constant from the most places keeps it, where one
//! definition may serve them all; for the others it is written anew.

use super::phis::Phi;
use crate::disjoint_sets::DisjointSets;
use crate::function::{Block, Inst, VReg};

/// An input of a PHI that is a constant: the register, and its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Constant {
    pub(super) phi: Phi,
    pub(super) from: Block,
    pub(super) reg: VReg,
    pub(super) definition: Inst,
}

/// Constants that PHIs take, by how.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// What some other web keeps, or none.
    pub(super) apart: Vec<Constant>,
    /// What is taken from one place alone, and in its web.
    pub(super) single: Vec<Constant>,
}

/// Decides on constants, and adds those that webs keep to their sets. O(n log n).
pub(super) fn share(mut taken: Vec<Constant>, sets: &mut DisjointSets<VReg>) -> Shared {
    taken.sort_unstable_by_key(|constant| (constant.reg, constant.phi.inst, constant.from));
    // After a switch a predecessor stands once for each edge.
    taken.dedup();
    let mut shared = Shared::default();
    for of_one in taken.chunk_by(|a, b| a.reg == b.reg) {
        if let &[constant] = of_one {
            sets.unite(constant.phi.result, constant.reg);
            shared.single.push(constant);
            continue;
        }
        let webs: Vec<VReg> = of_one.iter().map(|constant| sets.find(constant.phi.result)).collect();
        let keeper = most_frequent(&webs);
        for (constant, web) in of_one.iter().zip(webs) {
            if Some(web) == keeper {
                sets.unite(constant.phi.result, constant.reg);
            } else {
                shared.apart.push(*constant);
            }
        }
    }
    shared
}

/// What stands in a list most often, if more than once; the lowest of several.
fn most_frequent(webs: &[VReg]) -> Option<VReg> {
    let mut sorted = webs.to_vec();
    sorted.sort_unstable();
    let several = sorted.chunk_by(|a, b| a == b).filter(|equal| equal.len() > 1);
    several.max_by_key(|equal| (equal.len(), std::cmp::Reverse(equal[0]))).map(|equal| equal[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is taken most often, of several the lowest, and nothing that is taken once.
    #[test]
    fn frequent() {
        let of = |webs: &[u32]| most_frequent(&webs.iter().map(|&web| VReg(web)).collect::<Vec<_>>());
        assert_eq!(of(&[3, 5, 5, 2, 3]), Some(VReg(3)));
        assert_eq!(of(&[3, 5, 5, 2, 5, 3]), Some(VReg(5)));
        assert_eq!(of(&[3, 5]), None);
    }
}
