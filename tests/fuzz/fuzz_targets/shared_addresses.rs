//! Accesses to shared memory keep their addresses if addresses that differ by a constant share one register.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_shared_addresses;

fuzz_target!(|bytes: &[u8]| {
    // An input with too few bytes is no finding.
    let _ = check_shared_addresses(&mut Unstructured::new(bytes));
});
