//! Generated functions are read back unchanged, and the parser survives their text with changed bytes.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_round_trip;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_round_trip(&mut Unstructured::new(bytes));
});
