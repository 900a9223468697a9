//! The checker proves that the fat-point allocator preserves every value, with any parameters.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_fatpoint;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_fatpoint(&mut Unstructured::new(bytes));
});
