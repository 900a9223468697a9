//! Machine code that runs: ptxas's code of kernels beside their PTX, with one instruction changed, and what it executes.

use super::cuda;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The tool in a folder, and CUDA's programs for it; `None` where the test is skipped.
struct Tool {
    folder: tempfile::TempDir,
    bin: PathBuf,
}

impl Tool {
    fn new() -> Option<Self> {
        let bin = cuda::programs(&["ptxas", "nvdisasm"])?;
        Some(Self { folder: tempfile::tempdir().expect("there is space"), bin })
    }

    /// Assembles a file for a processor: the path of the machine code.
    fn assemble(&self, ptx: &Path, processor: &str, options: &[&str]) -> PathBuf {
        let text = fs::read_to_string(ptx).expect("the file can be read");
        let target = text.lines().find(|line| line.starts_with(".target")).expect("it names a processor");
        let name = ptx.file_stem().expect("a name").to_string_lossy();
        let input = self.folder.path().join(format!("{name}-{processor}.ptx"));
        fs::write(&input, text.replace(target, &format!(".target {processor}"))).expect("there is space");
        let cubin = input.with_extension("cubin");
        let mut ptxas = Command::new(self.bin.join("ptxas"));
        ptxas.args(["-arch", processor]).args(options).arg("-o").arg(&cubin).arg(&input);
        let output = ptxas.output().expect("ptxas starts");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        cubin
    }

    fn run(&self, arguments: &[&str], files: &[&Path]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
        let path = std::env::join_paths([self.bin.clone(), Path::new("/usr/bin").into(), Path::new("/bin").into()]);
        command.env("PATH", path.expect("no path has a colon")).args(arguments).args(files);
        command.output().expect("the tool starts")
    }

    /// What a comparison says, and its exit status.
    fn compared(&self, first: &Path, second: &Path, options: &[&str]) -> (i32, Vec<Value>) {
        let output = self.run(&[&["compare", "--json"], options].concat(), &[first, second]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let read: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
        (output.status.code().unwrap_or(-1), read.as_array().cloned().unwrap_or_default())
    }
}

fn ptx(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx").join(name)
}

/// ptxas's code of real kernels computes what their PTX says, bit for bit where nothing is fused, for three processors and
/// with and without optimisation.
#[test]
fn machine_code_is_its_ptx() {
    let Some(tool) = Tool::new() else { return };
    for name in ["bitonic_sort", "reduce", "scan", "spmv"] {
        let file = ptx(&format!("kernels/{name}.ptx"));
        for (processor, level) in [("sm_80", "-O3"), ("sm_89", "-O1"), ("sm_90", "-O3")] {
            let cubin = tool.assemble(&file, processor, &[level, "-fmad=false"]);
            let few = ["--exact", "--launches", "1", "--more", "1", "--steps", "40000", "--steps-in-all", "200000"];
            let (code, kernels) = tool.compared(&file, &cubin, &few);
            assert_eq!(code, 0, "{name} {processor} {level}: {kernels:?}");
            assert!(kernels.iter().all(|kernel| kernel["programs"][1]["machine"]["issued"].as_u64() > Some(0)));
        }
    }
}

/// A changed bit of a kernel's code that computes is a difference, or the launches end otherwise: no mutant of these counts
/// as the same.
#[test]
fn changed_machine_code_differs() {
    let Some(tool) = Tool::new() else { return };
    let file = ptx("kernels/reduce.ptx");
    let cubin = tool.assemble(&file, "sm_90", &[]);
    let bytes = fs::read(&cubin).expect("it is there");
    // The sum of two floats (FADD, 0x221) becomes another one: its last source register is the next one.
    let code = (0..bytes.len() / 16).map(|number| 16 * number);
    let sums: Vec<usize> = code.filter(|&at| bytes[at] == 0x21 && bytes[at + 1] & 0xf == 2).collect();
    let changed = tool.folder.path().join("changed.cubin");
    let mut told = 0;
    for &at in &sums {
        let mut other = bytes.clone();
        other[at + 4] ^= 1;
        fs::write(&changed, other).expect("there is space");
        let few = ["--launches", "1", "--more", "2", "--steps", "40000", "--steps-in-all", "200000"];
        told += u32::from(tool.compared(&file, &changed, &few).0 != 0);
    }
    assert!(!sums.is_empty() && told as usize * 10 >= sums.len() * 9, "{told} of {}", sums.len());
}

/// ptxas unrolls a loop as if the difference of bound and start did not wrap: a comparison finds that, and nothing where the
/// loop is left as it is.
#[test]
fn a_loop_that_wraps_is_found() {
    let Some(tool) = Tool::new() else { return };
    let file = ptx("compared/loop_signed_wrap.ptx");
    let unrolled = tool.assemble(&file, "sm_90", &[]);
    let (code, kernels) = tool.compared(&file, &unrolled, &[]);
    let release = Command::new(tool.bin.join("ptxas")).arg("--version").output().expect("it starts");
    let release = String::from_utf8_lossy(&release.stdout).into_owned();
    if release.contains("release 13.0") {
        assert_eq!((code, kernels[0]["verdict"].as_str()), (1, Some("different")), "{kernels:?}");
    }
    let plain = tool.assemble(&file, "sm_90", &["-O1"]);
    assert_eq!(tool.compared(&file, &plain, &[]).0, 0);
}

/// What a launch executes is counted by class, by block and by source line; PTX has no machine instructions.
#[test]
fn counts() {
    let Some(tool) = Tool::new() else { return };
    let file = ptx("kernels/scan.ptx");
    let cubin = tool.assemble(&file, "sm_90", &[]);
    let (_, kernels) = tool.compared(&file, &cubin, &["--launches", "1", "--more", "0"]);
    let name = kernels[0]["kernel"].as_str().expect("a name").to_owned();
    let output = tool.run(&["run", "--count", "--kernel", &name], &[&cubin]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let issued = said.lines().find_map(|line| line.trim().strip_suffix(" machine instructions issued by warps"));
    let issued: u64 = issued.expect("a sum").parse().expect("a number");
    let blocks = said.lines().filter(|line| line.trim().starts_with("0x"));
    let of_blocks: u64 =
        blocks.map(|line| line.split_whitespace().nth(3).map_or(0, |of| of.parse().unwrap_or(0))).sum();
    assert!(issued > 0 && issued <= of_blocks, "{said}");
    assert!(said.contains("sectors of") && said.contains("passes of"), "{said}");
    let output = tool.run(&["run", "--count", "--kernel", &name], &[&file]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("PTX has no machine instructions"), "{output:?}");
    let output = tool.run(&["report", "--sass", "--run", "--json"], &[&file]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let executed = &report["kernels"][0]["executed"];
    assert!(executed["machine"]["issued"].as_u64() > Some(0), "{executed}");
}

/// A cubin that is cut, and one with an unknown instruction, end in words and not in a verdict.
#[test]
fn damaged_machine_code() {
    let Some(tool) = Tool::new() else { return };
    let file = ptx("kernels/reduce.ptx");
    let cubin = tool.assemble(&file, "sm_90", &[]);
    let bytes = fs::read(&cubin).expect("it is there");
    let cut = tool.folder.path().join("cut.cubin");
    for length in [64, bytes.len() / 2, bytes.len() - 200] {
        fs::write(&cut, &bytes[..length]).expect("there is space");
        let output = tool.run(&["compare"], &[&file, &cut]);
        assert_ne!(output.status.code(), Some(0), "{length}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{length}: {output:?}");
    }
}
