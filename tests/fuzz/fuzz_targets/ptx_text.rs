//! The reader handles any bytes, and prints accepted text byte for byte.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_ptx_text;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_ptx_text(&mut Unstructured::new(bytes));
});
