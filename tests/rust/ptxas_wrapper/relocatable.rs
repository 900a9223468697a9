//! Objects that are linked later, made by the ptxas wrapper. Their kernels improve, the linker sees the same symbols as
//! before, and no function uses more resources.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::outcome::TOOL;
use crate::cuda;

const HEAD: &str = ".version 8.7\n.target sm_90\n.address_size 64\n";

/// Returns a body that loads `values` values from an address of a state space and stores them there. All values are
/// live at once.
fn body(values: usize, space: &str, head: &str, end: &str) -> String {
    let mut text = format!(
        "{head}\n{{\n\t.reg .b32 %r<{}>;\n\t.reg .b64 %rd<3>;\n\tld.param.u64 %rd1, [p];\n\tmov.u64 %rd2, %rd1;\n",
        2 * values + 2
    );
    for value in 0..values {
        _ = writeln!(text, "\tld{space}.u32 %r{value}, [%rd2+{}];", 4 * value);
    }
    text += "\tbar.sync 0;\n";
    for value in 0..values {
        let (sum, other) = (value + values, values - 1 - value);
        _ = writeln!(text, "\tadd.s32 %r{sum}, %r{value}, %r{other};\n\tst{space}.u32 [%rd2+{}], %r{sum};", 4 * value);
    }
    text + end + "\tret;\n}\n"
}

/// Returns a kernel that spills.
fn kernel(name: &str, end: &str) -> String {
    body(200, ".global", &format!(".visible .entry {name}(.param .u64 p)\n.maxntid 1024, 1, 1"), end)
}

/// Returns a call, followed by a store of its result.
fn call(callee: &str) -> String {
    format!(
        "\t{{ .param .b32 a; .param .b32 b;\n\tst.param.b32 [a], 5;\n\tcall.uni (b), {callee}, (a);\n\tld.param.b32 %r0, [b]; }}\n\
        \tst.global.u32 [%rd1], %r0;\n\tatom.global.add.u32 %r1, [counter], %r0;\n"
    )
}

/// Returns a PTX module with a kernel that has shared memory and calls a function of the module, a kernel that calls a
/// function of another file, a function that spills, and symbols that other files reference.
fn text() -> String {
    let shared = "\t.shared .align 4 .b8 tile[16];\n\tst.shared.u32 [tile], 1;\n\tmov.u64 %rd2";
    let inside = kernel("inside", &call("helper")).replace("\tmov.u64 %rd2", shared);
    let function = body(300, "", ".visible .func wide(.param .b64 p)", "");
    format!(
        "{HEAD}.extern .func (.param .b32 r) outside(.param .b32 p);\n.visible .global .align 4 .u32 counter = 1;\n\
        {HELPER}{inside}{}{function}",
        kernel("caller", &call("outside"))
    )
}

const HELPER: &str = ".visible .func (.param .b32 r) helper(.param .b32 p)\n{\n\t.reg .b32 %r<3>;\n\tld.param.b32 %r0, [p];\n\
    \tmad.lo.u32 %r1, %r0, %r0, 7;\n\tst.param.b32 [r], %r1;\n\tret;\n}\n";

/// Returns the other file: the function that the first file calls, and a kernel with few registers that calls a
/// function of the first file.
fn other() -> String {
    format!(
        "{HEAD}.extern .func (.param .b32 r) helper(.param .b32 p);\n.extern .global .align 4 .u32 counter;\n{}\
        .visible .entry other(.param .u64 p) .maxnreg 32\n{{\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<3>;\n\tld.param.u64 %rd1, [p];\n\
        {}\tret;\n}}\n",
        HELPER.replace("helper", "outside"),
        call("helper")
    )
}

/// A folder with `k.ptx`, and a ptxas that records each of its calls.
struct Build {
    folder: tempfile::TempDir,
    bin: PathBuf,
}

impl Build {
    /// `wrong` has additional lines for the script that starts ptxas.
    fn new(bin: &Path, text: &str, wrong: &str) -> Self {
        let build = Self { folder: tempfile::tempdir().expect("there is space"), bin: bin.to_owned() };
        fs::write(build.path("k.ptx"), text).expect("there is space");
        let script = format!("#!/bin/sh\necho \"$@\" >> calls\n{wrong}exec {}/ptxas \"$@\"\n", bin.display());
        fs::write(build.path("real"), script).expect("there is space");
        fs::set_permissions(build.path("real"), fs::Permissions::from_mode(0o755)).expect("it is ours");
        build
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a program of CUDA and requires success.
    fn cuda(&self, program: &str, arguments: &[&str]) -> String {
        let done = Command::new(self.bin.join(program)).args(arguments).current_dir(self.folder.path()).output();
        let done = done.expect("it starts");
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Assembles `k.ptx` with options. Returns the number of ptxas runs.
    fn run(&self, options: &[&str], runs: &str) -> usize {
        _ = fs::remove_file(self.path("calls"));
        let mut command = Command::new(TOOL);
        command.arg("ptxas").args(options).args(["-arch=sm_90", "k.ptx"]).current_dir(self.folder.path());
        for name in ["SECONDS", "REPORT", "PROFILE", "DYNAMIC_SHARED", "CALLERS"] {
            command.env_remove(format!("NVPTX_RA_{name}"));
        }
        command.env("NVPTX_RA_PTXAS", self.path("real")).env("NVPTX_RA_RUNS", runs);
        command.env("NVPTX_RA_CACHE", self.path("cache")).env("NVPTX_RA_LOG", self.path("log"));
        let done = command.output().expect("it starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        fs::read_to_string(self.path("calls")).unwrap_or_default().lines().count()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Returns the part of an object that a linker uses, as listed by cuobjdump: calls, prototypes, and symbols without
    /// the addresses and sizes of code.
    fn seen(&self, object: &str) -> String {
        let listing = self.cuda("cuobjdump", &["-elf", object]);
        let part = |name: &str| {
            let lines = listing.lines().skip_while(|line| *line != name).skip(1);
            lines.take_while(|line| !line.trim().is_empty()).map(str::to_owned).collect::<Vec<String>>()
        };
        let symbol = |line: &String| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let name = words.last().map_or("", |name| name.trim_end_matches(|c: char| c.is_ascii_digit()));
            let place = if words.get(3) == Some(&"FUNC") { String::new() } else { words[1..3].join(" ") };
            format!("{} {} {place} {name}", words[0], words[3..words.len() - 1].join(" "))
        };
        let symbols: Vec<String> = part(".section .symtab").iter().map(symbol).collect();
        assert!(symbols.len() > 8, "{listing}");
        let calls = part(".nv.callgraph");
        assert!(calls.len() >= 4, "{listing}");
        [symbols, calls, part(".nv.prototype")].concat().join("\n")
    }

    /// Returns the registers and the stack of each function of a file, as cuobjdump lists them.
    fn usage(&self, file: &str) -> BTreeMap<String, [u32; 2]> {
        let listing = self.cuda("cuobjdump", &["-res-usage", file]);
        let mut usage = BTreeMap::new();
        let mut lines = listing.lines();
        while let Some(line) = lines.next() {
            let Some(name) = line.trim().strip_prefix("Function ") else { continue };
            let numbers = lines.next().expect("its numbers");
            let number = |word: &str| {
                let text = numbers.split(word).nth(1).and_then(|rest| rest.split(' ').next()).expect("a number");
                text.parse::<u32>().expect("a number")
            };
            usage.insert(name.trim_end_matches(':').to_owned(), [number("REG:"), number("STACK:")]);
        }
        assert!(usage.len() > 3, "{listing}");
        usage
    }
}

/// Kernels and a device function improve, and source lines are kept. The object has no more registers and the same
/// symbols as before. The object links with an unchanged object, whose kernel keeps its registers. The next build makes
/// the same object with one run. Without `-c`, the PTX has a separate cache entry.
#[test]
fn better_objects_link_with_unchanged_ones() {
    let Some(bin) = cuda::programs(&["ptxas", "nvlink", "cuobjdump"]) else { return };
    let build = Build::new(&bin, &text(), "");
    let options = ["-c", "-lineinfo", "-func-maxrregcount=192", "-o", "k.o"];
    assert_eq!(build.run(&options, "0"), 1);
    fs::rename(build.path("k.o"), build.path("plain.o")).expect("it is ours");
    let calls = build.run(&options, "8");
    assert!(calls > 3, "{calls} calls: {}", build.log());
    let log = build.log();
    let is_better =
        |name: &str| log.lines().any(|line| line.contains(&format!(" for sm_90: {name}: ")) && line.contains(" → "));
    assert!(is_better("inside") && is_better("caller") && is_better("wide"), "{log}");
    let of_caller = log.lines().find(|line| line.contains(": caller: ") && line.contains(" → ")).expect("a line");
    assert!(of_caller.contains("; proved; run on the CPU: not comparable"), "{of_caller}");
    for word in ["maxnreg", "regalloc", "smem-spilling"] {
        assert!(!log.contains(word), "{log}");
    }
    assert_eq!(build.seen("k.o"), build.seen("plain.o"));
    fs::write(build.path("other.ptx"), other()).expect("there is space");
    build.cuda("ptxas", &["-c", "-arch=sm_90", "other.ptx", "-o", "other.o"]);
    let linked = ["plain", "k"].map(|name| {
        let (object, program) = (format!("{name}.o"), format!("{name}.cubin"));
        build.cuda("nvlink", &["-arch=sm_90", &object, "other.o", "-o", &program]);
        build.usage(&program)
    });
    let [before, after] = &linked;
    assert!(before.keys().eq(after.keys()), "{linked:?}");
    for (name, [registers, stack]) in before {
        assert!(after[name][0] <= *registers && after[name][1] <= *stack, "{name}: {linked:?}");
    }
    assert!(after["caller"][1] < before["caller"][1], "{linked:?}");
    let found = fs::read(build.path("k.o")).expect("an object");
    assert_eq!(build.run(&options, "8"), 1, "{}", build.log());
    assert!(fs::read(build.path("k.o")).expect("an object") == found, "the second build differs");
    // A symbol of another file would be missing in a whole program, so ptxas would refuse the PTX without `-c`.
    let whole = format!("{HEAD}{}", kernel("k", ""));
    fs::write(build.path("k.ptx"), whole).expect("there is space");
    let searched =
        [&["-c", "-o", "k.o"][..], &["-o", "k.o"]].map(|options| [build.run(options, "2"), build.run(options, "2")]);
    assert!(searched.iter().all(|[first, second]| *first > 2 && *second == 1), "{searched:?}");
}

/// If a function has more registers after the search, the object of the unchanged PTX is delivered, and the log gives
/// the reason.
#[test]
fn a_function_may_not_take_more_registers() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let mut sums = String::new();
    let numbers = 0..40usize;
    numbers.clone().for_each(|number| _ = writeln!(sums, "\tld.volatile.u32 %r{number}, [%rd1+{}];", 4 * number));
    numbers.for_each(|number| _ = writeln!(sums, "\tst.u32 [%rd1+{}], %r{number};", 4 * (39 - number)));
    let helper = format!(
        ".visible .func many(.param .b64 p)\n{{\n\t.reg .b32 %r<41>;\n\t.reg .b64 %rd<3>;\n\tld.param.u64 %rd1, [p];\n{sums}\tret;\n}}\n"
    );
    let kernel = kernel("k", "");
    // Simulates another result of ptxas for the module that combines all winners.
    let wrong = "case \"$*\" in *found.ptx) ;; *) set -- -func-maxrregcount=32 \"$@\";; esac\n";
    let build = Build::new(&bin, &format!("{HEAD}{helper}{kernel}"), wrong);
    build.run(&["-c", "-o", "k.o"], "0");
    let plain = fs::read(build.path("k.o")).expect("an object");
    let calls = build.run(&["-c", "-o", "k.o"], "4");
    let log = build.log();
    assert!(calls > 3, "{log}");
    assert!(log.contains("the unchanged result stays: ") && log.contains("'many' has "), "{log}");
    assert!(fs::read(build.path("k.o")).expect("an object") == plain, "{log}");
    assert_eq!(build.run(&["-c", "-o", "k.o"], "4"), 1, "what is refused is refused once");
}
