//! Keeping values in shared memory keeps the meaning of a kernel, and spoiled stores and loads are found.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_kept_values;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_kept_values(&mut Unstructured::new(bytes));
});
