//! ptxas releases other than the development version: the release of CUDA 12.8, which Triton 3.5 includes, and the
//! newest release. With `DOORS=all`, the releases of all installed versions of Triton are tested too. A kernel that
//! spills is searched for each generation of processors. nvcc of the newest toolkit calls this program through one
//! option.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::doors::{installed, root};
use super::outcome::TOOL;
use super::search::spills;
use crate::cuda;

/// Returns each installed ptxas except the development version.
fn others() -> Vec<PathBuf> {
    let is_wanted = |folder: &PathBuf| {
        std::env::var("DOORS").is_ok_and(|wanted| wanted == "all") || folder.ends_with("triton-3.5.1")
    };
    let of_tritons =
        installed("triton-").into_iter().filter(is_wanted).map(|folder| folder.join("triton/backends/nvidia"));
    let names = of_tritons
        .chain(newest())
        .flat_map(|toolkit| ["bin/ptxas", "bin/ptxas-blackwell"].map(|name| toolkit.join(name)));
    names.filter(|ptxas| ptxas.is_file()).collect()
}

/// Returns the newest toolkit.
fn newest() -> Option<PathBuf> {
    installed("cuda-").pop().map(|folder| folder.join("nvidia/cu13"))
}

/// A kernel improves with each ptxas release and for each processor.
#[test]
fn each_release_is_searched() {
    let Some(development) = cuda::programs(&["ptxas", "cuobjdump", "nvdisasm"]) else { return };
    for real in others().into_iter().chain([development.join("ptxas")]) {
        let folder = tempfile::tempdir().expect("there is space");
        let log = folder.path().join("log");
        for processor in ["sm_90a", "sm_100a", "sm_120"] {
            let text = spills(0).replace(".target sm_90", &format!(".target {processor}"));
            fs::write(folder.path().join("k.ptx"), text).expect("there is space");
            _ = fs::remove_file(&log);
            let mut command = Command::new(TOOL);
            command.args(["ptxas", "-arch", processor, "k.ptx", "-o", "k.cubin"]).current_dir(folder.path());
            command.env("NVPTX_RA_PTXAS", &real).env("NVPTX_RA_RUNS", "8").env("NVPTX_RA_CACHE", "off");
            let done = command.env("NVPTX_RA_LOG", &log).output().expect("it starts");
            assert!(done.status.success(), "{}: {}", real.display(), String::from_utf8_lossy(&done.stderr));
            let log = fs::read_to_string(&log).expect("a log");
            assert!(log.contains("k: ") && log.contains(" → "), "{} for {processor}: {log}", real.display());
        }
    }
}

/// nvcc of the newest toolkit starts this program with `--ptxas-prefix`, and its kernels are searched.
#[test]
fn nvcc_by_an_option() {
    let Some(toolkit) = newest() else { return };
    let folder = tempfile::tempdir().expect("there is space");
    let log = folder.path().join("log");
    for processor in ["sm_90", "sm_100", "sm_120"] {
        _ = fs::remove_file(&log);
        let mut command = Command::new(toolkit.join("bin/nvcc"));
        command.arg(format!("--ptxas-prefix={TOOL}")).arg(format!("-arch={processor}")).arg("-c");
        command.arg(root().join("tests/cmake/kernels.cu")).arg("-o").arg(folder.path().join("kernels.o"));
        command.env("NVPTX_RA_RUNS", "8").env("NVPTX_RA_CACHE", "off").env("NVPTX_RA_LOG", &log);
        let done = command.env_remove("NVPTX_RA_PTXAS").output().expect("it starts");
        assert!(done.status.success(), "{processor}: {}", String::from_utf8_lossy(&done.stderr));
        let log = fs::read_to_string(&log).expect("a log");
        assert!(log.contains("spills") && !log.contains("runs alone"), "{processor}: {log}");
    }
}
