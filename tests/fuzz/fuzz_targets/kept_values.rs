//! Spilling values to shared memory keeps the meaning of a kernel, and damaged stores and reloads are found.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_kept_values;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_kept_values(&mut Unstructured::new(bytes));
});
