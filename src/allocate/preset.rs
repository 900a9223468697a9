//! What is taken for granted of the hardware, and the coefficients of the algorithms: one preset for each source.

use std::ops::Range;

use super::banks::Banks;
use super::fatpoint::Knobs;
use super::setting::Setting;
use super::split::Splitting;
use crate::error::{Error, ErrorKind};
use crate::target::machine::processor_number;

/// A set of constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// General registers of 32 bits; `None`: as many as it takes.
    pub budget: Option<u32>,
    /// Predicates.
    pub predicates: Option<u32>,
    /// Two 16-bit values share a register.
    pub packs_halves: bool,
    /// The general registers that a call clobbers.
    pub caller_saved: Option<Range<u32>>,
    /// General registers that hold something else all the time, as a stack pointer.
    pub reserved: Option<Range<u32>>,
    /// What instructions name as one row of registers stands in one.
    pub tuples: bool,
    /// The most registers in a row of a matrix instruction of one warp; `None`: as many as its operand has.
    pub matrix_tuple: Option<u32>,
    /// The most registers in a row of a matrix instruction of four warps; `None`: as many as its operand has.
    pub warpgroup_tuple: Option<u32>,
    /// The banks of general registers; `None`: nobody minds them.
    pub banks: Option<Banks>,
    /// What spilling costs.
    pub cost: CostModel,
    /// When two live ranges are merged.
    pub coalescing: Coalescing,
    /// When and how far live ranges are split at loops, where something is spilled.
    pub splitting: Splitting,
    /// The code of the allocation is cleaned up.
    pub cleanup: bool,
    /// The knobs of the fat-point allocator.
    pub fatpoint: Knobs,
}

/// The coefficients of the cost of spilling.
#[derive(Clone, Debug, PartialEq)]
pub struct CostModel {
    /// Frequencies of definitions and uses are multiplied, as NVIDIA's compiler is read to do it; else they are added.
    pub is_product: bool,
    /// Cycles to reach a spilled value in the first, second and third level of memory.
    pub latency: [f32; 3],
    /// Bytes that are live at once, above which values live in the second and in the third level.
    pub cache: [u32; 2],
    /// What each loop around it multiplies the cost by, beyond the frequency of its blocks.
    pub loop_base: f32,
    /// What uniform values cost more.
    pub uniform_factor: f32,
    /// The most that a live range costs.
    pub clamp: f32,
}

/// The rules of conservative coalescing, in places that neighbours can take away ("degree").
#[derive(Clone, Debug, PartialEq)]
pub struct Coalescing {
    /// A neighbour's degree counts this much.
    pub degree_factor: f32,
    /// Both below this part of the places: always merged.
    pub always_below: f32,
    /// The merged one above this multiple of the places: never merged.
    pub never_above: f32,
}

/// "Always below K/2, never above 2K, the test between".
const DOCUMENTED: Coalescing = Coalescing { degree_factor: 1.0, always_below: 0.5, never_above: 2.0 };

/// "If a live range spans more than 100 instructions, split it at loop boundaries."
const SPLIT_THRESHOLD: u32 = 100;

/// Rows of 4 from sm_80 on, for `mma.sync`; of 8 before, for the accumulators of `wmma`.
const MATRIX_TUPLE: u32 = 4;

impl Preset {
    /// The documented limits of the hardware, with plain costs: words moved to and from memory in one run.
    ///
    /// 255 registers a thread, 7 predicates (CUDA C++ Programming Guide, "Compute Capabilities"; PTX ISA). Calls keep
    /// R24 to R31, as NVIDIA's compilers are read to do it.
    pub const HW: Preset = Preset {
        name: "hw",
        budget: Some(255),
        predicates: Some(7),
        packs_halves: false,
        caller_saved: Some(0..24),
        reserved: None,
        tuples: true,
        matrix_tuple: Some(MATRIX_TUPLE),
        warpgroup_tuple: None,
        banks: Some(Banks { count: 2, ports: 2 }),
        cost: CostModel {
            is_product: false,
            latency: [1.0; 3],
            cache: [u32::MAX; 2],
            loop_base: 1.0,
            uniform_factor: 1.5,
            clamp: f32::MAX,
        },
        coalescing: DOCUMENTED,
        splitting: Splitting::at_once(Some(SPLIT_THRESHOLD)),
        cleanup: true,
        fatpoint: Knobs::PTXAS,
    };

    /// The constants of cicc's allocator as they are read from its code. K = 15 and the factor 0.8 may be misreadings:
    /// they are here to be measured.
    pub const CICC: Preset = Preset {
        name: "cicc",
        budget: Some(15),
        predicates: Some(8),
        packs_halves: true,
        caller_saved: None,
        reserved: None,
        tuples: true,
        matrix_tuple: Some(MATRIX_TUPLE),
        warpgroup_tuple: Some(8),
        banks: Some(Banks { count: 32, ports: 1 }),
        cost: CostModel {
            is_product: true,
            latency: [4.0, 10.0, 40.0],
            cache: [64 << 10, 256 << 10],
            loop_base: 1.5,
            uniform_factor: 1.5,
            clamp: 1e9,
        },
        coalescing: Coalescing { degree_factor: 0.8, ..DOCUMENTED },
        splitting: Splitting::at_once(Some(SPLIT_THRESHOLD)),
        cleanup: true,
        fatpoint: Knobs::PTXAS,
    };

    /// The constants of ptxas's allocator as they are read from its code: 15 for each word that is moved.
    pub const PTXAS: Preset = Preset {
        name: "ptxas",
        budget: Some(255),
        predicates: Some(7),
        packs_halves: false,
        caller_saved: Some(0..24),
        reserved: None,
        tuples: true,
        matrix_tuple: Some(MATRIX_TUPLE),
        warpgroup_tuple: None,
        banks: None,
        cost: CostModel { latency: [15.0; 3], uniform_factor: 1.0, ..Self::HW.cost },
        coalescing: DOCUMENTED,
        splitting: Splitting::at_once(None),
        cleanup: true,
        fatpoint: Knobs::PTXAS,
    };

    /// All presets.
    pub const ALL: [&'static Preset; 3] = [&Self::HW, &Self::CICC, &Self::PTXAS];

    /// Sets what the processor of that name, `sm_75`, has otherwise: before sm_80 there are accumulators in rows of 8.
    pub fn for_processor(&mut self, name: &str) {
        if processor_number(name).is_some_and(|number| number < 80) {
            self.matrix_tuple = self.matrix_tuple.map(|_| 8);
        }
    }

    /// Changes one of the constants, by its name in [`Self::NAMES`].
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let given = Setting { name, value };
        let (cost, coalescing, splitting) = (&mut self.cost, &mut self.coalescing, &mut self.splitting);
        match name {
            "predicates" => self.predicates = Some(given.count()?),
            "packs-halves" => self.packs_halves = given.switch()?,
            "caller-saved" => self.caller_saved = given.unless_none(Setting::registers)?,
            "reserved" => self.reserved = given.unless_none(Setting::registers)?,
            "tuples" => self.tuples = given.switch()?,
            "matrix-tuple" => self.matrix_tuple = given.unless_none(Setting::row)?,
            "warpgroup-tuple" => self.warpgroup_tuple = given.unless_none(Setting::row)?,
            "banks" => self.banks = given.unless_none(Setting::banks)?,
            "cost-is-product" => cost.is_product = given.switch()?,
            "latency-1" => cost.latency[0] = given.factor()?,
            "latency-2" => cost.latency[1] = given.factor()?,
            "latency-3" => cost.latency[2] = given.factor()?,
            "cache-1" => cost.cache[0] = given.count()?,
            "cache-2" => cost.cache[1] = given.count()?,
            "loop-base" => cost.loop_base = given.factor()?,
            "uniform-factor" => cost.uniform_factor = given.factor()?,
            "clamp" => cost.clamp = given.factor()?,
            "degree-factor" => coalescing.degree_factor = given.factor()?,
            "always-below" => coalescing.always_below = given.factor()?,
            "never-above" => coalescing.never_above = given.factor()?,
            "cleanup" => self.cleanup = given.switch()?,
            "split-threshold" => {
                let instructions = |given: Setting<'_>| given.number(0..=u32::MAX, "a number of instructions, or none");
                splitting.threshold = given.unless_none(instructions)?.filter(|&threshold| threshold > 0);
            }
            "split-rounds" => splitting.rounds = given.count()?,
            "split-iterations" => splitting.iterations = given.unless_none(Setting::count)?.unwrap_or(u32::MAX),
            "split-gain" => splitting.least_gain = given.factor()?,
            _ if self.fatpoint.set(given)? => {}
            _ => {
                let problem = format!("--set {name}: unknown");
                let names: Vec<&str> = Self::names().collect();
                return Err(Error::new(ErrorKind::Option, problem, format!("use {}", names.join(", "))));
            }
        }
        Ok(())
    }

    /// The names of the constants that can be changed.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().chain(Knobs::NAMES)
    }

    const NAMES: [&'static str; 25] = [
        "predicates",
        "packs-halves",
        "caller-saved",
        "reserved",
        "tuples",
        "matrix-tuple",
        "warpgroup-tuple",
        "banks",
        "cost-is-product",
        "latency-1",
        "latency-2",
        "latency-3",
        "cache-1",
        "cache-2",
        "loop-base",
        "uniform-factor",
        "clamp",
        "degree-factor",
        "always-below",
        "never-above",
        "cleanup",
        "split-threshold",
        "split-rounds",
        "split-iterations",
        "split-gain",
    ];

    /// How many units one general register counts: halves, where those are packed.
    pub(in crate::allocate) fn units_per_register(&self) -> u32 {
        if self.packs_halves { 2 } else { 1 }
    }

    /// The preset of that name.
    pub fn find(name: &str) -> Option<&'static Preset> {
        Self::ALL.into_iter().find(|preset| preset.name == name)
    }
}

/// Where and how often a live range is used, as far as the cost of spilling it asks.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// How often it is written in one run of the function.
    pub written: f32,
    /// How often it is read.
    pub read: f32,
    /// How deep in loops the blocks are that it is live in, weighted by their frequency.
    pub loop_depth: f32,
    /// 32-bit words that spilling or reloading it moves.
    pub words: u32,
    /// It is the same in all threads of a warp.
    pub is_uniform: bool,
}

impl CostModel {
    /// What spilling a live range costs where `live_bytes` are live at once. From 0 to the clamp.
    ///
    /// NVIDIA's compiler takes the average of `base^depth` over the blocks; here the depth is averaged, which is the
    /// same where a live range keeps to one depth.
    pub fn cost(&self, usage: &Usage, live_bytes: u32) -> f32 {
        let level = self.cache.iter().filter(|&&bytes| live_bytes > bytes).count();
        let accesses = if self.is_product {
            usage.written * usage.read
        } else {
            (usage.written + usage.read) * usage.words as f32
        };
        let uniform = if usage.is_uniform { self.uniform_factor } else { 1.0 };
        let cost = accesses * self.latency[level] * self.loop_base.powf(usage.loop_depth) * uniform;
        // The sum of nothing is -0.
        if cost.is_nan() { self.clamp } else { cost.clamp(0.0, self.clamp) + 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: Usage = Usage { written: 2.0, read: 3.0, loop_depth: 2.0, words: 2, is_uniform: false };

    /// The documented product, its latencies by what is live, and its clamp; and plain words.
    #[test]
    fn documented_costs() {
        let cicc = &Preset::CICC.cost;
        assert_eq!(cicc.cost(&USAGE, 0), 2.0 * 3.0 * 4.0 * 2.25);
        assert_eq!(cicc.cost(&USAGE, (64 << 10) + 1), 2.0 * 3.0 * 10.0 * 2.25);
        assert_eq!(cicc.cost(&USAGE, (256 << 10) + 1), 2.0 * 3.0 * 40.0 * 2.25);
        assert_eq!(cicc.cost(&Usage { is_uniform: true, ..USAGE }, 0), 2.0 * 3.0 * 4.0 * 2.25 * 1.5);
        assert_eq!(cicc.cost(&Usage { written: 1e9, ..USAGE }, 0), 1e9);
        assert_eq!(Preset::HW.cost.cost(&USAGE, 0), 10.0);
    }

    /// Costs that overflow are the highest, not the lowest.
    #[test]
    fn overflow_is_dear() {
        let usage = Usage { written: f32::INFINITY, read: 0.0, ..USAGE };
        assert_eq!(Preset::CICC.cost.cost(&usage, 0), 1e9);
    }

    /// Every constant has a name and changes with it; what is not allowed is said with what is.
    #[test]
    fn constants_by_name() {
        let values = |name: &str| match name {
            "packs-halves" | "cost-is-product" | "merge-by-weight" | "RegAllocMacForce" | "RegAllocNoRetargetPrefs" => {
                "on"
            }
            "RegAllocCoalescing" | "tuples" | "cleanup" => "off",
            "matrix-tuple" | "warpgroup-tuple" => "2",
            "caller-saved" | "reserved" => "2..9",
            "banks" => "4x1",
            "RegAllocPrefMacOperands" | "split-rounds" => "2",
            _ => "3",
        };
        for name in Preset::names() {
            let mut preset = Preset::HW;
            assert_eq!(preset.set(name, values(name)), Ok(()));
            assert_ne!(preset, Preset::HW, "{name}");
            let error = preset.set(name, "nonsense").expect_err("no value").to_string();
            assert!(error.starts_with(&format!("nvptx-ra: --set {name}=nonsense: not allowed; use ")), "{error}");
        }
        let error = Preset::HW.clone().set("loops", "1").expect_err("no name").to_string();
        assert!(error.starts_with("nvptx-ra: --set loops: unknown; use predicates, "), "{error}");
    }

    /// Rows of 8 are of processors before sm_80.
    #[test]
    fn rows_by_processor() {
        let row = |processor: &str| {
            let mut preset = Preset::HW;
            preset.for_processor(processor);
            preset.matrix_tuple
        };
        assert_eq!(["sm_70", "sm_75", "sm_80", "sm_90a", "sm_100f", ""].map(row), [8, 8, 4, 4, 4, 4].map(Some));
    }

    /// Presets are found by their names.
    #[test]
    fn names() {
        assert!(Preset::ALL.into_iter().all(|preset| Preset::find(preset.name) == Some(preset)));
        assert_eq!(Preset::find("brigs"), None);
    }
}
