//! `nvptx-ra report --sass`: the measurements equal those of ptxas and nvdisasm, and messages name damaged files.

use super::cuda;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Returns a kernel that keeps `words` words live over a barrier, with lines of a source file, and with these
/// directives.
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

/// Returns a kernel with a loop that counts by a step. The loop continues while a comparison with an unknown bound
/// holds.
fn counted(comparison: &str, step: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n.maxntid 256\n{{\n\
         \t.reg .pred %p<2>;\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [p];\n\tld.param.u32 %r2, [n];\n\
         \tmov.u32 %r1, %tid.x;\n$L:\n\tst.global.u32 [%rd1], %r1;\n\tadd.s64 %rd1, %rd1, 4;\n\tadd.s32 %r1, %r1, {step};\n\
         \tsetp.{comparison} %p1, %r1, %r2;\n\t@%p1 bra $L;\n\tst.global.u32 [%rd1], %r2;\n\tret;\n}}\n"
    )
}

/// A kernel with an array in local memory, indexed by a loaded value.
const ARRAY: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n.maxntid 256\n{\n\
    \t.local .align 4 .b8 a[256];\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<5>;\n\tld.param.u64 %rd1, [p];\n\
    \tmov.u64 %rd2, a;\n\tld.global.u32 %r1, [%rd1];\n\tmul.wide.u32 %rd3, %r1, 4;\n\tadd.u64 %rd4, %rd2, %rd3;\n\
    \tst.local.u32 [%rd4], %r1;\n\tld.local.u32 %r2, [a+8];\n\tst.global.u32 [%rd1], %r2;\n\tret;\n}\n";

/// A kernel with such an array, and with more values than 24 registers hold.
const SPILLS_BESIDE_ARRAY: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
    \t.local .align 4 .b8 a[256];\n\t.reg .b32 %r<40>;\n\t.reg .b64 %rd<5>;\n\tld.param.u64 %rd1, [p];\n\
    \tmov.u64 %rd2, a;\n\tld.global.u32 %r1, [%rd1];\n\tmul.wide.u32 %rd3, %r1, 4;\n\tadd.u64 %rd4, %rd2, %rd3;\n\
    \tld.volatile.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1];\n\
    \tld.volatile.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd1+16];\n\
    \tld.volatile.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd1+32];\n\
    \tld.volatile.global.v4.u32 {%r16, %r17, %r18, %r19}, [%rd1+48];\n\
    \tld.volatile.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd1+64];\n\
    \tld.volatile.global.v4.u32 {%r24, %r25, %r26, %r27}, [%rd1+80];\n\
    \tst.local.u32 [%rd4], %r1;\n\tbar.sync 0;\n\tld.local.u32 %r2, [a+8];\n\tst.global.u32 [%rd1], %r2;\n\
    \tst.volatile.global.v4.u32 [%rd1], {%r4, %r5, %r6, %r7};\n\
    \tst.volatile.global.v4.u32 [%rd1+16], {%r8, %r9, %r10, %r11};\n\
    \tst.volatile.global.v4.u32 [%rd1+32], {%r12, %r13, %r14, %r15};\n\
    \tst.volatile.global.v4.u32 [%rd1+48], {%r16, %r17, %r18, %r19};\n\
    \tst.volatile.global.v4.u32 [%rd1+64], {%r20, %r21, %r22, %r23};\n\
    \tst.volatile.global.v4.u32 [%rd1+80], {%r24, %r25, %r26, %r27};\n\tret;\n}\n";

/// A kernel that calls a function.
const CALL: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.func (.param .b32 r) f(.param .b32 x)\n{\n\
    \t.reg .b32 %r<3>;\n\tld.param.u32 %r1, [x];\n\tadd.u32 %r2, %r1, 1;\n\tst.param.b32 [r], %r2;\n\tret;\n}\n\
    .visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [p];\n\
    \tld.global.u32 %r1, [%rd1];\n\t{\n\t.param .b32 x;\n\t.param .b32 r;\n\tst.param.b32 [x], %r1;\n\
    \tcall.uni (r), f, (x);\n\tld.param.b32 %r2, [r];\n\t}\n\tst.global.u32 [%rd1], %r2;\n\tret;\n}\n";

/// A kernel that passes the address of its array to a function.
const PASSED_ON: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.func f(.param .b64 x)\n{\n\
    \t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [x];\n\tst.u32 [%rd1+4], 1;\n\tret;\n}\n\
    .visible .entry k(.param .u64 p)\n{\n\t.local .align 4 .b8 a[256];\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<4>;\n\
    \tld.param.u64 %rd1, [p];\n\tmov.u64 %rd2, a;\n\tcvta.local.u64 %rd3, %rd2;\n\t{\n\t.param .b64 x;\n\
    \tst.param.b64 [x], %rd3;\n\tcall.uni f, (x);\n\t}\n\tld.local.u32 %r1, [a+8];\n\
    \tst.global.u32 [%rd1], %r1;\n\tret;\n}\n";

/// The tool in a folder, and CUDA's programs for it. `None` if the test is skipped.
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

    /// Runs a command that must fail, and returns its messages.
    fn fails(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Returns the lints that find something.
    fn lints(&self, arguments: &[&str]) -> Vec<String> {
        let report = self.json(&[&["report", "--lint", "--json"], arguments].concat());
        let findings = report["findings"].as_array().expect("an array");
        findings.iter().map(|finding| finding["lint"].as_str().expect("a name").to_owned()).collect()
    }

    fn assemble(&self, ptx: &str, cubin: &str) {
        self.assemble_with(ptx, cubin, &[]);
    }

    /// Assembles with additional options. Returns the messages of ptxas.
    fn assemble_with(&self, ptx: &str, cubin: &str, options: &[&str]) -> String {
        let mut ptxas = Command::new(self.bin.join("ptxas"));
        ptxas.args(["-lineinfo", "-arch=sm_90", "-o"]).arg(self.path(cubin)).arg(self.path(ptx)).args(options);
        let output = ptxas.output().expect("ptxas starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    }
}

/// Registers, maximum of live registers, and lines of the high-pressure point, from PTX and from ptxas's cubin.
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
        // The values, and the address of the first load.
        let from_loads = held.iter().filter(|one| one["line"] == 9 && one["uniform"] == false).count();
        assert_eq!(from_loads, 42, "{held:?}");
    }
    assert!(of_ptx["kernels"][0]["forecast"]["registers"].is_u64());
    assert!(of_cubin["kernels"][0]["forecast"].is_null() && of_cubin["kernels"][0]["spill_store_bytes"] == 0);
    // The table and the page have the same figures.
    let output = tool.run(&["report", "--sass", "k.ptx", "--html", "k.html"]);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("   42 from a.cu:9"), "{table}");
    let page = fs::read_to_string(tool.path("k.html")).expect("it is written");
    assert!(page.contains("live at most") && page.contains("default-src 'none'"));
    for outside in ["http://", "https://", "src=", "url(", "<script", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// Cubins inside a larger file are extracted, each with its name.
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
    // A kernel name that does not exist, and a name that exists.
    assert!(tool.fails(&["report", "--sass", "--kernel", "other", "k.cubin"]).contains("has no kernel whose name"));
    assert_eq!(tool.json(&["report", "--sass", "--json", "--kernel", "k", "k.cubin"])["kernels"][0]["name"], "k");
}

/// The spills that ptxas reports are found among the memory accesses, by line. In a cubin, ptxas's marks give the same
/// figures.
#[test]
fn spills() {
    let Some(tool) = Tool::new() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx");
    let text = |name: &str| fs::read_to_string(root.join(name)).expect("it is in the repository");
    let texts = [
        (kernel(80, ".maxntid 256\n.maxnreg 40\n"), "255"),
        (kernel(300, ".maxnreg 24\n"), "255"),
        (text("smith_waterman.ptx"), "24"),
        (text("kernels/spmv.ptx"), "24"),
        (text("kernels/scan.ptx"), "24"),
        (text("kernels/bitonic_sort.ptx"), "24"),
        (ARRAY.to_owned(), "255"),
        (SPILLS_BESIDE_ARRAY.to_owned(), "24"),
    ];
    let (mut spilling, mut with_arrays) = (0, 0);
    for (text, limit) in texts {
        tool.write("k.ptx", &text);
        let said = tool.assemble_with("k.ptx", "k.cubin", &["-v", "-maxrregcount", limit]);
        let report = tool.json(&["report", "--sass", "--json", "k.cubin"]);
        for kernel in report["kernels"].as_array().expect("an array") {
            let name = kernel["name"].as_str().expect("a name");
            let bytes = |key: &str| kernel[key].as_u64().expect("a number");
            let (stored, loaded) = (bytes("spill_store_bytes"), bytes("spill_load_bytes"));
            let own = said.split(&format!("Function properties for {name}\n")).nth(1).expect("its properties");
            let expected = format!(" {stored} bytes spill stores, {loaded} bytes spill loads");
            assert!(own.lines().next().is_some_and(|line| line.ends_with(&expected)), "{name}: {expected}: {said}");
            assert_eq!(kernel["spills_from"], "marks");
            spilling += u32::from(stored > 0);
            with_arrays += u32::from(bytes("local_store_bytes") > stored);
        }
    }
    assert!(spilling >= 6 && with_arrays == 2, "{spilling} {with_arrays}");
    // ptxas's messages give the same figures, also by line.
    tool.write("k.ptx", kernel(80, ".maxntid 256\n.maxnreg 40\n"));
    tool.assemble("k.ptx", "k.cubin");
    let of = |name: &str| tool.json(&["report", "--sass", "--json", name])["kernels"][0].clone();
    let (of_ptx, of_cubin) = (of("k.ptx"), of("k.cubin"));
    assert_eq!((&of_ptx["spills_from"], &of_cubin["spills_from"]), (&"ptxas".into(), &"marks".into()));
    for key in ["registers", "spill_store_bytes", "spill_load_bytes", "marked_spill_store_bytes", "local"] {
        assert_eq!(of_ptx[key], of_cubin[key], "{key}");
    }
    assert!(of_ptx["registers"] == 40 && of_ptx["spill_store_bytes"].as_u64() > Some(0));
    assert!(of_cubin["local"].as_array().is_some_and(|lines| lines.iter().all(|line| line["line"].is_u64())));
    let table = String::from_utf8_lossy(&tool.run(&["report", "--sass", "k.cubin"]).stdout).into_owned();
    assert!(table.contains("  spills, by ptxas's marks: "), "{table}");
    assert!(tool.lints(&["--sass", "k.cubin"]).contains(&"spills".to_owned()));
}

/// The gate fails if a cubin spills or if its spills grew, and annotations report these spills. If machine code does
/// not distinguish spills from arrays, the gate reports this and ends with 2.
#[test]
fn gates() {
    let Some(tool) = Tool::new() else { return };
    let build = |words: usize, limit: u32| {
        tool.write("k.ptx", kernel(words, &format!(".maxntid 256\n.maxnreg {limit}\n")));
        tool.assemble("k.ptx", "k.cubin");
    };
    let gate = |arguments: &[&str]| {
        let output = tool.run(&[&["report", "--sass"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said, String::from_utf8_lossy(&output.stdout).into_owned())
    };
    build(60, 48);
    assert_eq!(gate(&["--baseline", "base.json", "k.cubin"]).0, Some(0));
    let (code, said, _) = gate(&["--fail-on-spill", "--baseline", "base.json", "k.cubin"]);
    assert!(code == Some(1) && said.starts_with("nvptx-ra: kernel 'k' spills "), "{said}");
    // Fewer registers, and more spills.
    build(60, 40);
    let (code, said, annotations) = gate(&["--baseline", "base.json", "--format", "github", "k.cubin"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("kernel 'k' shrank: 48 → 40 registers"), "{said}");
    let grew = said.lines().find(|line| line.contains("kernel 'k' grew: ")).expect("it grew");
    let grew = grew.strip_prefix("nvptx-ra: ").expect("who says so");
    assert!(grew.ends_with(" bytes of spills"), "{grew}");
    assert!(annotations.contains("::error file=a.cu,line=") && annotations.contains(grew), "{annotations}");
    // ptxas's messages on the PTX give the same figures, and a note reports that they come from another source.
    let (code, said, _) = gate(&["--baseline", "base.json", "k.ptx"]);
    assert!(code == Some(1) && said.contains(grew), "{said}");
    let sources =
        "base.json: it has spills from ptxas's marks in machine code, and this report from ptxas's own figures";
    assert!(said.contains(sources), "{said}");
    // Fewer warps are also worse.
    tool.write("k.ptx", kernel(60, ".maxntid 256\n.maxnreg 64\n"));
    let (code, said, _) = gate(&["--baseline", "base.json", "k.ptx"]);
    assert!(code == Some(1) && said.contains("kernel 'k' lost warps: 40 → 32 warps on an SM"), "{said}");
    // Machine code of a release that does not mark spills.
    build(60, 40);
    let mut code = fs::read(tool.path("k.cubin")).expect("ptxas wrote it");
    let at =
        |code: &[u8], bytes: &[u8]| code.windows(bytes.len()).position(|window| window == bytes).expect("it has it");
    let release = at(&code, &[4, 0x37, 4, 0]);
    code[release + 4] = 124;
    let marks = at(&code, &[4, 0x55]);
    code[marks + 1] = 0x7f;
    tool.write("old.cubin", &code);
    let (ended, said, table) = gate(&["--fail-on-spill", "old.cubin"]);
    assert_eq!(ended, Some(2), "{said}");
    assert!(said.contains("give its PTX, or build it with CUDA 12.8 or later"), "{said}");
    assert!(table.contains("≤ "), "{table}");
    let (ended, said, _) = gate(&["--baseline", "base.json", "old.cubin"]);
    assert_eq!(ended, Some(2), "{said}");
    assert!(said.contains("spills cannot be compared: base.json has ptxas's marks in machine code"), "{said}");
    // A bound is compared with a bound.
    assert_eq!(gate(&["--baseline", "bounds.json", "old.cubin"]).0, Some(0));
    assert_eq!(gate(&["--baseline", "bounds.json", "old.cubin"]).0, Some(0));
    let bounds = fs::read_to_string(tool.path("bounds.json")).expect("it is written");
    let fewer = bounds.replace("\"fixed_place_store_bytes\": ", "\"fixed_place_store_bytes\": 1, \"was\": ");
    tool.write("bounds.json", fewer);
    let (ended, said, _) = gate(&["--baseline", "bounds.json", "old.cubin"]);
    assert!(ended == Some(1) && said.contains(" bytes of local accesses at fixed places"), "{said}");
    // A kernel without spills always passes.
    build(10, 40);
    assert_eq!(gate(&["--fail-on-spill", "k.cubin"]).0, Some(0));
}

/// A crash of ptxas is reported with its signal, and without misleading messages.
#[test]
fn crashes() {
    let Some(tool) = Tool::new() else { return };
    tool.write("k.ptx", kernel(10, ".maxntid 256\n"));
    let bin = tool.path("bin");
    fs::create_dir(&bin).expect("there is space");
    for name in ["nvdisasm", "cuobjdump"] {
        std::os::unix::fs::symlink(tool.bin.join(name), bin.join(name)).expect("there is space");
    }
    let script =
        "#!/bin/sh\ncase $1 in --version|--help) exit 0 ;; esac\necho 'ptxas info    : 0 bytes gmem'\nkill -SEGV $$\n";
    fs::write(bin.join("ptxas"), script).expect("there is space");
    fs::set_permissions(bin.join("ptxas"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let tool = Tool { bin, ..tool };
    let commands: [(&[&str], &str); 4] = [
        (&["report", "--sass", "k.ptx"], "nvptx-ra: --sass: k.ptx: ptxas crashed (signal 11); leave out --sass"),
        (&["report", "--sass", "--diff", "k.ptx", "k.ptx"], "nvptx-ra: --sass: k.ptx: ptxas crashed (signal 11); "),
        (&["report", "--compare-ptxas", "k.ptx"], "nvptx-ra: --compare-ptxas: k.ptx: ptxas crashed (signal 11); "),
        (&["tune", "k.ptx", "-o", "o.ptx"], "nvptx-ra: kernel 'k': ptxas crashed (signal 11), on the given kernel"),
    ];
    for (command, expected) in commands {
        let said = tool.fails(command);
        assert!(said.contains(expected), "{command:?}: {said}");
        assert!(!said.contains("No such file") && !said.contains("refuses"), "{command:?}: {said}");
    }
}

/// Two builds are compared by line. A baseline fails if a kernel grew.
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

/// Each lint has a finding in a kernel with the problem, and none in a kernel without it.
#[test]
fn lints() {
    let Some(tool) = Tool::new() else { return };
    let bounds = ".maxntid 256\n";
    let (head, kernel_of_call) = CALL.split_at(CALL.find(".visible").expect("a kernel"));
    let (head, _) = head.split_at(head.find("\n{").expect("a body"));
    let elsewhere = format!("{}\n;\n{kernel_of_call}", head.replace(".func", ".extern .func"));
    let asks = |bounds: &str, increase: u32| {
        let requests = "\tsetmaxnreg.dec.sync.aligned.u32 24;\n\tsetmaxnreg.inc.sync.aligned.u32 INC;\n\tret;";
        kernel(9, bounds).replace("sm_90", "sm_90a").replace("\tret;", &requests.replace("INC", &increase.to_string()))
    };
    let two_blocks = ".maxntid 256\n.minnctapersm 2\n";
    let cases: [(&str, &str, String, String); 17] = [
        ("register-budget", "", asks(two_blocks, 240), asks(two_blocks, 232)),
        ("register-budget", "--sass", asks(two_blocks, 240), asks(".maxntid 256\n.minnctapersm 1\n", 240)),
        ("no-launch-bounds", "", kernel(90, ""), kernel(90, bounds)),
        ("ignored-bounds", "", kernel(9, ".minnctapersm 4\n"), kernel(9, ".maxntid 256\n.minnctapersm 4\n")),
        ("spills", "", kernel(60, ".maxnreg 36\n"), kernel(60, bounds)),
        ("spills", "--sass", kernel(60, ".maxntid 256\n.maxnreg 40\n"), kernel(60, bounds)),
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
        ("wrong-loop", "", counted("lt.s32", "16777216"), counted("lt.s32", "1")),
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
        // The report fails if the lint is denied. It succeeds if the lint is allowed, or if the baseline contains the
        // finding.
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
    // A lint for a very rare problem reports only on request.
    tool.write("extreme.ptx", counted("lt.s32", "1"));
    assert!(tool.lints(&["extreme.ptx"]).is_empty());
    assert!(tool.fails(&["report", "--deny", "extreme-loop", "extreme.ptx"]).contains("[extreme-loop]"));
}

/// Truncated, empty and foreign files cause an error with a clear message.
#[test]
fn damaged() {
    let Some(tool) = Tool::new() else { return };
    tool.write("k.ptx", kernel(10, ""));
    tool.assemble("k.ptx", "k.cubin");
    let whole = fs::read(tool.path("k.cubin")).expect("ptxas wrote it");
    for length in [20, 64, 200, whole.len() / 2, whole.len() - 100] {
        tool.write("cut.cubin", &whole[..length]);
        let said = tool.fails(&["report", "--sass", "cut.cubin"]);
        assert!(said.contains("truncated or damaged"), "{length}: {said}");
    }
    tool.write("empty.cubin", "");
    assert!(tool.fails(&["report", "--sass", "empty.cubin"]).contains("this is empty"));
    tool.write("text.cubin", "nonsense\n");
    assert!(tool.fails(&["report", "--sass", "text.cubin"]).contains("text.cubin"));
    let [at_once, asked] = [&["report", "k.cubin"][..], &["report", "--sass", "k.cubin"]].map(|words| tool.run(words));
    assert!(at_once.status.success() && at_once.stdout == asked.stdout, "{at_once:?} {asked:?}");
    let program = fs::read(env!("CARGO_BIN_EXE_nvptx-ra")).expect("it is there");
    tool.write("program", &program[..4096.min(program.len())]);
    assert!(tool.fails(&["report", "--sass", "program"]).contains("finds no machine code for a GPU"));
    tool.write("bad.ptx", kernel(10, "").replace("bar.sync 0", "bar.sink 0"));
    tool.write("debug.ptx", kernel(10, "").replace(".target sm_90", ".target sm_90, debug"));
    assert!(tool.fails(&["report", "--sass", "debug.ptx"]).contains("compile it with -lineinfo"));
    let said = tool.fails(&["report", "--sass", "bad.ptx"]);
    assert!(said.contains("ptxas refuses its PTX"), "{said}");
}
