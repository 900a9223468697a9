//! Loops with an inverted last branch compute the same as before.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_loop_shape;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_loop_shape(&mut Unstructured::new(bytes));
});
