//! The interval tree answers as a vector would.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::interval_tree::check_interval_tree;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_interval_tree(&mut Unstructured::new(bytes));
});
