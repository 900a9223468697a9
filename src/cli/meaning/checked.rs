//! A kernel's machine code beside its PTX, and the launches that both run on.

use std::fmt::Write as _;

use nvptx_ra::emulate::{Allowed, Comparison, Difference, Differing, Launches, Program, Reference, Verdict};
use nvptx_ra::error::Error;
use nvptx_ra::sass::hazards::Finding;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::sass::meaning::Approximation;

use super::{Meaning, Text};
use crate::machine::program::{self, Loaded};

/// With fewer instructions of warps for all launches, the plain ones get all of them.
const LEAST_FOR_EXTREMES: u64 = 1_000_000;

/// A kernel with its launches.
pub(crate) struct Checked<'t> {
    kernel: String,
    text: &'t Text,
    sets: Vec<(Launches, Reference<'t>)>,
}

/// Machine code that is checked.
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
    /// How many instructions of warps of the PTX ran until it showed.
    pub(crate) steps: u64,
    /// The set of launches that it is one of.
    pub(crate) launches: Launches,
    /// The machine instruction that stores the value: `STG.E`.
    pub(crate) instruction: Option<String>,
}

/// What is said of a kernel, with a difference that two runs show.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub(crate) meaning: Meaning,
    pub(crate) counterexample: Option<Box<Counterexample>>,
}

impl Compared {
    /// Nothing can be said, for a reason.
    pub(crate) fn open(reason: impl Into<String>) -> Self {
        Self { meaning: Meaning::NotComparable(reason.into()), counterexample: None }
    }
}

impl Text {
    /// A kernel with sets of launches, from some that say how many there are: of one block, as blocks of many kernels race
    /// with each other on drawn arguments; of several; and, where results are given to the last bit, of infinities, NaN and
    /// the limits of integers. Each launch runs once, however many codes are compared with it.
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

    /// A kernel with these launches alone.
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
    /// The instruction of a kernel with a number, from 1 on, as it is printed.
    fn mnemonic(&self, kernel: &str, number: u32) -> Option<String> {
        let function = self.machine.code.iter().find(|function| function.name == kernel)?;
        Some(function.instructions.get(number.checked_sub(1)? as usize)?.mnemonic.to_string())
    }

    /// The same with approximate functions that are off in each direction.
    fn others(&self) -> Result<Vec<Loaded>, Error> {
        let ways = [Approximation::Lowest, Approximation::Highest, Approximation::Drawn(1)];
        ways.into_iter().map(|way| program::program(self.cubin, "the cubin", way)).collect()
    }
}

impl Checked<'_> {
    /// Compares the kernel with its machine code, within the instructions that its launches may run for one code.
    ///
    /// # Errors
    /// Those of the disassembler.
    pub(crate) fn compare(&mut self, code: Code<'_>) -> Result<Compared, Error> {
        // Code that does not wait for what it needs does what the interpreter, which waits, cannot see.
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

/// Why nothing can be said of the first launch of which nothing can.
fn why_not(comparison: &Comparison) -> Option<String> {
    comparison.launches.iter().find_map(|launched| match &launched.verdict {
        Verdict::NotComparable { program, reason } => Some(format!("{}: {}", SIDES[*program % 2], named(reason))),
        _ => None,
    })
}

/// The two sides, as people call them, and as a comparison does.
const SIDES: [&str; 2] = ["the PTX", "the machine code"];
const PROGRAMS: [&str; 2] = ["the first program", "the second program"];

fn named(text: &str) -> String {
    PROGRAMS.iter().zip(SIDES).fold(text.to_owned(), |text, (program, side)| text.replace(program, side))
}

impl Counterexample {
    /// The difference in a sentence, with the launch that shows it.
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
                _ = write!(text, "{endless} does not end: {reason}; {other} ends after {steps} instructions of warps");
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
