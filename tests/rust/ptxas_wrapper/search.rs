//! Searches for a better variant of a kernel that spills, through the ptxas wrapper. The kernel improves, and the next
//! build makes the same cubin with one ptxas run. Whatever the state of the cache, the result is never worse than
//! ptxas's own.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::outcome::TOOL;
use crate::cuda;

/// Returns a kernel with 200 values that are live at once. Its blocks have 1,024 threads, so a thread has at most 64
/// registers.
pub(crate) fn spills(first: u32) -> String {
    kernel(200, 1024, first)
}

/// Returns a kernel with this number of values that are live at once, in blocks of this number of threads.
pub(super) fn kernel(values: u32, threads: u32, first: u32) -> String {
    let mut text = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n\
        .maxntid {threads}, 1, 1\n{{\n\t.reg .b32 %r<401>;\n\t.reg .b64 %rd<3>;\n\tld.param.u64 %rd1, [p];\n\
        \tcvta.to.global.u64 %rd2, %rd1;\n"
    );
    for value in 0..values {
        _ = writeln!(text, "\tld.global.u32 %r{value}, [%rd2+{}];", 4 * (value + first));
    }
    text += "\tbar.sync 0;\n";
    for value in 0..values {
        let (sum, other) = (value + values, values - 1 - value);
        _ = writeln!(text, "\tadd.s32 %r{sum}, %r{value}, %r{other};\n\tst.global.u32 [%rd2+{}], %r{sum};", 4 * value);
    }
    text + "\tret;\n}\n"
}

/// A folder with `k.ptx`, and a ptxas that records each of its calls.
pub(super) struct Build {
    folder: tempfile::TempDir,
    pub(super) ptxas: PathBuf,
}

impl Build {
    pub(super) fn new(bin: &Path, text: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is space");
        fs::write(folder.path().join("k.ptx"), text).expect("there is space");
        let ptxas = folder.path().join("real");
        let script = format!("#!/bin/sh\necho \"$@\" >> calls\nexec {}/ptxas \"$@\"\n", bin.display());
        fs::write(&ptxas, script).expect("there is space");
        fs::set_permissions(&ptxas, fs::Permissions::from_mode(0o755)).expect("it is ours");
        Self { folder, ptxas }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn command(&self, settings: &[(&str, &str)]) -> Command {
        let mut command = Command::new(TOOL);
        command.args(["ptxas", "-v", "-arch=sm_90", "k.ptx", "-o", "k.cubin"]).current_dir(self.folder.path());
        for name in ["SECONDS", "REPORT", "PROFILE", "DYNAMIC_SHARED", "CALLERS"] {
            command.env_remove(format!("NVPTX_RA_{name}"));
        }
        command.env("NVPTX_RA_PTXAS", &self.ptxas).env("NVPTX_RA_RUNS", "8");
        command.env("NVPTX_RA_CACHE", self.path("cache")).env("NVPTX_RA_LOG", self.path("log"));
        command.envs(settings.iter().copied());
        command
    }

    /// Returns the bytes that ptxas reports as spilled, the number of ptxas runs without version queries, and the
    /// cubin.
    pub(super) fn run(&self, settings: &[(&str, &str)]) -> (u32, usize, Vec<u8>) {
        _ = fs::remove_file(self.path("calls"));
        let done = self.command(settings).output().expect("it starts");
        let messages = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{messages}");
        let spilled =
            messages.split(" bytes spill").filter_map(|part| part.rsplit([' ', ',']).next()?.parse::<u32>().ok());
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        (spilled.sum(), calls.lines().count(), fs::read(self.path("k.cubin")).expect("a cubin"))
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

/// Fewer bytes are spilled. The second build makes the same cubin with one run, even if the file has another name. With
/// 0 runs, or if the time ends before the first round, the result is ptxas's own.
#[test]
fn the_second_build_runs_ptxas_once() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, &spills(0));
    let (plain, calls, by_ptxas) = build.run(&[("NVPTX_RA_RUNS", "0")]);
    assert!(plain > 0 && calls == 1, "{plain} bytes, {calls} calls");
    let (hurried, _, cubin) = build.run(&[("NVPTX_RA_SECONDS", "0")]);
    assert!(hurried == plain && cubin == by_ptxas && build.log().contains("the search reached its time limit"));
    let report = build.path("report").into_os_string().into_string().expect("text");
    let (better, calls, found) = build.run(&[("NVPTX_RA_REPORT", &report)]);
    assert!(better < plain && calls > 3, "{better} of {plain} bytes, {calls} calls: {}", build.log());
    assert!(build.log().contains("run on the CPU: same"), "{}", build.log());
    let report = fs::read_to_string(report).expect("a report");
    assert!(report.starts_with("{\"kernel\":\"k\",\"choice\":") && report.lines().count() == 1, "{report}");
    assert_eq!(build.run(&[]), (better, 1, found.clone()));
    // Renames the file without changing its PTX, because Triton writes a new file for each call.
    fs::rename(build.path("k.ptx"), build.path("other.ptx")).expect("it is ours");
    std::os::unix::fs::symlink("other.ptx", build.path("k.ptx")).expect("there is space");
    assert_eq!(build.run(&[]), (better, 1, found));
}

/// An interrupted search delivers the best variant so far. The cache does not store it, so the next build runs the
/// complete search.
#[test]
fn an_interrupted_search_delivers_what_it_found() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, &spills(11));
    let (plain, ..) = build.run(&[("NVPTX_RA_RUNS", "0")]);
    let script = fs::read_to_string(&build.ptxas).expect("it is ours");
    // Runs are concurrent, so several runs may see the same number of calls. Only one run sends the signal.
    let interrupts = "[ \"$(wc -l < calls)\" -ge \"$INTERRUPT\" ] && mkdir once 2> /dev/null && kill -TERM $PPID && exec sleep 60\n\
        exec ";
    fs::write(&build.ptxas, script.replace("exec ", interrupts)).expect("it is ours");
    _ = fs::remove_file(build.path("calls"));
    let done = build.command(&[("INTERRUPT", "9")]).output().expect("it starts");
    let messages = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(130), "{messages}");
    assert!(build.log().contains("the search was interrupted: the best result so far is used"), "{}", build.log());
    let bytes = messages.split(" bytes spill").filter_map(|part| part.rsplit([' ', ',']).next()?.parse::<u32>().ok());
    let found: u32 = bytes.sum();
    assert!(found < plain, "{found} of {plain} bytes: {}", build.log());
    let (all, calls, _) = build.run(&[("INTERRUPT", "1000")]);
    assert!(all <= found && calls > 3, "{all} of {found} bytes, {calls} calls");
}

/// If ptxas writes other bytes in each run for the same code, its result is accepted nevertheless. The second build
/// also runs ptxas once.
#[test]
fn a_ptxas_that_is_not_deterministic() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, &spills(5));
    // Bytes after the end of a cubin are no part of its code.
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> calls\n{}/ptxas \"$@\" || exit\nwhile [ $# -gt 0 ]; do\n\
         [ \"$1\" != --output-file ] || date +%N >> \"$2\"\nshift\ndone\n",
        bin.display()
    );
    fs::write(&build.ptxas, script).expect("it is ours");
    let (better, calls, found) = build.run(&[]);
    assert!(calls > 3, "{calls} calls: {}", build.log());
    let (again, calls, cubin) = build.run(&[]);
    assert_eq!((again, calls), (better, 1));
    assert!(cubin != found, "each run has bytes of its own");
}

/// The log has a line for a kernel that was searched without success. This kernel has too few registers for full
/// occupancy, but does not spill.
#[test]
fn nothing_better() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, &kernel(90, 128, 0));
    let (plain, calls, _) = build.run(&[]);
    assert!(plain == 0 && calls > 3, "{plain} bytes, {calls} calls");
    let log = build.log();
    let start = "k.ptx for sm_90: k: no better after ";
    assert!(log.starts_with(start) && log.ends_with(" variants: 0 bytes spilled, 36 warps\n"), "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
}

/// Each kernel has a log line with the file and the processor: a kernel that improves, one without a better variant,
/// and one with nothing to gain. The next build logs the same from the cache.
#[test]
fn each_kernel_has_a_line() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let named = |text: String, name: &str| text.replace(".entry k(", &format!(".entry {name}("));
    let without_head = |text: String| text[text.find(".visible").expect("a kernel")..].to_owned();
    let others = [(kernel(90, 128, 0), "lacks"), (kernel(8, 128, 0), "full")];
    let others = others.map(|(text, name)| without_head(named(text, name)));
    let build = Build::new(&bin, &format!("{}{}", named(spills(20), "better"), others.concat()));
    let lines = || {
        _ = fs::remove_file(build.path("log"));
        build.run(&[]);
        let mut lines: Vec<String> = build.log().lines().map(str::to_owned).collect();
        lines.sort();
        let about = |line: &String| line.strip_prefix("k.ptx for sm_90: ").map(str::to_owned);
        lines.iter().map(about).collect::<Option<Vec<_>>>().unwrap_or_else(|| panic!("{lines:?}"))
    };
    let (first, again) = (lines(), lines());
    let [better, full, lacks] = &first[..] else { panic!("{first:?}") };
    assert!(better.starts_with("better: ") && better.contains(" → "), "{better}");
    assert_eq!(full, "full: nothing to search: nothing spills, and occupancy is full: 64 warps");
    assert!(lacks.starts_with("lacks: no better after "), "{lacks}");
    assert_eq!(again, [better.clone(), format!("{full}; by the cache"), format!("{lacks}; by the cache")]);
}

/// A candidate that the caller times is searched only if ptxas gave up registers in favour of warps that are not
/// resident. Here, the launch's shared memory keeps the warps from being resident.
#[test]
fn candidates() {
    let Some(bin) = cuda::programs(&["ptxas", "cuobjdump"]) else { return };
    let noted = |values: u32, notes: &str| {
        let text = kernel(values, 128, 0).replace("%r<401>", "%r<1001>");
        let text = text.replace("\t.reg .b64", "\t.shared .align 16 .b8 dynamic[16];\n\t.reg .b64");
        Build::new(&bin, &format!("{text}{notes}"))
    };
    let runs = |build: &Build| (build.run(&[("NVPTX_RA_RUNS", "0")]).0, build.run(&[]));
    let notes = "// nvptx-ra: candidate\n// nvptx-ra: dynamic-shared 100000\n";
    let given_up = noted(500, notes);
    let (before, (after, calls, _)) = runs(&given_up);
    assert!(after < before / 2 && calls > 1, "{before} → {after} bytes, {calls} calls");
    let log = fs::read_to_string(given_up.path("log")).expect("a log");
    assert!(log.contains(" → ") && log.contains("maxnreg="), "{log}");
    // This kernel spills even with the maximum number of registers.
    let (before, (after, calls, _)) = runs(&noted(260, notes));
    assert_eq!((after, calls), (before, 1));
    assert!(before > 0);
    // These warps are resident, so more registers would cost warps.
    let (before, (after, calls, _)) = runs(&noted(500, "// nvptx-ra: candidate\n// nvptx-ra: dynamic-shared 0\n"));
    assert_eq!((after, calls), (before, 1));
}

/// Another machine replays a winner from a folder of profiles, without a search.
#[test]
fn profiles_of_another_machine() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, &spills(1));
    let folder = build.path("profiles").into_os_string().into_string().expect("text");
    let settings = [("NVPTX_RA_PROFILE", folder.as_str()), ("NVPTX_RA_CACHE", "off")];
    let (better, searched, found) = build.run(&settings);
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1, "{}", build.log());
    let (again, replayed, cubin) = build.run(&settings);
    assert!(again == better && cubin == found && replayed < searched, "{again} {replayed} of {searched}");
}

/// A damaged cache entry is ignored, and an entry that disagrees with ptxas is not trusted.
#[test]
fn damaged_entries() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, &spills(2));
    let (better, _, found) = build.run(&[]);
    let entries = || fs::read_dir(build.path("cache")).expect("a folder").map(|entry| entry.expect("an entry").path());
    for path in entries().filter(|path| path.extension().is_some_and(|name| name == "entry")) {
        let mut bytes = fs::read(&path).expect("a file");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&path, bytes).expect("it is ours");
    }
    let (again, calls, cubin) = build.run(&[]);
    assert!(again == better && cubin == found && calls > 3, "{calls} calls: {}", build.log());
    // A cache to which other users may write is not used at all.
    fs::set_permissions(build.path("cache"), fs::Permissions::from_mode(0o777)).expect("it is ours");
    let (again, calls, cubin) = build.run(&[]);
    assert!(again == better && cubin == found && calls > 3, "{calls} calls: {}", build.log());
}

/// If a build is killed at any moment, the next build gets the full result.
#[test]
fn killed_at_any_moment() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, &spills(3));
    let (plain, ..) = build.run(&[("NVPTX_RA_RUNS", "0")]);
    for number in 0..20u64 {
        let mut child = build.command(&[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(5 + 97 * number));
        _ = child.kill();
        _ = child.wait();
    }
    let (better, _, found) = build.run(&[]);
    assert!(better < plain, "{better} of {plain}: {}", build.log());
    assert_eq!(build.run(&[]), (better, 1, found));
}

/// Launches of another file's kernels do not affect this file. Neither does a file in the folder that looks like
/// Triton's metadata.
#[test]
fn launches_of_other_files() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, &spills(4));
    let (better, _, found) = build.run(&[("NVPTX_RA_CACHE", "off")]);
    fs::write(build.path("found.json"), r#"{"name": "k", "shared": 200000}"#).expect("there is space");
    let (again, _, cubin) = build.run(&[("NVPTX_RA_CACHE", "off"), ("NVPTX_RA_DYNAMIC_SHARED", "other=1024")]);
    assert!(again == better && cubin == found, "{again} and {better}: {}", build.log());
    assert!(build.log().lines().all(|line| line.starts_with("k.ptx for sm_90: k: ")), "{}", build.log());
}

/// A kernel with full occupancy and without spills. Its loop is as LLVM 22 prints it.
pub(crate) const ROW_SUM: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry sum(.param .u64 p, .param .u64 out, .param .u32 n)\n\
    .maxntid 256, 1, 1\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<5>;\n\t.reg .b64 %rd<4>;\n\tld.param.u64 %rd1, [p];\n\
    \tld.param.u32 %r1, [n];\n\tmov.u32 %r4, %tid.x;\n\tmul.wide.u32 %rd3, %r4, 4;\n\tmov.b32 %r2, 0f00000000;\n$LOOP:\n\tld.global.f32 %r3, [%rd1];\n\tadd.rn.f32 %r2, %r2, %r3;\n\
    \tadd.s64 %rd1, %rd1, 4;\n\tadd.s32 %r1, %r1, -1;\n\tsetp.eq.b32 %p1, %r1, 0;\n\t@%p1 bra $END;\n\tbra.uni $LOOP;\n$END:\n\
    \tld.param.u64 %rd2, [out];\n\tadd.s64 %rd2, %rd2, %rd3;\n\tst.global.f32 [%rd2], %r2;\n\tret;\n}\n";

/// A kernel has nothing else to gain than a loop form that ptxas unrolls. It gets this form with one additional run. A
/// loop with a pragma stays unchanged. The winner is in the folder of profiles and is replayed without a search.
#[test]
fn a_loop_that_ptxas_unrolls() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let build = Build::new(&bin, ROW_SUM);
    let profiles = build.path("profiles").into_os_string().into_string().expect("text");
    let (_, calls, by_ptxas) = build.run(&[("NVPTX_RA_RUNS", "0")]);
    assert_eq!(calls, 1);
    let (_, calls, found) = build.run(&[("NVPTX_RA_PROFILE", &profiles)]);
    assert!(build.log().contains(" instructions, loop-shape=all; proved; run on the CPU: same"), "{}", build.log());
    assert!(calls <= 5 && found.len() > by_ptxas.len(), "{calls} calls: {}", build.log());
    assert_eq!(build.run(&[]), (0, 1, found.clone()), "the cache");
    assert_eq!(build.run(&[("NVPTX_RA_CACHE", "off"), ("NVPTX_RA_PROFILE", &profiles)]).2, found, "the profile");
    let rolled = build.run(&[("NVPTX_RA_UNCHANGED", "sum without loop-shape=all")]).2;
    assert_eq!(rolled.len(), by_ptxas.len(), "{}", build.log());
    let build = Build::new(&bin, &ROW_SUM.replace("$LOOP:\n", "$LOOP:\n\t.pragma \"nounroll\";\n"));
    assert_eq!(build.run(&[]).2, by_ptxas, "{}", build.log());
    assert!(build.log().contains("nothing"), "{}", build.log());
}
