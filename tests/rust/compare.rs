//! `nvptx-ra compare` on files: its output and its exit status.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx/compared").join(name)
}

/// Compares a file with itself after a change. Returns the exit status and the output.
fn compared(name: &str, change: [&str; 2]) -> (i32, String) {
    let text = fs::read_to_string(path(name)).expect("the file can be read");
    let changed = text.replacen(change[0], change[1], 1);
    assert!(changed != text || change[0] == change[1], "{name} has no {}", change[0]);
    let second = std::env::temp_dir().join(format!("nvptx-ra-compare-{}-{name}", std::process::id()));
    fs::write(&second, changed).expect("the file can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
    let output = command.arg("compare").arg(path(name)).arg(&second).output().expect("the tool starts");
    fs::remove_file(&second).expect("the file is there");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), said)
}

/// Shuffles move registers of which only one half is set. The comparison covers the set half.
#[test]
fn padding_hides_no_difference() {
    let cases = [
        ("register_half_written.ptx", "r1, 2;", "r1, 2; // the same", 0),
        ("register_half_written.ptx", "%r2, 1, 31, -1", "%r2, 2, 31, -1", 1),
        ("shuffled_struct.ptx", "%rs3, 5;", "5, %rs3;", 0),
        ("shuffled_struct.ptx", "%rs3, 5;", "%rs3, 4;", 1),
        ("shuffled_struct.ptx", "add.f32", "sub.f32", 1),
    ];
    for (name, from, to, status) in cases {
        let (code, said) = compared(name, [from, to]);
        assert_eq!(code, status, "{name}, {to}: {said}");
        assert!(!said.contains("not comparable"), "{name}, {to}: {said}");
    }
}

/// A kernel does not end if a register limit leaves too few registers for its `setmaxnreg.inc`.
#[test]
fn a_program_that_does_not_end_differs() {
    let bound = ".minnctapersm 1";
    let (code, said) = compared("setmaxnreg.ptx", [bound, ".minnctapersm 1\n.maxnreg 80"]);
    assert!(code == 1 && said.contains("the second program does not end: setmaxnreg.inc in line "), "{code}: {said}");
    let (code, said) = compared("setmaxnreg.ptx", [bound, ".minnctapersm 1\n.maxnreg 168"]);
    assert_eq!(code, 0, "{said}");
    let (code, said) = compared("register_half_written.ptx", ["ret;", "L: bra L;\nret;"]);
    assert!(code == 1 && said.contains("does not end: it repeats an earlier state"), "{code}: {said}");
}
