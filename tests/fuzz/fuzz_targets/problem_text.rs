//! A printed problem is read back unchanged, and other text is refused.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nvptx_ra::allocate::Problem;
use nvptx_ra::fuzzing::check_problem_text;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(problem) = Problem::parse(&String::from_utf8_lossy(bytes)) {
        let _ = problem.validate();
    }
    // An input with too few bytes is no finding.
    let _ = check_problem_text(&mut Unstructured::new(bytes));
});
