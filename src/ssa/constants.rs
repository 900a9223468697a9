//! Constants that only PHIs read: some keep their definition, and the others are rematerialised at the places where
//! PHIs read them.
//!
//! One register cannot be in several webs. If a web reads a constant at several places, one definition can serve them
//! all. So the web that reads a constant at the most places keeps the constant's register, unless every web reads it at
//! only one place. For the other webs, the constant is rematerialised.

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
    /// Constants that are rematerialised. Their register belongs to another web or to no web.
    pub(super) apart: Vec<Constant>,
    /// Constants that are read at only one place. They stay in the web that reads them.
    pub(super) single: Vec<Constant>,
}

/// Chooses the treatment of each constant. Adds a constant that a web keeps to the web's set. O(n log n).
pub(super) fn share(mut taken: Vec<Constant>, sets: &mut DisjointSets<VReg>) -> Shared {
    taken.sort_unstable_by_key(|constant| (constant.reg, constant.phi.inst, constant.from));
    // If a predecessor ends with a switch, a PHI lists it once for each edge.
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

/// Returns the web that occurs most often in a list; the lowest of several. `None` if no web occurs more than once.
fn most_frequent(webs: &[VReg]) -> Option<VReg> {
    let mut sorted = webs.to_vec();
    sorted.sort_unstable();
    let several = sorted.chunk_by(|a, b| a == b).filter(|equal| equal.len() > 1);
    several.max_by_key(|equal| (equal.len(), std::cmp::Reverse(equal[0]))).map(|equal| equal[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most frequent web is found, and the lowest of several. A web that occurs only once is not returned.
    #[test]
    fn frequent() {
        let of = |webs: &[u32]| most_frequent(&webs.iter().map(|&web| VReg(web)).collect::<Vec<_>>());
        assert_eq!(of(&[3, 5, 5, 2, 3]), Some(VReg(3)));
        assert_eq!(of(&[3, 5, 5, 2, 5, 3]), Some(VReg(5)));
        assert_eq!(of(&[3, 5]), None);
    }
}
