//! Formats the forecast like `ptxas -v` and like ptxas's statistics, for users of these formats.

use std::fmt::Write as _;

use nvptx_ra::forecast::Forecast;

use super::Code;

/// Formats some lines for each kernel.
pub(super) fn text(forecasts: &[Forecast], code: &Code) -> String {
    let mut text = String::new();
    for forecast in forecasts {
        let memory = forecast.local_memory();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "\nFunction properties for {}\n    {} bytes stack frame, {} bytes spill stores, {} bytes spill loads",
            forecast.name,
            memory.frame(),
            memory.spilled,
            memory.refilled
        );
        let at_least = if forecast.is_at_least() { "at least " } else { "" };
        let shared = match forecast.block_shared_bytes() {
            0 => String::new(),
            bytes => format!(", {bytes} bytes smem"),
        };
        let cycles = code.cycles(forecast).unwrap_or_default();
        let _ = writeln!(text, "Used {at_least}{} registers{shared}", forecast.registers);
        let _ = writeln!(text, "# [est latency = {cycles:.0}] {memory}");
    }
    text
}
