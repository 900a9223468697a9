//! Lower bounds of a kernel's registers: for the words that its loops carry, and for ptxas's subroutines and calling
//! convention.

use crate::forecast::model::features::Features;
use crate::forecast::model::table::Model;
use crate::function::LaunchBounds;
use crate::target::machine::{Architecture, MAX_REGISTERS};

/// Returns the words that are in registers or spilled in any order of the code and do not fit into the uniform
/// registers. These are words that loops carry from iteration to iteration, that one instruction takes at once, or that
/// asynchronous instructions hold up to a wait.
pub(in crate::forecast) fn carried(features: &Features, architecture: &Architecture) -> f64 {
    let not_uniform = features.get("carried_all_words") - f64::from(architecture.uniform_registers);
    features.get("carried_words").max(not_uniform).max(features.get("in_flight_words"))
}

/// Fewest words that a kernel with this floor loads from local arrays. If ptxas knows the number of blocks on an SM, it
/// also issues these loads early, because it then has no reason to stay below the limit.
const LOCAL_ARRAYS: f64 = 32.0;

/// Fewest registers of such a kernel, as a share of the words that are live if all loads are early.
const SHARE_OF_EARLY: f64 = 0.875;

/// Returns the fewest registers of a kernel that loads its local arrays early, and its limit as the most registers that
/// the kernel may take. `None` for other kernels.
pub(in crate::forecast) fn of_local_arrays(
    features: &Features,
    bounds: &LaunchBounds,
    limit: u32,
) -> Option<(f64, u32)> {
    let has_arrays = bounds.min_blocks.is_some() && features.get("array_load_words") >= LOCAL_ARRAYS;
    has_arrays.then(|| (SHARE_OF_EARLY * features.get("early_words"), limit))
}

/// ptxas issues the loads of an unrolled loop together while they cost no warps. A kernel of n independent loads takes
/// 8 registers, and two for each load: an address and a value. From 12 loads on it takes no more than 30 to 32.
const FILLED_AT_LEAST: f64 = 8.0;
const WORDS_OF_A_LOAD: f64 = 2.0;
const FILLED: f64 = 30.0;

/// Most registers that a kernel may take for these loads: they cost no warps.
const FREE: u32 = 32;

/// Returns the most registers that a kernel is likely to fill with the loads of loops that ptxas unrolls; 0 without
/// such loops.
pub(in crate::forecast) fn most_filled(features: &Features) -> u32 {
    if features.get("unrolled_load_words") > 0.0 { FREE } else { 0 }
}

/// Returns the fewest registers that a kernel takes for its calls and divisions, and for loops that ptxas unrolls.
pub(in crate::forecast) fn least(features: &Features, model: &Model) -> f64 {
    let [internal, external] = ["internal_calls", "external_calls"].map(|name| features.get(name) > 0.0);
    // Words that are live at a call count as words at the callee's divisions, even if no function has 64-bit
    // floating-point numbers.
    let divides = features.get("words_at_double") > 0.0 && features.get("doubles") > 0.0;
    // ptxas knows which registers a defined callee preserves.
    let only_external = external && !internal;
    let at_division = features.get("words_at_division");
    // Words that do not fit are spilled, so the floor does not apply.
    let can_hold = at_division + model.head.with_division <= f64::from(MAX_REGISTERS);
    let floors = [
        (internal || external, 0.0, model.head.with_calls),
        (divides, features.get("words_at_double"), model.head.with_double),
        (features.get("wide_divisions") > 0.0 && can_hold, at_division, model.head.with_division),
        (only_external, features.get("words_at_call"), model.head.with_external),
    ];
    let loaded = features.get("unrolled_load_words");
    let filled = if loaded > 0.0 { FILLED_AT_LEAST + WORDS_OF_A_LOAD * loaded } else { 1.0 };
    let taken = floors.into_iter().filter(|floor| floor.0).map(|(_, live, more)| live + more);
    taken.fold(filled.min(FILLED), f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::kernel::estimate::taken;
    use crate::forecast::kernel::estimate::tests::case;
    use crate::forecast::{Case, Forecast, forecast_by_name};
    use crate::function::Function;

    /// A kernel with `beside` words that are live across an instruction. The code `before` may set %2 and %3, and the
    /// code `across` may set %4. @0 is `symbol`.
    fn holding_across(opcode: &str, symbol: &str, (before, across): (&str, &str), beside: usize) -> Function {
        let mut text = format!(
            "mfv 1\nfunction \"k\"\nopcode INT_PTX_SREG_TID_x\nopcode CVT_u64_u32\nopcode LD_i64\nopcode LD_i32\n\
             opcode {opcode}\nopcode ST_i64\nopcode ST_i32\nregs %0 B32 B64 B64 B64 B64{}\n@0 = \"@{symbol}\"\n\
             bb0: frequency 1.0 depth 0\n%0 = INT_PTX_SREG_TID_x\n%1 = CVT_u64_u32 %0, 0\n{before}",
            " B32".repeat(beside)
        );
        let held = || (5..).take(beside);
        held().for_each(|reg| text += &format!("%{reg} = LD_i32 %1 :: read\n"));
        text += across;
        held().for_each(|reg| text += &format!("ST_i32 %{reg}, 0 :: write\n"));
        text += "end\n";
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Function { kernel: Some(LaunchBounds::default()), ..function }
    }

    /// Forecasts a kernel with a division and with `beside` words that are live across the division, under the limit
    /// `max_registers`.
    fn dividing(opcode: &str, beside: usize, max_registers: Option<u32>) -> Forecast {
        let before = "%2 = LD_i64 %1 :: read\n%3 = LD_i64 %1 :: read\n";
        let across = format!("%4 = {opcode} %2, %3\nST_i64 %4, 0 :: write\n");
        let kernel = holding_across(opcode, "nothing", (before, &across), beside);
        forecast_by_name(&[kernel], &Case { max_registers, ..case() }).expect("a forecast").swap_remove(0)
    }

    /// Returns the fewest registers of a kernel with these features and no others.
    fn least_with(values: &[(&str, f64)], model: &Model) -> f64 {
        let mut features = Features::none();
        values.iter().for_each(|&(name, value)| features.set(name, value));
        least(&features, model)
    }

    /// A division of doubles adds the registers of ptxas's subroutine to the live words, as far as the limit and the
    /// occupancy step allow. An addition of doubles takes fewer registers.
    #[test]
    fn registers_of_a_division_of_doubles() {
        let model = Model::registers(&LaunchBounds::default());
        for beside in [0, 2, 4, 8, 16, 300] {
            let divides = dividing("FDIV64rr", beside, None);
            let live = divides.features.get("words_at_double");
            assert!(live >= beside as f64 + 4.0, "{live} words at the division, {beside} beside");
            let least = taken(live + model.head.with_double, model, &LaunchBounds::default(), case().architecture)
                .min(MAX_REGISTERS);
            assert!(divides.registers >= least, "{} registers, {live} words live", divides.registers);
        }
        let [divides, adds] = ["FDIV64rr", "FADDf64rr"].map(|opcode| dividing(opcode, 2, None).registers);
        assert!(adds < divides, "{adds} registers to add, {divides} to divide");
        assert_eq!(dividing("FDIV64rr", 8, Some(24)).registers, 24);
    }

    /// A callee without divisions leaves words at a division, which do not raise the registers.
    #[test]
    fn no_division_without_doubles() {
        let model = Model::registers(&LaunchBounds::default());
        let of = |values: &[(&str, f64)]| least_with(values, model);
        assert_eq!(of(&[]), 1.0);
        assert_eq!(of(&[("words_at_double", 30.0)]), 1.0);
        assert_eq!(of(&[("words_at_double", 30.0), ("doubles", 1.0)]), 30.0 + model.head.with_double);
        assert_eq!(of(&[("words_at_double", 2.0), ("doubles", 1.0), ("external_calls", 1.0)]), model.head.with_calls);
    }

    /// A 64-bit division adds its registers to the live words, and adds none if not all words fit.
    #[test]
    fn registers_of_a_64_bit_division() {
        let model = Model::parse("with-division 20\ntree 1").expect("a table");
        let of = |live: f64, divisions: f64| {
            least_with(&[("words_at_division", live), ("wide_divisions", divisions)], &model)
        };
        for (live, floor) in [(0.0, 20.0), (14.0, 34.0), (235.0, 255.0), (236.0, 1.0)] {
            assert_eq!((of(live, 1.0), of(live, 0.0)), (floor, 1.0), "{live} words");
        }
    }

    /// Forecasts a kernel that calls `callee` with `beside` words live across the call.
    fn calling(callee: &str, beside: usize, max_registers: Option<u32>) -> Forecast {
        let kernel = holding_across("CALL", callee, ("", "CALL @0 :: call_sequence\n"), beside);
        let callee = "mfv 1\nfunction \"f\"\nbb0: frequency 1.0 depth 0\nend\n";
        let callee = Function::parse(callee).expect("a view");
        forecast_by_name(&[kernel, callee], &Case { max_registers, ..case() }).expect("a forecast").swap_remove(0)
    }

    /// Words that are live at a call of an undefined function lie above the registers that the callee may overwrite, as
    /// far as the limit and the occupancy step allow.
    #[test]
    fn registers_of_an_external_call() {
        let model = Model::registers(&LaunchBounds::default());
        for beside in [0, 8, 20, 300] {
            let calls = calling("vprintf", beside, None);
            assert_eq!(calls.features.get("words_at_call"), beside as f64);
            let least = model.head.with_calls.max(beside as f64 + model.head.with_external);
            let least = taken(least, model, &LaunchBounds::default(), case().architecture).min(MAX_REGISTERS);
            assert!(calls.registers >= least, "{} registers, {beside} words live", calls.registers);
        }
        let [external, internal] = ["vprintf", "f"].map(|callee| calling(callee, 24, None).registers);
        assert!(internal < external, "{internal} registers to call what is there, {external} to call what is not");
        assert_eq!(calling("vprintf", 24, Some(32)).registers, 32);
    }

    /// Calls of defined functions have only the floor of all calls, with or without calls of undefined functions.
    #[test]
    fn no_live_words_on_top_of_internal_calls() {
        let model = Model::registers(&LaunchBounds::default());
        let of = |values: &[(&str, f64)]| least_with(&[&[("words_at_call", 30.0)], values].concat(), model);
        assert_eq!(of(&[]), 1.0);
        assert_eq!(of(&[("external_calls", 1.0)]), 30.0 + model.head.with_external);
        assert_eq!(of(&[("internal_calls", 1.0)]), model.head.with_calls);
        assert_eq!(of(&[("internal_calls", 1.0), ("external_calls", 1.0)]), model.head.with_calls);
        assert_eq!(of(&[("external_calls", 1.0), ("words_at_call", 1.0)]), model.head.with_calls);
    }
}
