//! The tools of CUDA 12.8, which Triton installs. Their disassembler marks no spills, and prints no table of live
//! registers for a kernel that uses all registers. It prints the processor among the file's flags.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::outcome::TOOL;
use crate::cuda;

/// Returns a kernel that spills with 255 registers. `values` values are live across a loop that reads none of them.
fn kernel(values: u32) -> String {
    let mut text = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n\
        .reqntid 128, 1, 1\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<700>;\n\t.reg .b64 %rd<3>;\n\
        \tld.param.u64 %rd1, [p];\n\tld.param.u32 %r698, [n];\n\tcvta.to.global.u64 %rd2, %rd1;\n"
        .to_owned();
    for value in 0..values {
        _ = writeln!(text, "\tld.global.u32 %r{value}, [%rd2+{}];", 4 * value);
    }
    text += "\tmov.u32 %r699, 0;\n$L: bar.sync 0;\n\tadd.s32 %r699, %r699, 1;\n\tsetp.lt.s32 %p1, %r699, %r698;\n\
        \t@%p1 bra $L;\n";
    for value in 0..values {
        let (sum, other) = (value + values, values - 1 - value);
        _ = writeln!(text, "\tadd.s32 %r{sum}, %r{value}, %r{other};\n\tst.global.u32 [%rd2+{}], %r{sum};", 4 * value);
    }
    text + "\tret;\n}\n"
}

/// Makes a toolkit whose disassembler behaves like that of CUDA 12.8.
fn toolkit(folder: &Path, bin: &Path) {
    let older = folder.join("bin");
    fs::create_dir(&older).expect("there is space");
    for program in ["ptxas", "cuobjdump"] {
        std::os::unix::fs::symlink(bin.join(program), older.join(program)).expect("there is space");
    }
    // The attribute with the number of registers: format, number, length, symbol, and 255.
    let script = format!(
        "#!/bin/sh\nfor last; do :; done\ncase \"$*\" in *-plr*)\n\
         if od -An -v -tx1 \"$last\" | tr -d ' \\n' | grep -q '042f0800[0-9a-f]\\{{8\\}}ff000000'; then\n\
         echo \"nvdisasm fatal   : Invalid register count : '255'\" >&2; exit 1\nfi;; esac\n\
         {}/nvdisasm \"$@\" | sed 's/(\\*\"SpillRefill\"\\*)/                 /\n\
         s/^\\t\\.target\\t.*/\\t.headerflags\\t@\"EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)\"/'\n",
        bin.display()
    );
    let nvdisasm = older.join("nvdisasm");
    fs::write(&nvdisasm, script).expect("there is space");
    fs::set_permissions(&nvdisasm, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// The search finds the values that ptxas spills, and tries to spill these values to shared memory instead.
#[test]
fn spilled_values_are_found() {
    let Some(bin) = cuda::programs(&["ptxas", "cuobjdump", "nvdisasm"]) else { return };
    let folder = tempfile::tempdir().expect("there is space");
    toolkit(folder.path(), &bin);
    fs::write(folder.path().join("k.ptx"), kernel(300)).expect("there is space");
    let path = format!("{}:/usr/bin:/bin", folder.path().join("bin").display());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(TOOL);
        command.args(arguments).current_dir(folder.path()).env("PATH", &path).env_remove("CUDA_PATH");
        let done = command.output().expect("it starts");
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let tried = run(&["tune", "k.ptx", "--runs", "16", "--no-compare", "--json", "-o", "tuned.ptx"]);
    assert!(tried.contains("regalloc-registers=%r"), "{tried}");
    run(&["ptxas", "-arch=sm_90", "k.ptx", "-o", "k.cubin"]);
    let report = run(&["report", "--sass", "k.cubin"]);
    assert!(report.contains("255 registers"), "{report}");
}
