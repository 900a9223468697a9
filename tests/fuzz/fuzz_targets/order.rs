//! Every order that the rule of effects or the checker allows means the same, in the eyes of the interpreter.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_order;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_order(&mut Unstructured::new(bytes));
});
