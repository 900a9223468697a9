//! Which of several ways to compile a module the forecast prefers, kernel by kernel.
//!
//! The forecast errs, so that it is heard only where it sees more between two ways than it errs by.

use super::{Case, Summary, forecast_module};
use crate::error::Error;

/// By how much, in percent, fewer bytes have to be spilled, or fewer registers taken where nothing is.
const SPILL_MARGIN: u32 = 40;
const REGISTER_MARGIN: u32 = 10;

/// What a way is judged by, the smaller the better: bytes spilled, then registers.
pub(super) type Figures = (u32, u32);

/// Whether the forecast clearly prefers what it has such figures for.
pub(super) fn is_clearly_better((spilled, registers): Figures, (known_spilled, known_registers): Figures) -> bool {
    let is_less = |new: u32, old: u32, margin: u32| u64::from(new) * 100 <= u64::from(old) * u64::from(100 - margin);
    match known_spilled {
        0 => spilled == 0 && is_less(registers, known_registers, REGISTER_MARGIN),
        _ => is_less(spilled, known_spilled, SPILL_MARGIN),
    }
}

/// The way that is preferred for each function, by its number: the first of equals, and the first of all, 0, where none
/// is clearly better than that, and for what is no kernel. Each way has the same functions in the same order, `None`
/// where nothing is known of one.
///
/// # Errors
///
/// For a kernel whose bounds contradict each other, so that ptxas does not assemble it.
pub fn preferred_ways(ways: &[Vec<Option<&Summary>>], case: &Case) -> Result<Vec<u32>, Error> {
    let figures = ways.iter().map(|functions| figures(functions, case)).collect::<Result<Vec<_>, Error>>()?;
    let Some((first, others)) = figures.split_first() else { return Ok(Vec::new()) };
    let preferred = |(number, known): (usize, &Option<Figures>)| {
        let known = (*known)?;
        let others = others.iter().zip(1..).filter_map(|(way, index)| Some(((*way.get(number)?)?, index)));
        others.filter(|&(figures, _)| is_clearly_better(figures, known)).min().map(|(_, index)| index)
    };
    Ok(first.iter().enumerate().map(|function| preferred(function).unwrap_or(0)).collect())
}

/// What is forecast for each function, where it is a kernel.
fn figures(functions: &[Option<&Summary>], case: &Case) -> Result<Vec<Option<Figures>>, Error> {
    let known: Vec<&Summary> = functions.iter().copied().flatten().collect();
    let mut forecasts = forecast_module(&known, case)?.into_iter();
    let figures = |summary: &Summary| {
        let forecast = if summary.is_kernel() { forecasts.next() } else { None };
        forecast.map(|forecast| (forecast.spill_bytes(), forecast.registers))
    };
    let mut figures = figures;
    Ok(functions.iter().map(|summary| summary.and_then(&mut figures)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::Function;
    use crate::target::machine::Architecture;

    /// Only a large difference counts: of bytes where something is spilled, else of registers, and never for new
    /// spills.
    #[test]
    fn margins() {
        assert!(is_clearly_better((60, 255), (100, 200)) && !is_clearly_better((61, 100), (100, 255)));
        assert!(is_clearly_better((0, 90), (0, 100)) && !is_clearly_better((0, 91), (0, 100)));
        assert!(!is_clearly_better((4, 32), (0, 255)));
    }

    /// A function that loads so many values before it stores one.
    fn holding(head: &str, values: usize) -> Summary {
        let regs = " B32".repeat(values);
        let loads: String = (0..values).map(|at| format!("  %{at} = LD_i32 {at} :: read\n")).collect();
        let stores: String = (0..values).map(|at| format!("  ST_i32 %{at}, {at} :: write\n")).collect();
        let text = format!(
            "mfv 1\n{head}opcode LD_i32\nopcode ST_i32\nregs %0{regs}\n\
             bb0: frequency 1.0 depth 0\n{loads}{stores}end\n"
        );
        Summary::new(&Function::parse(&text).expect(&text))
    }

    /// Each kernel gets the way in which it holds clearly less, the first of equals; others, and functions of which
    /// nothing is known, the first of all.
    #[test]
    fn each_kernel_its_own() {
        let [large, small, callee] =
            [("function \"k\"\nkernel\n", 90), ("function \"k\"\nkernel\n", 20), ("function \"k\"\n", 20)]
                .map(|(head, values)| holding(head, values));
        let case = Case { architecture: Architecture::by_name("sm_90").expect("is known"), max_registers: None };
        let ways = [
            vec![Some(&large), Some(&small), None, Some(&callee), Some(&large)],
            vec![Some(&small), Some(&large), Some(&small), Some(&callee), None],
            vec![Some(&small), Some(&small), Some(&small), Some(&callee), Some(&small)],
        ];
        assert_eq!(preferred_ways(&ways, &case).expect("no bounds"), [1, 0, 0, 0, 2]);
        assert!(preferred_ways(&[], &case).expect("nothing").is_empty());
    }
}
