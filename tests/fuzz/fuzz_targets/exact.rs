//! The exact allocator keeps every value, and is no worse than the others.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_exact;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_exact(&mut Unstructured::new(bytes));
});
