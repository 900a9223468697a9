//! Compares the forecast with a count at each point, and tests the properties that every order of its scheduler must
//! have.

use arbitrary::{Result, Unstructured};

use super::{Options, lowered_function, reached};
use crate::forecast::{Case, Forecast, MAX_STEPS, Model, forecast_by_name, without_dead_code};
use crate::function::{Edit, EditList, Function, LaunchBounds, Role};
use crate::target::Classification;
use crate::target::machine::Architecture;

/// Checks that a forecast keeps its bounds, that the values at its peak have the words that it counts, and that wider
/// views of the same code never have lower pressure.
pub fn check_forecast(u: &mut Unstructured<'_>) -> Result<()> {
    // So many loaded values cause spills, with and without launch bounds.
    let held = if u.arbitrary()? { u.int_in_range(20..=300)? } else { 0 };
    let options = Options { undefined_paths: u.arbitrary()?, held, ..Options::default() };
    let mut function = lowered_function(u, &options)?;
    let limit = |u: &mut Unstructured<'_>, most: u32| -> Result<Option<u32>> {
        Ok(if u.arbitrary()? { Some(u.int_in_range(1..=most)?) } else { None })
    };
    function.kernel = Some(LaunchBounds {
        max_threads: limit(u, 1024)?,
        required_threads: limit(u, 1024)?,
        min_blocks: limit(u, 32)?,
        max_registers: limit(u, 255)?,
    });
    let architectures = Architecture::all();
    let architecture = &architectures[u.choose_index(architectures.len())?];
    let case = Case { architecture, max_registers: limit(u, 255)? };
    // From here on, the function has the code that the forecast describes, without dead code.
    let whole = function.clone();
    let classification = Classification::by_name(function.opcodes());
    let functions = [without_dead_code(function, &classification)];
    let is_contradiction = functions[0].kernel.is_some_and(|b| b.max_threads.is_some() && b.required_threads.is_some());
    let forecasts = match forecast_by_name(&functions, &case) {
        Ok(forecasts) => forecasts,
        Err(error) => {
            assert!(is_contradiction, "{error}");
            return Ok(());
        }
    };
    assert!(!is_contradiction);
    reached("forecast", true);
    let [forecast] = forecasts.as_slice() else { panic!("{} forecasts of a kernel", forecasts.len()) };

    assert!((1..=forecast.register_limit).contains(&forecast.registers), "{forecast:?}");
    reached("spills", forecast.spill_bytes() > 0);
    // Stores and reloads are whole words, so a forecast may be slightly below the model's least number of bytes.
    let fewest = Model::spills().head.least - 2.0;
    let bytes = f64::from(forecast.spill_bytes());
    assert!(bytes == 0.0 || bytes >= fewest, "{bytes} of {fewest}\n{}", functions[0]);
    reached("a step below", forecast.next_step.is_some());
    let (least, most) = forecast.likely_registers;
    assert!(1 <= least && least <= forecast.registers, "{forecast:?}");
    assert!(forecast.registers <= most && most <= forecast.register_limit, "{forecast:?}");
    assert!(forecast.next_step.is_none_or(|step| step < forecast.registers), "{forecast:?}");
    let peak = &forecast.peak;
    assert_eq!(peak.words, peak.live.iter().map(|value| value.words).sum::<u32>(), "{forecast:?}\n{}", functions[0]);
    check_curve(&functions[0], forecast);
    let feature = |name| forecast.features.get(name);
    assert!(feature("varying_words") <= feature("words"), "{}", functions[0]);
    assert!(feature("words") <= feature("declared_words"), "{}", functions[0]);
    assert!(feature("varying_words") <= feature("hoisted_words"), "{}", functions[0]);
    assert!(feature("reordered_varying_words") <= feature("reordered_words"), "{}", functions[0]);
    assert!(feature("reordered_words") <= feature("words"), "{}", functions[0]);
    assert!(feature("reordered_varying_words") <= feature("varying_words"), "{}", functions[0]);
    check_debug_values(&functions[0], &case, forecast);
    let of_whole = forecast_by_name(&[whole], &case).expect("the limits are the same");
    assert_eq!(of_whole[0].features, forecast.features, "{}", functions[0]);
    let spills = Model::spills();
    let bytes =
        |register_limit| spills.forecast(&spills.values(&forecast.features, register_limit, &LaunchBounds::default()));
    assert!((24..255).all(|register_limit| bytes(register_limit + 1) <= bytes(register_limit)), "{forecast:?}");
    Ok(())
}

/// Checks that debug values change nothing, because they emit no code.
fn check_debug_values(function: &Function, case: &Case, expected: &Forecast) {
    let mut edits = EditList::new(function);
    for inst in function.insts().filter(|&inst| function.role(inst) == Role::Debug) {
        edits.push(Edit::Delete { inst });
    }
    let bare = edits.apply(function).expect("nothing needs a debug value").function;
    let forecasts = forecast_by_name(&[bare], case).expect("the limits are the same");
    assert_eq!(forecasts[0].features, expected.features, "{function}");
}

/// Checks that the curve has a number for each step of the code, that its maximum is the pressure at the peak, and that
/// the values at the peak are live there.
fn check_curve(function: &Function, forecast: &Forecast) {
    let Forecast { curve, peak, .. } = forecast;
    assert_eq!(curve.words.len(), function.num_insts().div_ceil(curve.stride as usize), "{forecast:?}");
    assert!(curve.words.len() <= MAX_STEPS as usize, "{forecast:?}");
    if function.num_insts() > 0 {
        assert_eq!(curve.words.iter().max(), Some(&peak.words), "{forecast:?}\n{function}");
        assert_eq!(curve.words[(peak.inst.0 / curve.stride) as usize], peak.words, "{forecast:?}\n{function}");
    }
    for value in &peak.live {
        assert!(value.ranges.iter().any(|range| range.contains(&peak.inst)), "{value:?} at {}\n{function}", peak.inst);
        assert!(value.ranges.is_sorted_by(|a, b| a.end.0 + curve.stride <= b.start.0), "{value:?}\n{function}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    #[test]
    fn forecasts_keep_to_their_bounds() {
        explore(check_forecast, 2_000, &[("forecast", 50), ("spills", 1), ("a step below", 8)]);
    }
}
