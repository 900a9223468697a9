//! The interval tree gives the same answers as a vector.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::interval_tree::check_interval_tree;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_interval_tree(&mut Unstructured::new(bytes));
});
