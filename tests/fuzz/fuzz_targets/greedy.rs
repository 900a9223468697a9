//! The checker proves that the greedy allocator preserves every value.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::allocate::greedy::Greedy;
use nvptx_ra::fuzzing::check_allocate;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_allocate(&mut Unstructured::new(bytes), &Greedy::default());
});
