//! Selection of the launches of a kernel: shape, parameters, memory and limits.

use super::guide::SHAKEN;
use super::layout;
use super::machine::{Setting, Turns};
use super::memory::{Filled, Image, Values};
use super::program::{Function, Init, Kernel, Op, Program, Special};
use super::types::{Ty, mixed};
use super::wishes::Wishes;

/// A value for a parameter of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A drawn value.
    Drawn,
    /// An integer or address.
    Integer(i64),
    /// A floating-point number in the parameter's type; a float if the type is unknown.
    Float(f64),
    /// The bytes of a parameter of any size.
    Bytes(Vec<u8>),
}

/// The launches of a kernel.
#[derive(Clone, Debug)]
pub struct Launches {
    /// The number of launches.
    pub count: u32,
    /// Additional launches whose integer parameters are near the limits of their types. They test how an assembler
    /// translates loops: the difference of start and bound may wrap.
    pub limits: u32,
    /// The most additional launches for statements that have not run or branches that went one way only.
    pub more: u32,
    /// The seed of all drawn values.
    pub seed: u64,
    /// The grid; drawn if `None`.
    pub grid: Option<[u32; 3]>,
    /// The block; drawn if `None`.
    pub block: Option<[u32; 3]>,
    /// The most threads of a block, for a kernel without such a directive; drawn if `None`.
    pub threads: Option<u32>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Values of the first parameters.
    pub arguments: Vec<Argument>,
    /// Memory contents before each launch: addresses and bytes.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// Whether floating-point numbers must agree in every bit.
    pub is_exact: bool,
    /// Whether memory and parameters also hold infinities, NaN, subnormal numbers and the limits of integers. All bits
    /// must then agree.
    pub extremes: bool,
    /// Whether the second program is the assembled first program. An assembler may return any value for an integer
    /// division by zero.
    pub is_assembled: bool,
    /// The most warp instructions of a launch.
    pub most_steps: u64,
    /// The least number of warp instructions that is assumed for a program that ends. Another program counts as endless
    /// if it executes 1,000 times as many warp instructions without a new store.
    pub least_steps: u64,
    /// The most warp instructions of all launches of both programs together.
    pub most_steps_in_all: u64,
    /// Whether the traffic of memory accesses is recorded.
    pub measures: bool,
    /// Places of memory that a rule fills.
    pub filled: Vec<Filled>,
    /// Whether the results are not wanted any more. Called after each turn of a warp; the launch ends once it returns
    /// true.
    pub is_unwanted: fn() -> bool,
}

impl Default for Launches {
    fn default() -> Self {
        Self {
            count: 4,
            limits: 0,
            more: 16,
            seed: 1,
            grid: None,
            block: None,
            threads: None,
            dynamic_shared: DYNAMIC_SHARED,
            arguments: Vec::new(),
            memory: Vec::new(),
            is_exact: false,
            extremes: false,
            is_assembled: false,
            most_steps: 4_000_000,
            least_steps: 1_000,
            most_steps_in_all: u64::MAX,
            measures: false,
            filled: Vec::new(),
            is_unwanted: || false,
        }
    }
}

/// The most integers from a kernel's comparisons that are drawn.
const MOST_COMPARED: usize = 8;

/// The attempt number of launches that the search draws; in these, all sizes are drawn.
pub(super) const SEARCHED: u32 = 5;

/// The number of the first attempt that mixes sizes, after no ordinary attempt was comparable.
pub(super) const MIXED: u32 = 6;

/// Default bytes of dynamic shared memory.
const DYNAMIC_SHARED: u32 = 48 * 1024;

/// Identification of a launch.
#[derive(Clone, Debug, Default)]
pub(super) struct LaunchSeed {
    /// The launch's index, and how often it was drawn before.
    pub(super) number: u32,
    pub(super) attempt: u32,
    /// Values that replace drawn ones.
    pub(super) wishes: Wishes,
}

impl Launches {
    /// Whether the parameters of a launch are near the limits of their types.
    pub(super) fn is_at_limits(&self, number: u32) -> bool {
        (self.count..self.count.saturating_add(self.limits)).contains(&number)
    }

    /// Returns the setting of a launch; `schedule` is the seed of its thread order.
    pub(super) fn setting(&self, program: &Program, kernel: usize, drawn: &LaunchSeed, schedule: u64) -> Setting {
        let &LaunchSeed { number, attempt, ref wishes } = drawn;
        let mut bounds = program.functions[kernel].kernel.clone().unwrap_or_default();
        bounds.largest_block = bounds.largest_block.or(self.threads.map(|threads| [threads, 1, 1]));
        let reads = |special| program.functions[kernel].rows.iter().any(|row| row.init == Init::Special(special));
        let along = |axis: u8| if reads(Special::Ctaid(axis)) { 2 } else { 1 };
        // Blocks far from the first may behave differently, along each axis.
        let far = |axis: u8| if reads(Special::Ctaid(axis)) { 5 } else { 1 };
        let few = [[2, along(1), along(2)], [1, 1, 1], [3, 1, 1], [2, along(1), 1]];
        let more = [[9, 1, 1], [1, far(1), 1], [1, 1, far(2)], [4, along(1), along(2)]];
        let grid = self.grid.or(wishes.grid).unwrap_or([few, more].concat()[number as usize % 8]);
        let wished = wishes.block.filter(|_| bounds.required_block.is_none());
        let wished = wished.filter(|block| block.iter().product::<u32>() <= most_threads(&bounds));
        let block = self.block.or(wished).unwrap_or_else(|| block_of(&bounds, number, attempt, reads(Special::Tid(1))));
        Setting {
            kernel,
            grid,
            block,
            schedule: mixed(self.seed ^ mixed(schedule)),
            turns: Turns::Drawn,
            divides_by_zero: (self.is_exact || self.extremes) && !self.is_assembled,
            most_steps: self.most_steps,
            most_steps_in_all: u64::MAX,
            most_quiet: None,
            measures: self.measures,
            traces: false,
            blocks: None,
            is_unwanted: self.is_unwanted,
            shared_bytes: self.dynamic_shared,
            wishes: wishes.clone(),
        }
    }

    /// Returns the memory before a launch: its parameters and the given contents.
    pub(super) fn image(&self, program: &Program, setting: &Setting, drawn: &LaunchSeed) -> Image {
        let &LaunchSeed { number, attempt, ref wishes } = drawn;
        // Wishes for the shape do not change parameters.
        let plain = LaunchSeed { wishes: Wishes::default(), ..*drawn };
        let plain = self.setting(program, setting.kernel, &plain, 0);
        let seed = mixed(self.seed ^ mixed((u64::from(number) << 32) | u64::from(attempt)));
        let mut image = Image::new(seed);
        let mut sizes = sizes(&plain, number, attempt);
        if self.is_at_limits(number) {
            sizes = NEAR_LIMITS.to_vec();
        } else if number % 2 == 1 && number % 8 != 7 && matches!(attempt, 0 | SEARCHED) {
            sizes.extend(compared(&program.functions[setting.kernel]));
        }
        let values = values(self.extremes, attempt);
        let sizes = if values == Values::Extreme { [sizes, LIMITS.to_vec()].concat() } else { sizes };
        image.draw_from(sizes, values, attempt == SEARCHED);
        image.fill(self.filled.clone());
        for (offset, bytes, value) in wishes.parameters.iter().filter(|(_, bytes, value)| *bytes > 1 || *value < 2) {
            image.set(layout::PARAMETERS + u64::from(*offset), &value.to_le_bytes()[..*bytes as usize]);
        }
        self.memory.iter().for_each(|(address, content)| image.set(*address, content));
        let kernel = program.functions[setting.kernel].kernel.clone().unwrap_or_default();
        for (argument, parameter) in self.arguments.iter().zip(&kernel.parameters) {
            let bytes = match (argument, parameter.ty) {
                (Argument::Drawn, _) => continue,
                (Argument::Integer(value), _) => value.to_le_bytes().to_vec(),
                (Argument::Float(value), Some(Ty::F64)) => value.to_le_bytes().to_vec(),
                (Argument::Float(value), _) => (*value as f32).to_le_bytes().to_vec(),
                (Argument::Bytes(bytes), _) => bytes.clone(),
            };
            let length = bytes.len().min(parameter.bytes as usize);
            image.set(layout::PARAMETERS + u64::from(parameter.offset), &bytes[..length]);
        }
        image
    }
}

/// Integers at limits, for parameters.
const LIMITS: [u64; 3] = [u64::MAX, i32::MAX as u64, 1 << 31];

/// Integers near the limits of signed and unsigned 32 bits, and halfway: only few large steps lie between two of them.
const NEAR_LIMITS: [u64; 6] = [1 << 31, (1 << 31) + 1, i32::MAX as u64 - 1, 1 << 30, 3 << 30, u32::MAX as u64 - 1];

/// Returns the kind of values that an attempt draws. If extreme integers give nothing comparable, for example because
/// of addresses out of bounds, only floating-point numbers are extreme.
fn values(extremes: bool, attempt: u32) -> Values {
    match attempt {
        0 | 1 if extremes => Values::Extreme,
        2 | 3 if extremes => Values::ExtremeFloats,
        1 | 3 => Values::Positive,
        _ => Values::Moderate,
    }
}

/// Returns the most threads that a kernel allows in a block.
fn most_threads(kernel: &Kernel) -> u32 {
    kernel.largest_block.map_or(1024, |block| block.iter().product())
}

/// Returns the block; two-dimensional if the kernel reads `%tid.y`.
fn block_of(kernel: &Kernel, number: u32, attempt: u32, is_flat: bool) -> [u32; 3] {
    if let Some(block) = kernel.required_block {
        return block;
    }
    let total = |block: [u32; 3]| block.iter().product::<u32>();
    let Some(largest) = kernel.largest_block.filter(|&block| total(block) <= 1024) else {
        let width = match attempt {
            2 | 4 => 1024,
            3 => 256,
            MIXED.. => [128, 256, 64, 32][attempt as usize % 4],
            _ => [64, 128, 32, 1024][number as usize % 4],
        };
        return if is_flat { [32, width / 32, 1] } else { [width, 1, 1] };
    };
    if is_flat && largest[1] * largest[2] == 1 && largest[0] >= 64 {
        return [32, largest[0] / 32, 1];
    }
    if number % 4 != 3 || largest[1] * largest[2] > 1 {
        return largest;
    }
    [largest[0].div_ceil(2).next_multiple_of(32).min(largest[0]), 1, 1]
}

/// Returns small constants from a kernel's comparisons, and their successors, for every second launch. A parameter that
/// selects a path often equals one of them.
fn compared(function: &Function) -> Vec<u64> {
    let mut found = Vec::new();
    for inst in &function.insts {
        let Op::Pure { pure, from, .. } = &inst.op else { continue };
        if pure.results.first() != Some(&Ty::Pred) {
            continue;
        }
        for &row in &from[..pure.sources.len()] {
            match function.rows[row.0 as usize].init {
                Init::Constant(value) if value < 64 => found.extend([value, value + 1]),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found.truncate(MOST_COMPARED);
    found
}

/// Returns the integers from which parameters are drawn. The first launch has only sizes. Launches 3, 5 and 7 have
/// large sizes. The eighth has one size for all parameters, so rows are as far apart as they are long. Others also have
/// zero or odd values. Repeated attempts use large powers of two, then small ones, then one value. The last attempts
/// mix tiny and large values, so that loops end and rows are far apart.
fn sizes(setting: &Setting, number: u32, attempt: u32) -> Vec<u64> {
    let threads: u32 = setting.block.iter().product();
    let width = setting.block[0].max(2);
    let total = (setting.grid[0] * threads).min(4096);
    match attempt {
        0 if number % 8 == 7 => return vec![512],
        0 if matches!(number % 8, 2 | 4 | 6) => return vec![u64::from(total * 8).min(16_384), total.into()],
        0 => {}
        SEARCHED => return SHAKEN.into_iter().chain([width.into(), total.into()]).collect(),
        1 | 4 => return vec![128, 256, 512],
        2 => return vec![1, 2, 4, 8],
        MIXED.. => return vec![1, 1, 2, 256, 512],
        _ => return vec![width.into()],
    }
    let mut sizes = vec![width.into(), total.into(), 64, 32];
    if number > 0 {
        sizes.extend([1, 2, 7, 8, u64::from(width) + 1]);
    }
    if number > 1 {
        sizes.extend([0, 3]);
    }
    sizes
}
