//! The interpreter confirms the meaning of every order that the rule of effects or the checker allows.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_order;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_order(&mut Unstructured::new(bytes));
});
