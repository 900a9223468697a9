//! A text of PTX with all results that it allows, and the launches that it is checked with.

use nvptx_ra::emulate::{Launches, Program, Reference, all_fused, approximates};
use nvptx_ra::error::Error;
use nvptx_ra::ptx::Module;

use super::checked::Checked;

/// With fewer instructions of warps for all launches, the plain ones get all of them.
const LEAST_FOR_EXTREMES: u64 = 1_000_000;

/// A text of PTX.
pub(crate) struct Text {
    pub(crate) program: Program,
    /// The same with products fused.
    fused: Vec<Program>,
    /// Some results are given up to an error only.
    approximates: bool,
    /// The processor that the text names.
    pub(crate) cpu: String,
}

impl Text {
    pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        Self::of(&Module::read(name, bytes)?)
    }

    pub(crate) fn of(module: &Module<'_>) -> Result<Self, Error> {
        let read = |text: &Vec<u8>| Ok(Program::new(&Module::read("fused.ptx", text)?));
        let fused: Result<Vec<Program>, Error> = all_fused(module).iter().map(read).collect();
        let (program, cpu) = (Program::new(module), module.target().to_owned());
        Ok(Self { program, fused: fused?, approximates: approximates(module), cpu })
    }

    /// A kernel with sets of launches, from some that say how many there are: plain ones, and, where results are given to
    /// the last bit, ones with infinities, NaN and the limits of integers. Each launch runs once, however many codes are
    /// compared with it.
    pub(crate) fn checked(&self, kernel: &str, launches: &Launches) -> Checked<'_> {
        let plain = self.as_assembled(launches);
        let all = plain.most_steps_in_all;
        if self.approximates || launches.extremes || all < LEAST_FOR_EXTREMES {
            return self.with(kernel, &[plain]);
        }
        let extremes = Launches {
            extremes: true,
            count: launches.count.div_ceil(2),
            limits: 0,
            more: launches.more / 4,
            most_steps_in_all: if all == u64::MAX { all } else { all / 4 },
            ..plain.clone()
        };
        let most_steps_in_all = if all == u64::MAX { all } else { all - all / 4 };
        self.with(kernel, &[Launches { most_steps_in_all, ..plain }, extremes])
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
        Checked { kernel: kernel.to_owned(), fused: &self.fused, sets: sets.iter().map(set).collect() }
    }
}
