//! The generator and the interpreter: functions are valid, and leaving SSA keeps their meaning.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_lowering;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_lowering(&mut Unstructured::new(bytes));
});
