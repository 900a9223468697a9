//! What the model knows of a function.

use super::behaviour::{Behaviours, Expansion, Motion};
use super::hoisting::earliest_places;
use super::reordering::{Input, reach};
use super::stretches::{Pressure, Stretches, uniform_words};
use super::words::Words;
use crate::analysis::{Cfg, Dominators, LiveRanges, Loops, Occurrences, Point, UniformityInfo};
use crate::function::{Block, Effects, Function, Inst, MemorySpace, RegClass, Role, VReg};
use crate::target::Purity;

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

/// The features: name, how they join, and what they are. Words are 32-bit words that the hardware has to hold.
pub static FEATURES: &[(&str, Combination, &str)] = &[
    ("declared_words", OnTop, "the most words of registers live at once, as PTX declares them"),
    ("words", OnTop, "the most words live at once"),
    ("varying_words", OnTop, "the same of words that differ between the threads of a warp"),
    ("hoisted_words", OnTop, "the same where every load is issued as early as it can be"),
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
];

/// A function's features, as [`FEATURES`] lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct Features(Vec<f64>);

impl Features {
    /// The feature of that name; 0 where there is none.
    pub fn get(&self, name: &str) -> f64 {
        FEATURES.iter().position(|feature| feature.0 == name).map_or(0.0, |at| self.0[at])
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
        if let Some(at) = FEATURES.iter().position(|feature| feature.0 == name) {
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

/// What is known of a function, before its callees are.
pub(super) struct Analysed {
    /// Its features, without calls.
    pub(super) features: Features,
    /// What is live where, as the hardware holds it.
    pub(super) pressure: Pressure,
    /// The words of its registers.
    pub(super) words: Words,
    /// Where they are live.
    pub(super) ranges: LiveRanges,
    /// Where its registers are read and written.
    pub(super) occurrences: Occurrences,
    /// Which registers are the same in all threads of a warp.
    pub(super) uniformity: UniformityInfo,
    /// The most uniform words that are live at once.
    pub(super) uniform_words: u32,
}

/// Analyses a function that has left SSA form and is coalesced. O(n log n) in its operands and live ranges.
pub(super) fn analyse(function: &Function, is_kernel: bool) -> Analysed {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let loops = Loops::new(&cfg, &dominators);
    let occurrences = Occurrences::new(function, &|reg: VReg| function.class(reg) != RegClass::Other);
    let registers: Vec<VReg> = function.regs().filter(|&reg| !occurrences.of(reg).is_empty()).collect();
    let ranges = LiveRanges::new(function, &cfg, &dominators, &occurrences, &registers);
    let uniformity = UniformityInfo::new(function, &cfg, &dominators, &occurrences, &ranges, is_kernel);
    let behaviours = Behaviours::new(function);
    let words = Words::new(function, &behaviours, &occurrences);
    let stretches = Stretches::new(function, &words, &ranges, |start| start);
    let uniform = uniform_words(function, &words, |reg| uniformity.is_uniform(reg));

    let pressure = stretches.pressure(function, |_| true);
    let varying = stretches.pressure(function, |word| !uniform[word]);
    let places = earliest_places(function, &behaviours);
    let hoist = |start: Point| {
        let is_load = start == Point::late(start.inst()) && behaviours.motion(start.inst()) == Motion::Load;
        if is_load { Point::late(places[start.inst()]) } else { start }
    };
    let hoisted = Stretches::new(function, &words, &ranges, hoist).pressure(function, |word| !uniform[word]);
    let input = Input {
        function,
        behaviours: &behaviours,
        words: &words,
        stretches: &stretches,
        uniform: &uniform,
        pressure: &pressure,
        varying: &varying,
    };
    let count = Counter { function, behaviours: &behaviours, varying: &varying };
    let calls = [0.0; 2];
    let values = [live_words(&input, &count, &ranges, &hoisted, &loops), counts(&count), calls.to_vec()].concat();
    debug_assert_eq!(values.len(), FEATURES.len(), "a value for each feature");
    let uniform_words = stretches.pressure(function, |word| uniform[word]).most();
    Analysed { features: Features(values), pressure, words, ranges, occurrences, uniformity, uniform_words }
}

/// The features that say how much is live: those up to `words_at_call`.
fn live_words(
    input: &Input<'_>,
    count: &Counter<'_>,
    ranges: &LiveRanges,
    hoisted: &Pressure,
    loops: &Loops,
) -> Vec<f64> {
    let Input { function, behaviours, pressure, varying, .. } = *input;
    let most = |pressure: &Pressure| f64::from(pressure.most());
    let of_class = |class: RegClass, weight: u32| {
        let words = |reg| if function.class(reg) == class { weight } else { 0 };
        most(&Pressure::of_registers(function, ranges, words))
    };
    let at_entries = |wanted: &dyn Fn(Block) -> bool| {
        let blocks = function.blocks().filter(|&block| wanted(block));
        let first = |block| function.block_insts(block).find(|&inst| count.is_code(inst));
        f64::from(blocks.filter_map(first).map(|inst| varying.before(inst)).max().unwrap_or(0))
    };
    let reached = reach(input, loops);
    vec![
        most(&Pressure::of_registers(function, ranges, |reg| function.class(reg).words())),
        most(pressure),
        most(varying),
        most(hoisted),
        f64::from(reached.all),
        f64::from(reached.varying),
        f64::from(reached.varying_in_loops),
        at_entries(&|_| true),
        at_entries(&|block| function.loop_depth(block) > 0),
        count.words_at(&|inst| count.is_wide_division(inst)),
        count.words_at(&|inst| behaviours.expansion(function, inst) == Expansion::Double),
        count.words_at(&|inst| count.is_assembly(inst)),
        count.words_at(&|inst| behaviours.is_anonymous(function, inst)),
        of_class(RegClass::B64, 2),
        of_class(RegClass::B16, 1),
        of_class(RegClass::B1, 1),
        count.words_at(&|inst| behaviours.info(function, inst).purity == Purity::Call),
    ]
}

/// The features that say how much there is: those from `instructions` up to the calls.
fn counts(count: &Counter<'_>) -> Vec<f64> {
    let Counter { function, behaviours, .. } = *count;
    let is_division =
        |inst| matches!(behaviours.expansion(function, inst), Expansion::Division32 | Expansion::Division64);
    let is_global =
        |inst| matches!(function.memory_space(inst), MemorySpace::Global | MemorySpace::Generic) && count.is_load(inst);
    let is_shared = |inst| function.memory_space(inst) == MemorySpace::Shared && count.is_load(inst);
    vec![
        count.count(&|inst| count.is_code(inst)),
        function.num_blocks() as f64,
        f64::from(function.blocks().map(|block| function.loop_depth(block)).max().unwrap_or(0)),
        count.most_of_block(&|inst| u32::from(count.is_code(inst))),
        count.count(&|inst| count.is_load(inst)),
        count.count(&is_global),
        count.count(&is_shared),
        count.most_of_block(&|inst| u32::from(count.is_load(inst))),
        count.most_of_block(&|inst| if count.is_load(inst) { count.words_written(inst) } else { 0 }),
        f64::from(function.insts().map(|inst| count.words_written(inst)).max().unwrap_or(0)),
        count.count(&|inst| count.is_assembly(inst)),
        count.count(&|inst| behaviours.motion(inst) == Motion::Ordered),
        count.count(&|inst| behaviours.is_anonymous(function, inst)),
        count.count(&is_division),
        count.count(&|inst| count.is_wide_division(inst)),
        count.count(&|inst| behaviours.is_double(function, inst)),
    ]
}

/// Counts instructions.
struct Counter<'a> {
    function: &'a Function,
    behaviours: &'a Behaviours,
    varying: &'a Pressure,
}

impl Counter<'_> {
    fn count(&self, wanted: &dyn Fn(Inst) -> bool) -> f64 {
        self.function.insts().filter(|&inst| wanted(inst)).count() as f64
    }

    /// The most varying words that are live at one of the wanted instructions.
    fn words_at(&self, wanted: &dyn Fn(Inst) -> bool) -> f64 {
        let insts = self.function.insts().filter(|&inst| wanted(inst));
        f64::from(insts.map(|inst| self.varying.at(inst)).max().unwrap_or(0))
    }

    fn most_of_block(&self, weight: &dyn Fn(Inst) -> u32) -> f64 {
        let of_block = |block| self.function.block_insts(block).map(weight).sum::<u32>();
        f64::from(self.function.blocks().map(of_block).max().unwrap_or(0))
    }

    fn is_code(&self, inst: Inst) -> bool {
        self.function.role(inst) != Role::Debug
    }

    fn is_wide_division(&self, inst: Inst) -> bool {
        self.behaviours.expansion(self.function, inst) == Expansion::Division64
    }

    fn is_assembly(&self, inst: Inst) -> bool {
        self.behaviours.info(self.function, inst).purity == Purity::InlineAsm
    }

    /// A load of anything but the function's parameters and a call's results.
    fn is_load(&self, inst: Inst) -> bool {
        self.behaviours.motion(inst) == Motion::Load
            && self.function.memory_space(inst) != MemorySpace::Param
            && !self.function.effects(inst).contains(Effects::CALL_SEQUENCE)
            && !super::behaviour::reads_own_parameter(self.function, self.behaviours.info(self.function, inst), inst)
    }

    fn words_written(&self, inst: Inst) -> u32 {
        let written = self.function.operands(inst).iter().filter(|operand| operand.is_def());
        written.filter_map(|operand| operand.reg()).map(|reg| self.function.class(reg).words()).sum()
    }
}
