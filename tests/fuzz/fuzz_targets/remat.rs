//! Computing values again keeps the meaning of a function, in the eyes of the checker and of the interpreter.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_remat;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_remat(&mut Unstructured::new(bytes));
});
