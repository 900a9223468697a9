//! Live ranges are those that iteration over the whole function finds.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::liveness::check_liveness;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_liveness(&mut Unstructured::new(bytes));
});
