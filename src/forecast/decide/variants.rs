//! Which of several ways to compile a module the forecast prefers, kernel by kernel.
//!
//! It is heard where it sees a step of occupancy between them: of 446 kernels of lineages that it had not been fitted on
//! it changed 33 so, of which none took more registers than before; with a margin of 10 % of the registers 49, and four
//! took more (docs/notebook).

use std::cmp::Reverse;

use super::order::spills_clearly_less;
use crate::error::Error;
use crate::forecast::kernel::estimate::forecast_module;
use crate::forecast::kernel::forecast::Case;
use crate::forecast::kernel::summary::Summary;

/// What a way is judged by, the smaller the better: bytes spilled, then warps, more before fewer, then registers.
type Figures = (u32, Reverse<u32>, u32);

fn is_clearly_better((spilled, warps, _): Figures, (known_spilled, known_warps, _): Figures) -> bool {
    match known_spilled {
        0 => spilled == 0 && warps < known_warps,
        _ => spills_clearly_less(spilled, known_spilled),
    }
}

/// The way that is preferred for each function, by its number: the first of equals, and the first of all, 0, where none
/// is clearly better than that, and for what is no kernel. Each way has the same functions in the same order, `None`
/// where nothing is known of one.
///
/// # Errors
///
/// For a kernel whose bounds contradict each other, so that ptxas does not assemble it.
pub fn preferred_variants(ways: &[Vec<Option<&Summary>>], case: &Case) -> Result<Vec<u32>, Error> {
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
        forecast.map(|it| (it.spill_bytes(), Reverse(it.occupancy.warps), it.registers))
    };
    let mut figures = figures;
    Ok(functions.iter().map(|summary| summary.and_then(&mut figures)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::Function;
    use crate::target::machine::Architecture;

    /// Only clearly fewer bytes count where something is spilled, else more warps, and never for new spills.
    #[test]
    fn margins() {
        let of = |spilled, warps, registers| (spilled, Reverse(warps), registers);
        assert!(
            is_clearly_better(of(60, 8, 255), of(100, 16, 128)) && !is_clearly_better(of(61, 64, 32), of(100, 8, 255))
        );
        assert!(is_clearly_better(of(0, 12, 168), of(0, 8, 170)) && !is_clearly_better(of(0, 8, 169), of(0, 8, 255)));
        assert!(!is_clearly_better(of(4, 64, 32), of(0, 8, 255)));
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
        Summary::by_name(&Function::parse(&text).expect(&text))
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
        assert_eq!(preferred_variants(&ways, &case).expect("no bounds"), [1, 0, 0, 0, 2]);
        assert!(preferred_variants(&[], &case).expect("nothing").is_empty());
    }
}
