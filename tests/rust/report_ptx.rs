//! `nvptx-ra report` and `nvptx-ra allocate` on PTX: forecasts, lines and allocations. The compiler that made the PTX
//! is not needed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Returns a kernel with `words` live words and source lines, and a kernel that has no view, because a branch enters a
/// scope.
fn kernels(words: usize) -> String {
    let mut text =
        ".version 8.7\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n.visible .entry k(.param .u64 p)\n{\n\
        \t.reg .b32 %r<90>;\n\t.reg .b64 %rd<3>;\n\t.loc 1 7 1\n\tld.param.u64 %rd1, [p];\n\t.loc 1 9 1\n"
            .to_owned();
    // Writing to a string cannot fail.
    for number in 0..words {
        let _ = writeln!(text, "\tld.global.u32 %r{number}, [%rd1+{}];", 4 * number);
    }
    text += "\t.loc 1 11 1\n\tbar.sync 0;\n";
    for number in 0..words {
        let _ = writeln!(text, "\tst.global.u32 [%rd1+{}], %r{number};", 400 + 4 * number);
    }
    text + "\tret;\n}\n.entry odd()\n{\n\tbra $L;\n\t{\n$L:\n\tret;\n\t}\n}\n"
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
    command.args(arguments).current_dir(folder).output().expect("the tool starts")
}

fn succeeds(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = run(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    (String::from_utf8_lossy(&output.stdout).into_owned(), said)
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is space");
    fs::write(folder.path().join("k.ptx"), kernels(40)).expect("there is space");
    folder
}

/// The report has the processor that the file names and the words of each source line. It is also written as a page.
#[test]
fn reports() {
    let folder = folder();
    let folder = folder.path();
    let (table, said) = succeeds(folder, &["report", "k.ptx", "--html", "k.html"]);
    assert!(said.contains("k.ptx: 'odd' is skipped: "), "{said}");
    assert!(table.contains("k            "), "{table}");
    assert!(table.contains("   40 from line     9  (%r0, %r1, "), "{table}");
    assert!(table.contains("%r11, 28 more)"), "{table}");
    assert!(fs::read_to_string(folder.join("k.html")).is_ok_and(|page| page.contains("sm_80")));
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&succeeds(folder, arguments).0).expect("it is JSON")
    };
    let of_file = json(&["report", "k.ptx", "--json"]);
    assert_eq!((&of_file["processor"], &of_file["kernels"][0]["name"]), (&"sm_80".into(), &"k".into()));
    assert_eq!(of_file["kernels"].as_array().map(Vec::len), Some(1));
    assert_eq!(json(&["report", "k.ptx", "--json", "--cpu", "sm_90"])["processor"], "sm_90");

    // The first run writes the baseline, and a run with larger figures fails.
    succeeds(folder, &["report", "k.ptx", "--baseline", "base.json"]);
    succeeds(folder, &["report", "k.ptx", "--baseline", "base.json"]);
    fs::write(folder.join("k.ptx"), kernels(10)).expect("there is space");
    fs::remove_file(folder.join("base.json")).expect("it is there");
    succeeds(folder, &["report", "k.ptx", "--baseline", "base.json"]);
    fs::write(folder.join("k.ptx"), kernels(40)).expect("there is space");
    assert!(!run(folder, &["report", "k.ptx", "--baseline", "base.json"]).status.success());
}

/// Registers are allocated for each function that has a view, and the checker accepts the allocations.
#[test]
fn allocations() {
    let folder = folder();
    let (table, said) = succeeds(folder.path(), &["allocate", "k.ptx", "--register-limit", "24,none"]);
    assert!(table.contains('k') && table.matches("greedy").count() >= 2, "{table}");
    assert!(said.contains("'odd' is skipped"), "{said}");
    // An earlier name of the option.
    for given in [&["--budget", "24"][..], &["--budget=24,none"], &["--budget"]] {
        let output = run(folder.path(), &[&["allocate", "k.ptx"], given].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("renamed; use --register-limit"), "{said}");
    }
}

/// A damaged file is an error with its position, for every command.
#[test]
fn damaged() {
    let folder = folder();
    fs::write(folder.path().join("k.ptx"), kernels(40).replace("\tbar.sync 0;", "\tbar.sync 0; }}"))
        .expect("there is space");
    for command in ["report", "allocate"] {
        let output = run(folder.path(), &[command, "k.ptx"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("nvptx-ra: k.ptx:53:15: "), "{said}");
    }
}

/// Returns the features of a kernel in the style of Triton: `count` loads under `mask`, each with its own address.
fn features_of_masked(mask: &str, count: usize) -> serde_json::Value {
    let mut text = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{{\n\
         \t.reg .pred %p<3>;\n\t.reg .b32 %r<90>;\n\t.reg .b64 %rd<90>;\n\tld.param.u64 %rd0, [p];\n\
         \tld.param.u32 %r0, [n];\n\t{mask}\n"
    );
    for number in 1..=count {
        let _ = writeln!(text, "\tadd.s64 %rd{number}, %rd0, {};", 16 * number);
    }
    for number in 1..=count {
        let _ = writeln!(text, "\tmov.u32 %r{number}, 0;\n\t@%p1 ld.global.b32 {{ %r{number} }}, [ %rd{number} + 0 ];");
    }
    text += "\tbar.sync 0;\n";
    for number in 1..=count {
        let _ = writeln!(text, "\tst.global.b32 [ %rd0 + {} ], {{ %r{number} }};", 4096 + 16 * number);
    }
    let folder = tempfile::tempdir().expect("there is space");
    fs::write(folder.path().join("k.ptx"), text + "\tret;\n}\n").expect("there is space");
    let said = succeeds(folder.path(), &["report", "k.ptx", "--json", "--features"]).0;
    let report: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    report["kernels"][0]["features"].clone()
}

/// ptxas removes instructions under a predicate that is always false, and their destination registers are constants.
#[test]
fn masked_off() {
    let off = features_of_masked("mov.pred %p1, 0;", 20);
    let unknown = features_of_masked("setp.eq.s32 %p1, %r0, 0;", 20);
    let number = |features: &serde_json::Value, name: &str| features[name].as_f64().expect("a number");
    assert_eq!((number(&off, "global_loads"), number(&unknown, "global_loads")), (0.0, 20.0));
    assert!(number(&off, "words") < 5.0, "{off}");
    assert!(number(&off, "instructions") < number(&unknown, "instructions") - 40.0, "{off}");
}

/// ptxas folds the offset into the access, so only the common base of all addresses occupies registers.
#[test]
fn addresses_of_masked_accesses() {
    let features = features_of_masked("setp.eq.s32 %p1, %r0, 0;", 20);
    let words = features["words"].as_f64().expect("a number");
    assert!((20.0..=24.0).contains(&words), "20 words are loaded, and an address has 2: {features}");
}

/// Returns the only kernel of a PTX file, as JSON.
fn kernel_of(text: &str) -> serde_json::Value {
    let folder = tempfile::tempdir().expect("there is space");
    fs::write(folder.path().join("k.ptx"), text).expect("there is space");
    let report: serde_json::Value =
        serde_json::from_str(&succeeds(folder.path(), &["report", "k.ptx", "--json"]).0).expect("it is JSON");
    report["kernels"][0].clone()
}

/// If ptxas unrolls a loop completely, an array that is indexed by the loop's counter is in registers: the kernel has
/// 12 registers and no stack. ptxas does not unroll a loop that ends with two jumps, so the array stays in memory.
#[test]
fn array_of_a_loop_that_is_unrolled() {
    let text =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ptx/unrolled_array.ptx")).expect("it is there");
    let kernel = kernel_of(&text);
    assert_eq!((&kernel["stack_bytes"], &kernel["stack_because"]), (&0.into(), &serde_json::Value::Null));
    assert!(kernel["registers"].as_u64().is_some_and(|registers| registers <= 18), "{kernel}");
    let two_jumps =
        text.replace("setp.ne.s32", "setp.eq.s32").replace("@%p1 bra LOOP;", "@%p1 bra END;\n    bra.uni LOOP;\nEND:");
    let kernel = kernel_of(&two_jumps);
    assert_eq!(kernel["stack_bytes"], 16, "{kernel}");
    assert!(kernel["stack_because"].is_object(), "{kernel}");
}

/// The destination registers of tensor-memory loads are occupied from the load to the wait, even if some of them are
/// not read later.
#[test]
fn loads_of_tensor_memory_in_flight() {
    let with = |loads: usize| {
        let mut text = ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 t)\n.reqntid 128\n{\n\
            .reg .b32 %r<700>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [a]; ld.param.u32 %r699, [t];\n"
            .to_owned();
        let row = |first: usize, count: usize| {
            (first..first + count).map(|number| format!("%r{number}")).collect::<Vec<_>>().join(", ")
        };
        for load in 0..loads {
            let _ = writeln!(
                text,
                "tcgen05.ld.sync.aligned.32x32b.x128.b32 {{{}}}, [%r699+{}];",
                row(128 * load, 128),
                128 * load
            );
        }
        text += "tcgen05.wait::ld.sync.aligned;\n";
        for first in (0..128 * loads).step_by(4) {
            let _ = writeln!(text, "st.global.v4.b32 [%rd1+{}], {{{}}};", 4 * first, row(first, 4));
        }
        let kernel = kernel_of(&(text + "ret;\n}\n"));
        (kernel["registers"].as_u64().expect("a number"), kernel["spill_store_bytes"].as_u64().expect("a number"))
    };
    let (registers, spilled) = with(1);
    assert!(registers >= 128 && spilled == 0, "{registers} registers, {spilled} bytes");
    let (registers, spilled) = with(2);
    assert!(registers == 255 && spilled > 0, "{registers} registers, {spilled} bytes");
}

/// If a callee is unknown, the table has bounds: a minimum of registers and of bytes, and a maximum of warps.
#[test]
fn bounds_in_the_table() {
    let folder = tempfile::tempdir().expect("there is space");
    let call = ".extern .func f;\n.visible .entry k()\n{\n{\ncall.uni f;\n}\nret;\n}\n";
    let alone = ".visible .entry k()\n{\nret;\n}\n";
    for (code, signs) in [(call, ["≥", "≥0", "≥0", "≤64/64"]), (alone, ["", "0", "0", "64/64"])] {
        fs::write(folder.path().join("k.ptx"), format!(".version 8.0\n.target sm_90\n.address_size 64\n{code}"))
            .expect("there is space");
        let (table, _) = succeeds(folder.path(), &["report", "k.ptx"]);
        let row: Vec<&str> = table.lines().nth(1).expect("a row").split_whitespace().collect();
        assert_eq!([row[2], row[3], row[5]], [signs[1], signs[2], signs[3]], "{table}");
        assert_eq!(row[1].trim_end_matches(|letter: char| letter.is_ascii_digit()), signs[0], "{table}");
        assert_eq!(table.contains("; at most 64 warps"), !signs[0].is_empty(), "{table}");
    }
}
