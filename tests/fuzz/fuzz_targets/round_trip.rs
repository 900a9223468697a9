//! Generated functions read back, and the parser survives their texts with bytes changed.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_round_trip;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_round_trip(&mut Unstructured::new(bytes));
});
