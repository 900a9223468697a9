//! Threads that differ in what divergent opcodes give them hold the same bits in uniform values.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::uniformity::check_uniformity;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_uniformity(&mut Unstructured::new(bytes));
});
