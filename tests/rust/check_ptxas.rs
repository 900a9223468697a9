//! `nvptx-ra check-ptxas`, with a correct ptxas and with a ptxas that assembles changed PTX.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cuda;

const TEXT: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry other(.param .u64 p) { ret; }
.visible .entry k(.param .u64 p, .param .u32 n)
{
    .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<9>;
    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r2, %tid.x; mad.wide.u32 %rd2, %r2, 8, %rd1;
    and.b32 %r3, %r1, 255; shr.u32 %r4, %r2, 1; add.s32 %r5, %r3, %r4;
    setp.gt.u32 %p1, %r2, 7; @%p1 xor.b32 %r5, %r5, 85;
    ld.global.f32 %f1, [%rd2]; ld.global.f32 %f2, [%rd2+4];
    mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f1;
    st.global.u32 [%rd2], %r5; st.global.f32 [%rd2+4], %f4;
    ret;
}
";

/// Makes a folder with the PTX, and a ptxas for each change that assembles the PTX after `sed` has changed it.
fn folder(bin: &Path, changes: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("there is space");
    fs::write(folder.path().join("k.ptx"), TEXT).expect("there is space");
    let mut programs = Vec::new();
    for (name, change) in changes {
        let path = folder.path().join(name);
        let real = bin.join("ptxas");
        let script = format!(
            "#!/bin/sh\nfor word; do case $word in *.ptx) sed -i '{change}' $word;; esac; done\nexec {} \"$@\"\n",
            real.display()
        );
        fs::write(&path, script).expect("there is space");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        programs.push(path);
    }
    (folder, programs)
}

/// Returns the exit status and the output.
fn said(folder: &Path, programs: &[PathBuf], more: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
    command.arg("check-ptxas").arg(folder.join("k.ptx")).args(more);
    programs.iter().for_each(|program| _ = command.arg("--ptxas").arg(program));
    let output = command.output().expect("the tool starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), said)
}

/// Machine code with and without a fused product counts as correct. Machine code that computes something else counts as
/// wrong.
#[test]
fn right_and_wrong() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let wrong = "s/xor.b32 %r5, %r5, 85/xor.b32 %r5, %r5, 84/";
    let (folder, programs) = folder(&bin, &[("right", ""), ("wrong", wrong)]);
    let (status, text) = said(folder.path(), &programs[..1], &["--options=-O3", "--options=-O3 -fmad=false"]);
    assert_eq!(text.matches(": same in ").count(), 2, "{text}");
    assert!(status == 2 && text.matches("other, ptxas 13").count() == 2, "{text}");
    assert!(text.contains("not comparable: no launch stores anything"), "{text}");
    let (status, text) = said(folder.path(), &programs, &["--kernel", "k"]);
    assert!(status == 1 && text.matches("different: at p+").count() == 1 && text.contains("(STG"), "{text}");
    assert!(text.contains("in line 15") && text.contains("--block "), "{text}");
    let (_, text) = said(folder.path(), &programs, &["--kernel", "k", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let all = &json[0]["kernels"][0]["assemblers"];
    assert_eq!([&all[0]["verdict"], &all[1]["verdict"]], ["same", "different"], "{text}");
    assert_eq!(all[1]["shown"]["ptx"]["line"], 15, "{text}");
}

/// Without `-fmad`, nothing may be fused.
#[test]
fn products_that_stay() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let fuses = "s/mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f1/fma.rn.f32 %f4, %f1, %f2, %f1/";
    let (folder, programs) = folder(&bin, &[("fuses", fuses)]);
    assert_eq!(said(folder.path(), &programs, &["--kernel=k"]).0, 0);
    let (status, text) = said(folder.path(), &programs, &["--kernel=k", "--options=--fmad false"]);
    assert!(status == 1 && text.contains("different: "), "{text}");
}

/// The PTX of a difference is reduced. The reduced PTX has everything that the difference needs, the correct ptxas
/// stays correct, and the report's C++ code compiles.
#[test]
fn reduced() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let wrong = "s/xor.b32 %r5, %r5, 85/xor.b32 %r5, %r5, 84/";
    let (folder, programs) = folder(&bin, &[("right", ""), ("wrong", wrong)]);
    let into = folder.path().join("reports");
    let into = into.to_str().expect("it is text");
    let (status, text) = said(folder.path(), &programs, &["--kernel=k", "--reduce", into]);
    assert!(status == 1 && text.contains("k: a report is in "), "{text}");
    let of = |name: &str| fs::read_to_string(Path::new(into).join("k").join(name)).expect("it is written");
    let small = of("reduced.ptx");
    assert!(small.contains("xor.b32 %r5, %r5, 85") && small.contains("st.global.u32"), "{small}");
    for gone in ["other", "f32", "shr", ".version 8.0 "] {
        assert!(!small.contains(gone), "{gone}: {small}");
    }
    let readme = of("README.md");
    assert!(readme.contains("wrong |") && readme.contains("right |") && readme.contains("nvptx-ra run"), "{readme}");
    assert_eq!(of("original.ptx"), TEXT);
    let headers = bin.join("../include");
    if headers.join("cuda.h").exists() {
        let show = Path::new(into).join("k/show.cpp");
        // g++ may be missing on this machine.
        if let Ok(status) = Command::new("g++").args(["-fsyntax-only", "-Wall", "-I"]).arg(headers).arg(show).status() {
            assert!(status.success());
        }
    }
}

/// If code cannot be checked, the reason is reported.
#[test]
fn what_cannot_be_checked() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let (folder, programs) = folder(&bin, &[("refuses", "s/xor.b32/nonsense.b32/")]);
    let (status, text) = said(folder.path(), &programs, &["--kernel=k"]);
    assert!(status == 2 && text.contains("not comparable: ptxas refuses it: "), "{text}");
    let (status, text) = said(folder.path(), &[folder.path().join("missing")], &[]);
    assert!(status == 1 && text.contains("cannot be started") && text.contains("--ptxas"), "{text}");
    let (status, text) = said(folder.path(), &programs, &["--kernel=other2"]);
    assert!(status == 1 && text.contains("has no kernel other2"), "{text}");
}

/// ptxas removes the barrier of a block of one warp. The accesses of the warp, and of its matrix instructions, are
/// ordered without the barrier.
#[test]
fn a_block_of_one_warp() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let text = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
.reqntid 32, 1, 1
{
    .shared .align 16 .b8 s[512]; .reg .b32 %r<12>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
    mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 16, %r2; xor.b32 %r4, %r1, 31; mad.lo.u32 %r5, %r4, 16, %r2;
    st.shared.v4.b32 [%r3], {%r1, %r4, %r1, %r4};
    bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r5];
    bar.sync 0;
    add.s32 %r6, %r6, %r7; add.s32 %r6, %r6, %r8; add.s32 %r6, %r6, %r9;
    st.shared.b32 [%r5], %r6;
    bar.sync 0;
    ld.shared.b32 %r7, [%r3]; st.global.b32 [%rd2], %r7;
    ret;
}
";
    let (folder, programs) = folder(&bin, &[("right", "")]);
    fs::write(folder.path().join("k.ptx"), text).expect("there is space");
    let (status, text) = said(folder.path(), &programs, &[]);
    assert!(status == 0 && text.contains("same in "), "{text}");
}

/// If a difference does not recur, no report is written, and the verdicts on the kernels stay.
#[test]
fn a_difference_that_does_not_come_again() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let (folder, programs) = folder(&bin, &[("once", "")]);
    let change = "s/xor.b32 %r5, %r5, 85/xor.b32 %r5, %r5, 84/";
    let script = format!(
        "#!/bin/sh\nfor word; do case $word in *.ptx) test -e {0}/done || {{ sed -i '{change}' $word; touch {0}/done; }};; esac; done\n\
         exec {1}/ptxas \"$@\"\n",
        folder.path().display(),
        bin.display()
    );
    fs::write(&programs[0], script).expect("there is space");
    let into = folder.path().join("reports");
    let (status, text) =
        said(folder.path(), &programs, &["--kernel=k", "--reduce", into.to_str().expect("it is text")]);
    assert!(status == 1 && text.contains("different: at p+") && text.contains("k: no report: "), "{text}");
}
