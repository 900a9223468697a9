//! Hundreds of invocations, most of them unusual. If `NVPTX_RA_RUNS=0` is set, or if no kernel is worth a search, the
//! exit status, output, messages and files equal those of ptxas, byte for byte.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::outcome::{Outcome, TOOL, outcome};
use crate::cuda;

/// Returns a kernel with this name.
fn kernel(name: &str) -> String {
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry {name}(.param .u64 p)\n{{\n\t.reg .b32 %r<3>;\n\
         \t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [p];\n\tld.global.u32 %r1, [%rd1];\n\tadd.s32 %r2, %r1, 1;\n\
         \tst.global.u32 [%rd1], %r2;\n\tret;\n}}\n"
    )
}

/// Returns a kernel with a function, doubles and local memory, each of which causes a warning.
fn warned() -> String {
    ".version 8.0\n.target sm_75\n.address_size 64\n.func (.param .b64 r) twice(.param .b64 a)\n.noinline\n{\n\
     \t.reg .f64 %fd<3>;\n\tld.param.f64 %fd1, [a];\n\tadd.f64 %fd2, %fd1, %fd1;\n\tst.param.f64 [r], %fd2;\n\tret;\n}\n\
     .visible .entry kw(.param .u64 p)\n{\n\t.local .align 8 .b8 kept[64];\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<6>;\n\
     \t.reg .f64 %fd<4>;\n\tld.param.u64 %rd1, [p];\n\tld.global.u32 %r1, [%rd1];\n\tand.b32 %r2, %r1, 7;\n\
     \tmul.wide.u32 %rd2, %r2, 8;\n\tmov.u64 %rd3, kept;\n\tadd.u64 %rd4, %rd3, %rd2;\n\tld.global.f64 %fd1, [%rd1+8];\n\
     \tst.local.f64 [%rd4], %fd1;\n\tst.local.f64 [kept+8], %fd1;\n\tld.local.f64 %fd2, [kept+16];\n\
     \t{ .param .b64 a0;\n\tst.param.f64 [a0], %fd2;\n\t.param .b64 r0;\n\tcall.uni (r0), twice, (a0);\n\
     \tld.param.f64 %fd3, [r0];\n\t}\n\tst.global.f64 [%rd1], %fd3;\n\tret;\n}\n"
        .into()
}

/// Returns the files in the folder of each invocation.
fn files() -> Vec<(&'static str, String)> {
    vec![
        ("a.ptx", kernel("ka")),
        ("b.ptx", kernel("kb")),
        ("w.ptx", warned()),
        ("bad.ptx", kernel("ka").replace("add.s32", "add.s33")),
        ("new.ptx", kernel("ka").replace(".version 8.0", ".version 99.0")),
        ("empty.ptx", String::new()),
        ("o.txt", "-v -arch \"sm_90\"\n-o x\\ y.o".into()),
        ("with.txt", "-optf o.txt b.ptx".into()),
        ("loop.txt", "-optf loop.txt".into()),
        ("open.txt", "-o \"x".into()),
    ]
}

/// Inputs, each combined with all options. The standard input contains a kernel.
const INPUTS: [&[&str]; 7] =
    [&["a.ptx"], &["w.ptx"], &["a.ptx", "b.ptx"], &["-"], &["bad.ptx"], &["a.ptx", "a.ptx"], &[]];

/// Options: those that compilers pass, one option of each class, and mistakes.
const OPTIONS: [&[&str]; 49] = [
    &[],
    &["-v", "-arch=sm_90", "-m64", "-o", "k.cubin"],
    &["-m64", "-O3", "--gpu-name", "sm_90", "--output-file", "k.o"],
    &["-lineinfo", "--fmad=false", "-v", "--gpu-name=sm_90a", "-o", "k.ptx.o"],
    &["-v", "-c"],
    &["-g", "-v"],
    &["-O0"],
    &["-O", "-v"],
    &["-O", "3"],
    &["-O1", "-v", "-lineinfo"],
    &["-O2", "-O3", "-v"],
    &["-ewp", "-v"],
    &["-Werror", "-warn-double-usage", "-warn-lmem-usage"],
    &["-warn-double-usage", "-warn-lmem-usage", "-warn-spills", "-v"],
    &["-w", "-warn-double-usage"],
    &["-maxrregcount=32", "-maxrregcount=64", "-v"],
    &["-maxrregcount=999"],
    &["-maxrregcount=999", "-Werror"],
    &["-maxrregcount=archmax", "-v"],
    &["-maxrregcount", "abc"],
    &["-maxntid", "128,2", "-minnctapersm=2", "-v"],
    &["-e", "ka", "-v"],
    &["-e", "kw,kb"],
    &["-e", "\"ka\""],
    &["-regUsageLevel=11", "-v"],
    &["-dlcm=cg", "-dscm", "wt"],
    &["-dlcm=zz"],
    &["-arch=compute_90"],
    &["-arch=sm_10"],
    &["-arch=sm_90", "-arch=sm_80", "-v"],
    &["-optf", "o.txt"],
    &["--options-file=with.txt"],
    &["-optf", "loop.txt"],
    &["-optf", "open.txt"],
    &["-optf", "none.txt"],
    &["-pic", "true", "-v"],
    &["-pic"],
    &["-fmad=maybe"],
    &["-v=true"],
    &["--verb"],
    &["-gpu-name=sm_90"],
    &["-ok.o"],
    &["-o", "none/k.o"],
    &["-o", "folder"],
    &["-o", "/dev/null", "-v"],
    &["-o", "a.ptx"],
    &["-o"],
    &["-V", "-knob"],
    &["-h"],
];

/// Other invocations.
const OTHERS: [&[&str]; 14] = [
    &["none.ptx"],
    &["folder"],
    &["empty.ptx"],
    &["new.ptx"],
    &["@o.txt", "a.ptx"],
    &["a.ptx,b.ptx"],
    &["-", "-"],
    &["-", "a.ptx", "-v"],
    &["/dev/null"],
    &["/dev/stdin", "-v"],
    &["", "a.ptx"],
    &["--", "a.ptx"],
    &["--list-version"],
    &["a.ptx", "-split-compile=2", "b.ptx", "-v"],
];

fn invocations() -> Vec<Vec<String>> {
    let words = |parts: &[&[&str]]| parts.concat().iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
    let products = INPUTS.iter().flat_map(|input| OPTIONS.iter().map(move |options| words(&[options, input])));
    let others = OTHERS.iter().map(|other| words(&[other]));
    let strings = [vec![], vec!["-v".to_owned()], vec!["-ias".to_owned(), kernel("kb")], vec!["a.ptx".to_owned()]];
    let strings = strings.into_iter().map(|rest| [vec!["-ias".to_owned(), kernel("ka")], rest].concat());
    products.chain(others).chain(strings).collect()
}

fn tool(ptxas: &Path, runs: &str) -> Command {
    let mut command = Command::new(TOOL);
    command.arg("ptxas").env("NVPTX_RA_PTXAS", ptxas).env("NVPTX_RA_CACHE", "off").env("NVPTX_RA_RUNS", runs);
    for name in ["NVPTX_RA_SECONDS", "NVPTX_RA_LOG", "NVPTX_RA_PROFILE"] {
        command.env_remove(name);
    }
    command
}

#[test]
fn nobody_can_tell() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let ptxas = bin.join("ptxas");
    let (invocations, files) = (invocations(), files());
    assert!(invocations.len() > 350);
    let next = AtomicUsize::new(0);
    let succeeded = AtomicUsize::new(0);
    let worker = || {
        while let Some(arguments) = invocations.get(next.fetch_add(1, Ordering::Relaxed)) {
            let run = |command: Command| -> Outcome { outcome(command, arguments, &files, &kernel("kc")) };
            let expected = run(Command::new(&ptxas));
            succeeded.fetch_add(usize::from(expected.status == "exit status: 0"), Ordering::Relaxed);
            for runs in ["0", "4"] {
                run(tool(&ptxas, runs)).assert_is(&expected, &format!("NVPTX_RA_RUNS={runs} {arguments:?}"));
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().for_each(|worker| worker.join().expect("all are equal"));
    });
    let succeeded = succeeded.into_inner();
    assert!((50..invocations.len() - 50).contains(&succeeded), "{succeeded} of {} succeed", invocations.len());
}

/// The version is ptxas's output and one more line. Programs that parse the release from the output ignore this line.
#[test]
fn version() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let ptxas = bin.join("ptxas");
    let print = |command: Command, argument: &str| outcome(command, &[argument], &[], "");
    let expected = print(Command::new(&ptxas), "--version");
    let ours = print(tool(&ptxas, "8"), "--version");
    let line = ours.output.strip_prefix(&expected.output).expect("ptxas's text comes first");
    assert!(line.starts_with("nvptx-ra ") && line.ends_with('\n') && line.lines().count() == 1, "{line}");
    assert!(!line.contains("release"), "{line}");
    assert_eq!((&ours.status, &ours.messages), (&expected.status, &expected.messages));
    assert_eq!(print(tool(&ptxas, "8"), "-V").output, ours.output);
    assert_ne!(print(tool(&ptxas, "9"), "-V").output, ours.output);
    assert_eq!(print(tool(&ptxas, "0"), "-V"), expected);
}
