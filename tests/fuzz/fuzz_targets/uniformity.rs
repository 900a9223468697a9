//! Uniform values have the same bits in threads that differ in the results of divergent opcodes.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::uniformity::check_uniformity;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_uniformity(&mut Unstructured::new(bytes));
});
