//! Loops whose last branch is turned do what they did.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_loop_shape;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_loop_shape(&mut Unstructured::new(bytes));
});
