//! `nvptx-ra tune` on PTX: what comes out is never worse, only what wins changes, and a profile makes it again.
//!
//! Most tests have a judge of their own, which takes copies for spills. One asks ptxas where it is on this machine, unless
//! `PTXAS=skip` is in the environment.

mod judge;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use judge::{KERNELS, folder};

/// Runs the tool in a folder, with the programs of the folder first.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
    command.args(arguments).current_dir(folder).env("PATH", path).output().expect("the tool starts")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    said(&output)
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect(name)
}

/// The text of a kernel up to the brace that closes it.
fn kernel<'t>(text: &'t str, name: &str) -> &'t str {
    let from = &text[text.find(&format!(".entry {name}")).expect(name)..];
    &from[..from.find("\n}").expect("its end")]
}

/// The kernel that can be edited wins, with the function that it alone calls; the other one is named and keeps every
/// byte; and a replay makes the same file.
#[test]
fn the_best_of_each_kernel() {
    let folder = folder(KERNELS, true);
    let folder = folder.path();
    let table = succeeds(folder, &["tune", "k.ptx", "--runs", "6", "--profile", "k.toml", "--cache", "cache"]);
    let tuned = read(folder, "k.tuned.ptx");
    let copies = |text: &str| text.matches(", %r").count();
    assert!(copies(kernel(&tuned, "moves")) < copies(kernel(KERNELS, "moves")), "{table}\n{tuned}");
    assert!(!tuned.contains("mov.u32 %r3, %r2;\n\tst.param"), "the callee is compiled like its kernel: {tuned}");
    let fixed = KERNELS.find("// Left alone.").expect("it is there");
    assert!(tuned.ends_with(&KERNELS[fixed..]), "{tuned}");
    assert!(table.contains("kernel 'fixed' keeps its instructions: it declares registers"), "{table}");
    assert!(table.contains("bytes spilled: 48 as given"), "{table}");
    assert_eq!(read(folder, "k.ptx"), KERNELS);

    let profile = read(folder, "k.toml");
    assert!(profile.contains("replayed by nvptx-ra ptx --profile FILE"), "{profile}");
    assert_eq!(succeeds(folder, &["ptx", "k.ptx", "--profile", "k.toml", "-o", "replayed.ptx"]), "");
    assert_eq!(read(folder, "replayed.ptx"), tuned);

    // The same search again asks nothing and finds the same.
    fs::remove_file(folder.join("ptxas")).expect("it is there");
    fs::write(folder.join("ptxas"), "#!/bin/sh\n[ $1 = --version ] && echo \"a judge for tests\"\n").expect("space");
    fs::set_permissions(folder.join("ptxas"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    succeeds(folder, &["tune", "k.ptx", "--runs", "6", "--cache", "cache", "-o", "again.ptx"]);
    assert_eq!(read(folder, "again.ptx"), tuned);
}

/// A profile is of one text and one processor: of another one it is a warning, and nothing changes.
#[test]
fn profiles_of_other_files() {
    let folder = folder(KERNELS, true);
    let folder = folder.path();
    succeeds(folder, &["tune", "k.ptx", "--runs", "2", "--profile", "k.toml", "--kernel", "moves"]);
    let other = KERNELS.replace("%r2, 1", "%r2, 2");
    fs::write(folder.join("other.ptx"), &other).expect("there is space");
    let warning = succeeds(folder, &["ptx", "other.ptx", "--profile", "k.toml", "-o", "same.ptx"]);
    assert!(warning.contains("k.toml: 'moves' has changed and keeps its text; run nvptx-ra tune again"), "{warning}");
    assert_eq!(kernel(&read(folder, "same.ptx"), "moves"), kernel(&other, "moves"));
    let warning = succeeds(folder, &["ptx", "k.ptx", "--cpu", "sm_80", "--profile", "k.toml", "-o", "same.ptx"]);
    assert!(warning.contains("made for sm_90, and this is sm_80: every function keeps its text"), "{warning}");
    assert_eq!(read(folder, "same.ptx"), KERNELS);
}

/// What is no PTX, or damaged PTX, is an error with a place; so is a file without kernels. Nothing is written.
#[test]
fn errors() {
    let folder = folder(&KERNELS[..KERNELS.len() - 20], true);
    let folder = folder.path();
    let fails = |arguments: &[&str]| {
        let output = run(folder, arguments);
        assert!(!output.status.success(), "{arguments:?}");
        said(&output)
    };
    assert!(fails(&["tune", "k.ptx"]).contains("nvptx-ra: k.ptx:40:1: "), "{}", fails(&["tune", "k.ptx"]));
    assert!(!folder.join("k.tuned.ptx").exists());
    let end = KERNELS.find(".visible").expect("there are kernels");
    fs::write(folder.join("none.ptx"), &KERNELS[..end]).expect("there is space");
    assert!(fails(&["tune", "none.ptx"]).contains("none.ptx: no kernel; kernels are .entry"));
    fs::write(folder.join("k.ptx"), KERNELS).expect("there is space");
    assert!(
        fails(&["tune", "k.ptx", "--kernel", "nobody"]).contains("k.ptx has no kernel whose name contains 'nobody'")
    );
}

/// A judge for which a kernel spills where the load stands ahead of the store, and a little for each copy.
const JUDGE_OF_LOADS: &str = r#"#!/bin/sh
case $1 in --version) echo "another judge for tests"; exit;; --help) exit;; esac
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
awk -v out="$out" '
/st.global/{ stored = 1 }
/ld.global.nc/{ if (!stored) bytes = 80 }
/mov.u32 .*%r[0-9]+, %r[0-9]+;/{ bytes += 8 }
END{
    print "ptxas info : Compiling entry function \047k\047 for \047sm_90\047"
    printf "    %d bytes stack frame, %d bytes spill stores, %d bytes spill loads\n", bytes, bytes, bytes
    print "ptxas info : Used 32 registers"
    print "Function : k\n/*0000*/ MOV R1, R2 ;" > out
}' "$1"
"#;

/// A kernel that breaks its own promise: it stores where `ld.global.nc` says that nobody does. Orders move the load.
const UNTRUE: &str = ".version 8.7\n.target sm_90\n.address_size 64\n\n.visible .entry k(.param .u64 p)\n{\n\
    \t.reg .b32 %r<5>;\n\t.reg .b64 %rd<3>;\n\tld.param.u64 %rd0, [p];\n\tmov.u32 %r0, %tid.x;\n\
    \tmad.wide.u32 %rd1, %r0, 8, %rd0;\n\tld.global.nc.u32 %r1, [%rd1];\n\tmov.u32 %r2, %r0;\n\
    \tst.global.u32 [%rd1], %r2;\n\tst.global.u32 [%rd1+4], %r1;\n\tret;\n}\n";

/// A variant that does not compute what stock does is told, kept and never chosen, and the next best one wins; unless
/// nothing is to be compared.
#[test]
fn what_computes_something_else_does_not_win() {
    let folder = folder(UNTRUE, true);
    let folder = folder.path();
    fs::write(folder.join("ptxas"), JUDGE_OF_LOADS).expect("there is space");
    let tune = ["tune", "k.ptx", "--runs", "8", "--json", "-o", "out/k.ptx", "--profile", "k.toml", "--cache", "cache"];
    fs::create_dir(folder.join("out")).expect("there is space");
    let output = run(folder, &tune);
    assert!(output.status.success(), "{}", said(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let kernel = &json["kernels"][0];
    assert_eq!((&kernel["choice"], &kernel["compared"]["verdict"]), (&"default".into(), &"same".into()), "{json:#}");
    let refused = kernel["refused"].as_array().expect("a list");
    assert!(
        !refused.is_empty() && refused.iter().all(|one| one["choice"].as_str().expect("a choice").contains("order"))
    );
    let loads_first = |text: &str| text.find("ld.global.nc") < text.find("st.global");
    assert!(loads_first(&read(folder, "out/k.ptx")));
    assert!(read(folder, "k.toml").contains("# k, compared with stock on the CPU: same\n"));

    let warning = String::from_utf8_lossy(&output.stderr);
    let expected = "warning: kernel 'k': 'order=";
    assert!(warning.contains(expected) && warning.contains("does not compute what stock does"), "{warning}");
    let kept = folder.join("out/nvptx-ra-k-0");
    assert!(warning.contains("please report ./out/nvptx-ra-k-0"), "{warning}");
    let report = read(&kept, "difference.txt");
    let command = report.lines().find_map(|line| line.strip_prefix("nvptx-ra ")).expect("a command");
    let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
    let shown = run(&kept, &words);
    assert_eq!(shown.status.code(), Some(1), "{command}: {}", said(&shown));
    let difference = refused[0]["difference"].as_str().expect("a difference");
    assert!(said(&shown).contains(difference) && report.contains(difference), "{}", said(&shown));

    let unseen = run(folder, &[&tune[..], &["--no-compare"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&unseen.stdout).expect("JSON");
    assert!(json["kernels"][0]["compared"].is_null(), "{json:#}");
    assert!(!loads_first(&read(folder, "out/k.ptx")), "{json:#}");
    assert!(!read(folder, "k.toml").contains("compared"));
}

/// The runs may be planned for other machines, and then give the same.
#[test]
fn planned_runs() {
    let folder = folder(KERNELS, true);
    let folder = folder.path();
    succeeds(folder, &["tune", "k.ptx", "--runs", "4", "-o", "direct.ptx"]);
    let plan = ["tune", "k.ptx", "--runs", "4", "-o", "planned.ptx", "--cache", "cache", "--ninja", "step.ninja"];
    for _ in 0..20 {
        if succeeds(folder, &plan).contains("nothing left to run") {
            break;
        }
        // What Ninja would do.
        let graph = read(folder, "step.ninja");
        for line in graph.lines().filter_map(|line| line.strip_prefix("build cache/")) {
            let key = line.split('.').next().expect("a name");
            let (input, output) = (format!("cache/{key}.ptx"), format!("cache/{key}.txt"));
            let (ptxas, cuobjdump) = (folder.join("ptxas"), folder.join("cuobjdump"));
            let tools = [("--ptxas", ptxas), ("--cuobjdump", cuobjdump)]
                .map(|(name, path)| format!("{name}={}", path.display()));
            succeeds(
                folder,
                &["judge", &input, "-o", &output, "--cpu", "sm_90", "--limit-ms", "9999", &tools[0], &tools[1]],
            );
        }
    }
    succeeds(folder, &plan[..8]);
    assert_eq!(read(folder, "planned.ptx"), read(folder, "direct.ptx"));
}

/// A kernel that keeps many words live with few registers.
fn spilling() -> String {
    let mut text = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n.maxntid 256\n\
        .minnctapersm 8\n{\n\t.reg .b32 %r<90>;\n\t.reg .b64 %rd<3>;\n\tld.param.u64 %rd1, [p];\n"
        .to_owned();
    // Writing to a string cannot fail.
    for number in 0..40 {
        let _ = writeln!(text, "\tld.volatile.global.u32 %r{number}, [%rd1+{}];", 4 * number);
    }
    for number in 0..40 {
        let _ = writeln!(text, "\tmul.lo.s32 %r{}, %r{number}, %r{};", 40 + number, (number + 17) % 40);
    }
    for number in 0..40 {
        let _ = writeln!(text, "\tadd.s32 %r81, %r{}, %r{};", 40 + number, 40 + (number * 7 + 3) % 40);
        let _ = writeln!(text, "\tst.volatile.global.u32 [%rd1+{}], %r81;", 4 * number);
    }
    text + "\tret;\n}\n"
}

/// ptxas itself judges, and what comes out spills less.
#[test]
fn with_ptxas() {
    if std::env::var("PTXAS").is_ok_and(|wanted| wanted == "skip") {
        return;
    }
    let in_toolkit = std::env::var("CUDA_PATH").is_ok_and(|path| Path::new(&path).join("bin/ptxas").is_file());
    let is_there = in_toolkit || Command::new("ptxas").arg("--version").output().is_ok();
    if !is_there {
        return;
    }
    let folder = folder(&spilling(), false);
    let folder = folder.path();
    let output = run(folder, &["tune", "k.ptx", "--runs", "8", "--json", "--profile", "k.toml"]);
    assert!(output.status.success(), "{}", said(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let bytes = |of: &str| {
        let figures = &json["kernels"][0][of];
        ["spill_store_bytes", "spill_load_bytes"].map(|key| figures[key].as_u64().expect(key)).iter().sum::<u64>()
    };
    assert!(bytes("stock") > 0 && bytes("tuned") < bytes("stock"), "{json:#}");
    succeeds(folder, &["ptx", "k.ptx", "--profile", "k.toml", "-o", "replayed.ptx"]);
    assert_eq!(read(folder, "replayed.ptx"), read(folder, "k.tuned.ptx"));
}
