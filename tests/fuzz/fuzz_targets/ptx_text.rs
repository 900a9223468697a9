//! The reader takes any bytes, and prints what it takes byte for byte.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_ptx_text;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_ptx_text(&mut Unstructured::new(bytes));
});
