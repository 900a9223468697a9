//! How compilers call this program: nvcc and XLA through a wrapped toolkit, clang through an option, Triton through an
//! environment variable. Each test runs the compiler itself, if it is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::outcome::TOOL;
use crate::cuda;

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

/// Wraps the toolkit that contains `bin` in a folder.
fn wrapped(folder: &Path, bin: &Path) -> PathBuf {
    let wrapped = folder.join("cuda");
    let cuda = bin.parent().expect("a toolkit");
    let said = succeeds(Command::new(TOOL).arg("wrap-cuda").arg(&wrapped).arg("--cuda").arg(cuda));
    assert!(said.contains("/cuda uses ") && said.lines().count() == 1, "{said}");
    wrapped
}

/// nvcc of a wrapped toolkit calls this program and writes the same object as nvcc itself.
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

/// With `--ptxas-path` naming this program, clang writes the same object.
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

/// Returns the folders of installed packages with this prefix, from `scripts/setup.sh doors`.
///
/// # Panics
/// If no folder is found and the environment has `DOORS=required` or `DOORS=all`.
pub(crate) fn installed(beginning: &str) -> Vec<PathBuf> {
    let wanted = |name: &str| std::env::var(name).unwrap_or_default();
    if wanted("PTXAS") == "skip" {
        return Vec::new();
    }
    let entries =
        fs::read_dir(root().join("target/doors")).into_iter().flatten().map(|entry| entry.expect("a folder").path());
    let begins = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning));
    let mut folders: Vec<PathBuf> = entries.filter(|path| begins(path) && path.join(".packages").is_file()).collect();
    folders.sort();
    if folders.is_empty() {
        let message = format!("{beginning} is missing; scripts/setup.sh doors brings it");
        assert!(wanted("DOORS").is_empty(), "{message}");
        println!("skipped: {message}");
    }
    folders
}

/// Returns a command that runs Python with the packages of a folder.
fn python(folder: &Path) -> Command {
    let mut command = Command::new(root().join("target/venv/bin/python"));
    command.env("PYTHONPATH", folder).env("TRITON_DEFAULT_FP_FUSION", "1");
    for variable in ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "NVPTX_RA_PTXAS", "NVPTX_RA_PTXAS_BLACKWELL"] {
        command.env_remove(variable);
    }
    command
}

/// Returns the ptxas that a version of Triton calls for sm_90. Since Triton 3.9 this is the ptxas for Blackwell.
fn ptxas_of(triton: &Path) -> String {
    let named = "import inspect; from triton.backends.nvidia.compiler import get_ptxas; \
        print(get_ptxas(*[90] * len(inspect.signature(get_ptxas).parameters)).path)";
    succeeds(python(triton).args(["-c", named])).trim().to_owned()
}

/// Returns a command that runs a script of this folder without PyTorch, by means of stand-ins.
fn script(triton: &Path, name: &str) -> Command {
    let mut command = python(triton);
    command.arg(root().join("tests/rust/ptxas_wrapper").join(name)).arg(root().join("tests/bench"));
    command.env("NVPTX_RA_CACHE", "off");
    command
}

/// With this program as ptxas, Triton makes the same cubin and reads the same ptxas release. Triton's cache
/// distinguishes the two cubins.
#[test]
fn triton() {
    for triton in installed("triton-") {
        let real = ptxas_of(&triton);
        let folder = tempfile::tempdir().expect("there is space");
        let ptxas = folder.path().join("ptxas");
        std::os::unix::fs::symlink(TOOL, &ptxas).expect("there is space");
        let compile = |name: &str, ptxas: &str, runs: &str| {
            let folder = folder.path().join(name);
            fs::create_dir(&folder).expect("there is space");
            let mut command = script(&triton, "triton_kernel.py");
            command.arg(&folder).env("TRITON_PTXAS_PATH", ptxas).env("TRITON_PTXAS_BLACKWELL_PATH", ptxas);
            command
                .env("TRITON_CACHE_DIR", folder.join("cache"))
                .env("NVPTX_RA_PTXAS", &real)
                .env("NVPTX_RA_RUNS", runs);
            succeeds(&mut command);
            ["kernel.cubin", "key", "release"].map(|file| fs::read(folder.join(file)).expect(file))
        };
        let plain = compile("plain", &real, "0");
        let ours = ptxas.display().to_string();
        assert!(compile("ours", &ours, "0") == plain, "{}: without runs it is ptxas", triton.display());
        let searched = compile("searched", &ours, "1");
        assert_ne!(searched[1], plain[1], "{}: the keys in the cache", triton.display());
        assert_eq!(searched[2], plain[2], "{}: the release of ptxas", triton.display());
    }
}

/// The options that an installed Triton passes to ptxas do not disable the search, except options for debugging. The
/// Python package installs this program in ptxas's place.
#[test]
fn options_of_triton() {
    for triton in installed("triton-") {
        let folder = tempfile::tempdir().expect("there is space");
        let log = folder.path().join("log");
        let compile = |name: &str, disabled: &str| {
            _ = fs::remove_file(&log);
            let mut command = script(&triton, "triton_options.py");
            command.arg(root().join("python")).env("NVPTX_RA_PROGRAM", TOOL).env("NVPTX_RA_LOG", &log);
            command.env("TRITON_CACHE_DIR", folder.path().join(name)).env("DISABLE_PTXAS_OPT", disabled);
            let said = succeeds(command.env("NVPTX_RA_RUNS", "1"));
            let kernels: usize = said.lines().find_map(|line| line.parse().ok()).expect("a number");
            let log = fs::read_to_string(&log).expect("a log");
            assert!(log.lines().count() >= kernels && kernels > 0, "{}: {said}{log}", triton.display());
            log
        };
        let log = compile("searched", "0");
        let alone: Vec<&str> = log.lines().filter(|line| line.contains("runs alone")).collect();
        assert!(alone.is_empty(), "{}: {alone:#?}", triton.display());
        assert!(log.contains("softmax: "), "{}: {log}", triton.display());
        let log = compile("debugged", "1");
        let searched: Vec<&str> = log.lines().filter(|line| !line.contains("runs alone: --")).collect();
        assert!(searched.is_empty(), "{}: {searched:#?}", triton.display());
    }
}

/// Triton's tuner times candidates, and only the chosen candidate is searched. The tuner then launches the faster of
/// two kernels: the candidate and its searched variant.
#[test]
fn triton_tuner() {
    for triton in installed("triton-") {
        let folder = tempfile::tempdir().expect("there is space");
        let mut command = script(&triton, "triton_autotuned.py");
        command.arg(root().join("python")).env("NVPTX_RA_PROGRAM", TOOL).env("NVPTX_RA_PTXAS", ptxas_of(&triton));
        command.env("TRITON_CACHE_DIR", folder.path()).env("NVPTX_RA_RUNS", "1");
        let said = succeeds(&mut command);
        let timed = "timed with 4 warps\ntimed with 8 warps\n";
        let (candidate, searched) = ("timed with 8 warps\n", "timed with 8 warps, searched\n");
        let beside = format!("{timed}{searched}{candidate}{searched}{candidate}{searched}{candidate}{searched}");
        let launched = "launched with 8 warps, searched\n".repeat(2);
        let faster = format!("{beside}{launched}");
        let slower = format!("{beside}{}", "launched with 8 warps\n".repeat(2));
        let known = format!("timed with 4 warps\n{}{launched}", searched.repeat(2));
        assert_eq!(said, format!("{faster}{slower}{known}"), "{}", triton.display());
    }
}

/// Without a search, XLA makes the same executable with this program as ptxas. The user or the Python package can
/// enable the search.
#[test]
fn xla() {
    let packages = installed("jax");
    let Some(jax) = packages.first() else { return };
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    let wrapped = wrapped(folder, &bin);
    // The executable contains the toolkit's path, so both toolkits get the same name.
    let compile = |name: &str, toolkit: &Path, runs: &str, more: &[&str]| {
        let folder = folder.join(name);
        fs::create_dir(&folder).expect("there is space");
        std::os::unix::fs::symlink(toolkit, folder.join("toolkit")).expect("there is space");
        let mut command = python(jax);
        command.arg(root().join("tests/rust/ptxas_wrapper/xla_program.py")).arg("executable").args(more);
        let packages = std::env::join_paths([root().join("python"), jax.clone()]).expect("paths without colons");
        command.env("CUDA_ROOT", "toolkit").env("PYTHONPATH", packages).env("NVPTX_RA_PROGRAM", TOOL);
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
