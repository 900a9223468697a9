//! Passes keep the meaning of PTX programs with definitions under predicates.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_ptx_passes;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_ptx_passes(&mut Unstructured::new(bytes));
});
