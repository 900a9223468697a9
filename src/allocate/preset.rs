//! Assumptions about the hardware, and coefficients of the algorithms. Each source of such constants has one preset.

use std::ops::Range;

use super::cost::CostModel;
use super::eligibility::Eligibility;
use super::fatpoint::Knobs;
use super::split::Splitting;
use super::used_fraction::UsedFraction;
use crate::config::SettingValue::{Factor, Limit, Number, Registers, Switch};
use crate::config::{Config, PresetName, Setting};
use crate::target::machine::processor_number;

/// A set of constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Number of general 32-bit registers; `None`: unlimited.
    pub register_limit: Option<u32>,
    /// Number of predicates.
    pub predicates: Option<u32>,
    /// Whether two 16-bit values share a register.
    pub packs_halves: bool,
    /// General registers that a call clobbers.
    pub caller_saved: Option<Range<u32>>,
    /// General registers that are reserved, for example for a stack pointer.
    pub reserved: Option<Range<u32>>,
    /// Whether operands that an instruction encodes as one row of registers must be in a row.
    pub tuples: bool,
    /// Most registers in a row of a matrix instruction of one warp; `None`: the size of its operand.
    pub matrix_tuple: Option<u32>,
    /// Most registers in a row of a matrix instruction of four warps; `None`: the size of its operand.
    pub warpgroup_tuple: Option<u32>,
    /// Cost model of spilling.
    pub cost: CostModel,
    /// Candidates for spilling.
    pub eligibility: Eligibility,
    /// Whether the spill cost of a value includes the cost of its copy, if the copy is in an arm of a diamond and is
    /// the only reader of the value.
    pub aggregates_copies: bool,
    /// Assumed trip count of loops; `None`: the trip counts that the block frequencies imply.
    pub estimated_turns: Option<u32>,
    /// Fraction of the registers that is used.
    pub used_fraction: UsedFraction,
    /// Rules for merging two live ranges.
    pub coalescing: Coalescing,
    /// Rules for splitting live ranges at loops if any is spilled.
    pub splitting: Splitting,
    /// Whether the code of the allocation is cleaned up.
    pub cleanup: bool,
    /// Settings of the fat-point allocator.
    pub fatpoint: Knobs,
    /// Most bytes of a thread's slots in local memory.
    pub most_local: u32,
}

/// Rules of conservative coalescing. The degree of a node is the number of places that its neighbours can take away.
#[derive(Clone, Debug, PartialEq)]
pub struct Coalescing {
    /// Registers of a file that tests of degrees assume; `None`: the register limit. Placement may use all registers
    /// within the register limit.
    pub degree_limit: Option<u32>,
    /// Weight of a neighbour's degree.
    pub degree_factor: f32,
    /// Two nodes are always merged if both degrees are below this fraction of the places.
    pub always_below: f32,
    /// Two nodes are never merged if the degree of the merged node is above this multiple of the places.
    pub never_above: f32,
}

/// The rules in the description of cicc's allocator: "Always below K/2, never above 2K, the test between".
const DOCUMENTED: Coalescing =
    Coalescing { degree_limit: None, degree_factor: 1.0, always_below: 0.5, never_above: 2.0 };

/// The rule in the description of cicc's allocator: "If a live range spans more than 100 instructions, split it at loop
/// boundaries."
const SPLIT_THRESHOLD: u32 = 100;

/// Number of registers in cicc's degree tests, as read from its code, which tests for more than 14 neighbours. If a
/// function has more than 20 · K live ranges, cicc splits all of them.
const K: u32 = 15;

/// Most bytes in ptxas's pool of slots in local memory.
const POOL: u32 = 1 << 20;

/// Most registers in a row, from sm_80 on: 4, for `mma.sync`. Before sm_80, rows have 8 registers, for the accumulators
/// of `wmma`.
const MATRIX_TUPLE: u32 = 4;

impl Preset {
    /// The documented limits of the hardware, with plain costs: the words that are moved to and from memory in one run.
    ///
    /// A thread has 255 registers and 7 predicates (CUDA C++ Programming Guide, "Compute Capabilities"; PTX ISA). Calls
    /// preserve R24 to R31, as NVIDIA's compilers are read to do it.
    pub const HW: Preset = Preset {
        register_limit: Some(255),
        predicates: Some(7),
        packs_halves: false,
        caller_saved: Some(0..24),
        reserved: None,
        tuples: true,
        matrix_tuple: Some(MATRIX_TUPLE),
        warpgroup_tuple: None,
        cost: CostModel {
            is_product: false,
            latency: [1.0; 3],
            cache: [u32::MAX; 2],
            loop_base: 1.0,
            uniform_factor: 1.5,
            clamp: f32::MAX,
            store_factor: 1.0,
            high_pressure: None,
            usage_level: 5,
        },
        eligibility: Eligibility::ALL,
        aggregates_copies: false,
        estimated_turns: None,
        used_fraction: UsedFraction::OFF,
        coalescing: DOCUMENTED,
        splitting: Splitting::at_once(Some(SPLIT_THRESHOLD)),
        cleanup: true,
        fatpoint: Knobs::HW,
        most_local: POOL,
    };

    /// The constants of cicc's allocator, as read from its code. K = 15 and the factor 0.8 may be misreadings; the
    /// preset makes it possible to measure them. K applies only to tests of degrees, because no kernel has so few
    /// registers.
    pub const CICC: Preset = Preset {
        register_limit: Some(255),
        predicates: Some(8),
        packs_halves: true,
        caller_saved: None,
        reserved: None,
        tuples: true,
        matrix_tuple: Some(MATRIX_TUPLE),
        warpgroup_tuple: Some(8),
        cost: CostModel {
            is_product: true,
            latency: [4.0, 10.0, 40.0],
            cache: [64 << 10, 256 << 10],
            loop_base: 1.5,
            uniform_factor: 1.5,
            clamp: 1e9,
            ..Self::HW.cost
        },
        eligibility: Eligibility::ALL,
        aggregates_copies: false,
        estimated_turns: None,
        used_fraction: UsedFraction::OFF,
        coalescing: Coalescing { degree_limit: Some(K), degree_factor: 0.8, ..DOCUMENTED },
        splitting: Splitting { all_above: Some(20 * K), ..Splitting::at_once(Some(SPLIT_THRESHOLD)) },
        cleanup: true,
        fatpoint: Knobs::HW,
        most_local: POOL,
    };

    /// The constants of ptxas's allocator, as read from its code: a cost of 15 for each word that is moved.
    pub const PTXAS: Preset = Preset {
        register_limit: Some(255),
        predicates: Some(7),
        packs_halves: false,
        caller_saved: Some(0..24),
        reserved: None,
        tuples: true,
        matrix_tuple: Some(MATRIX_TUPLE),
        warpgroup_tuple: None,
        cost: CostModel {
            latency: [15.0; 3],
            uniform_factor: 1.0,
            store_factor: 0.5,
            high_pressure: Some(3.0),
            ..Self::HW.cost
        },
        eligibility: Eligibility::PTXAS,
        aggregates_copies: true,
        estimated_turns: None,
        used_fraction: UsedFraction::OFF,
        coalescing: DOCUMENTED,
        splitting: Splitting::at_once(None),
        cleanup: true,
        fatpoint: Knobs::PTXAS,
        most_local: POOL,
    };

    /// All presets.
    pub const ALL: [&'static Preset; 3] = [&Self::HW, &Self::CICC, &Self::PTXAS];

    /// Sets the values that depend on the processor of this name, for example `sm_75`. Before sm_80, accumulators are
    /// in rows of 8.
    fn for_processor(&mut self, name: &str) {
        if processor_number(name).is_some_and(|number| number < 80) {
            self.matrix_tuple = self.matrix_tuple.map(|_| 8);
        }
    }

    /// Returns the preset that the options select, for the processor of this name.
    pub fn of(config: &Config, processor: &str) -> Self {
        let mut preset = match config.preset {
            PresetName::Hw => Self::HW,
            PresetName::Cicc => Self::CICC,
            PresetName::Ptxas => Self::PTXAS,
        };
        preset.for_processor(processor);
        config.allocator_set.iter().for_each(|setting| preset.set(setting));
        preset
    }

    /// Returns this preset for a kernel with this number of registers, of which the preset's fraction is used.
    pub fn with_registers(self, registers: u32) -> Self {
        Self { register_limit: Some(self.used_fraction.of(registers)), ..self }
    }

    /// Changes one of the constants.
    fn set(&mut self, setting: &Setting) {
        let (cost, coalescing, splitting) = (&mut self.cost, &mut self.coalescing, &mut self.splitting);
        let eligibility = &mut self.eligibility;
        match (setting.name, &setting.value) {
            ("predicates", &Number(predicates)) => self.predicates = Some(predicates),
            ("packs-halves", &Switch(is_on)) => self.packs_halves = is_on,
            ("caller-saved", Registers(registers)) => self.caller_saved.clone_from(registers),
            ("reserved", Registers(registers)) => self.reserved.clone_from(registers),
            ("tuples", &Switch(is_on)) => self.tuples = is_on,
            ("matrix-tuple", &Limit(row)) => self.matrix_tuple = row,
            ("warpgroup-tuple", &Limit(row)) => self.warpgroup_tuple = row,
            ("cost-is-product", &Switch(is_on)) => cost.is_product = is_on,
            ("latency-1", &Factor(cycles)) => cost.latency[0] = cycles,
            ("latency-2", &Factor(cycles)) => cost.latency[1] = cycles,
            ("latency-3", &Factor(cycles)) => cost.latency[2] = cycles,
            ("cache-1", &Number(bytes)) => cost.cache[0] = bytes,
            ("cache-2", &Number(bytes)) => cost.cache[1] = bytes,
            ("loop-base", &Factor(factor)) => cost.loop_base = factor,
            ("uniform-factor", &Factor(factor)) => cost.uniform_factor = factor,
            ("clamp", &Factor(most)) => cost.clamp = most,
            ("store-factor", &Factor(loads)) => cost.store_factor = loads,
            ("high-pressure-weight", &Factor(weight)) => cost.high_pressure = Some(weight),
            ("register-usage-level", &Number(level)) => cost.usage_level = level,
            ("floor-primary", &Factor(floor)) => eligibility.primary_floor = floor,
            ("floor-secondary", &Factor(floor)) => eligibility.secondary_floor = floor,
            ("zero-cost-pruning", &Switch(is_on)) => eligibility.prunes_free = is_on,
            ("density-budget", &Limit(registers)) => eligibility.density = registers,
            ("aggregate-copies", &Switch(is_on)) => self.aggregates_copies = is_on,
            ("RegAllocEstimatedLoopIterations", &Number(turns)) => self.estimated_turns = Some(turns),
            ("budget-fraction", &Switch(is_on)) => self.used_fraction.is_on = is_on,
            ("budget-fraction-least", &Factor(part)) => self.used_fraction.least = part.min(1.0),
            ("degree-limit", &Limit(registers)) => coalescing.degree_limit = registers,
            ("degree-factor", &Factor(factor)) => coalescing.degree_factor = factor,
            ("always-below", &Factor(part)) => coalescing.always_below = part,
            ("never-above", &Factor(multiple)) => coalescing.never_above = multiple,
            ("cleanup", &Switch(is_on)) => self.cleanup = is_on,
            ("local-most", &Number(bytes)) => self.most_local = bytes,
            ("split-threshold", &Limit(span)) => splitting.threshold = span.filter(|&span| span > 0),
            ("split-all-above", &Limit(ranges)) => splitting.all_above = ranges,
            ("split-rounds", &Number(rounds)) => splitting.rounds = rounds,
            ("split-iterations", &Limit(most)) => splitting.iterations = most.unwrap_or(u32::MAX),
            ("split-gain", &Factor(words)) => splitting.least_gain = words,
            _ => self.fatpoint.set(setting),
        }
    }

    /// Returns the number of units in one general register: two if 16-bit values are packed.
    pub(in crate::allocate) fn units_per_register(&self) -> u32 {
        if self.packs_halves { 2 } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, SETTINGS};

    fn preset(settings: &str) -> Preset {
        let layers = Layers { command_line: settings, ..Layers::default() };
        Preset::of(&Config::resolve(&layers).expect(settings), "sm_90")
    }

    /// Every setting of the table changes the preset, and no other setting does.
    #[test]
    fn settings_change_constants() {
        for spec in SETTINGS {
            let mut values = ["on", "off", "3", "2", "2..9"].iter().map(|value| format!("{}={value}", spec.name));
            let is_changed = |setting: String| {
                let text = format!("allocator-set={setting}");
                let layers = Layers { command_line: &text, ..Layers::default() };
                Config::resolve(&layers).is_ok_and(|config| Preset::of(&config, "sm_90") != Preset::HW)
            };
            assert!(values.any(is_changed), "{}", spec.name);
        }
        assert_eq!(preset(""), Preset::HW);
    }

    /// A preset is selected by name, and settings change it. The degree limit of a preset is no register limit.
    #[test]
    fn presets_by_name() {
        assert_eq!(preset("preset=cicc"), Preset::CICC);
        assert_eq!(preset("preset=ptxas;allocator-set=latency-1=2").cost.latency, [2.0, 15.0, 15.0]);
        let cicc = preset("preset=cicc");
        assert_eq!((cicc.register_limit, cicc.coalescing.degree_limit), (Some(255), Some(15)));
        assert_eq!(preset("preset=cicc;allocator-set=degree-limit=none").coalescing.degree_limit, None);
    }

    /// Processors before sm_80 have rows of 8.
    #[test]
    fn rows_by_processor() {
        let row = |processor: &str| {
            let mut preset = Preset::HW;
            preset.for_processor(processor);
            preset.matrix_tuple
        };
        assert_eq!(["sm_70", "sm_75", "sm_80", "sm_90a", "sm_100f", ""].map(row), [8, 8, 4, 4, 4, 4].map(Some));
    }
}
