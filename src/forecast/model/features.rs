//! The inputs of the model: features of a function.

use crate::forecast::live::{Live, ReportFeatures};

/// How a feature of a function combines with that of a callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// The caller's value, or the sum of the words that are live at the call and the callee's value, whichever is more.
    OnTop,
    /// The sum of both.
    Sum,
    /// The maximum of both.
    Most,
    /// The caller's value alone.
    Own,
}

use Combination::{Most, OnTop, Own, Sum};

/// Most words that the feature `unrolling_words` counts above the better order. ptxas issues loads early while an
/// occupancy step has registers left. Beyond that it keeps to the better order.
pub(in crate::forecast) const MOST_UNROLLING: u32 = 20;

/// A feature: a number that describes a function for the model.
#[derive(Debug)]
pub struct Feature {
    /// Name in models and in JSON.
    pub name: &'static str,
    /// How the feature combines with that of a callee.
    pub combination: Combination,
    /// Description. Words are 32-bit words that occupy a hardware register.
    pub meaning: &'static str,
    /// Computes the value for a function without its callees. `None` if the value is 0 at first and set later: the call
    /// graph sets features of calls, and a report sets features of reports.
    value: Option<fn(&Live) -> u32>,
}

impl Feature {
    const fn of(name: &'static str, combination: Combination, value: fn(&Live) -> u32, meaning: &'static str) -> Self {
        Self { name, combination, meaning, value: Some(value) }
    }

    const fn later(name: &'static str, combination: Combination, meaning: &'static str) -> Self {
        Self { name, combination, meaning, value: None }
    }
}

/// Returns the words live at once in the order of the code, or in a loop that ptxas unrolls, whichever is more.
fn unrolled(live: &Live) -> u32 {
    live.pressures.all.most().max(live.unrolled.words)
}

/// All features, in the order of models and reports.
#[rustfmt::skip]
pub static FEATURES: &[Feature] = &[
    Feature::of("declared_words", OnTop, |live| live.declared.words,
        "the most words of registers live at once, as PTX declares them"),
    Feature::of("words", OnTop, |live| live.pressures.all.most(),
        "the most words live at once, in the code's order"),
    Feature::of("varying_words", OnTop, |live| live.pressures.varying.most(),
        "the most varying words live at once: words that ptxas does not keep in uniform registers"),
    Feature::of("hoisted_words", OnTop, |live| live.with_early_loads,
        "the most varying words live at once if every load is issued as early as possible"),
    Feature::of("unrolled_words", OnTop, unrolled,
        "the most varying words live at once if ptxas unrolls short loops and issues their loads early"),
    Feature::of("early_words", OnTop, |live| unrolled(live).max(live.with_early_loads),
        "the larger of `hoisted_words` and `unrolled_words`"),
    Feature::of("unrolling_words", Most, |live| unrolled(live).saturating_sub(live.reordered.all).min(MOST_UNROLLING),
        "`unrolled_words` minus `reordered_words`, from 0 to 20"),
    Feature::of("reordered_words", OnTop, |live| live.reordered.all,
        "the most words live at once, in the code's order or in an order for low pressure, whichever is less"),
    Feature::of("reordered_varying_words", OnTop, |live| live.reordered.varying,
        "the most varying words live at once, in the code's order or in an order for low pressure, whichever is less"),
    Feature::of("reordered_loop_words", OnTop, |live| live.reordered.varying_in_loops,
        "the most varying words live at once in a loop, in the better of both orders"),
    Feature::of("entry_words", OnTop, |live| live.counts.words_at.entry,
        "the most varying words live at the start of a block"),
    Feature::of("loop_entry_words", OnTop, |live| live.counts.words_at.loop_entry,
        "the most varying words live at the start of a block in a loop"),
    Feature::of("words_at_division", OnTop, |live| live.counts.words_at.division,
        "the most varying words live at a 64-bit division"),
    Feature::of("words_at_double", OnTop, |live| live.counts.words_at.double,
        "the most varying words live at a division or root of 64-bit floating-point numbers"),
    Feature::of("words_at_assembly", OnTop, |live| live.counts.words_at.assembly,
        "the most varying words live at inline assembly"),
    Feature::of("words_at_exchange", OnTop, |live| live.counts.words_at.exchange,
        "the most varying words live at a shuffle or matrix instruction"),
    Feature::of("wide_words", OnTop, |live| live.declared.wide,
        "the most words of 64-bit registers live at once"),
    Feature::of("halves", OnTop, |live| live.declared.halves,
        "the most 16-bit registers live at once"),
    Feature::of("predicates", Most, |live| live.declared.predicates,
        "the most predicates live at once"),
    Feature::of("words_at_call", Own, |live| live.counts.words_at.call,
        "the most varying words live at a call"),
    Feature::of("instructions", Sum, |live| live.counts.instructions,
        "instructions"),
    Feature::of("blocks", Sum, |live| live.counts.blocks,
        "blocks"),
    Feature::of("depth", Most, |live| live.counts.depth,
        "the depth of the deepest loop"),
    Feature::of("largest_block", Most, |live| live.counts.largest_block,
        "instructions of the largest block"),
    Feature::of("loads", Sum, |live| live.counts.loads,
        "loads"),
    Feature::of("global_loads", Sum, |live| live.counts.global_loads,
        "loads of global or unknown memory"),
    Feature::of("shared_loads", Sum, |live| live.counts.shared_loads,
        "loads of shared memory"),
    Feature::of("block_loads", Most, |live| live.counts.most_loads,
        "the most loads of a block"),
    Feature::of("block_load_words", Most, |live| live.counts.most_load_words,
        "the most words that a block loads"),
    Feature::of("widest", Most, |live| live.counts.widest,
        "the most words that an instruction writes"),
    Feature::of("assembly", Sum, |live| live.counts.assembly,
        "instructions of inline assembly"),
    Feature::of("ordered", Sum, |live| live.counts.ordered,
        "instructions that keep their order"),
    Feature::of("exchanges", Sum, |live| live.counts.exchanges,
        "shuffles and matrix instructions"),
    Feature::of("divisions", Sum, |live| live.counts.divisions,
        "integer divisions"),
    Feature::of("wide_divisions", Sum, |live| live.counts.wide_divisions,
        "64-bit shuffles and matrix instructions"),
    Feature::of("doubles", Sum, |live| live.counts.doubles,
        "instructions on 64-bit floating-point numbers"),
    Feature::later("external_calls", Sum,
        "calls of unknown functions and of functions outside the file"),
    Feature::later("internal_calls", Sum,
        "calls of functions in the file"),
    Feature::later("invariant_words", Most,
        "the most words computed in a loop that could be computed before the loop; only for reports"),
    Feature::later("inner_invariant_words", Most,
        "the most words computed in an innermost loop that could be computed before the loop; only for reports"),
    Feature::later("stack_words", Most,
        "the most words of stack variables that ptxas keeps in registers; only for reports"),
    Feature::of("carried_words", Most, |live| live.carried.varying,
        "the most varying words that a loop carries or an instruction takes: they are live in any order"),
    Feature::of("carried_all_words", Most, |live| live.carried.all,
        "the most words that a loop carries or an instruction takes, uniform words included"),
    Feature::of("passed_words", Most, |live| live.carried.passed,
        "the most words that a loop carries or an instruction takes, constants and parameters included"),
    Feature::of("moved_words", Most, |live| live.carried.moved,
        "the most words that change places from one iteration of a loop to the next"),
    Feature::of("moved_uniform_words", Most, |live| live.carried.moved_uniform,
        "the most words that change places in a loop and may do so in uniform registers"),
    Feature::of("in_flight_words", Most, |live| live.in_flight,
        "the most words that asynchronous instructions hold up to the instruction that waits for them"),
    Feature::of("array_load_words", Sum, |live| live.array_loads,
        "words that are loaded from stack variables at places that ptxas knows"),
    Feature::of("unrolled_load_words", Most, |live| live.unrolled.loads,
        "the most words that all bodies of an unrolled loop load: ptxas can issue these loads together"),
];

/// Values of a function's features, in the order of [`FEATURES`].
#[derive(Clone, Debug, PartialEq)]
pub struct Features(Vec<f64>);

impl Features {
    /// Returns the index in [`FEATURES`] of the feature with this name.
    pub(in crate::forecast) fn place(name: &str) -> Option<usize> {
        FEATURES.iter().position(|feature| feature.name == name)
    }

    /// Returns the value of the feature with this name; 0 if there is no such feature.
    pub fn get(&self, name: &str) -> f64 {
        Self::place(name).map_or(0.0, |at| self.0[at])
    }

    /// Computes the features of a function without its callees.
    pub(in crate::forecast) fn new(live: &Live) -> Self {
        Self(FEATURES.iter().map(|feature| feature.value.map_or(0.0, |value| f64::from(value(live)))).collect())
    }

    /// Returns the features of a function without instructions.
    #[cfg(test)]
    pub(in crate::forecast) fn none() -> Self {
        Self(vec![0.0; FEATURES.len()])
    }

    /// Returns all values, in the order of [`FEATURES`].
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Sets the features that only reports show.
    pub(in crate::forecast) fn add_report_features(&mut self, shown: &ReportFeatures) {
        self.set("invariant_words", f64::from(shown.invariant_words));
        self.set("inner_invariant_words", f64::from(shown.inner_invariant_words));
        self.set("stack_words", f64::from(shown.stack_words));
    }

    /// Sets the feature with this name.
    pub(in crate::forecast) fn set(&mut self, name: &str, value: f64) {
        if let Some(at) = Self::place(name) {
            self.0[at] = value;
        }
    }

    /// Combines these features with those of a callee. `own` has the features of the caller alone.
    pub(in crate::forecast) fn join(&mut self, own: &Self, callee: &Self) {
        let at_call = own.get("words_at_call");
        for (at, feature) in FEATURES.iter().enumerate() {
            let (value, callee) = (&mut self.0[at], callee.0[at]);
            *value = match feature.combination {
                OnTop => value.max(at_call + callee),
                Sum => *value + callee,
                Most => value.max(callee),
                Own => *value,
            };
        }
    }
}
