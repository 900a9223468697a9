//! Passes keep what programs in PTX do whose definitions stand under predicates.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::fuzzing::check_ptx_passes;

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes for an input are no finding.
    let _ = check_ptx_passes(&mut Unstructured::new(bytes));
});
