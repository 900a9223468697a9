//! Whether the machine code of a kernel computes what its PTX says.

use nvptx_ra::emulate::{
    Allowed, Comparison, Difference, Launches, Program, Reference, Verdict, all_fused, approximates,
};
use nvptx_ra::error::Error;
use nvptx_ra::ptx::Module;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::sass::meaning::Approximation;

use crate::machine::program::{self, Loaded};

/// A text of PTX with all results that it allows.
pub(crate) struct Text {
    pub(crate) program: Program,
    /// The same with products fused.
    fused: Vec<Program>,
    /// Some results are given up to an error only.
    approximates: bool,
    /// The processor that the text names.
    pub(crate) cpu: String,
}

/// The launches that a kernel is checked with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    /// Sets of launches. A kernel is the same if it is so in each of them where something can be said.
    sets: Vec<Launches>,
}

/// What is said of a kernel's machine code.
#[derive(Debug)]
pub(crate) enum Said {
    /// So many launches were the same, of so many.
    Same([usize; 2]),
    Different(Box<Shown>),
    /// Nothing can be said, for a reason.
    NotComparable(String),
}

/// A difference and the launch that shows it.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) difference: Difference,
    /// The grid and the block.
    pub(crate) shape: [[u32; 3]; 2],
    /// How many instructions of warps of the PTX ran until it showed.
    pub(crate) steps: u64,
    /// The set of launches that it is one of.
    pub(crate) launches: Launches,
}

impl Text {
    pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let module = Module::read(name, bytes)?;
        let fused: Result<Vec<Program>, Error> =
            all_fused(&module).iter().map(|text| Ok(Program::new(&Module::read(name, text)?))).collect();
        let (program, cpu) = (Program::new(&module), module.target().to_owned());
        Ok(Self { program, fused: fused?, approximates: approximates(&module), cpu })
    }

    /// The launches of its kernels, from some that say how many there are: plain ones, and, where results are given to the
    /// last bit, ones with infinities, NaN and the limits of integers.
    pub(crate) fn sets(&self, launches: &Launches) -> Sets {
        let plain = Launches { is_assembled: true, is_exact: !self.approximates, ..launches.clone() };
        let extremes = Launches {
            extremes: true,
            count: launches.count.div_ceil(2),
            limits: 0,
            more: launches.more / 4,
            ..plain.clone()
        };
        let sets = if self.approximates || launches.extremes { vec![plain] } else { vec![plain, extremes] };
        Sets { sets }
    }

    /// The same of launches that are all as they are said to be.
    pub(crate) fn alone(&self, launches: &Launches) -> Sets {
        Sets { sets: vec![Launches { is_assembled: true, is_exact: !self.approximates, ..launches.clone() }] }
    }

    /// A kernel with its launches, each of which runs once, however many cubins are compared with it.
    pub(crate) fn checked<'t>(&'t self, kernel: &str, sets: &Sets) -> Checked<'t> {
        let reference = |set: &Launches| (set.clone(), Reference::new(&self.program, kernel, set));
        Checked { fused: &self.fused, sets: sets.sets.iter().map(reference).collect() }
    }
}

/// A kernel with its launches.
pub(crate) struct Checked<'t> {
    /// The text with products fused.
    fused: &'t [Program],
    sets: Vec<(Launches, Reference<'t>)>,
}

/// Machine code that is to be checked.
pub(crate) struct Code {
    cubin: Vec<u8>,
    loaded: Loaded,
    fuses: bool,
}

impl Code {
    pub(crate) fn read(cubin: Vec<u8>, fuses: bool) -> Result<Self, Error> {
        let loaded = program::program(&cubin, "the cubin", Approximation::Exact)?;
        Ok(Self { cubin, loaded, fuses })
    }

    /// The instruction of a kernel at a place as it is printed: `STG.E`.
    pub(crate) fn mnemonic(&self, kernel: &str, number: u32) -> Option<&str> {
        let Loaded::Machine(Machine { code, .. }) = &self.loaded else { return None };
        let function = code.iter().find(|function| function.name == kernel)?;
        Some(&function.instructions.get(number.checked_sub(1)? as usize)?.mnemonic)
    }

    /// The same with approximate functions that are off in each direction.
    fn others(&self) -> Result<Vec<Loaded>, Error> {
        let ways = [Approximation::Lowest, Approximation::Highest, Approximation::Drawn(1)];
        ways.into_iter().map(|way| program::program(&self.cubin, "the cubin", way)).collect()
    }
}

impl Checked<'_> {
    /// Compares the kernel with its machine code.
    ///
    /// # Errors
    /// Those of the disassembler.
    pub(crate) fn compare(&mut self, code: &Code) -> Result<Said, Error> {
        let (mut same, mut stores) = ([0; 2], 0);
        let mut reason = None;
        for (launches, reference) in &mut self.sets {
            let mut comparison = reference.compare(code.loaded.program());
            if comparison.difference().is_some() {
                let others = code.others()?;
                let second: Vec<&Program> = others.iter().map(Loaded::program).collect();
                let first = if code.fuses { self.fused } else { &[] };
                comparison = reference.compare_allowing(code.loaded.program(), Allowed { first, second: &second });
            }
            same[0] += comparison.equal();
            same[1] += comparison.launches.len();
            stores += comparison.launches.iter().map(|launched| launched.stores).sum::<usize>();
            reason = reason.or_else(|| why_not(&comparison));
            if let Some(difference) = comparison.difference() {
                let shape = comparison.launches.last().map(|launched| launched.shape).unwrap_or_default();
                let (difference, steps, launches) = (difference.clone(), comparison.sides[0].steps, launches.clone());
                return Ok(Said::Different(Box::new(Shown { difference, shape, steps, launches })));
            }
        }
        Ok(match reason {
            Some(reason) if same[0] == 0 => Said::NotComparable(reason),
            None if same[0] == 0 => Said::NotComparable("no launch ran".into()),
            _ if stores == 0 => Said::NotComparable("no launch stores anything".into()),
            _ => Said::Same(same),
        })
    }
}

/// Why nothing can be said of the first launch of which nothing can.
fn why_not(comparison: &Comparison) -> Option<String> {
    comparison.launches.iter().find_map(|launched| match &launched.verdict {
        Verdict::NotComparable { program, reason } => {
            let which = if *program == 0 { "PTX" } else { "machine code" };
            Some(format!("{which}: {reason}"))
        }
        _ => None,
    })
}
