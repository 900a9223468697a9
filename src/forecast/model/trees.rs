//! Regression trees: a table that says by how much each fact moves the forecast.
//!
//! Boosted trees (Friedman, "Greedy Function Approximation", 2001) on the logarithm of what is forecast. The
//! [table](crate::forecast::model::table) is text, made by `make calibrate`. The forecast is the exponential of the sum of all trees'
//! leaves, times the table's base: a weighted sum of features, which carries the forecast on beyond the kernels that
//! the trees have seen. A feature whose name ends with `_over_budget` is how many more there are than the kernel may
//! have registers.
//!
//! Registers have two tables, because ptxas has two minds. Where a kernel says how many blocks an SM is to hold, it
//! issues loads early up to the registers that these leave; where nothing says it, it saves registers for more warps.
//! With `.minnctapersm 1` added, 2,824 of the 4,092 kernels of the corpus that say nothing of it and hold 16 words or
//! more take more registers: 8 in the median of all, 26 where early loads hold 16 words more than the code.

use rustc_hash::FxHashMap;

use super::features::Features;
use super::table::{Model, Node};
use crate::function::LaunchBounds;
use crate::target::machine::MAX_REGISTERS;

/// The tables, as the build script wrote them.
mod shipped {
    use std::borrow::Cow::Borrowed;

    use crate::forecast::model::table::Node::{Leaf, Less};
    use crate::forecast::model::table::{Head, Likely, Model};

    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}

/// What ends the name of a feature that is compared with the register limit.
const OVER_LIMIT: &str = "_over_budget";

/// The values that a model asks about, in its own order.
#[derive(Clone, Debug)]
pub struct Values(Vec<f64>);

impl Model {
    /// All that are shipped: of registers, of the registers of kernels that say how many blocks an SM is to hold, of
    /// whether a kernel spills, and of how much.
    pub(in crate::forecast) fn all() -> [&'static Self; 4] {
        [&shipped::REGISTERS, &shipped::REGISTERS_WITH_BLOCKS, &shipped::SPILLS, &shipped::SPILL_SIZES]
    }

    /// The model of the registers that a kernel with these bounds takes.
    pub fn registers(bounds: &LaunchBounds) -> &'static Self {
        if says_blocks(bounds) { &shipped::REGISTERS_WITH_BLOCKS } else { &shipped::REGISTERS }
    }

    /// The model that tells whether a kernel spills: where it says fewer bytes than its least, none.
    pub fn spills() -> &'static Self {
        &shipped::SPILLS
    }

    /// The model of the bytes that a kernel stores to spill slots and loads from them, if it spills. It is fitted to
    /// kernels that do: among all kernels most spill nothing, and a model of both says too little of those that do.
    pub fn spill_sizes() -> &'static Self {
        &shipped::SPILL_SIZES
    }

    /// The values that the model asks about: a function's features, the most registers that it may have, and what its
    /// bounds say.
    pub fn values(&self, features: &Features, register_limit: u32, bounds: &LaunchBounds) -> Values {
        ResolvedModel::by(self).values(features, register_limit, bounds)
    }

    /// A forecast of at most so many registers above a step of the occupancy is that step: ptxas reorders to keep it,
    /// and does more for it where it would trade registers for warps.
    pub(in crate::forecast) fn step_reach(&self, bounds: &LaunchBounds) -> f64 {
        if any_blocks(bounds) { self.head.step_reach_with_size } else { self.head.step_reach }
    }

    /// The forecast. O(trees × their depth).
    pub fn forecast(&self, values: &Values) -> f64 {
        self.corrected(values, f64::from(MAX_REGISTERS))
    }

    /// The same of what no register bounds.
    pub(in crate::forecast) fn size(&self, values: &Values) -> f64 {
        self.corrected(values, f64::INFINITY)
    }

    /// What the trees make of the sum that they correct, of which there is no more than `most`.
    fn corrected(&self, values: &Values, most: f64) -> f64 {
        let base = self.base.iter().map(|&(value, factor)| factor * values.0[value as usize].max(0.0)).sum::<f64>();
        let trees = self.roots.iter().map(|&root| self.leaf(root, values)).sum::<f64>();
        (self.constant + base).clamp(1.0, most) * trees.exp()
    }

    fn leaf(&self, root: u32, values: &Values) -> f64 {
        let mut at = root;
        loop {
            match self.nodes[at as usize] {
                Node::Leaf(value) => return value,
                Node::Less { value, than, no } => at = if values.0[value as usize] < than { at + 1 } else { no },
            }
        }
    }
}

/// An input value of a model.
#[derive(Clone, Copy, Debug)]
enum ModelInput {
    RegisterLimit,
    /// The blocks that an SM must hold, 0 where nobody says.
    MinBlocks,
    /// Whether the bounds say how large a block is, but not how many of them an SM must hold: ptxas then trades
    /// registers for warps.
    AnyBlocks,
    /// A feature by its place; 0 where there is none of that name.
    Feature(Option<usize>),
    /// By how much it is over the register limit.
    OverLimit(Option<usize>),
}

impl ModelInput {
    fn of(name: &str) -> Self {
        match (name, name.strip_suffix(OVER_LIMIT)) {
            ("budget", _) => Self::RegisterLimit,
            ("min_blocks", _) => Self::MinBlocks,
            ("any_blocks", _) => Self::AnyBlocks,
            (_, Some(name)) => Self::OverLimit(Features::place(name)),
            (_, None) => Self::Feature(Features::place(name)),
        }
    }
}

/// A model whose inputs are looked up by name, once for many kernels.
pub(in crate::forecast) struct ResolvedModel<'a> {
    pub(in crate::forecast) model: &'a Model,
    inputs: Vec<ModelInput>,
}

impl<'a> ResolvedModel<'a> {
    /// What a model asks. O(its features).
    pub(in crate::forecast) fn by(model: &'a Model) -> Self {
        Self { model, inputs: model.features.iter().map(|name| ModelInput::of(name)).collect() }
    }

    /// The forecast of a function with these features and limits.
    fn forecast(&self, features: &Features, register_limit: u32, bounds: &LaunchBounds) -> f64 {
        self.model.forecast(&self.values(features, register_limit, bounds))
    }

    fn values(&self, features: &Features, register_limit: u32, bounds: &LaunchBounds) -> Values {
        let feature = |at: Option<usize>| at.map_or(0.0, |at| features.values()[at]);
        let value = |input: &ModelInput| match *input {
            ModelInput::RegisterLimit => f64::from(register_limit),
            ModelInput::MinBlocks => f64::from(bounds.min_blocks.unwrap_or(0)),
            ModelInput::AnyBlocks => f64::from(u32::from(any_blocks(bounds))),
            ModelInput::Feature(at) => feature(at),
            ModelInput::OverLimit(at) => feature(at) - f64::from(register_limit),
        };
        Values(self.inputs.iter().map(value).collect())
    }
}

/// Whether the bounds say how many blocks an SM must hold.
fn says_blocks(bounds: &LaunchBounds) -> bool {
    bounds.min_blocks.is_some()
}

/// Whether the bounds say how large a block is, and nothing of how many an SM must hold.
pub(in crate::forecast) fn any_blocks(bounds: &LaunchBounds) -> bool {
    bounds.threads().is_some() && !says_blocks(bounds)
}

/// What the models say, asked once of all kernels that are alike, as instances of one template often are.
pub(in crate::forecast) struct ModelCache {
    registers: ResolvedModel<'static>,
    registers_with_blocks: ResolvedModel<'static>,
    spills: ResolvedModel<'static>,
    spill_sizes: ResolvedModel<'static>,
    /// By the features' bits and the limits.
    known: FxHashMap<Vec<u64>, ModelOutput>,
}

/// What the models say of a kernel.
#[derive(Clone, Copy, Debug)]
pub(in crate::forecast) struct ModelOutput {
    /// The registers that it takes.
    pub(in crate::forecast) registers: f64,
    /// The bytes of spills, 0 where it does not spill.
    pub(in crate::forecast) spilled: f64,
}

impl ModelCache {
    /// Nothing has been asked.
    pub(in crate::forecast) fn new() -> Self {
        let [registers, registers_with_blocks, spills, spill_sizes] = Model::all().map(ResolvedModel::by);
        Self { registers, registers_with_blocks, spills, spill_sizes, known: FxHashMap::default() }
    }

    /// The registers and bytes of a function with these features and limits.
    pub(in crate::forecast) fn forecast(
        &mut self,
        features: &Features,
        register_limit: u32,
        bounds: &LaunchBounds,
    ) -> ModelOutput {
        let Self { registers, registers_with_blocks, spills, spill_sizes, known } = self;
        let limits = [register_limit, bounds.min_blocks.unwrap_or(0), any_blocks(bounds).into()].map(u64::from);
        let asked = features.values().iter().map(|value| value.to_bits()).chain(limits).collect();
        *known.entry(asked).or_insert_with(|| {
            let of = |model: &ResolvedModel<'_>| model.forecast(features, register_limit, bounds);
            // The model's bytes are one more than there are, so that none has a logarithm.
            let does_spill = of(spills) - 1.0 >= spills.model.head.least;
            let size = || spill_sizes.model.size(&spill_sizes.values(features, register_limit, bounds));
            ModelOutput {
                registers: of(if says_blocks(bounds) { registers_with_blocks } else { registers }),
                spilled: if does_spill { size() } else { 0.0 },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Model, ModelCache, OVER_LIMIT, Values};
    use crate::forecast::model::features::{FEATURES, Features};
    use crate::function::LaunchBounds;

    /// The first answer is taken below the threshold, the second at it, and trees add up in the logarithm.
    #[test]
    fn trees() {
        let text = "# fitted on two\nprocessor sm_90\nptxas 13.0\nfeatures words loads\n\
                    tree words<10 loads<2 1 2 3\ntree 0.5\n";
        let model = Model::parse(text).expect("a table");
        let forecast = |words, loads| model.forecast(&Values(vec![words, loads])).ln();
        assert_eq!([forecast(9.0, 1.0), forecast(9.0, 2.0), forecast(10.0, 0.0)], [1.5, 2.5, 3.5]);
        assert_eq!(model.about, "fitted on two\n");
    }

    /// Trees correct the base, which is no more than a kernel may have.
    #[test]
    fn base() {
        let text = "features loads words\nbase 3 words 0.5\ntree loads<1.5 0 -1\n";
        let model = Model::parse(text).expect("a table");
        let forecast = |loads, words| model.forecast(&Values(vec![loads, words]));
        assert_eq!([forecast(1.0, 8.0), forecast(1.0, 900.0)], [7.0, 255.0]);
        assert!((forecast(2.0, 8.0).ln() - (7.0_f64.ln() - 1.0)).abs() < 1e-12);
    }

    /// The larger the register limit, the less a feature is over it.
    #[test]
    fn over_limit() {
        let text = "features words_over_budget budget\ntree words_over_budget<-31.5 1 2\n";
        let model = Model::parse(text).expect("a table");
        let none = Features::none();
        let values = |register_limit| model.values(&none, register_limit, &LaunchBounds::default());
        let forecast = |register_limit| model.forecast(&values(register_limit)).ln();
        assert_eq!([forecast(31), forecast(32)], [2.0, 1.0]);
        assert_eq!(values(40).0, [-40.0, 40.0]);
    }

    /// Loads are early where a kernel says how many blocks an SM is to hold, and registers are saved where it does not.
    #[test]
    fn with_blocks() {
        let mut features = Features::none();
        for (name, words) in
            [("words", 40.0), ("reordered_words", 40.0), ("hoisted_words", 90.0), ("early_words", 90.0)]
        {
            features.set(name, words);
        }
        let forecast = |min_blocks| {
            let bounds = LaunchBounds { max_threads: Some(128), min_blocks, ..LaunchBounds::default() };
            ModelCache::new().forecast(&features, 255, &bounds).registers
        };
        assert!(forecast(Some(1)) > forecast(None) + 8.0, "{} {}", forecast(Some(1)), forecast(None));
    }

    /// Any number of blocks will do where bounds say how large they are and no more.
    #[test]
    fn blocks() {
        let model = Model::parse("features any_blocks min_blocks\ntree 1\n").expect("a table");
        let values = |bounds| model.values(&Features::none(), 255, &bounds).0;
        let threads = LaunchBounds { max_threads: Some(128), ..LaunchBounds::default() };
        assert_eq!(values(LaunchBounds::default()), [0.0, 0.0]);
        assert_eq!(values(threads), [1.0, 0.0]);
        assert_eq!(values(LaunchBounds { min_blocks: Some(2), ..threads }), [0.0, 2.0]);
    }

    /// The tables that are shipped ask for nothing that nobody computes.
    #[test]
    fn shipped_tables() {
        for model in Model::all() {
            for name in model.features.iter() {
                let name = name.strip_suffix(OVER_LIMIT).unwrap_or(name);
                let is_known = FEATURES.iter().any(|feature| feature.name == name);
                assert!(is_known || ["any_blocks", "budget", "min_blocks"].contains(&name), "{name}");
            }
        }
    }
}
