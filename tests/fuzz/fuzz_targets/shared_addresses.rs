//! Accesses to shared memory go where they went, with one register for addresses that differ by a number.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_shared_addresses;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_shared_addresses(&mut Unstructured::new(bytes));
});
