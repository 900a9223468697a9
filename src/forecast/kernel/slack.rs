//! The slack: registers that ptxas takes beyond the words that are live in a function, for addresses, for loads that it
//! issues early, and for constants.

use super::estimate::forecast_module;
use super::forecast::Case;
use super::summary::Summary;
use crate::function::{Function, LaunchBounds};
use crate::target::Classification;
use crate::target::machine::{Architecture, MAX_REGISTERS};

/// Most registers of slack.
pub const MAX_SLACK: u32 = 24;

/// Fewest registers of slack.
const MIN_SLACK: u32 = 2;

/// Returns how many registers ptxas takes beyond `words` that are live at once. The function is forecast as a kernel
/// that may have all registers. The result is [`MAX_SLACK`] if the kernel takes nearly all registers, because the slack
/// is then unknown. O(n log n) in the function's operands and live ranges.
pub fn slack(
    (function, classification): (&Function, &Classification),
    architecture: &'static Architecture,
    words: u32,
) -> u32 {
    let mut summary = Summary::new(function, classification);
    summary.bounds = Some(LaunchBounds::default());
    // Registers of callees are no slack.
    summary.calls.clear();
    let case = Case { architecture, max_registers: None };
    let forecast = forecast_module(&[&summary], &case).ok().and_then(|forecasts| forecasts.into_iter().next());
    match forecast {
        Some(forecast) if forecast.registers + MAX_SLACK <= MAX_REGISTERS => {
            forecast.registers.saturating_sub(words).clamp(MIN_SLACK, MAX_SLACK)
        }
        _ => MAX_SLACK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function that loads `words` words and stores the sum of each pair.
    fn function(words: usize) -> Function {
        let loads: String = (0..words).map(|reg| format!("  %{reg} = LD_i32 {reg} :: read\n")).collect();
        let stores: String = (0..words).rev().map(|reg| format!("  ST_i32 %{reg}, {reg} :: write\n")).collect();
        let text = format!(
            "mfv 1\nfunction \"k\"\nkernel maxntid 64\nopcode LD_i32\nopcode ST_i32\nopcode Return\nregs %0{}\n\
             bb0: frequency 1.0 depth 0\n{loads}{stores}  Return :: terminator\nend\n",
            " B32".repeat(words)
        );
        Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn of(words: usize, live: u32) -> u32 {
        let function = function(words);
        let architecture = Architecture::by_name("sm_90").expect("a processor");
        slack((&function, &Classification::by_name(function.opcodes())), architecture, live)
    }

    /// The slack is the forecast minus the words, within its bounds.
    #[test]
    fn by_the_forecast() {
        let registers = 40 + of(40, 40);
        assert!((42..64).contains(&registers), "{registers}");
        assert_eq!(of(40, 0), 24, "no more than the most");
        assert_eq!(of(40, 200), 2, "no less than the fewest");
    }

    /// If a kernel takes all registers, the forecast cannot tell how many it wants.
    #[test]
    fn all_registers() {
        assert_eq!(of(300, 300), 24);
    }
}
