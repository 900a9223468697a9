//! The Chaitin-Briggs allocator keeps every value, in the eyes of the checker.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::allocate::briggs::Briggs;
use nvptx_ra::fuzzing::check_allocate;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_allocate(&mut Unstructured::new(bytes), &Briggs::default());
});
