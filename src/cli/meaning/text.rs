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
        Checked { kernel: kernel.to_owned(), fused: &self.fused, sets: sets.iter().map(set).collect() }
    }
}
