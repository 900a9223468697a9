//! In `nvptx-ra tune`, instances of one template learn from each other. The number of threads does not change the
//! result.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use super::judge::folder;

/// Returns alternating instances of two templates, and a kernel that is not an instance. Instruction orders change the
/// PTX of each kernel and improve none. Each kernel contains its own number, so no two are equal.
fn text(instances: u32) -> String {
    let mut text = String::from(".version 8.7\n.target sm_90\n.address_size 64\n");
    let names = (0..instances).map(|number| format!("_Z{}ILi{number}EEvPj", ["4copy", "3sum"][number as usize % 2]));
    for (number, name) in names.chain(["alone".into()]).enumerate() {
        _ = writeln!(
            text,
            ".visible .entry {name}(.param .u64 p)\n.maxntid 128, 1, 1\n{{\n\t.reg .b32 %r<20>;\n\t.reg .b64 %rd<2>;\n\
            \tld.param.u64 %rd1, [p];"
        );
        (0..8).for_each(|at| _ = writeln!(text, "\tld.global.u32 %r{at}, [%rd1+{}];", 4 * at));
        (0..8).for_each(|at| _ = writeln!(text, "\tadd.s32 %r{}, %r{at}, {number};", 8 + at));
        (0..8).for_each(|at| _ = writeln!(text, "\tst.global.u32 [%rd1+{}], %r{};", 4 * at, 15 - at));
        text += "\tret;\n}\n";
    }
    text
}

/// Returns the variants that were tried on each kernel, with their figures, and the winning PTX.
fn searched(jobs: &str) -> (Vec<Value>, String) {
    let folder = folder(&text(10), true);
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
    command.args(["tune", "k.ptx", "--runs", "6", "--json", "-o", "out.ptx", "--jobs", jobs]);
    let output = command.current_dir(folder.path()).env("PATH", path).output().expect("the tool starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let kernels = json["kernels"].as_array().expect("kernels").clone();
    (kernels, std::fs::read_to_string(folder.path().join("out.ptx")).expect("a text"))
}

/// The fourth and fifth instance of each template do not try variants that helped none of the first three. One thread
/// and four threads try the same variants and have the same winners.
#[test]
fn instances_learn_with_any_number_of_threads() {
    let (kernels, text) = searched("1");
    let tried = |at: usize| kernels[at]["tried"].as_array().expect("a list").len();
    let counts: Vec<usize> = (0..kernels.len()).map(tried).collect();
    let whole = counts[10];
    assert!(whole > 6 && counts[..6].iter().all(|count| *count == whole), "{counts:?}");
    assert!(counts[6..10].iter().all(|count| *count < whole), "{counts:?}");
    assert_eq!(searched("4"), (kernels, text));
}
