//! Predicted times of ptxas's machine code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use super::machine_code::Tool;

impl Tool {
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("there is space");
        path
    }

    fn assemble_text(&self, name: &str, text: &str, options: &[&str]) -> PathBuf {
        self.assemble(&self.write(&format!("{name}.ptx"), text), "sm_90", options)
    }

    fn time(&self, options: &[&str], files: &[&Path]) -> Output {
        self.run(&[&["time"], options].concat(), files)
    }

    /// Returns the prediction of the only kernel.
    fn said(&self, options: &[&str], files: &[&Path]) -> Value {
        let output = self.time(&[&["--json"], options].concat(), files);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let read: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{words}"));
        read["kernels"][0].clone()
    }

    /// Returns the second file's time divided by that of the first.
    fn ratio(&self, options: &[&str], first: &Path, second: &Path) -> f64 {
        let said = self.said(options, &[first, second]);
        said["verdict"]["ratio"].as_f64().unwrap_or_else(|| panic!("{said}"))
    }
}

/// Returns a kernel for blocks of 128 threads. Each thread loads a word, executes `body` and stores a word.
fn kernel(registers: &str, body: &str) -> String {
    format!(
        ".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {{
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; {registers}
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n];
    cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    {body}
    st.global.f32 [%rd5], %f1;
    ret;
}}
"
    )
}

/// Returns a chain of products in a loop that is not unrolled.
fn chain(products: usize) -> String {
    let body = "fma.rn.f32 %f1, %f1, %f1, %f1;\n".repeat(products);
    kernel(
        "",
        &format!(
            "mov.u32 %r3, 0;\nL:\n.pragma \"nounroll\";\n{body}add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra L;"
        ),
    )
}

const LAUNCH: [&str; 8] = ["--grid", "132", "--block", "128", "--arg=_", "--arg=_", "--arg=1000", "--seed=1"];

/// Twice as many products in a chain take about twice the time, and each product takes four cycles.
#[test]
fn chains() {
    let Some(tool) = Tool::new() else { return };
    let [short, long] = [100, 200].map(|count| tool.assemble_text(&format!("chain{count}"), &chain(count), &[]));
    let ratio = tool.ratio(&LAUNCH, &short, &long);
    assert!((1.8..2.05).contains(&ratio), "{ratio}");
    let said = tool.said(&LAUNCH, &[&short]);
    let file = &said["files"][0];
    assert_eq!((file["source"].as_str(), file["blocks"].as_u64()), (Some("run"), Some(132)), "{file}");
    let cycles = file["cycles"]["l2"].as_f64().expect("cycles");
    assert!((400_000.0..460_000.0).contains(&cycles), "{cycles}");
    assert_eq!(file["limit"]["l2"], "latency");
    // With eight resident blocks, each partition issues eight products in eight cycles instead of one in four cycles,
    // so the time doubles.
    let more = [&["--grid", "1056"], &LAUNCH[2..]].concat();
    let [one, eight] =
        [&LAUNCH[..], &more].map(|launch| tool.said(launch, &[&short])["files"][0]["cycles"]["l2"].clone());
    let growth = eight.as_f64().expect("cycles") / one.as_f64().expect("cycles");
    assert!((1.9..2.2).contains(&growth), "{growth}");
}

/// Code that spills takes longer than the same PTX without spills, and the prediction reports the cost of the spills.
#[test]
fn spills() {
    let Some(tool) = Tool::new() else { return };
    let number = 60;
    let registers = format!(".reg .f32 %v<{number}>;");
    let each = |of: &dyn Fn(usize) -> String| (0..number).map(of).collect::<String>();
    let first = each(&|at| format!("ld.global.f32 %v{at}, [%rd4+{}];\n", 512 * at));
    let again = each(&|at| format!("fma.rn.f32 %v{at}, %v{at}, %v{}, %f1;\n", (at + 7) % number));
    let sum = each(&|at| format!("add.f32 %f1, %f1, %v{at};\n"));
    let body = format!(
        "{first}mov.u32 %r3, 0;\nL:\n.pragma \"nounroll\";\n{again}add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra L;\n{sum}"
    );
    let text = kernel(&registers, &body);
    let [plain, spilled] = [("plain", "80"), ("spilled", "32")]
        .map(|(name, most)| tool.assemble_text(name, &text, &["-maxrregcount", most]));
    let launch = [&["--grid", "132", "--block", "128"], &LAUNCH[4..6], &["--arg=100"]].concat();
    assert!(tool.ratio(&launch, &plain, &spilled) > 1.2);
    let of = |cubin: &Path| tool.said(&launch, &[cubin])["files"][0].clone();
    let [plain, spilled] = [of(&plain), of(&spilled)];
    assert_eq!(plain["local_bytes"], 0);
    assert_eq!(plain["without_local"], plain["cycles"]["l2"]);
    assert!(
        spilled["without_local"].as_f64() < spilled["cycles"]["l2"].as_f64().map(|cycles| 0.9 * cycles),
        "{spilled}"
    );
}

/// A launch from a file and the same launch from options give the same prediction, and PTX is assembled first. The
/// printed report names the bottleneck of the kernel.
#[test]
fn launches_from_a_file() {
    let Some(tool) = Tool::new() else { return };
    let cubin = tool.assemble_text("k", &chain(10), &[]);
    let launches = tool.write(
        "launches.json",
        r#"[{"name": "k", "grid": [132, 1, 1], "block": [128, 1, 1], "shared": 0, "arguments": [
            {"kind": "buffer", "type": "f32", "count": 128, "fill": "uniform", "low": 0, "high": 1},
            {"kind": "buffer", "type": "f32", "count": 128, "fill": "zeros"},
            {"kind": "scalar", "type": "u32", "value": 1000}]}]"#,
    );
    let launches = launches.to_str().expect("a name");
    let of = |options: &[&str], file: &Path| tool.said(options, &[file])["files"][0]["cycles"].clone();
    assert_eq!(of(&["--launch", launches], &cubin), of(&LAUNCH, &cubin));
    assert_eq!(of(&LAUNCH, &tool.folder.path().join("k.ptx")), of(&LAUNCH, &cubin));
    let output = tool.time(&LAUNCH, &[&cubin]);
    let words = String::from_utf8_lossy(&output.stdout);
    for part in ["132 blocks of 4 warps", "limit with data in L2: latency", "FFMA", "µs at 1980 MHz"] {
        assert!(words.contains(part), "{words}");
    }
}

/// A file without a launch of the kernel is an error that names the cause. So is a file with another number of
/// arguments.
#[test]
fn wrong_launches() {
    let Some(tool) = Tool::new() else { return };
    let cubin = tool.assemble_text("k", &chain(10), &[]);
    let cases = [
        ("{}", "not a file of launches"),
        ("[]", "it has no kernel k"),
        (r#"[{"name": "k", "grid": [1, 1], "block": [1, 1, 1], "arguments": []}]"#, "no grid"),
        (r#"[{"name": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "arguments": []}]"#, "parameters"),
        (r#"[{"name": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "arguments": [{"kind": "x"}]}]"#, "unknown form"),
    ];
    for (text, part) in cases {
        let file = tool.write("wrong.json", text);
        let output = tool.time(&["--launch", file.to_str().expect("a name")], &[&cubin]);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && words.contains(part), "{text}: {words}");
    }
}
