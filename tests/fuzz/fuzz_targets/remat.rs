//! The checker and the interpreter prove that rematerialised values keep the meaning of a function.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_remat;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_remat(&mut Unstructured::new(bytes));
});
