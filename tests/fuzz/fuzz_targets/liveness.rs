//! Live ranges equal the result of iteration over the whole function.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::liveness::check_liveness;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_liveness(&mut Unstructured::new(bytes));
});
