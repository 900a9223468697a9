//! The checker and the interpreter prove that coalescing keeps the meaning of a function.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_coalesce;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_coalesce(&mut Unstructured::new(bytes));
});
