//! A forecast keeps to its bounds, and the values at its peak have as many words as it counts.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_forecast;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_forecast(&mut Unstructured::new(bytes));
});
