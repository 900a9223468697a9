//! Any bytes: the parser takes or refuses them, and what it takes reads back.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_text;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_text(&mut Unstructured::new(bytes));
});
