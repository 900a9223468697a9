//! Registers that warps return and take (`setmaxnreg`).

use super::{file, launches, program, stores};
use crate::emulate::{Differing, Launches, compare_programs};

/// Returns a kernel of two groups of 128 threads: the first group returns registers, and the other group takes
/// registers.
fn groups(bounds: &str, dec: u32, inc: u32, ahead: &str) -> String {
    let body = format!(
        "setp.lt.u32 %p0, %t, 128; @%p0 bra D; setmaxnreg.inc.sync.aligned.u32 {inc}; bra X;\n\
         D: {ahead} setmaxnreg.dec.sync.aligned.u32 {dec};\nX: st.global.u32 [%at], %t;"
    );
    file("", &body).replacen("n)\n{", &format!("n)\n{bounds}\n{{"), 1)
}

fn block() -> Launches {
    Launches { grid: Some([2, 1, 1]), ..launches(256, &[0]) }
}

/// An increase succeeds once the registers are available. If they never are, the program does not end.
#[test]
fn the_pool() {
    let bounds = |most: u32| format!(".maxntid 256\n.maxnreg {most}");
    let ran = |text: &str| stores(text, &block()).map(|stores| stores.stores.len());
    // 256 · 136 registers are equal to 128 · 40 + 128 · 232.
    for most in [136, 168, 255] {
        assert_eq!(ran(&groups(&bounds(most), 40, 232, "")), Ok(256), "{most}");
    }
    let late = "mov.u32 %r0, 0; L: add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 1000; @%p1 bra L;";
    assert_eq!(ran(&groups(&bounds(136), 40, 232, late)), Ok(256));
    for most in [40, 80, 120, 128] {
        let reason = ran(&groups(&bounds(most), 40, 232, "")).expect_err("it waits");
        assert!(reason.contains("does not end: setmaxnreg.inc in line "), "{reason}");
        assert!(reason.contains(&format!("256 times {most} registers")), "{reason}");
    }
    // If the pool is unknown, or if ptxas ignores the requests, no thread waits.
    for bounds in [".maxntid 256", ""] {
        assert_eq!(ran(&groups(bounds, 40, 232, "")), Ok(256), "{bounds}");
    }
}

/// A limit that leaves too few registers is distinguished from the kernel without it.
#[test]
fn a_limit_that_leaves_too_few_differs() {
    let [stock, limited] = [".maxntid 256\n.minnctapersm 1", ".maxntid 256\n.minnctapersm 1\n.maxnreg 80"]
        .map(|bounds| program(&groups(bounds, 40, 232, "")));
    let compare = |second| compare_programs(&stock, second, "k", &Launches::default());
    assert!(compare(&stock).is_same());
    let comparison = compare(&limited);
    let difference = comparison.difference().unwrap_or_else(|| panic!("{comparison:?}"));
    assert!(matches!(difference.differing, Differing::End { endless: 1, .. }), "{difference}");
    assert!(difference.to_string().contains("does not end: setmaxnreg.inc"), "{difference}");
}
