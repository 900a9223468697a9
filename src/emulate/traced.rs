//! A launch with a trace of each warp's instructions, in order.

use super::launch::{LaunchSeed, Launches, MIXED};
use super::machine::{End, Outcome, Setting, WarpTrace, run as run_machine};
use super::program::Program;
use super::run::Side;

/// Traces of the warps of some blocks of a launch.
#[derive(Clone, Debug, Default)]
pub struct Traced {
    /// The warps, by block, in the order in which the blocks began.
    pub warps: Vec<WarpTrace>,
    /// The coverage.
    pub side: Side,
    /// Grid and block.
    pub shape: [[u32; 3]; 2],
    /// Whether the launch exceeded its instruction limit: the traces are then beginnings.
    pub is_cut: bool,
}

/// How often a launch is drawn until it runs to its end.
const ATTEMPTS: [u32; 6] = [0, 1, 2, 3, MIXED, MIXED + 1];

/// Runs some blocks of the first launch of a kernel that ends. `chosen` receives the blocks of the grid and the warps
/// of a block, and returns the blocks to run. `first` is a program that computes the same and knows the memory
/// contents, for example the PTX of machine code: it runs first on the same memory, and its end does not matter.
///
/// # Errors
/// Returns the reason why the first launch cannot be compared, if none runs.
pub fn trace(
    program: &Program,
    first: Option<&Program>,
    kernel: &str,
    launches: &Launches,
    chosen: impl Fn(u32, u32) -> Vec<u32>,
) -> Result<Traced, String> {
    let number = program.kernel(kernel).ok_or_else(|| format!("there is no kernel {kernel}"))?;
    let mut reason = None;
    let mut cut = None;
    for attempt in ATTEMPTS {
        let drawn = LaunchSeed { attempt, ..LaunchSeed::default() };
        let mut setting = launches.setting(program, number, &drawn, 0);
        let mut image = launches.image(program, &setting, &drawn);
        let warps = setting.block.iter().product::<u32>().div_ceil(32);
        setting.blocks = Some(chosen(setting.grid.iter().product(), warps));
        if let Some((first, kernel)) = first.and_then(|first| Some((first, first.kernel(kernel)?))) {
            let of_first = Setting { traces: false, kernel, ..setting.clone() };
            _ = run_machine(first, &of_first, &mut image);
        }
        setting.traces = true;
        match run_machine(program, &setting, &mut image) {
            Ok(outcome) => return Ok(traced(program, outcome, &setting, false)),
            // After two launches that are too long, no other launch is tried, because it would probably be too long,
            // too.
            Err(stopped) if stopped.end == End::Long && cut.is_some() => break,
            Err(stopped) if stopped.end == End::Long => {
                cut = Some(traced(program, *stopped.outcome, &setting, true));
            }
            Err(stopped) => _ = reason.get_or_insert_with(|| stopped.told()),
        }
    }
    cut.ok_or_else(|| reason.unwrap_or_default())
}

fn traced(program: &Program, mut outcome: Outcome, setting: &Setting, is_cut: bool) -> Traced {
    let mut side = Side::default();
    side.add(program, &outcome);
    let warps = std::mem::take(&mut outcome.traces);
    Traced { warps, side, shape: [setting.grid, setting.block], is_cut }
}
