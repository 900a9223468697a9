//! Sequences of copies have the effect of the parallel copy, with the fewest copies.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_parallel_copy;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_parallel_copy(&mut Unstructured::new(bytes));
});
