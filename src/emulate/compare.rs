//! Whether two programs compute the same.

use std::fmt;

use rustc_hash::FxHashMap;

use super::launch::Launches;
use super::machine::{Outcome, Setting, Stopped, run};
use super::memory::Image;
use super::program::Program;
use super::run::{Side, Store, parameters, stores};
use super::tolerance::{are_close, value_of};
use super::types::low;
use crate::ptx::Module;

/// A place where two programs leave different values.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The launch's number.
    pub launch: u32,
    /// Where: a generic address.
    pub address: u64,
    /// The parameter whose buffer the address is in, with the offset, if it is in one.
    pub buffer: Option<(String, i64)>,
    /// What each program stored there, if it did.
    pub stores: [Option<Store>; 2],
    /// The parameters of the launch.
    pub parameters: Vec<(String, u64)>,
}

/// What is said of a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Both programs store the same.
    Same,
    /// They do not.
    Different(Box<Difference>),
    /// Nothing can be said, for a reason. The program it is about is 0 or 1.
    NotComparable {
        /// The program.
        program: usize,
        /// The reason.
        reason: String,
    },
}

/// A launch and what is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// The grid and the block.
    pub shape: [[u32; 3]; 2],
    /// The verdict.
    pub verdict: Verdict,
    /// How many words the first program stored.
    pub stores: usize,
    /// Places that the second program read and the first did not.
    pub new_reads: u64,
    /// More than a tenth of what was stored is no finite number.
    pub is_wild: bool,
}

/// What launches of two programs gave.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The kernel.
    pub kernel: String,
    /// The launches, up to the first that differs.
    pub launches: Vec<Launched>,
    /// What ran of each program.
    pub sides: [Side; 2],
}

impl Comparison {
    /// The first difference.
    pub fn difference(&self) -> Option<&Difference> {
        self.launches.iter().find_map(|launched| match &launched.verdict {
            Verdict::Different(difference) => Some(&**difference),
            _ => None,
        })
    }

    /// How many launches were equal.
    pub fn equal(&self) -> usize {
        self.launches.iter().filter(|launched| launched.verdict == Verdict::Same).count()
    }

    /// Whether all that could be compared was equal, and something could.
    pub fn is_same(&self) -> bool {
        self.difference().is_none() && self.equal() > 0
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.buffer {
            Some((name, offset)) => write!(formatter, "at {name}{offset:+}")?,
            None => write!(formatter, "at {:#x}", self.address)?,
        }
        for (store, which) in self.stores.iter().zip(["first", "second"]) {
            match store {
                Some(store) => write!(
                    formatter,
                    "; the {which} program stores {} by thread {} in line {}",
                    store.text(),
                    store.thread,
                    store.line
                )?,
                None => write!(formatter, "; the {which} program stores nothing")?,
            }
        }
        let values: Vec<String> = self.parameters.iter().map(|(name, value)| format!("{name} = {value:#x}")).collect();
        write!(formatter, "; launch {} with {}", self.launch, values.join(", "))
    }
}

/// Runs two programs on the same launches of a kernel and compares what they store.
pub fn compare(first: &Module<'_>, second: &Module<'_>, kernel: &str, launches: &Launches) -> Comparison {
    compare_programs(&Program::new(first), &Program::new(second), kernel, launches)
}

/// The same with programs that are decoded.
pub fn compare_programs(first: &Program, second: &Program, kernel: &str, launches: &Launches) -> Comparison {
    let mut comparison = Comparison { kernel: kernel.to_owned(), ..Comparison::default() };
    let mut steps = Steps { left: launches.most_steps_in_all };
    for number in 0..launches.count {
        // A launch that there are no instructions left for says nothing of the programs.
        if number > 0 && steps.left == 0 {
            break;
        }
        let launched = launch([first, second], kernel, launches, number, &mut comparison.sides, &mut steps);
        let is_end = matches!(launched.verdict, Verdict::Different(_));
        comparison.launches.push(launched);
        if is_end {
            break;
        }
    }
    comparison
}

/// The instructions of warps that may still run.
struct Steps {
    left: u64,
}

impl Steps {
    /// Runs a launch with what is left.
    fn run(&mut self, program: &Program, setting: &Setting, image: &mut Image) -> Result<Outcome, Stopped> {
        let setting = Setting { most_steps: setting.most_steps.min(self.left), ..setting.clone() };
        let ran = run(program, &setting, image);
        let steps = ran.as_ref().map_or_else(|stopped| stopped.steps, |outcome| outcome.steps);
        self.left = self.left.saturating_sub(steps);
        ran
    }
}

/// How often a launch is drawn until something can be said of it and most of its results are finite numbers.
const ATTEMPTS: u32 = 5;

fn launch(
    programs: [&Program; 2],
    kernel: &str,
    launches: &Launches,
    number: u32,
    sides: &mut [Side; 2],
    steps: &mut Steps,
) -> Launched {
    let mut launched = Launched { shape: [[0; 3]; 2], verdict: Verdict::Same, stores: 0, new_reads: 0, is_wild: false };
    let not_comparable = |program, reason: String| Verdict::NotComparable { program, reason };
    let kernels = programs.map(|program| program.kernel(kernel));
    let [Some(first), Some(second)] = kernels else {
        let program = usize::from(kernels[0].is_some());
        launched.verdict = not_comparable(program, format!("there is no kernel {kernel}"));
        return launched;
    };
    let mut tried = None;
    for attempt in 0..ATTEMPTS {
        let setting = launches.setting(programs[0], first, number, (attempt, 0));
        if attempt == 0 {
            launched.shape = [setting.grid, setting.block];
        }
        let mut image = launches.image(programs[0], &setting, number, attempt);
        match steps.run(programs[0], &setting, &mut image) {
            // The first reason is told: it is that of the plainest launch.
            Err(stopped) if attempt == 0 => launched.verdict = not_comparable(0, stopped.reason),
            Err(_) => {}
            Ok(outcome) => {
                let is_wild = is_wild(&outcome);
                if tried.is_none() || !is_wild {
                    launched.is_wild = is_wild;
                    tried = Some((image, outcome, attempt, setting));
                }
                if !is_wild {
                    break;
                }
            }
        }
    }
    let Some((mut image, outcome, attempt, setting)) = tried else { return launched };
    launched.shape = [setting.grid, setting.block];
    launched.verdict = Verdict::Same;
    sides[0].add(programs[0], &outcome);
    launched.stores = outcome.written.len();
    // Does the first program always give the same, in whatever order its threads run?
    let again = |steps: &mut Steps, image: &mut Image, schedule: u64| -> Option<String> {
        let other = launches.setting(programs[0], first, number, (attempt, schedule));
        match steps.run(programs[0], &other, image) {
            Ok(other) if first_difference(&outcome, &other, image, launches.is_exact).is_none() => None,
            Ok(_) => Some("the results depend on the order in which threads run".into()),
            Err(stopped) => Some(stopped.reason),
        }
    };
    if outcome.depends_on_order
        && let Some(reason) = again(steps, &mut image, 1).or_else(|| again(steps, &mut image, 4))
    {
        launched.verdict = not_comparable(0, reason);
        return launched;
    }
    image.begin_second();
    let other_setting = Setting { kernel: second, ..launches.setting(programs[1], second, number, (attempt, 0)) };
    let other_setting = Setting { grid: setting.grid, block: setting.block, ..other_setting };
    let other = match steps.run(programs[1], &other_setting, &mut image) {
        Ok(other) => other,
        Err(stopped) => {
            launched.verdict = not_comparable(1, stopped.reason);
            return launched;
        }
    };
    sides[1].add(programs[1], &other);
    launched.new_reads = image.new_reads();
    if let Some((address, stores)) = first_difference(&outcome, &other, &mut image, launches.is_exact) {
        // A difference counts only where the order of threads makes none.
        let reason = (2..4).find_map(|schedule| again(steps, &mut image, schedule));
        launched.verdict = match reason {
            Some(reason) => not_comparable(0, reason),
            None => {
                let parameters = parameters(programs[0], &setting, &mut image);
                let buffer = buffer_of(&parameters, address);
                let difference = Difference { launch: number, address, buffer, stores, parameters };
                Verdict::Different(Box::new(difference))
            }
        };
    }
    launched
}

/// The parameter whose buffer an address is in.
fn buffer_of(parameters: &[(String, u64)], address: u64) -> Option<(String, i64)> {
    let offset = |value: u64| address.wrapping_sub(value) as i64;
    let near =
        parameters.iter().filter(|(_, value)| *value >= super::layout::BUFFERS && offset(*value).abs() < 1 << 31);
    near.min_by_key(|(_, value)| offset(*value).abs()).map(|(name, value)| (name.clone(), offset(*value)))
}

/// Whether more than a tenth of what was stored is no finite number.
pub(super) fn is_wild(outcome: &Outcome) -> bool {
    let stores = stores(&outcome.written);
    let is_odd = |store: &&Store| {
        store.kind.is_float() && store.bytes == store.kind.bytes() && !value_of(store.kind, store.bits).is_finite()
    };
    stores.iter().filter(is_odd).count() * 10 > stores.len()
}

/// The first address where two runs leave different values, with what each stored there.
fn first_difference(
    first: &Outcome,
    second: &Outcome,
    image: &mut Image,
    is_exact: bool,
) -> Option<(u64, [Option<Store>; 2])> {
    let [left, right] = [first, second].map(|outcome| stores(&outcome.written));
    let bytes_of = |outcome: &Outcome| -> FxHashMap<u64, (u32, u8)> {
        outcome.written.iter().map(|&(address, value, mask, _)| (address, (value, mask))).collect()
    };
    let maps = [bytes_of(first), bytes_of(second)];
    let mut value_in = |which: usize, store: &Store| {
        (0..store.bytes as u64).fold(0u64, |all, byte| {
            let address = store.address + byte;
            let word = maps[which].get(&(address & !3)).filter(|word| word.1 >> (address & 3) & 1 == 1);
            let value = match word {
                Some(word) => u64::from(word.0) >> (8 * (address & 3)) & 0xff,
                None => image.read(address, 1, store.kind),
            };
            all | value << (8 * byte)
        })
    };
    let mut differing = Vec::new();
    for (which, list) in [(0, &left), (1, &right)] {
        let found = list.iter().find(|store| {
            let other = value_in(1 - which, store);
            let is_float = store.kind.is_float() && store.bytes == store.kind.bytes() && !is_exact;
            let is_nan = |bits| store.kind.is_float() && value_of(store.kind, bits).is_nan();
            let is_equal = store.bits == low(other, 8 * store.bytes as u32)
                || (is_exact && store.bytes == store.kind.bytes() && is_nan(store.bits) && is_nan(other))
                || (is_float && are_close(store.kind, store.bits, other));
            !is_equal
        });
        differing.extend(found.map(|store| store.address));
    }
    let address = differing.into_iter().min()?;
    let at = |list: &[Store]| {
        list.iter().find(|store| store.address <= address && address < store.address + store.bytes as u64).copied()
    };
    Some((address, [at(&left), at(&right)]))
}
