//! Compares a kernel's machine code with its PTX, on drawn launches.

use std::fmt::Write as _;

use nvptx_ra::emulate::{Allowed, Comparison, Difference, Differing, Launches, Program, Reference, Verdict};
use nvptx_ra::error::Error;
use nvptx_ra::sass::hazards::Finding;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::sass::meaning::Approximation;

use super::{Meaning, Text};
use crate::machine::program::{self, Loaded};

/// If all launches together may execute fewer warp instructions, there are no launches with extreme values.
const LEAST_FOR_EXTREMES: u64 = 1_000_000;

/// A kernel with its launches.
pub(crate) struct Checked<'t> {
    kernel: String,
    text: &'t Text,
    sets: Vec<(Launches, Reference<'t>)>,
}

/// Machine code to check.
#[derive(Clone, Copy)]
pub(crate) struct Code<'c> {
    pub(crate) machine: &'c Machine,
    pub(crate) cubin: &'c [u8],
    /// Whether the assembler may fuse products and sums.
    pub(crate) fuses: bool,
}

/// A difference and the launch that shows it.
#[derive(Clone, Debug)]
pub(crate) struct Counterexample {
    pub(crate) difference: Difference,
    /// The grid and the block.
    pub(crate) shape: [[u32; 3]; 2],
    /// Warp instructions of the PTX executed until the difference showed.
    pub(crate) steps: u64,
    /// The set that contains this launch.
    pub(crate) launches: Launches,
    /// The machine instruction that stores the value: `STG.E`.
    pub(crate) instruction: Option<String>,
}

/// A kernel's result, with a difference if two runs show one.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub(crate) meaning: Meaning,
    pub(crate) counterexample: Option<Box<Counterexample>>,
}

impl Compared {
    /// Returns the result for a kernel that is not compared, with the reason.
    pub(crate) fn open(reason: impl Into<String>) -> Self {
        Self { meaning: Meaning::NotComparable(reason.into()), counterexample: None }
    }
}

impl Text {
    /// Makes the sets of launches of a kernel from `launches`. The first set has one block, because several blocks of
    /// many kernels have races on drawn arguments. The second set has several blocks. If results are exact to the last
    /// bit, a third set has infinities, NaN and the limits of integers. Each launch of the PTX runs once, for any
    /// number of codes to compare.
    pub(crate) fn checked(&self, kernel: &str, launches: &Launches) -> Checked<'_> {
        let drawn = self.as_assembled(launches);
        let all = drawn.most_steps_in_all;
        let with_extremes = !self.approximates && !launches.extremes && all >= LEAST_FOR_EXTREMES;
        let parts = if with_extremes { [2, 4, 4] } else { [2, 2, 0] };
        let part = |number: usize, set: Launches| {
            let most_steps_in_all = if all == u64::MAX { all } else { all / parts[number] };
            Launches { most_steps_in_all, ..set }
        };
        let few = Launches { count: launches.count.div_ceil(2), more: launches.more / 4, ..drawn.clone() };
        let one_block = Launches { grid: drawn.grid.or(Some([1, 1, 1])), ..drawn.clone() };
        let mut sets = vec![part(0, one_block), part(1, Launches { limits: 0, ..drawn })];
        if with_extremes {
            sets.push(part(2, Launches { extremes: true, limits: 0, ..few }));
        }
        self.with(kernel, &sets)
    }

    /// Makes a kernel with only these launches.
    pub(crate) fn alone(&self, kernel: &str, launches: &Launches) -> Checked<'_> {
        self.with(kernel, &[self.as_assembled(launches)])
    }

    fn as_assembled(&self, launches: &Launches) -> Launches {
        Launches { is_assembled: true, is_exact: !self.approximates, ..launches.clone() }
    }

    fn with(&self, kernel: &str, sets: &[Launches]) -> Checked<'_> {
        let set = |set: &Launches| (set.clone(), Reference::new(&self.program, kernel, set));
        Checked { kernel: kernel.to_owned(), text: self, sets: sets.iter().map(set).collect() }
    }
}

impl Code<'_> {
    /// Returns the mnemonic of a kernel's instruction by its number, counted from 1.
    fn mnemonic(&self, kernel: &str, number: u32) -> Option<String> {
        let function = self.machine.code.iter().find(|function| function.name == kernel)?;
        Some(function.instructions.get(number.checked_sub(1)? as usize)?.mnemonic.to_string())
    }

    /// Returns the same code with other results of approximate functions: the lowest, the highest, and drawn results.
    fn others(&self) -> Result<Vec<Loaded>, Error> {
        let ways = [Approximation::Lowest, Approximation::Highest, Approximation::Drawn(1)];
        ways.into_iter().map(|way| program::program(self.cubin, "the cubin", way)).collect()
    }
}

impl Checked<'_> {
    /// Compares the kernel with its machine code. The bound of executed instructions applies to each code.
    ///
    /// # Errors
    /// The disassembler fails.
    pub(crate) fn compare(&mut self, code: Code<'_>) -> Result<Compared, Error> {
        // The interpreter always waits, so it cannot show the effect of a missing wait.
        if let Some(hazard) = code.machine.hazards(&self.kernel).iter().find(|hazard| Finding::is_certain(hazard)) {
            let meaning = Meaning::Different(format!("the machine code does not wait: {hazard}"));
            return Ok(Compared { meaning, counterexample: None });
        }
        let (mut launches, mut stores, mut statements, mut reason) = (0, 0, [0; 2], None);
        for (set, reference) in &mut self.sets {
            reference.renew();
            let mut comparison = reference.compare(&code.machine.program);
            if comparison.difference().is_some() {
                let others = code.others()?;
                let second: Vec<&Program> = others.iter().map(Loaded::program).collect();
                let first = if code.fuses { self.text.fused()? } else { &[] };
                comparison = reference.compare_allowing(&code.machine.program, Allowed { first, second: &second });
            }
            if let Some(difference) = comparison.difference() {
                let store = difference.stores()[1];
                let counterexample = Counterexample {
                    difference: difference.clone(),
                    shape: comparison.launches.last().map(|launched| launched.shape).unwrap_or_default(),
                    steps: comparison.sides[0].steps,
                    launches: set.clone(),
                    instruction: store.and_then(|store| code.mnemonic(&self.kernel, store.line)),
                };
                let meaning = Meaning::Different(counterexample.text());
                return Ok(Compared { meaning, counterexample: Some(Box::new(counterexample)) });
            }
            launches += comparison.equal();
            stores += comparison.launches.iter().map(|launched| launched.stores).sum::<usize>();
            let ran = comparison.sides[0].coverage.statements;
            statements = [0, 1].map(|number| ran[number].max(statements[number]));
            reason = reason.or_else(|| why_not(&comparison));
        }
        Ok(match reason {
            Some(reason) if launches == 0 => Compared::open(reason),
            None if launches == 0 => Compared::open("no launch ran"),
            _ if stores == 0 => Compared::open("no launch stores anything"),
            _ => Compared { meaning: Meaning::Same { launches, statements }, counterexample: None },
        })
    }
}

/// Returns the reason why the first incomparable launch cannot be compared.
fn why_not(comparison: &Comparison) -> Option<String> {
    comparison.launches.iter().find_map(|launched| match &launched.verdict {
        Verdict::NotComparable { program, reason } => Some(format!("{}: {}", SIDES[*program % 2], named(reason))),
        _ => None,
    })
}

/// Names of the two sides, in a comparison's order.
const SIDES: [&str; 2] = ["the PTX", "the machine code"];
const PROGRAMS: [&str; 2] = ["the first program", "the second program"];

fn named(text: &str) -> String {
    PROGRAMS.iter().zip(SIDES).fold(text.to_owned(), |text, (program, side)| text.replace(program, side))
}

impl Counterexample {
    /// Describes the difference in a sentence, with its launch.
    pub(crate) fn text(&self) -> String {
        let Self { difference, shape, instruction, .. } = self;
        let mut text = String::new();
        match &difference.differing {
            Differing::Stores { address, buffer, stores, places, sources } => {
                _ = match buffer {
                    Some((name, offset)) => write!(text, "at {name}{offset:+}"),
                    None => write!(text, "at {address:#x}"),
                };
                for (number, side) in SIDES.into_iter().enumerate() {
                    let Some(store) = &stores[number] else {
                        _ = write!(text, "; {side} stores nothing");
                        continue;
                    };
                    let (value, thread) = (store.text(), store.thread);
                    _ = write!(text, "; {side} stores {value} by thread {thread} in {}", places[number]);
                    if let Some(instruction) = instruction.as_ref().filter(|_| number == 1) {
                        _ = write!(text, " ({instruction})");
                    }
                    if let Some(source) = &sources[number] {
                        _ = write!(text, " ({source})");
                    }
                }
            }
            Differing::End { endless, reason, steps } => {
                let (endless, other) = (SIDES[*endless % 2], SIDES[(endless + 1) % 2]);
                _ = write!(text, "{endless} does not end: {reason}; {other} ends after {steps} warp instructions");
            }
        }
        let [grid, block] = shape.map(|sizes| sizes.map(|size| size.to_string()).join(","));
        _ = write!(text, "; --grid {grid} --block {block}");
        for (name, value) in &difference.parameters {
            _ = write!(text, ", {name} = {value:#x}");
        }
        text
    }
}
