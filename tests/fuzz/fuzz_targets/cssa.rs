//! The checker and the interpreter prove that conventional PHI webs keep the meaning of a function.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_cssa;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_cssa(&mut Unstructured::new(bytes));
});
