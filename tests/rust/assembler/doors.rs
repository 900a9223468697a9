//! The ways by which compilers come to this program: nvcc and XLA by a wrapped toolkit, clang by an option, Triton by a
//! variable of the environment. Each is tried with what it compiles, where it is there.

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
        succeeds(command.env("NVPTX_RA_RUNS", "0"));
        fs::read(&to).expect("a cubin")
    };
    let plain = compile(&bin.join("nvcc"), "plain.cubin");
    assert!(compile(&wrapped.join("bin/nvcc"), "wrapped.cubin") == plain, "the cubins differ");
    let object = folder.join("r.o");
    let mut command = Command::new(wrapped.join("bin/nvcc"));
    command.args(["-dc", "-arch=sm_90", "-o"]).arg(&object).arg(root().join("examples/reduce.cu"));
    succeeds(command.env("NVPTX_RA_LOG", &log).env("NVPTX_RA_CACHE", "off"));
    assert!(fs::read_to_string(&log).is_ok_and(|log| log.contains("nothing to search")), "this program was asked");
    let mut command = Command::new(bin.join("nvcc"));
    succeeds(command.args(["-dlink", "-arch=sm_90", "-o"]).arg(folder.join("linked.o")).arg(&object));
}

/// clang makes the same object with `--ptxas-path`, of the program by its name.
#[test]
fn clang() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let clang = std::env::var_os("LLVM_BIN").map_or("clang".into(), |bin| Path::new(&bin).join("clang"));
    if Command::new(&clang).arg("--version").output().is_err() {
        println!("skipped: {} is missing", clang.display());
        return;
    }
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    let ptxas = folder.join("ptxas");
    std::os::unix::fs::symlink(TOOL, &ptxas).expect("there is space");
    let log = folder.join("log");
    let compile = |to: &str, runs: &str, options: &[String]| {
        let mut command = Command::new(&clang);
        command.env("NVPTX_RA_RUNS", runs);
        command.args(["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-O3", "-std=c++17", "-c"]);
        command.arg("-Wno-unknown-cuda-version").arg(root().join("examples/reduce.cu"));
        command.arg(format!("--cuda-path={}", bin.parent().expect("a toolkit").display())).args(options);
        command.env("NVPTX_RA_PTXAS", bin.join("ptxas")).env("NVPTX_RA_LOG", &log);
        succeeds(command.current_dir(folder).arg("-o").arg(to));
        fs::read(folder.join(to)).expect("an object")
    };
    let ours = format!("--ptxas-path={}", ptxas.display());
    let plain = compile("plain.o", "0", &[]);
    assert!(compile("ours.o", "0", std::slice::from_ref(&ours)) == plain, "the objects differ");
    compile("alone.o", "1", &[ours, "-Xcuda-ptxas".into(), "--return-at-end".into()]);
    assert!(fs::read_to_string(&log).is_ok_and(|log| log.contains("--return-at-end")), "this program was asked");
}

/// Python that has a module.
fn python_with(module: &str) -> Option<PathBuf> {
    let python = root().join("target/venv/bin/python");
    let import = format!("import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)");
    let has = Command::new(&python).args(["-c", &import]).output().is_ok_and(|output| output.status.success());
    if std::env::var("PTXAS").is_ok_and(|wanted| wanted == "skip") || !has {
        println!("skipped: {module} is missing; scripts/setup.sh doors brings it");
        return None;
    }
    Some(python)
}

/// Python that has Triton, and the ptxas that Triton calls.
fn python_with_triton() -> Option<(PathBuf, String)> {
    let python = python_with("triton")?;
    let named = "import triton; print(triton.knobs.nvidia.ptxas.path)";
    let real = succeeds(Command::new(&python).args(["-c", named]).env_remove("TRITON_PTXAS_PATH"));
    Some((python, real.trim().to_owned()))
}

/// Triton makes the same cubin by way of this program, reads the same release of ptxas, and keeps both apart in its cache.
#[test]
fn triton() {
    let Some((python, real)) = python_with_triton() else { return };
    let folder = tempfile::tempdir().expect("there is space");
    let ptxas = folder.path().join("ptxas");
    std::os::unix::fs::symlink(TOOL, &ptxas).expect("there is space");
    let compile = |name: &str, ptxas: &str, runs: &str| {
        let folder = folder.path().join(name);
        fs::create_dir(&folder).expect("there is space");
        let mut command = Command::new(&python);
        command.arg(root().join("tests/rust/assembler/triton_kernel.py")).arg(root().join("tests/bench")).arg(&folder);
        command.env("TRITON_PTXAS_PATH", ptxas).env("TRITON_CACHE_DIR", folder.join("cache"));
        command.env("NVPTX_RA_PTXAS", &real).env("NVPTX_RA_CACHE", "off").env("NVPTX_RA_RUNS", runs);
        succeeds(&mut command);
        ["kernel.cubin", "key", "release"].map(|file| fs::read(folder.join(file)).expect(file))
    };
    let plain = compile("plain", &real, "0");
    let ours = ptxas.display().to_string();
    assert!(compile("ours", &ours, "0") == plain, "without runs it is ptxas");
    let searched = compile("searched", &ours, "1");
    assert_ne!(searched[1], plain[1], "the keys in the cache");
    assert_eq!(searched[2], plain[2], "the release of ptxas");
}

/// Triton's tuner times candidates; only what it chooses is searched, and the faster one of both is launched.
#[test]
fn triton_tuner() {
    let Some((python, real)) = python_with_triton() else { return };
    let folder = tempfile::tempdir().expect("there is space");
    let mut command = Command::new(&python);
    command.arg(root().join("tests/rust/assembler/triton_autotuned.py"));
    command.arg(root().join("tests/bench")).arg(root().join("python"));
    command.env("NVPTX_RA_PROGRAM", TOOL).env("NVPTX_RA_PTXAS", real).env_remove("TRITON_PTXAS_PATH");
    command.env("TRITON_CACHE_DIR", folder.path()).env("NVPTX_RA_CACHE", "off").env("NVPTX_RA_RUNS", "1");
    let said = succeeds(&mut command);
    let timed = "timed with 4 warps\ntimed with 8 warps\n";
    let (candidate, searched) = ("timed with 8 warps\n", "timed with 8 warps, searched\n");
    let beside = format!("{timed}{searched}{candidate}{searched}{candidate}{searched}{candidate}{searched}");
    let faster = format!("{beside}{}", "launched with 8 warps, searched\n".repeat(2));
    let slower = format!("{beside}{}", "launched with 8 warps\n".repeat(2));
    let known = format!("timed with 4 warps\n{}{}", searched.repeat(2), "launched with 8 warps, searched\n".repeat(2));
    assert_eq!(said, format!("{faster}{slower}{known}"));
}

/// XLA makes the same executable by way of this program, and one whose kernels were searched, whoever says how: the user
/// or the package for Python.
#[test]
fn xla() {
    let Some(python) = python_with("jax_plugins") else { return };
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    let wrapped = wrapped(folder, &bin);
    // The executable has the toolkit's path, so both toolkits are called the same.
    let compile = |name: &str, toolkit: &Path, runs: &str, more: &[&str]| {
        let folder = folder.join(name);
        fs::create_dir(&folder).expect("there is space");
        std::os::unix::fs::symlink(toolkit, folder.join("toolkit")).expect("there is space");
        let mut command = Command::new(&python);
        command.arg(root().join("tests/rust/assembler/xla_program.py")).arg("executable").args(more);
        command.env("CUDA_ROOT", "toolkit").env("PYTHONPATH", root().join("python")).env("NVPTX_RA_PROGRAM", TOOL);
        command.env("NVPTX_RA_RUNS", runs).env("NVPTX_RA_CACHE", "off").env("NVPTX_RA_LOG", folder.join("log"));
        succeeds(command.current_dir(&folder));
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        (fs::read(folder.join("executable")).expect("an executable"), log.contains("fusion"))
    };
    let toolkit = bin.parent().expect("a toolkit");
    let plain = compile("plain", toolkit, "0", &[]);
    assert!(compile("without", &wrapped, "0", &[]) == plain, "without runs it is ptxas");
    assert!(compile("searched", &wrapped, "1", &[]).1, "kernels were searched");
    assert!(compile("enabled", toolkit, "1", &["enable"]).1, "kernels were searched");
}
