//! Addresses of array elements: sums with a product that was widened to 64 bits. An address is rematerialised together
//! with the instructions that lead to it.
//!
//! LLVM computes the addresses of a tile's rows before the loop that fills the tile, `tile + 4 * (33 * row + column)`,
//! with a register for each row. In the loop, `row` and `column` are live anyway, for the addresses in global memory,
//! and all addresses share `column`. Therefore, the sum is rematerialised together with the product and the values that
//! only the product reads. The hardware combines a product and a sum, so the whole address takes two instructions.

use super::facts::Facts;
use super::sources::{name_in_llvm, sources, words_read};
use crate::analysis::Occurrence;
use crate::function::{Inst, VReg};
use crate::target::RematCost;

/// Most reads of an address in a loop for which the address is rematerialised.
const MOST_READS: usize = 2;

impl Facts<'_> {
    /// Whether a register holds a value that was computed from a narrower value.
    pub(super) fn is_widened(&self, reg: VReg) -> bool {
        let words = self.function.class(reg).words();
        let is_narrower = |source| (1..words).contains(&words_read(self.function, self.occurrences, source));
        let definition = self.occurrences.only_definition(reg);
        definition.is_some_and(|definition| sources(self.function, definition.inst).any(is_narrower))
    }

    /// Returns the cost of rematerialising a register that holds a sum with a widened product, and the instructions
    /// that lead to the sum, in their order of execution; the sum is the last. `None` if the register does not hold
    /// such a sum, or if other instructions read the product.
    pub(super) fn links(&self, reg: VReg) -> Option<(RematCost, Vec<Inst>)> {
        let definition = self.definition_of_plain_reads(reg)?;
        let sum = definition.inst;
        self.costs.of(sum).filter(|_| self.is_named(sum, "ADD64"))?;
        let reads = self.occurrences.of(reg).iter().filter(|access| access.is_use());
        let goes_deeper = |read: &Occurrence| self.loops.depth(read.block) > self.loops.depth(definition.block);
        if reads.clone().count() > MOST_READS || !reads.clone().all(goes_deeper) {
            return None;
        }
        let product = sources(self.function, sum).find(|&source| self.is_widened(source))?;
        let product = self.read_by_one(product)?;
        // The hardware combines the product and the sum into one instruction.
        let RematCost(mut cost) = self.costs.of(product)?;
        let mut links = vec![product, sum];
        let of_narrow =
            |source| self.read_by_one(source).and_then(|narrow| Some((narrow, self.cost_of_narrow(narrow)?)));
        if let Some((narrow, RematCost(more))) = sources(self.function, product).find_map(of_narrow) {
            cost += more;
            links.insert(0, narrow);
            let is_factor = |inst: &Inst| self.is_product(*inst);
            let factors =
                || sources(self.function, narrow).find_map(|source| self.read_by_one(source).filter(is_factor));
            links.splice(0..0, factors().filter(|_| self.is_named(narrow, "ADD32")));
        }
        Some((RematCost(cost), links))
    }

    /// Returns the only definition of a register that is read only once.
    fn read_by_one(&self, reg: VReg) -> Option<Inst> {
        let accesses = self.occurrences.of(reg).len();
        self.definition_of_plain_reads(reg).filter(|_| accesses == 2).map(|definition| definition.inst)
    }

    /// Returns the cost of repeating a 32-bit computation. A product also counts as one instruction.
    fn cost_of_narrow(&self, inst: Inst) -> Option<RematCost> {
        self.costs.of(inst).or_else(|| self.is_product(inst).then_some(RematCost(1)))
    }

    fn is_product(&self, inst: Inst) -> bool {
        ["MAD_LO_S32", "MULT32"].iter().any(|name| self.is_named(inst, name)) && self.costs.may_be_done_again(inst)
    }

    fn is_named(&self, inst: Inst, start: &str) -> bool {
        name_in_llvm(self.function, inst).starts_with(start)
    }
}
