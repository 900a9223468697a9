//! Runs machine code: ptxas's code of kernels compared with their PTX, code with one changed instruction, and counts of
//! executed instructions.

use super::cuda;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The tool in a folder, and CUDA's programs for it. `None` if the test is skipped.
pub(crate) struct Tool {
    pub(crate) folder: tempfile::TempDir,
    bin: PathBuf,
}

impl Tool {
    pub(crate) fn new() -> Option<Self> {
        let bin = cuda::programs(&["ptxas", "nvdisasm"])?;
        Some(Self { folder: tempfile::tempdir().expect("there is space"), bin })
    }

    pub(crate) fn ptxas(&self) -> PathBuf {
        self.bin.join("ptxas")
    }

    /// Assembles a file for a processor. Returns the path of the machine code.
    pub(crate) fn assemble(&self, ptx: &Path, processor: &str, options: &[&str]) -> PathBuf {
        let text = fs::read_to_string(ptx).expect("the file can be read");
        let target = text.lines().find(|line| line.starts_with(".target")).expect("it names a processor");
        let name = ptx.file_stem().expect("a name").to_string_lossy();
        let input = self.folder.path().join(format!("{name}-{processor}.ptx"));
        fs::write(&input, text.replace(target, &format!(".target {processor}"))).expect("there is space");
        let cubin = input.with_extension("cubin");
        let mut ptxas = Command::new(self.ptxas());
        ptxas.args(["-arch", processor]).args(options).arg("-o").arg(&cubin).arg(&input);
        let output = ptxas.output().expect("ptxas starts");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        cubin
    }

    pub(crate) fn run(&self, arguments: &[&str], files: &[&Path]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
        let path = std::env::join_paths([self.bin.clone(), Path::new("/usr/bin").into(), Path::new("/bin").into()]);
        command.env("PATH", path.expect("no path has a colon")).args(arguments).args(files);
        command.output().expect("the tool starts")
    }

    /// Returns the verdicts of a comparison, and its exit status.
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

/// ptxas's code of real kernels computes the same as their PTX, for five processors, with and without optimisation. The
/// results are bit-identical if nothing is fused.
#[test]
fn machine_code_is_its_ptx() {
    let Some(tool) = Tool::new() else { return };
    for name in ["kernels/bitonic_sort", "kernels/reduce", "kernels/scan", "kernels/spmv", "compared/async_copy"] {
        let file = ptx(&format!("{name}.ptx"));
        for (processor, level) in
            [("sm_80", "-O3"), ("sm_89", "-O1"), ("sm_90", "-O3"), ("sm_100", "-O3"), ("sm_120", "-O3")]
        {
            let cubin = tool.assemble(&file, processor, &[level, "-fmad=false"]);
            let few = ["--exact", "--launches", "1", "--more", "1", "--steps", "200000", "--steps-in-all", "800000"];
            let (code, kernels) = tool.compared(&file, &cubin, &few);
            assert_eq!(code, 0, "{name} {processor} {level}: {kernels:?}");
            assert!(kernels.iter().all(|kernel| kernel["programs"][1]["machine"]["issued"].as_u64() > Some(0)));
        }
    }
}

/// A kernel that adds floats atomically in shared memory, and selects between 64-bit numbers. ptxas makes the sum a
/// loop of exchanges, which ends after each thread has added its number.
const LATER: &str = ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 p)\n.maxntid 64\n{\n\
    .reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<12>;\n.reg .pred %p<4>;\n.shared .align 4 .f32 sum;\n\
    ld.param.u64 %rd1, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd2, %r0, 64;\nadd.s64 %rd3, %rd1, %rd2;\n\
    mov.f32 %f0, 0f00000000;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 st.shared.f32 [sum], %f0;\nbar.sync 0;\n\
    cvt.rn.f32.u32 %f1, %r0;\natom.shared.add.f32 %f2, [sum], %f1;\nbar.sync 0;\nld.shared.f32 %f3, [sum];\n\
    st.global.f32 [%rd3], %f3;\nld.global.u64 %rd4, [%rd3+8];\nld.global.u64 %rd5, [%rd3+16];\n\
    setp.lt.u64 %p1, %rd4, %rd5;\nselp.u64 %rd6, %rd4, -1, %p1;\nselp.u64 %rd7, %rd5, 4294967295, %p1;\n\
    selp.b64 %rd8, -2251799813685248, 1, %p1;\nmin.s64 %rd9, %rd4, %rd5;\nadd.s64 %rd10, %rd6, %rd7;\n\
    sub.s64 %rd11, %rd9, %rd8;\nst.global.u64 [%rd3+24], %rd6;\nst.global.u64 [%rd3+32], %rd7;\n\
    st.global.u64 [%rd3+40], %rd10;\nst.global.u64 [%rd3+48], %rd11;\nret;\n}\n";

/// Instructions that exist only since sm_100 or sm_120 compute the same as the PTX.
#[test]
fn later_processors() {
    let Some(tool) = Tool::new() else { return };
    let file = tool.folder.path().join("later.ptx");
    fs::write(&file, LATER).expect("there is space");
    for processor in ["sm_90", "sm_100", "sm_120"] {
        let cubin = tool.assemble(&file, processor, &[]);
        let (code, kernels) = tool.compared(&file, &cubin, &["--block", "64", "--exact", "--launches", "2"]);
        assert_eq!(code, 0, "{processor}: {kernels:?}");
    }
}

/// A kernel that stores a hash of its loads. The hash depends on each of its operations.
const HASH: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n.maxntid 64\n{\n\
    \t.reg .b32 %r<12>;\n\t.reg .b64 %rd<4>;\n\tld.param.u64 %rd1, [p];\n\tmov.u32 %r0, %tid.x;\n\
    \tmul.wide.u32 %rd2, %r0, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n\tld.global.u32 %r1, [%rd3];\n\
    \tshr.u32 %r2, %r1, 3;\n\txor.b32 %r3, %r2, %r1;\n\tmad.lo.s32 %r4, %r3, 40503, %r1;\n\tshl.b32 %r5, %r4, 9;\n\
    \tadd.s32 %r6, %r5, %r3;\n\tmul.lo.s32 %r7, %r6, %r4;\n\txor.b32 %r8, %r7, %r6;\n\
    \tst.global.u32 [%rd3+4096], %r8;\n\tret;\n}\n";

/// If an operation reads another register, the comparison with the PTX finds it: the machine code stores another or an
/// undefined value.
#[test]
fn changed_machine_code_differs() {
    let Some(tool) = Tool::new() else { return };
    let file = tool.folder.path().join("hash.ptx");
    fs::write(&file, HASH).expect("there is space");
    let cubin = tool.assemble(&file, "sm_90", &[]);
    assert_eq!(tool.compared(&file, &cubin, &[]).0, 0);
    let bytes = fs::read(&cubin).expect("it is there");
    // IADD3, LOP3, SHF and IMAD, whose first source is in the fourth byte.
    let computes = |at: &usize| {
        let code = u16::from_le_bytes([bytes[*at], bytes[at + 1]]);
        matches!(code & 0x1ff, 0x10 | 0x12 | 0x19 | 0x24) && code >> 12 == 7 && bytes[at + 3] != 0xff
    };
    let operations: Vec<usize> = (0..bytes.len() / 16).map(|number| 16 * number).filter(computes).collect();
    assert!(operations.len() > 2, "{operations:?}");
    for at in operations {
        let mut other = bytes.clone();
        other[at + 3] ^= 1;
        let changed = tool.folder.path().join("changed.cubin");
        fs::write(&changed, other).expect("there is space");
        let (code, kernels) = tool.compared(&file, &changed, &[]);
        assert_ne!(code, 0, "{at:#x}: {kernels:?}");
    }
}

/// ptxas unrolls a loop on the assumption that the difference of its bound and its start does not wrap. A comparison
/// finds the wrong result, and finds no difference if the loop is not unrolled.
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

/// The executed instructions of a launch are counted by class, by block and by source line. A PTX file has no machine
/// instructions to count, and a message reports this.
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

/// A truncated cubin and a cubin with an unknown instruction cause an error, not a verdict.
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
