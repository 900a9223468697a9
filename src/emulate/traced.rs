//! A launch of which it is noted what each warp does, in order.

use super::launch::{Drawn, Launches};
use super::machine::{End, WarpTrace, run as run_machine};
use super::program::Program;
use super::run::Side;

/// What the warps of some blocks of a launch did.
#[derive(Clone, Debug, Default)]
pub struct Traced {
    /// The warps, block by block in the order in which the blocks began.
    pub warps: Vec<WarpTrace>,
    /// What ran.
    pub side: Side,
    /// The grid and the block.
    pub shape: [[u32; 3]; 2],
    /// The launch did not end within the instructions that it may run: the traces are beginnings.
    pub is_cut: bool,
}

/// Runs some blocks of the first launch of a kernel: `chosen` gets the blocks of the grid and the warps of a block, and
/// says which.
///
/// # Errors
/// Says why nothing can be said of it.
pub fn trace(
    program: &Program,
    kernel: &str,
    launches: &Launches,
    chosen: impl FnOnce(u32, u32) -> Vec<u32>,
) -> Result<Traced, String> {
    let number = program.kernel(kernel).ok_or_else(|| format!("there is no kernel {kernel}"))?;
    let mut setting = launches.setting(program, number, &Drawn::default(), 0);
    let mut image = launches.image(program, &setting, &Drawn::default());
    let warps = setting.block.iter().product::<u32>().div_ceil(32);
    setting.blocks = Some(chosen(setting.grid.iter().product(), warps));
    setting.traces = true;
    let (outcome, is_cut) = match run_machine(program, &setting, &mut image) {
        Ok(outcome) => (outcome, false),
        Err(stopped) if stopped.end == End::Long => (*stopped.outcome, true),
        Err(stopped) => return Err(stopped.told()),
    };
    let mut side = Side::default();
    side.add(program, &outcome);
    Ok(Traced { warps: outcome.traces, side, shape: [setting.grid, setting.block], is_cut })
}
