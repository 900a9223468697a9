//! The forecast against counting at each point, and its scheduler against what every order must hold.

use arbitrary::{Result, Unstructured};

use super::{Options, lowered_function};
use crate::forecast::{Case, forecast};
use crate::function::LaunchBounds;
use crate::target::machine::Architecture;

/// Checks that a forecast keeps to its bounds, that its peak's values have the words that it counts, and that wider
/// views of the same code never hold less.
pub fn check_forecast(u: &mut Unstructured<'_>) -> Result<()> {
    let options = Options { undefined_paths: u.arbitrary()?, ..Options::default() };
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
    let functions = [function];
    let forecasts = forecast(&functions, &case).expect("the tables can be read");
    let [forecast] = forecasts.as_slice() else { panic!("{} forecasts of a kernel", forecasts.len()) };

    assert!((1..=forecast.budget).contains(&forecast.registers), "{forecast:?}");
    assert!(forecast.next_step.is_none_or(|step| step < forecast.registers), "{forecast:?}");
    let peak = &forecast.peak;
    assert_eq!(peak.words, peak.live.iter().map(|value| value.words).sum::<u32>(), "{forecast:?}\n{}", functions[0]);
    let feature = |name| forecast.features.get(name);
    assert!(feature("varying_words") <= feature("words"), "{}", functions[0]);
    assert!(feature("words") <= feature("declared_words"), "{}", functions[0]);
    assert!(feature("varying_words") <= feature("hoisted_words"), "{}", functions[0]);
    assert!(feature("reordered_varying_words") <= feature("reordered_words"), "{}", functions[0]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forecasts_keep_to_their_bounds() {
        arbtest::arbtest(check_forecast).budget_ms(2_000);
    }
}
