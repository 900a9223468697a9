//! Number of ptxas runs in a first build: one run on the unchanged PTX, and one on each variant, with the build's own
//! options. Delivery needs no additional run, and neither do the figures. No disassembler is started.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::outcome::TOOL;
use super::search::spills;
use crate::cuda;

/// Makes a folder with `k.ptx`, a ptxas that records each call with a checksum of its PTX, and a disassembler that
/// records its calls and fails.
fn folder(bin: &Path, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is space");
    fs::write(folder.path().join("k.ptx"), text).expect("there is space");
    let ptxas = format!(
        "#!/bin/sh\nfor word; do case $word in *.ptx) text=$word;; esac; done\n\
        echo \"$(cksum < \"$text\") $*\" >> calls\nexec {}/ptxas \"$@\"\n",
        bin.display()
    );
    for (name, script) in [("ptxas", &*ptxas), ("cuobjdump", "#!/bin/sh\necho disassembler >> calls\nexit 1\n")] {
        let path = folder.path().join(name);
        fs::write(&path, script).expect("there is space");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    folder
}

/// Builds the folder. Returns the calls, the messages without times, and the cubin.
fn build(folder: &Path, options: &[&str]) -> (Vec<String>, Vec<String>, Vec<u8>) {
    for name in ["calls", "log"] {
        _ = fs::remove_file(folder.join(name));
    }
    let mut command = Command::new(TOOL);
    command.arg("ptxas").args(options).args(["-arch=sm_90", "k.ptx", "-o", "k.cubin"]).current_dir(folder);
    command
        .env("NVPTX_RA_PTXAS", folder.join("ptxas"))
        .env("NVPTX_RA_RUNS", "6")
        .env("NVPTX_RA_LOG", folder.join("log"));
    let done = command.env("NVPTX_RA_CACHE", folder.join("cache")).output().expect("it starts");
    let messages = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{messages}");
    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let calls = lines(fs::read_to_string(folder.join("calls")).unwrap_or_default());
    let messages = lines(messages).into_iter().filter(|line| !line.contains("Compile time")).collect();
    (calls, messages, fs::read(folder.join("k.cubin")).expect("a cubin"))
}

/// Whether a call requests figures. The option must be a whole word, because a folder name
/// (`/tmp/nvptx-ra-tune-vzuLNt`) may contain its letters.
fn asks(call: &str) -> bool {
    call.split(' ').any(|word| word == "-v")
}

/// Adds a copy of the kernel, with another name, to a PTX module.
fn two(text: &str) -> String {
    let (_, kernel) = text.split_once(".visible").expect("it has a kernel");
    format!("{text}.visible{}", kernel.replace(" k(", " l("))
}

/// Each PTX module is assembled once, with figures only if the build asks for them. The delivered cubin is ptxas's
/// output for the winning PTX. The next build takes the same bytes and the same messages from the cache.
#[test]
fn each_text_is_assembled_once() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    for (text, options) in [(spills(0), &[][..]), (spills(3), &["-v"]), (two(&spills(5)), &["-O3", "-lineinfo"])] {
        let folder = folder(&bin, &text);
        let (calls, messages, cubin) = build(folder.path(), options);
        let log = fs::read_to_string(folder.path().join("log")).expect("a log");
        assert!(log.contains(" → "), "{options:?}: {log}");
        let sums: BTreeSet<&str> = calls.iter().filter_map(|call| call.split(' ').next()).collect();
        assert!(calls.len() > 3 && sums.len() == calls.len(), "{options:?}: {calls:#?}");
        assert!(calls.iter().all(|call| asks(call) == options.contains(&"-v")), "{options:?}: {calls:#?}");
        assert!(!calls.contains(&"disassembler".to_owned()), "{calls:#?}");
        let (calls, again, delivered) = build(folder.path(), options);
        assert_eq!((calls.len(), again), (1, messages), "{options:?}");
        assert!(delivered == cubin, "{options:?}");
    }
}

/// Variants are judged without the options that name kernels. The winning PTX is therefore assembled once more with
/// these options.
#[test]
fn options_that_name_kernels() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let folder = folder(&bin, &two(&spills(7)));
    let (calls, _, cubin) = build(folder.path(), &["--entry=k"]);
    let last = calls.last().expect("it ran");
    assert!(last.contains("--entry=k") && last.contains("found.ptx"), "{calls:#?}");
    assert!(build(folder.path(), &["--entry=k"]).2 == cubin);
}

/// Returns a function that follows the calling convention. `values` values are live at once, so the function saves
/// registers.
fn function(values: u32) -> String {
    let mut text =
        ".func (.param .b32 r) f(.param .b32 a, .param .b64 q)\n{\n\t.reg .b32 %r<99>;\n\t.reg .b64 %rd<2>;\n\
        \tld.param.u32 %r98, [a];\n\tld.param.u64 %rd1, [q];\n"
            .to_owned();
    for value in 0..values {
        _ = writeln!(text, "\tld.global.u32 %r{value}, [%rd1+{}];", 4 * value);
    }
    text += "\tbar.sync 0;\n";
    for value in 0..values {
        _ = writeln!(text, "\tmad.lo.s32 %r98, %r98, 7, %r{value};");
    }
    text + "\tst.param.b32 [r], %r98;\n\tret;\n}\n"
}

/// A kernel calls a function that saves registers, and the machine code marks no spills. ptxas is therefore asked for
/// figures in each run except the first, which assembles the unchanged PTX.
#[test]
fn figures_are_asked_for_where_code_does_not_tell() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    // The kernel stores the function's address, and any reader of the address may call the function. The function is
    // therefore not part of the kernel.
    let call = "\tmov.u64 %rd1, f;\n\tst.global.u64 [%rd2+1600], %rd1;\n\t{ .param .b32 a0;\n\t.param .b64 a1;\n\
        \tst.param.b32 [a0], %r0;\n\tst.param.b64 [a1], %rd2;\n\t.param .b32 r0;\n\tcall.uni (r0), f, (a0, a1);\n\
        \tld.param.b32 %r0, [r0];\n\t}\n\tbar.sync 0;\n";
    let text = spills(0).replacen("\tbar.sync 0;\n", call, 1);
    let text = text.replacen(".visible", &format!("{}.visible", function(20)), 1);
    let folder = folder(&bin, &text);
    let (calls, messages, _) = build(folder.path(), &[]);
    let (unchanged, others) = calls.split_first().expect("it ran");
    assert!(!asks(unchanged) && others.iter().any(|call| asks(call)), "{calls:#?}");
    assert!(messages.is_empty(), "{messages:#?}");
}
