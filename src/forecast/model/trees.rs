//! Regression trees, which correct the base of a forecast.
//!
//! The trees are boosted (Friedman, "Greedy Function Approximation", 2001) and forecast the logarithm of a quantity.
//! The [table](crate::forecast::model::table) is text, made by `make calibrate`. The forecast is the exponential of the
//! sum of all trees' leaves, times the table's base. The base is a weighted sum of features; it extrapolates beyond the
//! kernels of the fit. A feature with the suffix `_over_budget` is the amount by which the feature exceeds the kernel's
//! register limit.
//!
//! Registers have two tables, because ptxas has two policies. If a kernel gives the number of blocks on an SM, ptxas
//! issues loads early, up to the registers that the blocks leave. If the kernel does not give this number, ptxas saves
//! registers for more warps. The corpus has 4,092 kernels without this number and with 16 words or more. With
//! `.minnctapersm 1` added, 2,824 of them take more registers. The median of all is 8 registers more; it is 26 for
//! kernels where early loads need 16 words more than the code.

use rustc_hash::FxHashMap;

use super::features::Features;
use super::table::{Model, Node};
use crate::function::LaunchBounds;
use crate::target::machine::MAX_REGISTERS;

/// The tables, as written by the build script.
mod shipped {
    use std::borrow::Cow::Borrowed;

    use crate::forecast::model::table::Node::{Leaf, Less};
    use crate::forecast::model::table::{Head, Likely, Model};

    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}

/// Suffix of features that are compared with the register limit.
const OVER_LIMIT: &str = "_over_budget";

/// Values of a model's inputs, in the order of the model.
#[derive(Clone, Debug)]
pub struct Values(Vec<f64>);

impl Model {
    /// Returns all shipped models: registers; registers of kernels that give the number of blocks on an SM; whether a
    /// kernel spills; how many bytes it spills.
    pub(in crate::forecast) fn all() -> [&'static Self; 4] {
        [&shipped::REGISTERS, &shipped::REGISTERS_WITH_BLOCKS, &shipped::SPILLS, &shipped::SPILL_SIZES]
    }

    /// Returns the model of the registers for a kernel with these bounds.
    pub fn registers(bounds: &LaunchBounds) -> &'static Self {
        if says_blocks(bounds) { &shipped::REGISTERS_WITH_BLOCKS } else { &shipped::REGISTERS }
    }

    /// Returns the model that decides whether a kernel spills: if it gives fewer bytes than its least, the kernel does
    /// not spill.
    pub fn spills() -> &'static Self {
        &shipped::SPILLS
    }

    /// Returns the model of the bytes that a kernel stores to spill slots and loads from them, if it spills. The model
    /// is fitted to kernels that spill. Most kernels do not spill, so a model of all kernels forecasts too few bytes
    /// for those that do.
    pub fn spill_sizes() -> &'static Self {
        &shipped::SPILL_SIZES
    }

    /// Computes the model's inputs: a function's features, the register limit, and the bounds.
    pub fn values(&self, features: &Features, register_limit: u32, bounds: &LaunchBounds) -> Values {
        ResolvedModel::by(self).values(features, register_limit, bounds)
    }

    /// Most registers by which a forecast may exceed an occupancy step and still be rounded down to the step. ptxas
    /// reorders code to keep a step, and tries harder if it may trade registers for warps.
    pub(in crate::forecast) fn step_reach(&self, bounds: &LaunchBounds) -> f64 {
        if any_blocks(bounds) { self.head.step_reach_with_size } else { self.head.step_reach }
    }

    /// Computes the forecast. O(trees × their depth).
    pub fn forecast(&self, values: &Values) -> f64 {
        self.corrected(values, f64::from(MAX_REGISTERS))
    }

    /// The same for a quantity that the register limit does not bound.
    pub(in crate::forecast) fn size(&self, values: &Values) -> f64 {
        self.corrected(values, f64::INFINITY)
    }

    /// Corrects the base, which is at most `most`, by the trees.
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
    /// Blocks that an SM must hold; 0 if unknown.
    MinBlocks,
    /// Whether the bounds give the size of a block, but not the number of blocks that an SM must hold. ptxas then
    /// trades registers for warps.
    AnyBlocks,
    /// The feature at this index; 0 if there is no feature of this name.
    Feature(Option<usize>),
    /// The amount by which the feature exceeds the register limit.
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

/// A model with resolved names of inputs, which serves many kernels.
pub(in crate::forecast) struct ResolvedModel<'a> {
    pub(in crate::forecast) model: &'a Model,
    inputs: Vec<ModelInput>,
}

impl<'a> ResolvedModel<'a> {
    /// Resolves the model's inputs. O(its features).
    pub(in crate::forecast) fn by(model: &'a Model) -> Self {
        Self { model, inputs: model.features.iter().map(|name| ModelInput::of(name)).collect() }
    }

    /// Computes the forecast for these features and limits.
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

/// Whether the bounds give the number of blocks that an SM must hold.
fn says_blocks(bounds: &LaunchBounds) -> bool {
    bounds.min_blocks.is_some()
}

/// Whether the bounds give the size of a block, but not the number of blocks that an SM must hold.
pub(in crate::forecast) fn any_blocks(bounds: &LaunchBounds) -> bool {
    bounds.threads().is_some() && !says_blocks(bounds)
}

/// Results of the models. Kernels with the same features and limits are computed once; instances of one template are
/// often such kernels.
pub(in crate::forecast) struct ModelCache {
    registers: ResolvedModel<'static>,
    registers_with_blocks: ResolvedModel<'static>,
    spills: ResolvedModel<'static>,
    spill_sizes: ResolvedModel<'static>,
    /// Results by the features' bits and the limits.
    known: FxHashMap<Vec<u64>, ModelOutput>,
}

/// The models' forecast for a kernel.
#[derive(Clone, Copy, Debug)]
pub(in crate::forecast) struct ModelOutput {
    /// Registers of the kernel.
    pub(in crate::forecast) registers: f64,
    /// Spilled bytes; 0 if the kernel does not spill.
    pub(in crate::forecast) spilled: f64,
}

impl ModelCache {
    /// Returns an empty cache.
    pub(in crate::forecast) fn new() -> Self {
        let [registers, registers_with_blocks, spills, spill_sizes] = Model::all().map(ResolvedModel::by);
        Self { registers, registers_with_blocks, spills, spill_sizes, known: FxHashMap::default() }
    }

    /// Returns the registers and bytes for these features and limits.
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
            // The model forecasts the bytes plus one, because 0 has no logarithm.
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

    /// The first branch is taken below the threshold, the second branch from the threshold on. Trees add up in the
    /// logarithm.
    #[test]
    fn trees() {
        let text = "# fitted on two\nprocessor sm_90\nptxas 13.0\nfeatures words loads\n\
                    tree words<10 loads<2 1 2 3\ntree 0.5\n";
        let model = Model::parse(text).expect("a table");
        let forecast = |words, loads| model.forecast(&Values(vec![words, loads])).ln();
        assert_eq!([forecast(9.0, 1.0), forecast(9.0, 2.0), forecast(10.0, 0.0)], [1.5, 2.5, 3.5]);
        assert_eq!(model.about, "fitted on two\n");
    }

    /// Trees correct the base, which is at most the register limit.
    #[test]
    fn base() {
        let text = "features loads words\nbase 3 words 0.5\ntree loads<1.5 0 -1\n";
        let model = Model::parse(text).expect("a table");
        let forecast = |loads, words| model.forecast(&Values(vec![loads, words]));
        assert_eq!([forecast(1.0, 8.0), forecast(1.0, 900.0)], [7.0, 255.0]);
        assert!((forecast(2.0, 8.0).ln() - (7.0_f64.ln() - 1.0)).abs() < 1e-12);
    }

    /// A feature exceeds a larger register limit by a smaller amount.
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

    /// If a kernel gives the number of blocks on an SM, loads are early; if it does not, registers are saved.
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

    /// If the bounds give only the size of a block, the number of blocks is free.
    #[test]
    fn blocks() {
        let model = Model::parse("features any_blocks min_blocks\ntree 1\n").expect("a table");
        let values = |bounds| model.values(&Features::none(), 255, &bounds).0;
        let threads = LaunchBounds { max_threads: Some(128), ..LaunchBounds::default() };
        assert_eq!(values(LaunchBounds::default()), [0.0, 0.0]);
        assert_eq!(values(threads), [1.0, 0.0]);
        assert_eq!(values(LaunchBounds { min_blocks: Some(2), ..threads }), [0.0, 2.0]);
    }

    /// The shipped tables use only inputs that are computed.
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
