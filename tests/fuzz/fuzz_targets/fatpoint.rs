//! The fat-point allocator keeps every value, in the eyes of the checker, whatever its knobs are.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_fatpoint;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_fatpoint(&mut Unstructured::new(bytes));
});
