//! The order of a kernel's instructions that the forecast prefers, where it prefers one clearly.
//!
//! The forecast ranks two orders of one kernel a little better than a coin (docs/notebook), so that it is heard only
//! where it sees more between them than it errs by.

use crate::config::Order;
use crate::error::Error;
use crate::forecast::kernel::estimate::forecast;
use crate::forecast::kernel::forecast::{Case, Forecast};
use crate::function::Function;
use crate::schedule::{ORDERS, schedule};
use crate::target::Classification;

/// By how much, in percent, fewer bytes have to be spilled, or fewer registers taken where nothing is.
const SPILL_MARGIN: u32 = 40;
const REGISTER_MARGIN: u32 = 10;

/// What an order is judged by, the smaller the better: bytes spilled, then registers.
type Figures = (u32, u32);

/// The order that the forecast prefers, the first of equals. A function that is no kernel, or calls others, keeps the
/// order of the code: what it takes is part of what others take. O(n log n) in the operands, dependences and live
/// ranges.
///
/// # Errors
///
/// For a kernel whose bounds contradict each other, so that ptxas does not assemble it.
pub fn preferred_order(function: &Function, classification: &Classification, case: &Case) -> Result<Order, Error> {
    let Some(source) = figures(function, classification, case)? else { return Ok(Order::Source) };
    let mut best: Option<(Figures, Order)> = None;
    for order in ORDERS.into_iter().filter(|&order| order != Order::Source) {
        let ordered = schedule(function, classification, order, 0).edits.apply(function)?.function;
        let Some(figures) =
            figures(&ordered, classification, case)?.filter(|&figures| is_clearly_better(figures, source))
        else {
            continue;
        };
        if best.is_none_or(|(other, _)| figures < other) {
            best = Some((figures, order));
        }
    }
    Ok(best.map_or(Order::Source, |(_, order)| order))
}

/// What is forecast for a kernel that stands alone.
fn figures(function: &Function, classification: &Classification, case: &Case) -> Result<Option<Figures>, Error> {
    if function.kernel().is_none() {
        return Ok(None);
    }
    let forecasts = forecast([(function, classification)], case)?;
    let is_alone =
        |forecast: &&Forecast| forecast.features.get("internal_calls") + forecast.features.get("external_calls") == 0.0;
    Ok(forecasts.first().filter(is_alone).map(|forecast| (forecast.spill_bytes(), forecast.registers)))
}

fn is_clearly_better((spilled, registers): Figures, (source_spilled, source_registers): Figures) -> bool {
    match source_spilled {
        0 => spilled == 0 && is_less(registers, source_registers, REGISTER_MARGIN),
        _ => spills_clearly_less(spilled, source_spilled),
    }
}

/// Whether so many bytes spilled are clearly less than those known.
pub(in crate::forecast) fn spills_clearly_less(spilled: u32, known: u32) -> bool {
    is_less(spilled, known, SPILL_MARGIN)
}

fn is_less(new: u32, old: u32, margin: u32) -> bool {
    u64::from(new) * 100 <= u64::from(old) * u64::from(100 - margin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::machine::Architecture;

    /// Only a large difference counts: of bytes where something is spilled, else of registers, and never for new
    /// spills.
    #[test]
    fn margins() {
        assert!(is_clearly_better((60, 255), (100, 200)) && !is_clearly_better((61, 100), (100, 255)));
        assert!(is_clearly_better((0, 90), (0, 100)) && !is_clearly_better((0, 91), (0, 100)));
        assert!(!is_clearly_better((4, 32), (0, 255)));
    }

    /// A function that loads many values ahead of a chain of sums; with a call of another where that is wanted.
    fn loads_then_sums(head: &str, call: &str) -> Function {
        const LOADS: usize = 64;
        let regs = " B32".repeat(2 * LOADS);
        let loads: String = (0..LOADS).map(|at| format!("  %{at} = LD_i32 {at} :: read\n")).collect();
        let sum = |at: usize| {
            let before = if at == 1 { 0 } else { LOADS + at - 1 };
            format!("  %{} = ADD32rr %{before}, %{at}\n", LOADS + at)
        };
        let sums: String = (1..LOADS).map(sum).collect();
        let text = format!(
            "mfv 1\n{head}opcode ADD32rr\nopcode LD_i32\nopcode ST_i32\nopcode CALL\nregs %0{regs}\n\
             bb0: frequency 1.0 depth 0\n{loads}{sums}{call}  ST_i32 %{}, 1 :: write\nend\n",
            2 * LOADS - 1
        );
        Function::parse(&text).expect(&text)
    }

    fn preferred(function: &Function) -> Order {
        let architecture = Architecture::by_name("sm_90").expect("is known");
        let case = Case { architecture, max_registers: None };
        preferred_order(function, &Classification::by_name(function.opcodes()), &case).expect("the bounds are right")
    }

    /// A kernel that needs a third of its registers in another order gets one; what is no kernel, or is as good as it
    /// is, keeps its own.
    #[test]
    fn only_where_it_is_clear() {
        let kernel = loads_then_sums("function \"k\"\nkernel\n", "");
        let order = preferred(&kernel);
        assert_ne!(order, Order::Source);
        let classification = Classification::by_name(kernel.opcodes());
        let ordered =
            schedule(&kernel, &classification, order, 0).edits.apply(&kernel).expect("the edits fit").function;
        assert_eq!(preferred(&ordered), Order::Source);
        assert_eq!(preferred(&loads_then_sums("function \"k\"\n", "")), Order::Source);
    }
}
