//! What the model knows of a function.

use super::carried::Carried;
use super::counts::Counts;
use super::pressure::{Declared, WordPressures};
use super::reordering::Reached;

/// How a feature of a function joins that of what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// The callee's comes on top of what is live at the call.
    OnTop,
    /// They add up.
    Sum,
    /// The larger one.
    Most,
    /// The callee's does not count.
    Own,
}

use Combination::{Most, OnTop, Own, Sum};

/// What unrolling, or the order of the code, needs beyond the better order counts up to so many words: ptxas issues
/// loads ahead while a step of the occupancy has registers left, and then keeps to the better order.
pub(super) const MOST_UNROLLING: u32 = 20;

/// The features: name, how they join, and what they are. Words are 32-bit words that the hardware has to hold.
pub static FEATURES: &[(&str, Combination, &str)] = &[
    ("declared_words", OnTop, "the most words of registers live at once, as PTX declares them"),
    ("words", OnTop, "the most words live at once"),
    ("varying_words", OnTop, "the same of words that ptxas does not keep in uniform registers"),
    ("hoisted_words", OnTop, "the same where every load is issued as early as it can be"),
    ("unrolled_words", OnTop, "`words`, or the varying words of a loop that ptxas unrolls, with all its loads ahead"),
    ("early_words", OnTop, "the most of `hoisted_words` and `unrolled_words`"),
    ("unrolling_words", Most, "what `unrolled_words` has beyond `reordered_words`, at most 20"),
    ("reordered_words", OnTop, "the most words live at once in the better of the code's order and one for registers"),
    ("reordered_varying_words", OnTop, "the same of varying words"),
    ("reordered_loop_words", OnTop, "the same in loops"),
    ("entry_words", OnTop, "the most varying words live at the start of a block"),
    ("loop_entry_words", OnTop, "the same of blocks in loops"),
    ("words_at_division", OnTop, "the most varying words live at a 64-bit division"),
    ("words_at_double", OnTop, "the same at divisions and roots of 64-bit floating-point numbers"),
    ("words_at_assembly", OnTop, "the same at inline assembly"),
    ("words_at_exchange", OnTop, "the same at shuffles and matrix instructions"),
    ("wide_words", OnTop, "the most words of 64-bit registers live at once"),
    ("halves", OnTop, "the most 16-bit registers live at once"),
    ("predicates", Most, "the most predicates live at once"),
    ("words_at_call", Own, "the most varying words live at a call"),
    ("instructions", Sum, "instructions"),
    ("blocks", Sum, "blocks"),
    ("depth", Most, "the depth of the deepest loop"),
    ("largest_block", Most, "instructions of the largest block"),
    ("loads", Sum, "loads"),
    ("global_loads", Sum, "loads of global or unknown memory"),
    ("shared_loads", Sum, "loads of shared memory"),
    ("block_loads", Most, "the most loads of a block"),
    ("block_load_words", Most, "the most words that a block loads"),
    ("widest", Most, "the most words that an instruction writes"),
    ("assembly", Sum, "pieces of inline assembly"),
    ("ordered", Sum, "instructions that keep their order"),
    ("exchanges", Sum, "shuffles and matrix instructions"),
    ("divisions", Sum, "integer divisions"),
    ("wide_divisions", Sum, "those of 64 bits"),
    ("doubles", Sum, "instructions on 64-bit floating-point numbers"),
    ("external_calls", Sum, "calls of functions that are not there, or not known"),
    ("internal_calls", Sum, "calls of functions that are there"),
    ("invariant_words", Most, "the most words computed in a loop that could be in front of it; for reports alone"),
    ("inner_invariant_words", Most, "the same of innermost loops, in front of these alone; for reports alone"),
    ("stack_words", Most, "the most words of stack variables that ptxas keeps in registers; for reports alone"),
    ("carried_words", Most, "the most varying words that loops carry, or one instruction takes: held in any order"),
    ("carried_all_words", Most, "the same with words that are the same in all threads"),
    ("passed_words", Most, "the same with words that only pass constants and parameters around"),
    ("moved_words", Most, "the most words that change places from one iteration of a loop to the next"),
    ("moved_uniform_words", Most, "of these, words that may do so in uniform registers"),
];

/// A function's features, as [`FEATURES`] lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct Features(Vec<f64>);

impl Features {
    /// The place of the feature of that name in [`FEATURES`].
    pub(super) fn place(name: &str) -> Option<usize> {
        FEATURES.iter().position(|feature| feature.0 == name)
    }

    /// The feature of that name; 0 where there is none.
    pub fn get(&self, name: &str) -> f64 {
        Self::place(name).map_or(0.0, |at| self.0[at])
    }

    /// Those of a function, without calls, from what was counted of it.
    pub(super) fn new(blocks: usize, counts: &Counts, live: &Live<'_>) -> Self {
        let Live { declared, pressures, hoisted, reached, unrolled, carried } = live;
        let at = &counts.words_at;
        let unrolled = pressures.all.most().max(*unrolled);
        let values = [
            declared.words,
            pressures.all.most(),
            pressures.varying.most(),
            *hoisted,
            unrolled,
            unrolled.max(*hoisted),
            unrolled.saturating_sub(reached.all).min(MOST_UNROLLING),
            reached.all,
            reached.varying,
            reached.varying_in_loops,
            at.entry,
            at.loop_entry,
            at.division,
            at.double,
            at.assembly,
            at.exchange,
            declared.wide,
            declared.halves,
            declared.predicates,
            at.call,
            counts.instructions,
            blocks as u32,
            counts.depth,
            counts.largest_block,
            counts.loads,
            counts.global_loads,
            counts.shared_loads,
            counts.most_loads,
            counts.most_load_words,
            counts.widest,
            counts.assembly,
            counts.ordered,
            counts.exchanges,
            counts.divisions,
            counts.wide_divisions,
            counts.doubles,
            0,
            0,
            0,
            0,
            0,
            carried.varying,
            carried.all,
            carried.passed,
            carried.moved,
            carried.moved_uniform,
        ];
        debug_assert_eq!(values.len(), FEATURES.len(), "a value for each feature");
        Self(values.map(f64::from).to_vec())
    }

    /// Those of a function without instructions.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self(vec![0.0; FEATURES.len()])
    }

    /// All values, in the order of [`FEATURES`].
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Sets the feature of that name.
    pub(super) fn set(&mut self, name: &str, value: f64) {
        if let Some(at) = Self::place(name) {
            self.0[at] = value;
        }
    }

    /// Joins what a callee needs, by what the caller alone needs.
    pub(super) fn join(&mut self, own: &Self, callee: &Self) {
        let at_call = own.get("words_at_call");
        for (at, &(_, combination, _)) in FEATURES.iter().enumerate() {
            let (value, callee) = (&mut self.0[at], callee.0[at]);
            *value = match combination {
                OnTop => value.max(at_call + callee),
                Sum => *value + callee,
                Most => value.max(callee),
                Own => *value,
            };
        }
    }
}

/// What is live at once in a function.
pub(super) struct Live<'a> {
    /// As PTX declares it.
    pub(super) declared: &'a Declared,
    /// As the hardware holds it.
    pub(super) pressures: &'a WordPressures,
    /// Where every load is issued as early as it can be.
    pub(super) hoisted: u32,
    /// Where the order is free.
    pub(super) reached: Reached,
    /// Varying words where loops are unrolled.
    pub(super) unrolled: u32,
    /// In any order.
    pub(super) carried: Carried,
}
