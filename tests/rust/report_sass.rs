//! `nvptx-ra report --sass`: what it measures is what ptxas and nvdisasm say, and damaged files are named.

mod cuda;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A kernel that keeps so many words live over a barrier, with lines of a source file, and these directives.
fn kernel(words: usize, directives: &str) -> String {
    let mut text = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n.visible .entry k(.param .u64 p)\n{directives}{{\n\
         \t.reg .b32 %r<300>;\n\t.reg .b64 %rd<3>;\n\t.loc 1 7 1\n\tld.param.u64 %rd1, [p];\n\t.loc 1 9 1\n"
    );
    // Writing to a string cannot fail.
    for number in 0..words {
        let _ = writeln!(text, "\tld.volatile.global.u32 %r{number}, [%rd1+{}];", 4 * number);
    }
    text += "\t.loc 1 11 1\n\tbar.sync 0;\n";
    for number in 0..words {
        let _ = writeln!(text, "\tst.volatile.global.u32 [%rd1+{}], %r{number};", 2000 + 4 * number);
    }
    text + "\tret;\n}\n"
}

/// A kernel with an array of a thread that is indexed by a loaded value.
const ARRAY: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n.maxntid 256\n{\n\
    \t.local .align 4 .b8 a[256];\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<5>;\n\tld.param.u64 %rd1, [p];\n\
    \tmov.u64 %rd2, a;\n\tld.global.u32 %r1, [%rd1];\n\tmul.wide.u32 %rd3, %r1, 4;\n\tadd.u64 %rd4, %rd2, %rd3;\n\
    \tst.local.u32 [%rd4], %r1;\n\tld.local.u32 %r2, [a+8];\n\tst.global.u32 [%rd1], %r2;\n\tret;\n}\n";

/// A kernel that calls a function.
const CALL: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.func (.param .b32 r) f(.param .b32 x)\n{\n\
    \t.reg .b32 %r<3>;\n\tld.param.u32 %r1, [x];\n\tadd.u32 %r2, %r1, 1;\n\tst.param.b32 [r], %r2;\n\tret;\n}\n\
    .visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [p];\n\
    \tld.global.u32 %r1, [%rd1];\n\t{\n\t.param .b32 x;\n\t.param .b32 r;\n\tst.param.b32 [x], %r1;\n\
    \tcall.uni (r), f, (x);\n\tld.param.b32 %r2, [r];\n\t}\n\tst.global.u32 [%rd1], %r2;\n\tret;\n}\n";

/// A kernel that gives the address of its array to a function.
const PASSED_ON: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.func f(.param .b64 x)\n{\n\
    \t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [x];\n\tst.u32 [%rd1+4], 1;\n\tret;\n}\n\
    .visible .entry k(.param .u64 p)\n{\n\t.local .align 4 .b8 a[256];\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<4>;\n\
    \tld.param.u64 %rd1, [p];\n\tmov.u64 %rd2, a;\n\tcvta.local.u64 %rd3, %rd2;\n\t{\n\t.param .b64 x;\n\
    \tst.param.b64 [x], %rd3;\n\tcall.uni f, (x);\n\t}\n\tld.local.u32 %r1, [a+8];\n\
    \tst.global.u32 [%rd1], %r1;\n\tret;\n}\n";

/// The tool in a folder, and CUDA's programs for it; `None` where the test is skipped.
struct Tool {
    folder: tempfile::TempDir,
    bin: PathBuf,
}

impl Tool {
    fn new() -> Option<Self> {
        let bin = cuda::programs(&["ptxas", "nvdisasm", "cuobjdump"])?;
        Some(Self { folder: tempfile::tempdir().expect("there is space"), bin })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("there is space");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
        let path = std::env::join_paths([self.bin.clone(), Path::new("/usr/bin").into(), Path::new("/bin").into()]);
        command.env("PATH", path.expect("no path has a colon")).args(arguments).current_dir(self.folder.path());
        command.output().expect("the tool starts")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        serde_json::from_slice(&output.stdout).expect("it is JSON")
    }

    /// What is said where a command fails.
    fn fails(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// The lints that find something.
    fn lints(&self, arguments: &[&str]) -> Vec<String> {
        let report = self.json(&[&["report", "--lint", "--json"], arguments].concat());
        let findings = report["findings"].as_array().expect("an array");
        findings.iter().map(|finding| finding["lint"].as_str().expect("a name").to_owned()).collect()
    }

    fn assemble(&self, ptx: &str, cubin: &str) {
        let mut ptxas = Command::new(self.bin.join("ptxas"));
        ptxas.args(["-lineinfo", "-arch=sm_90", "-o"]).arg(self.path(cubin)).arg(self.path(ptx));
        assert!(ptxas.status().expect("ptxas starts").success());
    }
}

/// Registers, live maximum and the lines of the peak, of PTX and of the cubin that ptxas makes of it.
#[test]
fn measures() {
    let Some(tool) = Tool::new() else { return };
    tool.write("k.ptx", kernel(40, ".maxntid 256\n"));
    tool.assemble("k.ptx", "k.cubin");
    let of_ptx = tool.json(&["report", "--sass", "--json", "k.ptx"]);
    let of_cubin = tool.json(&["report", "--sass", "--json", "k.cubin"]);
    for report in [&of_ptx, &of_cubin] {
        assert_eq!((&report["measured"], &report["processor"]), (&true.into(), &"sm_90".into()));
        let kernel = &report["kernels"][0];
        let live = kernel["live_registers"].as_u64().expect("a number");
        let registers = kernel["registers"].as_u64().expect("a number");
        assert!((41..=46).contains(&live) && live <= registers && registers <= 50, "{live} of {registers}");
        assert_eq!((&kernel["threads"], &kernel["peak"]["words"]), (&256.into(), &live.into()));
        let held = kernel["peak"]["live"].as_array().expect("an array");
        // The values, and the address, which the first load needs.
        let from_loads = held.iter().filter(|one| one["line"] == 9 && one["uniform"] == false).count();
        assert_eq!(from_loads, 42, "{held:?}");
    }
    assert!(of_ptx["kernels"][0]["forecast"]["registers"].is_u64());
    assert!(of_cubin["kernels"][0]["forecast"].is_null() && of_cubin["kernels"][0]["spill_store_bytes"].is_null());
    // The table and the page say the same.
    let output = tool.run(&["report", "--sass", "k.ptx", "--html", "k.html"]);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("   42 from a.cu:9"), "{table}");
    let page = fs::read_to_string(tool.path("k.html")).expect("it is written");
    assert!(page.contains("live at most") && page.contains("default-src 'none'"));
    for outside in ["http://", "https://", "src=", "url(", "<script", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// The cubins in a larger file are taken out of it, each with its name.
#[test]
fn several_cubins() {
    let Some(tool) = Tool::new().filter(|tool| tool.bin.join("fatbinary").exists()) else { return };
    tool.write("k.ptx", kernel(10, ""));
    tool.assemble("k.ptx", "k.cubin");
    let mut pack = Command::new(tool.bin.join("fatbinary"));
    let cubin = format!("--image3=kind=elf,sm=90,file={}", tool.path("k.cubin").display());
    let created = format!("--create={}", tool.path("k.fatbin").display());
    assert!(pack.args([&created, "-64", &cubin]).status().expect("it starts").success());
    let report = tool.json(&["report", "--sass", "--json", "k.fatbin"]);
    assert_eq!(report["kernels"][0]["name"], "k");
    let both = tool.json(&["report", "--sass", "--json", "k.fatbin", "k.cubin"]);
    assert_eq!((&both[1]["file"], &both[1]["kernels"][0]["name"]), (&"k.cubin".into(), &"k".into()));
    assert!(both[0]["file"].as_str().is_some_and(|name| name.starts_with("k.fatbin:") && name.ends_with(".cubin")));
    // Of a kernel that is not there, and of one that is.
    assert!(tool.fails(&["report", "--sass", "--kernel", "other", "k.cubin"]).contains("has no kernel whose name"));
    assert_eq!(tool.json(&["report", "--sass", "--json", "--kernel", "k", "k.cubin"])["kernels"][0]["name"], "k");
}

/// What ptxas says is spilled is found among the accesses, by line; a cubin alone does not say so.
#[test]
fn spills() {
    let Some(tool) = Tool::new() else { return };
    tool.write("k.ptx", kernel(80, ".maxntid 256\n.maxnreg 40\n"));
    let kernel = &tool.json(&["report", "--sass", "--json", "k.ptx"])["kernels"][0];
    let bytes = |key: &str| kernel[key].as_u64().expect("a number");
    assert!(bytes("spill_store_bytes") > 0 && bytes("registers") == 40);
    assert_eq!(bytes("local_store_bytes"), bytes("spill_store_bytes"));
    assert_eq!(bytes("local_load_bytes"), bytes("spill_load_bytes"));
    assert!(kernel["local"].as_array().is_some_and(|lines| lines.iter().all(|line| line["line"].is_u64())));
    tool.assemble("k.ptx", "k.cubin");
    let output = tool.run(&["report", "--sass", "k.cubin"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("a cubin does not tell spills from arrays"));
    assert!(tool.fails(&["report", "--sass", "--fail-on-spill", "k.ptx"]).contains("kernel 'k' spills"));
}

/// Two builds are compared, by line; a baseline fails where a kernel grew.
#[test]
fn differences() {
    let Some(tool) = Tool::new() else { return };
    tool.write("old.ptx", kernel(20, ""));
    tool.write("new.ptx", kernel(30, ""));
    let difference = tool.json(&["report", "--sass", "--diff", "--json", "old.ptx", "new.ptx"]);
    let kernel = &difference["kernels"][0];
    let live = &kernel["figures"]["live_registers"];
    assert!(live["new"].as_u64() >= live["old"].as_u64().map(|old| old + 10), "{live}");
    let line = kernel["lines"].as_array().and_then(|lines| lines.iter().find(|line| line["line"] == 9)).expect("grew");
    assert_eq!((&line["old"]["held_at_peak"], &line["new"]["held_at_peak"]), (&22.into(), &32.into()));
    let same = tool.run(&["report", "--sass", "--diff", "old.ptx", "old.ptx"]);
    assert_eq!(String::from_utf8_lossy(&same.stdout), "k: no figure and no line differs\n");
    assert!(
        tool.fails(&["report", "--sass", "--diff", "old.ptx"]).contains("two builds are compared, and 1 are given")
    );
    tool.json(&["report", "--sass", "--json", "--baseline", "base.json", "old.ptx"]);
    tool.json(&["report", "--sass", "--json", "--baseline", "base.json", "old.ptx"]);
    let said = tool.fails(&["report", "--sass", "--baseline", "base.json", "new.ptx"]);
    assert!(said.contains("kernel 'k' grew"), "{said}");
}

/// Each lint finds a kernel that has it, and none that has not.
#[test]
fn lints() {
    let Some(tool) = Tool::new() else { return };
    let bounds = ".maxntid 256\n";
    let (head, kernel_of_call) = CALL.split_at(CALL.find(".visible").expect("a kernel"));
    let (head, _) = head.split_at(head.find("\n{").expect("a body"));
    let elsewhere = format!("{}\n;\n{kernel_of_call}", head.replace(".func", ".extern .func"));
    let cases: [(&str, &str, String, String); 12] = [
        ("no-launch-bounds", "", kernel(90, ""), kernel(90, bounds)),
        ("ignored-bounds", "", kernel(9, ".minnctapersm 4\n"), kernel(9, ".maxntid 256\n.minnctapersm 4\n")),
        (
            "needless-spills",
            "--sass",
            kernel(60, ".maxntid 256\n.maxnreg 36\n"),
            kernel(60, ".maxntid 256\n.maxnreg 40\n"),
        ),
        ("occupancy-step", "--sass", kernel(30, bounds), kernel(9, bounds)),
        ("local-array", "", ARRAY.to_owned(), kernel(9, bounds)),
        ("not-inlined", "", PASSED_ON.to_owned(), ARRAY.to_owned()),
        ("unrolled-too-far", "", kernel(60, ".maxnreg 36\n"), kernel(60, bounds)),
        ("unrolled-too-far", "--sass", kernel(60, ".maxnreg 36\n"), kernel(60, bounds)),
        ("abi-call", "--sass", CALL.to_owned(), kernel(9, bounds)),
        ("abi-call", "", elsewhere, CALL.to_owned()),
        (
            "refused-pragma",
            "--sass",
            kernel(9, bounds).replace("\tret;", "\t.pragma \"unheard of\";\n\tret;"),
            kernel(9, bounds).replace("\tret;", "\t.pragma \"nounroll\";\n\tret;"),
        ),
        (
            "ignored-setmaxnreg",
            "",
            kernel(9, bounds)
                .replace("sm_90", "sm_90a")
                .replace("\tret;", "\tsetmaxnreg.inc.sync.aligned.u32 240;\n\tret;"),
            kernel(9, ".maxnreg 40\n")
                .replace("sm_90", "sm_90a")
                .replace("\tret;", "\tsetmaxnreg.inc.sync.aligned.u32 240;\n\tret;"),
        ),
    ];
    for (lint, option, has, has_not) in cases {
        tool.write("has.ptx", has);
        tool.write("not.ptx", has_not);
        let with = |name| if option.is_empty() { vec![name] } else { vec![option, name] };
        let found = tool.lints(&with("has.ptx"));
        assert!(found.iter().any(|found| found == lint), "{lint}: {found:?}");
        let found = tool.lints(&with("not.ptx"));
        assert!(!found.iter().any(|found| found == lint), "{lint}: {found:?}");
        // It fails where it is denied, is silent where it is allowed, and where it is known.
        let denied = [vec!["report", "--deny", lint], with("has.ptx")].concat();
        assert!(tool.fails(&denied).contains(&format!("[{lint}]")));
        let allowed = [vec!["report", "--deny", lint, "--allow", lint], with("has.ptx")].concat();
        assert!(tool.run(&allowed).status.success());
        let _ = fs::remove_file(tool.path("base.json"));
        let known = [vec!["report", "--deny", lint, "--baseline", "base.json"], with("has.ptx")].concat();
        for _ in 0..2 {
            let output = tool.run(&known);
            assert!(output.status.success(), "{lint}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// Files that are cut, empty or something else get a clear word.
#[test]
fn damaged() {
    let Some(tool) = Tool::new() else { return };
    tool.write("k.ptx", kernel(10, ""));
    tool.assemble("k.ptx", "k.cubin");
    let whole = fs::read(tool.path("k.cubin")).expect("ptxas wrote it");
    for length in [20, 64, 200, whole.len() / 2, whole.len() - 100] {
        tool.write("cut.cubin", &whole[..length]);
        let said = tool.fails(&["report", "--sass", "cut.cubin"]);
        assert!(said.contains("cut or damaged"), "{length}: {said}");
    }
    tool.write("empty.cubin", "");
    assert!(tool.fails(&["report", "--sass", "empty.cubin"]).contains("this is empty"));
    tool.write("text.cubin", "nonsense\n");
    assert!(tool.fails(&["report", "--sass", "text.cubin"]).contains("text.cubin"));
    assert!(tool.fails(&["report", "k.cubin"]).contains("this is machine code for a GPU (cubin), and report reads"));
    let program = fs::read(env!("CARGO_BIN_EXE_nvptx-ra")).expect("it is there");
    tool.write("program", &program[..4096.min(program.len())]);
    assert!(tool.fails(&["report", "--sass", "program"]).contains("holds no machine code for a GPU"));
    tool.write("bad.ptx", kernel(10, "").replace("bar.sync 0", "bar.sink 0"));
    tool.write("debug.ptx", kernel(10, "").replace(".target sm_90", ".target sm_90, debug"));
    assert!(tool.fails(&["report", "--sass", "debug.ptx"]).contains("compile it with -lineinfo"));
    let said = tool.fails(&["report", "--sass", "bad.ptx"]);
    assert!(said.contains("ptxas refuses its PTX"), "{said}");
}
