//! The emulator finds wrong code of a compiler: LLVM's `fix-irreducible`, which structurizecfg needs, on loops with
//! several entries. tests/ptx/irreducible/make.py made the kernels. Runs with `lli` showed which of the kernels are
//! wrong.

use std::fs;
use std::path::Path;

use nvptx_ra::emulate::{Launches, compare_programs};

use super::program;

const WRONG: [&str; 5] = ["kf71", "kf72", "kf113", "kf127", "kf128"];
const RIGHT: [&str; 3] = ["kf76", "kf86", "kf126"];

#[test]
fn wrong_code_is_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx/irreducible");
    let read = |name: &str| program(&fs::read_to_string(folder.join(name)).expect("the file can be read"));
    let (before, after) = (read("before.ptx"), read("after.ptx"));
    let launches = Launches { is_exact: true, ..Launches::default() };
    let compared = |kernel: &&str| compare_programs(&before, &after, kernel, &launches);
    for kernel in WRONG {
        let comparison = compared(&kernel);
        assert!(comparison.difference().is_some(), "{kernel}: {comparison:?}");
    }
    for kernel in RIGHT {
        let comparison = compared(&kernel);
        assert!(comparison.is_same() && comparison.equal() == comparison.launches.len(), "{kernel}: {comparison:?}");
    }
}
