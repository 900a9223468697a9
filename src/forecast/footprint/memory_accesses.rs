//! The memory that an instruction accesses, in the spaces that ptxas distinguishes.
//!
//! Experiments with ptxas 13.0.88 show which accesses ptxas reorders. Each experiment has twelve copies of a pair of
//! accesses in sequence. A load moves past stores to another space and past shuffles. A load of global memory moves
//! past atomics in shared memory, and past volatile stores there. A load of memory that is not written (`.nc`) moves
//! even past barriers, but not past fences.

use bitflags::bitflags;

use super::opcode_facts::{Kinds, Motion, OpcodeSummary, reads_own_parameter};
use crate::function::{Effects, Function, Inst, MemorySpace};
use crate::target::Purity;

bitflags! {
    /// Memory spaces.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(in crate::forecast) struct Spaces: u8 {
        const GLOBAL = 1 << 0;
        const SHARED = 1 << 1;
        const LOCAL = 1 << 2;
        /// Memory that is not written while the kernel runs.
        const CONSTANT = 1 << 3;
        /// Registers of the other threads of a warp: exchanges keep their order.
        const THREADS = 1 << 4;
    }
}

impl Spaces {
    /// Number of spaces.
    pub(in crate::forecast) const COUNT: usize = 5;
    /// Spaces that a generic address may refer to.
    pub(in crate::forecast) const GENERIC: Self = Self::GLOBAL.union(Self::SHARED).union(Self::LOCAL);
    /// Spaces that barriers order.
    const SEEN_BY_OTHERS: Self = Self::GENERIC.union(Self::THREADS);

    /// Yields the numbers of the spaces in the set.
    #[inline]
    pub(in crate::forecast) fn numbers(self) -> impl Iterator<Item = usize> {
        let mut left = self.bits();
        std::iter::from_fn(move || {
            let number = left.trailing_zeros() as usize;
            (left != 0).then(|| {
                left &= left - 1;
                number
            })
        })
    }

    fn of(space: MemorySpace) -> Self {
        match space {
            MemorySpace::Global => Self::GLOBAL,
            MemorySpace::Shared | MemorySpace::SharedCluster => Self::SHARED,
            MemorySpace::Local => Self::LOCAL,
            MemorySpace::Constant | MemorySpace::Param => Self::CONSTANT,
            MemorySpace::Generic | MemorySpace::Tensor => Self::GENERIC,
        }
    }
}

/// Spaces that an instruction reads and writes. Two instructions keep their order if one writes a space that the other
/// reads or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::forecast) struct Accesses {
    pub(in crate::forecast) reads: Spaces,
    pub(in crate::forecast) writes: Spaces,
}

impl Accesses {
    pub(in crate::forecast) const NONE: Self = Self { reads: Spaces::empty(), writes: Spaces::empty() };
    /// An access past which no other access moves.
    const ALL: Self = Self::writing(Spaces::all());

    const fn reading(reads: Spaces) -> Self {
        Self { reads, ..Self::NONE }
    }

    const fn writing(writes: Spaces) -> Self {
        Self { writes, ..Self::NONE }
    }

    const fn and(self, other: Self) -> Self {
        Self { reads: self.reads.union(other.reads), writes: self.writes.union(other.writes) }
    }

    /// Returns the accesses of an instruction other than inline assembly.
    #[inline]
    pub(in crate::forecast) fn of(function: &Function, inst: Inst, summary: &OpcodeSummary, motion: Motion) -> Self {
        if motion == Motion::Free {
            return Self::NONE;
        }
        let effects = function.effects(inst);
        let space = Spaces::of(function.memory_space(inst));
        let is_ordered = effects.intersects(Effects::ORDERED | Effects::OPAQUE);
        match summary.info.purity {
            _ if effects.intersects(Effects::TERMINATOR | Effects::CALL_SEQUENCE | Effects::TRAP) => Self::ALL,
            Purity::Reads if reads_own_parameter(function, &summary.info, inst) => Self::reading(Spaces::CONSTANT),
            Purity::ReadsInvariant => Self::reading(Spaces::CONSTANT),
            Purity::Reads if !is_ordered => Self::reading(space),
            Purity::Writes if !is_ordered => Self::writing(space),
            Purity::Atomic => Self::writing(space),
            Purity::Reads | Purity::Writes | Purity::ReadsAndWrites => Self::writing(Spaces::SEEN_BY_OTHERS),
            Purity::Exchange => Self::writing(Spaces::THREADS),
            // LLVM models shuffles as accesses of inaccessible memory. Matrix loads only read.
            _ if summary.kinds.contains(Kinds::EXCHANGE) && effects.contains(Effects::READ | Effects::WRITE) => {
                Self::writing(Spaces::THREADS)
            }
            Purity::Opaque if effects.contains(Effects::CONVERGENT) => Self::writing(Spaces::SEEN_BY_OTHERS),
            _ => Self::ALL,
        }
    }
}

/// Effect of inline assembly, by the part of an instruction's name before the first dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statement {
    Load,
    Store,
    Atomic,
    /// A copy from global to shared memory, or back.
    Copy,
    Exchange,
    Barrier,
    /// Unknown.
    Opaque,
}

const STATEMENTS: [(&str, Statement); 33] = [
    ("activemask", Statement::Exchange),
    ("atom", Statement::Atomic),
    ("bar", Statement::Barrier),
    ("barrier", Statement::Barrier),
    ("brkpt", Statement::Opaque),
    ("call", Statement::Opaque),
    ("clusterlaunchcontrol", Statement::Opaque),
    ("cp", Statement::Copy),
    ("discard", Statement::Opaque),
    ("elect", Statement::Exchange),
    ("exit", Statement::Opaque),
    ("fence", Statement::Opaque),
    ("griddepcontrol", Statement::Opaque),
    ("ld", Statement::Load),
    ("ldmatrix", Statement::Load),
    ("ldu", Statement::Load),
    ("mapa", Statement::Opaque),
    ("match", Statement::Exchange),
    ("mbarrier", Statement::Barrier),
    ("membar", Statement::Opaque),
    ("nanosleep", Statement::Opaque),
    ("prefetch", Statement::Opaque),
    ("red", Statement::Atomic),
    ("redux", Statement::Exchange),
    ("setmaxnreg", Statement::Opaque),
    ("shfl", Statement::Exchange),
    ("st", Statement::Store),
    ("stmatrix", Statement::Store),
    ("tcgen05", Statement::Opaque),
    ("tex", Statement::Load),
    ("trap", Statement::Opaque),
    ("vote", Statement::Exchange),
    ("wgmma", Statement::Barrier),
];

/// Returns how inline assembly may move, and the memory that it accesses. LLVM does not read the text, but to ptxas
/// these instructions are like any others. They are nearly always arithmetic (conversions and half-precision operations
/// of CUDA's headers) or, in Triton's code, memory accesses. O(text).
pub(in crate::forecast) fn of_assembly(text: &str) -> (Motion, Accesses) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | '%' | ':');
    let mut all = (Motion::Free, Accesses::NONE);
    for (motion, accesses) in text.split(|c| !is_part(c)).map(of_word) {
        all = (motion.and(all.0), accesses.and(all.1));
    }
    all
}

fn of_word(word: &str) -> (Motion, Accesses) {
    let has = |part: &str| word.contains(part);
    let stem = word.split('.').next().unwrap_or_default();
    if word.starts_with('%') && (has("clock") || has("timer")) {
        return (Motion::Ordered, Accesses::ALL);
    }
    let Ok(found) = STATEMENTS.binary_search_by_key(&stem, |&(stem, _)| stem) else {
        return (Motion::Free, Accesses::NONE);
    };
    let space = match () {
        () if has(".nc.") || has(".const") || has(".param") || stem == "tex" => Spaces::CONSTANT,
        () if has(".global") => Spaces::GLOBAL,
        () if has(".shared") || stem.ends_with("matrix") => Spaces::SHARED,
        () if has(".local") => Spaces::LOCAL,
        () => Spaces::GENERIC,
    };
    let is_ordered = ["volatile", "acq", "relaxed", "release", "mmio"].iter().any(|part| has(part));
    match STATEMENTS[found].1 {
        Statement::Load if !is_ordered => (Motion::Load, Accesses::reading(space)),
        Statement::Store if !is_ordered => (Motion::Store, Accesses::writing(space)),
        Statement::Atomic if !is_ordered => (Motion::Ordered, Accesses::writing(space)),
        Statement::Copy => {
            (Motion::Ordered, Accesses { reads: Spaces::GLOBAL, writes: Spaces::SHARED | Spaces::THREADS })
        }
        Statement::Exchange => (Motion::Ordered, Accesses::writing(Spaces::THREADS)),
        Statement::Opaque => (Motion::Ordered, Accesses::ALL),
        _ => (Motion::Ordered, Accesses::writing(Spaces::SEEN_BY_OTHERS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names are sorted for binary search.
    #[test]
    fn names_are_sorted() {
        assert!(STATEMENTS.is_sorted_by_key(|&(stem, _)| stem));
    }

    /// Arithmetic moves freely. Accesses keep their order within their own space. Effects that other threads see keep
    /// their order with all spaces.
    #[test]
    fn assembly() {
        let motion = |text| of_assembly(text).0;
        assert_eq!(of_assembly("&{ cvt.rn.f16.f32 $0, $1;}\n"), (Motion::Free, Accesses::NONE));
        assert_eq!(motion("&{mul.f16 $0,$1,$2;\n}"), Motion::Free);
        let load = of_assembly("&ld.global.nc.v4.f32 {$0,$1,$2,$3}, [$4];");
        assert_eq!(load, (Motion::Load, Accesses::reading(Spaces::CONSTANT)));
        assert_eq!(of_assembly("&ldmatrix.sync.aligned.m8n8.x2.b16 {$0,$1}, [$2];").1.reads, Spaces::SHARED);
        assert_eq!(motion("&ld.volatile.global.u32 $0, [$1];"), Motion::Ordered);
        let store = of_assembly("&@$0 st.global.b32 [ $1 + 0 ], { $2 };");
        assert_eq!(store, (Motion::Store, Accesses::writing(Spaces::GLOBAL)));
        assert_eq!(motion("&cp.async.cg.shared.global [$0], [$1], 16;"), Motion::Ordered);
        assert_eq!(of_assembly("&ld.shared.b32 $0, [$1]; st.global.b32 [$2], $0;").0, Motion::Ordered);
        assert_eq!(of_assembly("&mov.u32 $0, %clock;"), (Motion::Ordered, Accesses::ALL));
        assert_eq!(of_assembly("&bar.sync 0;").1.writes & Spaces::CONSTANT, Spaces::empty());
        assert_eq!(of_assembly("&shfl.sync.bfly.b32 $0, $1, 1, 31, -1;").1.writes, Spaces::THREADS);
    }
}
