//! Intervals around a forecast: of registers, and of spilled bytes if a kernel spills.
//!
//! ptxas schedules the code itself, so kernels with the same features in PTX take different numbers of registers. The
//! table has an 80 % interval for each range of forecasts, from the kernels of the corpus that were left out of the
//! fit: `likely 32 0.85 1.23` means 0.85 to 1.23 times a forecast of up to 32. Kernels from which ptxas may withhold
//! registers for more warps ([`occupancy_first`](crate::forecast::kernel::occupancy_first)) take few registers, or all
//! of them. Numbers in between are no likelier, and no feature decides between few and all.

use super::table::{Likely, Model};

/// Returns the 80 % interval of the registers, at most `register_limit`. If the table has no intervals, the result is 1
/// to the limit.
pub(in crate::forecast) fn likely_registers(registers: u32, model: &Model, register_limit: u32) -> (u32, u32) {
    let said = f64::from(registers);
    let share_of = |share: f64| (share * said).round() as u32;
    match range_of(said, model) {
        Some(range) => {
            (share_of(range.least).clamp(1, registers), share_of(range.most).min(register_limit).max(registers))
        }
        None => (1, register_limit.max(registers)),
    }
}

/// Returns the 80 % interval of the spilled bytes, for kernels that spill. 0 bytes give 0 to 0: the interval does not
/// cover kernels that spill although no spill is forecast.
pub(in crate::forecast) fn likely_bytes(bytes: u32, model: &Model) -> (u32, u32) {
    let said = f64::from(bytes);
    let words = |share: f64| (share * said / 4.0).round() as u32 * 4;
    match range_of(said, model) {
        Some(range) => (words(range.least).min(bytes), words(range.most).max(bytes)),
        None => (bytes, bytes),
    }
}

/// Returns the interval for forecasts of this size. Forecasts above the last range get the last interval.
fn range_of(said: f64, model: &Model) -> Option<&Likely> {
    model.likely.iter().find(|likely| said <= likely.up_to).or_else(|| model.likely.last())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::kernel::estimate::tests::case;
    use crate::forecast::{Forecast, forecast_by_name};
    use crate::function::{Function, LaunchBounds};

    /// The interval belongs to the range of the forecast, contains the forecast, and stays within the register limit.
    #[test]
    fn ranges() {
        let model = Model::parse("likely 16 0.5 1.25\nlikely 64 1.1 2\ntree 1\n").expect("a table");
        let of = |registers| likely_registers(registers, &model, 255);
        assert_eq!([1, 16, 17, 64, 100].map(of), [(1, 1), (8, 20), (17, 34), (64, 128), (100, 200)]);
        assert_eq!([16, 64].map(|registers| likely_registers(registers, &model, 18)), [(8, 18), (64, 64)]);
        let silent = Model::parse("tree 1\n").expect("a table");
        assert_eq!(likely_registers(32, &silent, 64), (1, 64));
    }

    /// The interval of bytes belongs to the range of the forecast and consists of whole words. 0 bytes have an empty
    /// interval.
    #[test]
    fn ranges_of_bytes() {
        let model = Model::parse("likely 100 0.25 3\nlikely 1000 0.5 2\ntree 1\n").expect("a table");
        let of = |bytes| likely_bytes(bytes, &model);
        assert_eq!([0, 40, 100, 104, 5000].map(of), [(0, 0), (12, 120), (24, 300), (52, 208), (2500, 10000)]);
    }

    /// A register limit bounds the interval.
    #[test]
    fn limits() {
        let text = "mfv 1\nfunction \"k\"\nbb0: frequency 1.0 depth 0\nend\n";
        let of = |max_registers: Option<u32>| -> Forecast {
            let bounds = LaunchBounds { max_registers, ..LaunchBounds::default() };
            let kernel = Function { kernel: Some(bounds), ..Function::parse(text).expect("a view") };
            forecast_by_name(&[kernel], &case()).expect("a forecast").swap_remove(0)
        };
        let free = of(None);
        assert!(free.likely_registers.0 <= free.registers && free.registers < free.likely_registers.1, "{free:?}");
        let limited = of(Some(free.registers));
        assert_eq!(limited.likely_registers.1, limited.register_limit.min(free.likely_registers.1));
    }

    /// The shipped tables have an interval for every forecast, which contains the forecast.
    #[test]
    fn shipped_tables() {
        for model in &Model::all()[..2] {
            assert_eq!(model.likely.last().map(|likely| likely.up_to), Some(255.0));
            assert!(model.likely.iter().all(|likely| likely.least <= 1.0 && likely.most >= 1.0 && likely.most < 2.0));
        }
    }
}
