//! The exact allocator preserves every value, and its result is at least as good as that of the others.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_exact;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_exact(&mut Unstructured::new(bytes));
});
