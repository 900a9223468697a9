//! A forecast keeps to its bounds, and its peak has the words that it counts.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_forecast;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_forecast(&mut Unstructured::new(bytes));
});
