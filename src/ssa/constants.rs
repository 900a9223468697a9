//! Constants that only PHIs read: some keep their one definition, and the others are rematerialised at their reads.
//!
//! One register cannot be in several webs. So the web that takes a constant from the most places keeps it, if one
//! definition may serve all of them. For the others, the constant is rematerialised.

use super::phis::Phi;
use crate::disjoint_sets::DisjointSets;
use crate::function::{Block, Inst, VReg};

/// A constant input of a PHI: the register, and its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Constant {
    pub(super) phi: Phi,
    pub(super) from: Block,
    pub(super) reg: VReg,
    pub(super) definition: Inst,
}

/// Constants that PHIs read, by treatment.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Constants that another web keeps, or no web.
    pub(super) apart: Vec<Constant>,
    /// Constants that are read at only one place and stay in their web.
    pub(super) single: Vec<Constant>,
}

/// Chooses the treatment of each constant, and adds the constants that webs keep to their sets. O(n log n).
pub(super) fn share(mut taken: Vec<Constant>, sets: &mut DisjointSets<VReg>) -> Shared {
    taken.sort_unstable_by_key(|constant| (constant.reg, constant.phi.inst, constant.from));
    // After a switch, a predecessor is listed once for each edge.
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

/// Returns the most frequent web of a list, if it occurs more than once; the lowest of several.
fn most_frequent(webs: &[VReg]) -> Option<VReg> {
    let mut sorted = webs.to_vec();
    sorted.sort_unstable();
    let several = sorted.chunk_by(|a, b| a == b).filter(|equal| equal.len() > 1);
    several.max_by_key(|equal| (equal.len(), std::cmp::Reverse(equal[0]))).map(|equal| equal[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most frequent web is found, the lowest of several, and no web that occurs only once.
    #[test]
    fn frequent() {
        let of = |webs: &[u32]| most_frequent(&webs.iter().map(|&web| VReg(web)).collect::<Vec<_>>());
        assert_eq!(of(&[3, 5, 5, 2, 3]), Some(VReg(3)));
        assert_eq!(of(&[3, 5, 5, 2, 5, 3]), Some(VReg(5)));
        assert_eq!(of(&[3, 5]), None);
    }
}
