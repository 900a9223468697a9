//! `nvptx-ra tune` on PTX: the output is never worse, only improved kernels change, and a profile reproduces the
//! output.
//!
//! Most tests have their own judge, which counts copies as spills. Some tests run ptxas if it is installed, unless
//! `PTXAS=skip` is in the environment.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::judge::{KERNELS, folder};

/// Runs the tool in a folder. PATH begins with the folder.
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

/// Returns the JSON that the tool prints.
fn json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect(name)
}

/// Returns the PTX of a kernel up to its closing brace.
fn kernel<'t>(text: &'t str, name: &str) -> &'t str {
    let from = &text[text.find(&format!(".entry {name}")).expect(name)..];
    &from[..from.find("\n}").expect("its end")]
}

/// The editable kernel improves, with the function that only it calls. The other kernel is named and keeps every byte.
/// A replay makes the same file.
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
    assert!(table.contains("kernel 'fixed' keeps its instructions: registers are declared between"), "{table}");
    assert!(table.contains("bytes spilled: 48 as given"), "{table}");
    assert_eq!(read(folder, "k.ptx"), KERNELS);

    let profile = read(folder, "k.toml");
    assert!(profile.contains("replayed by nvptx-ra ptx --profile FILE"), "{profile}");
    assert_eq!(succeeds(folder, &["ptx", "k.ptx", "--profile", "k.toml", "-o", "replayed.ptx"]), "");
    assert_eq!(read(folder, "replayed.ptx"), tuned);

    // A second search of the same file runs no judge and finds the same result.
    fs::remove_file(folder.join("ptxas")).expect("it is there");
    fs::write(folder.join("ptxas"), "#!/bin/sh\n[ $1 = --version ] && echo \"a judge for tests\"\n").expect("space");
    fs::set_permissions(folder.join("ptxas"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    succeeds(folder, &["tune", "k.ptx", "--runs", "6", "--cache", "cache", "-o", "again.ptx"]);
    assert_eq!(read(folder, "again.ptx"), tuned);
}

/// A profile belongs to one module and one processor. With another module or processor, a warning is printed and
/// nothing changes.
#[test]
fn profiles_of_other_files() {
    let folder = folder(KERNELS, true);
    let folder = folder.path();
    succeeds(folder, &["tune", "k.ptx", "--runs", "2", "--profile", "k.toml", "--kernel", "moves"]);
    let other = KERNELS.replace("%r2, 1", "%r2, 2");
    fs::write(folder.join("other.ptx"), &other).expect("there is space");
    let warning = succeeds(folder, &["ptx", "other.ptx", "--profile", "k.toml", "-o", "same.ptx"]);
    assert!(warning.contains("k.toml: 'moves' has changed and stays unchanged; run nvptx-ra tune again"), "{warning}");
    assert_eq!(kernel(&read(folder, "same.ptx"), "moves"), kernel(&other, "moves"));
    let warning = succeeds(folder, &["ptx", "k.ptx", "--cpu", "sm_80", "--profile", "k.toml", "-o", "same.ptx"]);
    assert!(warning.contains("made for sm_90, but the target is sm_80: every function stays unchanged"), "{warning}");
    assert_eq!(read(folder, "same.ptx"), KERNELS);
}

/// A damaged PTX file, or a file that is not PTX, is an error with a position. A file without kernels is also an error.
/// In each case nothing is written.
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

/// A judge that reports spills unless the load follows the store, and a few spills for each copy.
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

/// A kernel with undefined behaviour: it stores to memory that `ld.global.nc` declares read-only. An instruction order
/// moves the load.
const UNTRUE: &str = ".version 8.7\n.target sm_90\n.address_size 64\n\n.visible .entry k(.param .u64 p)\n{\n\
    \t.reg .b32 %r<5>;\n\t.reg .b64 %rd<3>;\n\tld.param.u64 %rd0, [p];\n\tmov.u32 %r0, %tid.x;\n\
    \tmad.wide.u32 %rd1, %r0, 8, %rd0;\n\tld.global.nc.u32 %r1, [%rd1];\n\tmov.u32 %r2, %r0;\n\
    \tst.global.u32 [%rd1], %r2;\n\tst.global.u32 [%rd1+4], %r1;\n\tret;\n}\n";

/// A variant that computes other results than stock is reported and kept on disk, but never wins. The next best variant
/// wins. With `--no-compare`, no variant is compared.
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
    assert_eq!(kernel["compared"]["verdict"], "same", "{json:#}");
    let refused = kernel["refused"].as_array().expect("a list");
    assert!(refused.iter().all(|one| one["choice"] != kernel["choice"]), "{json:#}");
    assert!(
        !refused.is_empty() && refused.iter().all(|one| one["choice"].as_str().expect("a choice").contains("order"))
    );
    let loads_first = |text: &str| text.find("ld.global.nc") < text.find("st.global");
    assert!(loads_first(&read(folder, "out/k.ptx")));
    assert!(read(folder, "k.toml").contains("# k: proved; compared with stock on the CPU: same\n"));

    let warning = String::from_utf8_lossy(&output.stderr);
    let expected = "warning: kernel 'k': 'order=";
    assert!(warning.contains(expected) && warning.contains("computes other results than stock"), "{warning}");
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

/// Runs that are planned for other machines give the same result.
#[test]
fn planned_runs() {
    let folder = folder(KERNELS, true);
    let tools = ["ptxas", "cuobjdump", "nvdisasm"].map(|name| folder.path().join(name));
    planned(folder.path(), "4", tools);
}

/// Searches once directly and once by planned runs, and compares the results.
fn planned(folder: &Path, runs: &str, tools: [PathBuf; 3]) {
    succeeds(folder, &["tune", "k.ptx", "--runs", runs, "-o", "direct.ptx"]);
    let plan = ["tune", "k.ptx", "--runs", runs, "-o", "planned.ptx", "--cache", "cache", "--ninja", "step.ninja"];
    let [ptxas, cuobjdump, nvdisasm] = tools.map(|path| path.display().to_string());
    for _ in 0..20 {
        if succeeds(folder, &plan).contains("nothing left to run") {
            break;
        }
        // Runs each edge as Ninja would.
        let graph = read(folder, "step.ninja");
        for edge in graph.split("build cache/").skip(1) {
            let key = edge.split('.').next().expect("a name");
            let (input, output) = (format!("cache/{key}.ptx"), format!("cache/{key}.txt"));
            let mut judge = vec!["judge", &input, "-o", &output, "--cpu", "sm_90", "--limit-ms", "9999"];
            judge.extend(["--ptxas", &ptxas, "--cuobjdump", &cuobjdump, "--nvdisasm", &nvdisasm]);
            judge.extend(edge.contains("look = --spills").then_some("--spills"));
            succeeds(folder, &judge);
        }
    }
    succeeds(folder, &plan[..8]);
    assert_eq!(read(folder, "planned.ptx"), read(folder, "direct.ptx"));
}

/// Returns a kernel that keeps many words live with few registers.
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

/// Whether ptxas is installed and the environment allows its use.
fn has_ptxas() -> bool {
    let in_toolkit = std::env::var("CUDA_PATH").is_ok_and(|path| Path::new(&path).join("bin/ptxas").is_file());
    let is_wanted = std::env::var("PTXAS").map_or(true, |wanted| wanted != "skip");
    is_wanted && (in_toolkit || Command::new("ptxas").arg("--version").output().is_ok())
}

/// With ptxas itself as the judge, the output spills less.
#[test]
fn with_ptxas() {
    if !has_ptxas() {
        return;
    }
    let folder = folder(&spilling(), false);
    let folder = folder.path();
    let json = json(folder, &["tune", "k.ptx", "--runs", "8", "--json", "--profile", "k.toml"]);
    let bytes = |of: &str| {
        let figures = &json["kernels"][0][of];
        ["spill_store_bytes", "spill_load_bytes"].map(|key| figures[key].as_u64().expect(key)).iter().sum::<u64>()
    };
    assert!(bytes("stock") > 0 && bytes("tuned") < bytes("stock"), "{json:#}");
    succeeds(folder, &["ptx", "k.ptx", "--profile", "k.toml", "-o", "replayed.ptx"]);
    assert_eq!(read(folder, "replayed.ptx"), read(folder, "k.tuned.ptx"));
}

/// A kernel that gives one warpgroup 232 registers and the other warpgroup 40, although both need few.
const REPARTITIONED: &str = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n\
    .maxntid 256\n.minnctapersm 1\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<3>;\n\
    \tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd1, %rd1, %rd2;\n\
    \tsetp.lt.u32 %p1, %r1, 128;\n\t@%p1 bra GIVES;\n\tsetmaxnreg.inc.sync.aligned.u32 232;\n\
    \tld.global.u32 %r2, [%rd1];\n\tmul.lo.s32 %r3, %r2, %r1;\n\tst.global.u32 [%rd1], %r3;\n\tret;\nGIVES:\n\
    \tsetmaxnreg.dec.sync.aligned.u32 40;\n\tld.global.u32 %r4, [%rd1];\n\tadd.s32 %r5, %r4, %r1;\n\
    \tst.global.u32 [%rd1], %r5;\n\tret;\n}\n";

/// A kernel that moves registers between its warpgroups gets no lower register limit, even if ptxas reports that more
/// warps would fit. With fewer registers at entry, an increase would wait forever. The same holds for a kernel whose
/// requests ptxas ignores for lack of a limit. A profile that limits such a kernel changes nothing and causes a
/// warning.
#[test]
fn limits_beside_setmaxnreg() {
    if !has_ptxas() {
        return;
    }
    let ignored = REPARTITIONED.replace(".minnctapersm 1\n", "");
    let plain = REPARTITIONED.replace("\tsetmaxnreg.inc.sync.aligned.u32 232;\n", "");
    let plain = plain.replace("\tsetmaxnreg.dec.sync.aligned.u32 40;\n", "");
    for text in [REPARTITIONED, &ignored, &plain] {
        let folder = folder(text, false);
        let folder = folder.path();
        let json = json(folder, &["tune", "k.ptx", "--runs", "24", "--json", "--profile", "k.toml"]);
        let tried = json["kernels"][0]["tried"].as_array().expect("a list");
        let limit = |tried: &serde_json::Value| {
            let limit = tried["choice"].as_str()?.split("maxnreg=").nth(1)?;
            limit.split(';').next()?.parse::<u32>().ok()
        };
        // With 232 registers at entry, no increase has to wait.
        let is_right = tried.iter().filter_map(limit).all(|limit| limit >= 232);
        assert!(is_right || !text.contains("setmaxnreg"), "{json:#}");
        let profile = read(folder, "k.toml").replace("options = ", "maxnreg = 80\noptions = ");
        fs::write(folder.join("limited.toml"), profile).expect("there is space");
        let said = succeeds(folder, &["ptx", "k.ptx", "--profile", "limited.toml", "-o", "out.ptx"]);
        let warns = said.contains("'k' has setmaxnreg, which may wait for ever with the profile's bounds");
        assert_eq!(warns, text.contains("setmaxnreg"), "{said}");
        assert_eq!(read(folder, "out.ptx").contains(".maxnreg 80"), !warns, "{said}");
    }
}

/// Returns a block of three warpgroups. One of them releases registers until it has `kept`. The other two request 232
/// registers and need them. The kernel does not declare a minimum of blocks per SM, so ptxas ignores the requests.
fn with_ignored_requests(kept: u32) -> String {
    const VALUES: usize = 200;
    let mut text = format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n.maxntid 384\n{{\n\t.reg .pred %p<3>;\n\
        \t.reg .b32 %r<3>;\n\t.reg .f32 %f<{}>;\n\t.reg .b64 %rd<4>;\n\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\
        \tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd1, %rd1, %rd2;\n\tsetp.lt.u32 %p1, %r1, 128;\n\t@%p1 bra GIVES;\n\
        \tsetmaxnreg.inc.sync.aligned.u32 232;\n",
        VALUES + 2
    );
    // Writing to a string cannot fail.
    for number in 0..VALUES {
        let _ = writeln!(text, "\tld.global.f32 %f{}, [%rd1+{}];", number + 2, 2048 * number);
    }
    text += "\tmov.u32 %r2, 0;\nL:\n\tld.volatile.global.f32 %f1, [%rd1];\n";
    for number in 0..VALUES {
        let [value, other] = [number + 2, (number + 7) % VALUES + 2];
        let _ = writeln!(text, "\tfma.rn.f32 %f{value}, %f{value}, %f1, %f{other};");
    }
    text += "\tadd.s32 %r2, %r2, 1;\n\tsetp.lt.u32 %p2, %r2, 2;\n\t@%p2 bra L;\n";
    for number in 0..VALUES {
        let _ = writeln!(text, "\tst.global.f32 [%rd1+{}], %f{};", 2048 * number, number + 2);
    }
    text + &format!(
        "\tret;\nGIVES:\n\tsetmaxnreg.dec.sync.aligned.u32 {kept};\n\tst.global.u32 [%rd1], %r1;\n\tret;\n}}\n"
    )
}

/// If ptxas ignores `setmaxnreg` and spills, the tool recommends `.minnctapersm 1`, which wins if a loss of warps is
/// allowed. The kernel must finish on the CPU: a variant with an increase that waits forever does not win and is not
/// recommended. If it is certain that an increase waits forever, the variant is not tried.
#[test]
fn blocks_for_setmaxnreg() {
    if !has_ptxas() {
        return;
    }
    for (kept, is_tried, comes_to_its_end) in [(40, true, true), (72, true, false), (152, false, false)] {
        let folder = folder(&with_ignored_requests(kept), false);
        let folder = folder.path();
        let options = ["tune", "k.ptx", "--runs", "2", "--json", "--profile", "k.toml"];
        let json = |options: &[&str]| {
            let output = run(folder, options);
            assert!(output.status.success(), "{}", said(&output));
            let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            (json, String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let (unasked, told) = json(&options);
        let has_choice =
            |tried: &serde_json::Value| tried["choice"].as_str().is_some_and(|of| of.contains("minnctapersm=1"));
        let kernel = &unasked["kernels"][0];
        assert_eq!(kernel["tried"].as_array().expect("a list").iter().any(has_choice), is_tried, "{unasked:#}");
        assert!(!kernel["choice"].as_str().expect("a choice").contains("minnctapersm"), "{unasked:#}");
        assert_eq!(
            told.contains("by .minnctapersm 1; --allow-occupancy-loss allows it"),
            comes_to_its_end,
            "{kept}: {told}"
        );
        let waits = told.contains("'minnctapersm=1' does not win: ") && told.contains("setmaxnreg.inc");
        assert_eq!(waits, is_tried && !comes_to_its_end, "{kept}: {told}");
        let (asked, told) = json(&[&options[..], &["--allow-occupancy-loss"]].concat());
        let kernel = &asked["kernels"][0];
        let wins = kernel["choice"].as_str().expect("a choice").contains("minnctapersm=1");
        assert_eq!(wins, comes_to_its_end, "{kept}: {asked:#}\n{told}");
        if wins {
            assert_eq!(kernel["tuned"]["spill_store_bytes"].as_u64(), Some(0), "{asked:#}");
            assert!(read(folder, "k.tuned.ptx").contains(".minnctapersm 1\n{"));
            succeeds(folder, &["ptx", "k.ptx", "--profile", "k.toml", "-o", "again.ptx"]);
            assert_eq!(read(folder, "again.ptx"), read(folder, "k.tuned.ptx"));
        }
    }
}

/// Returns a kernel with more values than registers. The values stay live over a loop, which changes some of them.
fn spilling_over_a_loop() -> String {
    const VALUES: usize = 40;
    let mut text =
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n.reqntid 128, 1, 1\n\
        .maxnreg 32\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<90>;\n\t.reg .b64 %rd<4>;\n\tld.param.u64 %rd1, [p];\n\
        \tmov.u32 %r80, %tid.x;\n\tmul.wide.u32 %rd2, %r80, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n\tmov.u32 %r81, 0;\n"
            .to_owned();
    // Writing to a string cannot fail.
    for number in 0..VALUES {
        let _ = writeln!(text, "\tld.global.u32 %r{number}, [%rd3+{}];", 512 * number);
    }
    text += "\tbar.sync 0;\n$L:\n";
    for number in 0..8 {
        let _ = writeln!(text, "\tmad.lo.u32 %r{number}, %r{number}, %r{number}, %r{};", (number + 1) % 8);
    }
    text += "\tadd.u32 %r81, %r81, 1;\n\tsetp.lt.u32 %p1, %r81, 5;\n\t@%p1 bra $L;\n\tbar.sync 0;\n";
    for number in 0..VALUES {
        let _ = writeln!(text, "\tst.global.u32 [%rd3+{}], %r{number};", 512 * (number * 7 % VALUES));
    }
    text + "\tret;\n}\n"
}

/// The values that ptxas spills according to its machine code are spilled to shared memory instead, and ptxas then
/// spills nothing. The variant computes the same, and its replay gives the same PTX. Planned runs also find it.
#[test]
fn spilled_values_are_kept() {
    if !has_ptxas() {
        return;
    }
    let folder = folder(&spilling_over_a_loop(), false);
    let folder = folder.path();
    let json = json(folder, &["tune", "k.ptx", "--json", "--profile", "k.toml"]);
    let kernel = &json["kernels"][0];
    let bytes = |of: &str| (kernel[of]["spill_store_bytes"].as_u64(), kernel[of]["spill_load_bytes"].as_u64());
    assert!(bytes("stock").0 > Some(0) && bytes("tuned") == (Some(0), Some(0)), "{json:#}");
    assert!(kernel["choice"].as_str().is_some_and(|choice| choice.contains("regalloc-registers=%r")), "{json:#}");
    assert_eq!(kernel["compared"]["verdict"], "same", "{json:#}");
    succeeds(folder, &["ptx", "k.ptx", "--profile", "k.toml", "-o", "replayed.ptx"]);
    assert_eq!(read(folder, "replayed.ptx"), read(folder, "k.tuned.ptx"));
    let tool = |name: &str| match std::env::var("CUDA_PATH") {
        Ok(path) if Path::new(&path).join("bin").join(name).is_file() => Path::new(&path).join("bin").join(name),
        _ => name.into(),
    };
    planned(folder, "16", ["ptxas", "cuobjdump", "nvdisasm"].map(tool));
}

/// Returns a kernel that sums four mixed words. One form loads all words first and interleaves their computations. The
/// other form handles one word per iteration of a loop that ptxas cannot unroll. Both forms compute the same if the
/// grid has one row.
fn four_words(in_a_loop: bool) -> String {
    let mut text = String::from(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry words(.param .u64 p)\n.reqntid 32\n{\n\
         \t.reg .pred %p;\n\t.reg .b32 %r<16>;\n\t.reg .b64 %d<4>;\n\tld.param.u64 %d0, [p];\n\
         \tcvta.to.global.u64 %d0, %d0;\n\tmov.u32 %r0, %tid.x;\n\tmad.wide.u32 %d1, %r0, 4, %d0;\n\
         \tmov.u32 %r1, 0;\n\tmov.u32 %r10, 0;\n\
         \tmov.u32 %r11, %nctaid.y;\n\tadd.u32 %r11, %r11, 3;\n",
    );
    let mix = |text: &mut String, words: u32| {
        for number in 0..20 {
            for word in 2..2 + words {
                let _ =
                    writeln!(text, "\tshr.u32 %r9, %r{word}, {};\n\txor.b32 %r{word}, %r{word}, %r9;", 3 + number % 5);
                let _ = writeln!(text, "\tmad.lo.u32 %r{word}, %r{word}, {}, %r0;", 2 * number + 3);
            }
        }
        (2..2 + words).for_each(|word| _ = writeln!(text, "\tadd.u32 %r1, %r1, %r{word};"));
    };
    if in_a_loop {
        text += "\t.pragma \"nounroll\";\nagain:\n\tld.global.u32 %r2, [%d1];\n";
        mix(&mut text, 1);
        text += "\tadd.u64 %d1, %d1, 128;\n\tadd.u32 %r10, %r10, 1;\n\tsetp.lt.u32 %p, %r10, %r11;\n\t@%p bra again;\n";
    } else {
        (0..4).for_each(|word| _ = writeln!(text, "\tld.global.u32 %r{}, [%d1+{}];", 2 + word, 128 * word));
        mix(&mut text, 4);
    }
    text + "\tmad.wide.u32 %d2, %r0, 4, %d0;\n\tst.global.u32 [%d2+4096], %r1;\n\tret;\n}\n"
}

/// The variant in a loop has a quarter of the instructions and executes hardly more than stock. It does not win,
/// because it is predicted to be slower: a warp alone on its SM waits for each word. JSON and the table report this.
#[test]
fn predicted_to_be_slower() {
    if !has_ptxas() {
        return;
    }
    let folder = folder(&four_words(false), false);
    let folder = folder.path();
    fs::write(folder.join("other.ptx"), four_words(true)).expect("space");
    let options = ["tune", "k.ptx", "--also", "other.ptx", "--runs", "2", "--dynamic-shared", "200000"];
    let json = json(folder, &[&options[..], &["--json"]].concat());
    let kernel = &json["kernels"][0];
    assert_eq!(kernel["from"], serde_json::Value::Null, "{json:#}");
    let barred = kernel["barred"].as_array().expect("a list");
    let slower = barred.iter().find(|barred| barred["choice"] == "also;loop-shape=all").expect("the other file");
    assert_eq!(slower["may_execute_more"], false, "{json:#}");
    assert_eq!(slower["predicted"]["source"], "run", "{json:#}");
    assert!(slower["predicted"]["ratio"].as_f64() > Some(1.2), "{json:#}");
    let table = succeeds(folder, &options);
    assert!(table.contains("is predicted") && table.contains("% slower"), "{table}");
}

/// Returns another compiler's PTX of the same kernels. In this PTX, `fixed` has no copies and `moves` has a longer
/// parameter list.
fn of_another_compiler() -> String {
    let text = KERNELS.replace("\tmov.u32 %r2, %r1;\n\tst.global.u32 [%rd1], %r2;", "\tst.global.u32 [%rd1], %r1;");
    let text = text.replace("param .u64 q", "param .align 8 .b8 other[8]").replace("[q]", "[other]");
    let text = text.replace("\t.param .u64 p\n", "\t.param .u64 p,\n\t.param .u32 n\n");
    assert!(text.contains("%late;\n\tst.global.u32 [%rd1], %r1;") && text.contains("[other]"), "{text}");
    text
}

/// `--threads` sets the threads of all kernels, or of named kernels, that do not declare their threads. The last option
/// takes precedence. A name that no kernel has is an error.
#[test]
fn threads_of_some_kernels() {
    let folder = folder(KERNELS, true);
    let folder = folder.path();
    let threads = |said: &[&str]| -> Vec<Option<u64>> {
        let options = ["tune", "k.ptx", "--runs", "2", "--no-compare", "--json"];
        let json = json(folder, &[&options[..], said].concat());
        json["kernels"].as_array().expect("kernels").iter().map(|kernel| kernel["threads"].as_u64()).collect()
    };
    // The first kernel, `moves`, declares its threads.
    assert_eq!(threads(&[]), [Some(128), None]);
    assert_eq!(threads(&["--threads", "64", "--threads", "fixed=32"]), [Some(128), Some(32)]);
    assert_eq!(threads(&["--threads", "fixed=32", "--threads", "64"]), [Some(128), Some(64)]);
    assert_eq!(threads(&["--threads", "moves=96"]), [Some(128), None]);
    let output = run(folder, &["tune", "k.ptx", "--threads", "other=32"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--threads other=32: k.ptx has no kernel whose name contains 'other'"), "{said}");
}

/// A kernel of another compiler wins if it is better. The table, the JSON and the profile name its file, and a replay
/// needs only this file. One line reports each kernel that cannot be used.
#[test]
fn the_best_of_two_compilers() {
    let folder = folder(KERNELS, true);
    let folder = folder.path();
    fs::write(folder.join("b.ptx"), of_another_compiler()).expect("there is space");
    let options = ["tune", "k.ptx", "--also", "b.ptx", "--runs", "6", "--threads", "1", "--profile", "k.toml"];
    let said = succeeds(folder, &options);
    let row = |name: &str| said.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{said}"));
    assert!(row("fixed").ends_with("  run          also from b.ptx"), "{said}");
    assert!(!row("moves").contains("b.ptx") && row("from b.ptx:").contains("1 of 2 kernels"), "{said}");
    let refused = "kernel 'moves' of b.ptx is not taken: there are 2 parameters instead of 1";
    assert!(said.contains(refused), "{said}");
    let tuned = read(folder, "k.tuned.ptx");
    assert!(kernel(&tuned, "fixed").contains("st.global.u32 [%rd1], %r1;"), "{tuned}");
    assert!(kernel(&tuned, "fixed").starts_with(".entry fixed(.param .u64 q)") && tuned.contains("[q]"), "{tuned}");

    let profile = read(folder, "k.toml");
    assert!(profile.contains("nvptx-ra ptx --profile FILE --also b.ptx") && profile.contains("[function.linked]"));
    let with = ["ptx", "k.ptx", "--profile", "k.toml", "--also", "b.ptx", "-o", "replayed.ptx"];
    assert_eq!(succeeds(folder, &with), "");
    assert_eq!(read(folder, "replayed.ptx"), tuned);
    let without = succeeds(folder, &["ptx", "k.ptx", "--profile", "k.toml", "-o", "replayed.ptx"]);
    assert!(without.contains("'fixed' comes from another compiler's PTX and stays stock; link it with"), "{without}");
    assert_eq!(kernel(&read(folder, "replayed.ptx"), "fixed"), kernel(KERNELS, "fixed"));

    let json = json(folder, &["tune", "k.ptx", "--also", "b.ptx", "--runs", "6", "--threads", "1", "--json"]);
    let from = |number: usize| &json["kernels"][number]["from"];
    assert_eq!((from(0), from(1).as_str()), (&serde_json::Value::Null, Some("b.ptx")), "{json:#}");
    assert_eq!(json["kernels"][1]["tried"][0]["choice"], "also", "{json:#}");
    let kernel = &json["kernels"][1];
    assert_eq!((&kernel["assurance"], &kernel["compared"]["verdict"]), (&"run".into(), &"same".into()), "{json:#}");
    let executed = &kernel["executed"];
    let [stock, winner] = [0, 1].map(|of| executed["instructions"][of].as_f64().expect("a number"));
    assert_eq!(executed["ratio"], winner / stock, "{json:#}");
}

/// Another compiler's code does not win if it computes something else. Code for another target is refused.
#[test]
fn other_compilers_of_other_code() {
    let folder = folder(KERNELS, true);
    let folder = folder.path();
    let options = ["tune", "k.ptx", "--also", "b.ptx", "--runs", "6", "--threads", "1"];
    let wrong = of_another_compiler().replace("[%rd1], %r1;", "[%rd1+4], %r1;");
    fs::write(folder.join("b.ptx"), wrong).expect("there is space");
    let said = succeeds(folder, &options);
    assert!(said.contains("kernel 'fixed': 'also' computes other results than stock, and does not win"), "{said}");
    fs::write(folder.join("b.ptx"), of_another_compiler().replace("sm_90", "sm_100")).expect("there is space");
    let output = run(folder, &options);
    let said = String::from_utf8_lossy(&output.stderr);
    let expected = "b.ptx: the target is sm_100, and the target of the input is sm_90; compile both files for sm_90";
    assert!(!output.status.success() && said.contains(expected), "{said}");
}

/// A kernel may need a function, data, shared memory and a declaration of its own file. It is then used with all of
/// them, and ptxas accepts the output.
#[test]
fn linked_with_ptxas() {
    if !has_ptxas() {
        return;
    }
    let own = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .align 4 .u32 seen[4] = {1, 2, 3, 4};\n\
        .global .align 1 .b8 $str[4] = {97, 98, 99};\n.func half()\n{\n\tret;\n}\n";
    let kernel = |inside: &str| {
        format!(
            ".visible .entry k(.param .u64 p)\n.maxntid 128\n{{\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n{inside}\n\
             \tld.param.u64 %rd1, [p];\n\tst.global.u32 [%rd1], %r1;\n\tret;\n}}\n"
        )
    };
    let steps = "\tmul.lo.u32 %r1, %r1, %r1;\n\txor.b32 %r1, %r1, 77;\n".repeat(150);
    let slow = kernel(&format!("\tmov.u32 %r1, %tid.x;\n{steps}"));
    let other = ".version 8.5\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n\
        .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.extern .shared .align 16 .b8 tile[];\n\
        .global .align 1 .b8 $str[4] = {37, 100, 10};\n.visible .global .align 4 .b8 seen[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3, \
        0, 0, 0, 4};\n.weak .func (.param .b32 r) half(.param .b32 a)\n{\n\t.reg .b32 %r<3>;\n\t.loc 1 2 3\n\
        \tld.param.u32 %r1, [a];\n\tshr.u32 %r2, %r1, 1;\n\tst.param.b32 [r], %r2;\n\tret;\n}\n";
    let quick = kernel(
        "\t.loc 1 3 4\n\tld.global.u32 %r1, [seen+4];\n\tmov.u64 %rd2, $str;\n\tld.shared.u32 %r2, [tile];\n\
         \t{ .param .b32 a;\n\tst.param.b32 [a], %r1;\n\t.param .b32 r;\n\tcall.uni (r), half, (a);\n\
         \tld.param.b32 %r1, [r]; }\n\tadd.u32 %r1, %r1, %r2;\n\tmov.u64 %rd3, 0;\n\t{ .param .b64 f;\n\
         \tst.param.b64 [f], %rd2;\n\t.param .b64 v;\n\tst.param.b64 [v], %rd3;\n\t.param .b32 r;\n\
         \tcall.uni (r), vprintf, (f, v);\n\t}",
    );
    let folder = folder(&format!("{own}{slow}"), false);
    let folder = folder.path();
    fs::write(folder.join("b.ptx"), format!("{other}{quick}")).expect("there is space");
    let options = ["tune", "k.ptx", "--also", "b.ptx", "--runs", "1", "--no-compare"];
    let said = succeeds(folder, &options);
    assert!(said.contains("from b.ptx: 0 of 1 kernels"), "nothing shows that it computes the same: {said}");
    assert!(
        said.contains("nvptx-ra: 'k' with --allow-uncompared: ") && said.contains(" instructions by also\n"),
        "{said}"
    );
    let said = succeeds(folder, &[&options[..], &["--allow-uncompared"]].concat());
    assert!(said.contains("from b.ptx: 1 of 1 kernels") && said.contains("  neither  "), "{said}");
    let tuned = read(folder, "k.tuned.ptx");
    for expected in
        [".version 8.5\n.target sm_90", "half_1, (a)", "$str_1[4] = {37", "seen[4] = {1", ".b8 tile[]", "vprintf"]
    {
        assert!(tuned.contains(expected), "{expected}: {tuned}");
    }
    assert!(!tuned.contains("seen[16]") && !tuned.contains(".loc") && !tuned.contains(".weak"), "{tuned}");
}
