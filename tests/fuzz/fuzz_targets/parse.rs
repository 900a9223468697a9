//! The parser accepts or refuses any bytes. Accepted text can be printed and parsed again.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_text;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_text(&mut Unstructured::new(bytes));
});
