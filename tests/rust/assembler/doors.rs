//! The ways by which compilers come to this program: nvcc by a wrapped toolkit, clang by an option, Triton by a variable
//! of the environment. Each is tried with what it compiles, where it is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cuda;
use crate::outcome::TOOL;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

/// A wrapped toolkit in a folder, of that to which programs belong.
fn wrapped(folder: &Path, bin: &Path) -> PathBuf {
    let wrapped = folder.join("cuda");
    let cuda = bin.parent().expect("a toolkit");
    let said = succeeds(Command::new(TOOL).arg("wrap-cuda").arg(&wrapped).arg("--cuda").arg(cuda));
    assert!(said.contains("/cuda uses ") && said.lines().count() == 1, "{said}");
    wrapped
}

/// nvcc of a wrapped toolkit makes what nvcc makes, by way of this program.
#[test]
fn nvcc() {
    let Some(bin) = cuda::programs(&["nvcc", "ptxas", "cudafe++"]) else { return };
    if Command::new("g++").arg("--version").output().is_err() {
        println!("skipped: nvcc has no host compiler");
        return;
    }
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    let wrapped = wrapped(folder, &bin);
    let log = folder.join("log");
    let compile = |nvcc: &Path, to: &str| {
        let to = folder.join(to);
        let mut command = Command::new(nvcc);
        command.args(["-cubin", "-arch=sm_90", "-O3", "-o"]).arg(&to).arg(root().join("examples/reduce.cu"));
        succeeds(command.env("NVPTX_RA_LOG", &log).env("NVPTX_RA_CACHE", "off").env("NVPTX_RA_RUNS", "1"));
        fs::read(&to).expect("a cubin")
    };
    let plain = compile(&bin.join("nvcc"), "plain.cubin");
    assert!(!log.exists(), "nvcc alone knows nothing of this program");
    assert!(compile(&wrapped.join("bin/nvcc"), "wrapped.cubin") == plain, "the cubins differ");
    let alone = "ptxas runs alone: --compile-only";
    let mut command = Command::new(wrapped.join("bin/nvcc"));
    command.args(["-dc", "-arch=sm_90", "-o"]).arg(folder.join("r.o")).arg(root().join("examples/reduce.cu"));
    succeeds(command.env("NVPTX_RA_LOG", &log));
    assert!(fs::read_to_string(&log).is_ok_and(|log| log.contains(alone)), "this program was asked");
}
