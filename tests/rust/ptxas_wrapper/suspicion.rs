//! A user can test whether nvptx-ra causes a failure: NVPTX_RA=off runs ptxas alone, and `nvptx-ra bisect` names the
//! kernel and the choice that make a test fail.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::outcome::TOOL;
use super::processes::script;
use super::search::spills;
use crate::cuda;

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// With `off`, ptxas runs once with unchanged arguments. Its exit code, messages and output are the result, and the
/// version is ptxas's alone. Every other value is ignored.
#[test]
fn off() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    fs::write(folder.join("k.ptx"), spills(0)).expect("there is space");
    let real = script(folder, "real", "echo \"$*\" >> calls\necho out\necho 'ptxas info' >&2\nexit 7");
    let run = |value: &str, arguments: &[&str]| {
        _ = fs::remove_file(folder.join("calls"));
        let mut command = Command::new(TOOL);
        command.arg("ptxas").args(arguments).current_dir(folder).env("NVPTX_RA", value).env("NVPTX_RA_PTXAS", &real);
        command.env("NVPTX_RA_CACHE", "off").env("NVPTX_RA_LOG", folder.join("log")).env("NVPTX_RA_RUNS", "nonsense");
        let done = command.output().expect("it starts");
        (done.status.code(), said(&done), fs::read_to_string(folder.join("calls")).expect("it was called"))
    };
    let arguments = ["-arch=sm_90", "-v", "k.ptx", "-o", "k.cubin"];
    let plain = "out\nptxas info\n".to_owned();
    assert_eq!(run("off", &arguments), (Some(7), plain.clone(), "-arch=sm_90 -v k.ptx -o k.cubin\n".into()));
    assert_eq!(run("off", &["--version"]), (Some(7), plain, "--version\n".into()));
    let log = fs::read_to_string(folder.join("log")).expect("a log");
    let line = "ptxas runs alone: NVPTX_RA is off\n";
    assert_eq!(log, format!("k.ptx for sm_90: {line}{line}"));
    // With this value nvptx-ra is on, so it reads the wrong NVPTX_RA_RUNS. The warning explains how to turn nvptx-ra
    // off.
    let (_, other, _) = run("target/release/nvptx-ra", &arguments);
    assert!(
        other.contains("NVPTX_RA_RUNS is 'nonsense'") && other.contains("NVPTX_RA=off turns nvptx-ra off"),
        "{other}"
    );
}

/// A folder with two kernels that spill, and a test. The test fails if the number of bytes that `bad` spills differs
/// from that of ptxas alone.
struct Suspicion {
    folder: tempfile::TempDir,
    real: std::path::PathBuf,
}

impl Suspicion {
    fn new(bin: &Path) -> Self {
        let folder = tempfile::tempdir().expect("there is space");
        let bad = spills(30).replace(".entry k(", ".entry bad(");
        let bad = &bad[bad.find(".visible").expect("a kernel")..];
        let good = spills(31).replace(".entry k(", ".entry good(");
        fs::write(folder.path().join("k.ptx"), good + bad).expect("there is space");
        let suspicion = Self { folder, real: bin.join("ptxas") };
        let spilled = "sed -n \"/entry function 'bad'/,/Used/p\" said | grep 'bytes spill stores'";
        let ptxas = format!("'{TOOL}' ptxas -v -arch=sm_90 k.ptx -o k.cubin 2> said");
        script(suspicion.path(), "expect", &format!("{ptxas} && {spilled} > expected"));
        script(suspicion.path(), "test", &format!("{ptxas} && {spilled} | cmp -s - expected"));
        let done = suspicion.command("./expect").env("NVPTX_RA", "off").output().expect("it starts");
        assert!(done.status.success(), "{}", said(&done));
        suspicion
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path()).env("NVPTX_RA_PTXAS", &self.real).env("NVPTX_RA_RUNS", "2");
        command.env("NVPTX_RA_CACHE", self.path().join("cache"));
        for name in ["NVPTX_RA", "NVPTX_RA_UNCHANGED", "NVPTX_RA_REPORT", "NVPTX_RA_SECONDS", "NVPTX_RA_PROFILE"] {
            command.env_remove(name);
        }
        command
    }

    fn bisect(&self, test: &[&str]) -> (Option<i32>, String) {
        let done = self.command(TOOL).args(["bisect", "--"]).args(test).output().expect("it starts");
        (done.status.code(), said(&done))
    }
}

/// Bisect names the culprit with one choice, and a second bisection gives the same result. The printed line for
/// NVPTX_RA_UNCHANGED disables the choice.
#[test]
fn the_culprit_is_named() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let suspicion = Suspicion::new(&bin);
    let (code, text) = suspicion.bisect(&["./test"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("\n  kernel   bad\n  file     k.ptx for sm_90\n  choices  "), "{text}");
    assert!(
        !text.contains("  kernel   good") && text.contains("TEST passes if all other kernels are changed."),
        "{text}"
    );
    let choices = text.lines().find_map(|line| line.strip_prefix("  choices  ")).expect(&text);
    assert_eq!(choices.split(' ').count(), 1, "{text}");
    assert_eq!(suspicion.bisect(&["./test"]), (code, text.clone()));
    let line = text.lines().find_map(|line| line.strip_prefix("  bad ")).expect(&text);
    fs::write(suspicion.path().join("list"), format!("bad {line}\n")).expect("there is space");
    let passes = |unchanged: &str| {
        let status = suspicion.command("./test").env("NVPTX_RA_UNCHANGED", unchanged).status();
        status.expect("it starts").success()
    };
    assert!(passes("./list") && passes("bad") && passes("*") && !passes("good"));
    fs::write(suspicion.path().join("list"), format!("bad {line} without {choices}\n")).expect("there is space");
    let log = suspicion.path().join("log");
    let done = suspicion.command("./test").env("NVPTX_RA_UNCHANGED", "./list").env("NVPTX_RA_LOG", &log).output();
    assert!(done.is_ok());
    let log = fs::read_to_string(log).expect("a log");
    let expected = format!("k.ptx for sm_90: bad: without {choices}, by NVPTX_RA_UNCHANGED\n");
    assert!(log.contains(&expected) && log.contains("k.ptx for sm_90: good: "), "{log}");
}

/// If the test also fails without nvptx-ra, always passes, or builds nothing, bisect reports that there is no culprit.
#[test]
fn nobody_is_to_blame() {
    let Some(bin) = cuda::programs(&["ptxas"]) else { return };
    let suspicion = Suspicion::new(&bin);
    let of = |test: &[&str], words: &str| {
        let (code, text) = suspicion.bisect(test);
        assert!(code == Some(1) && text.contains(words), "{code:?} {text}");
    };
    of(&["false"], "TEST fails with NVPTX_RA=off, too: nvptx-ra is not the cause");
    of(&["true"], "TEST passes with nvptx-ra, too");
    of(&["sh", "-c", "[ \"$NVPTX_RA\" = off ]"], "TEST fails, but the ptxas wrapper changed no kernel");
    of(
        &["sh", "-c", "./test > /dev/null; [ \"$NVPTX_RA\" = off ]"],
        "TEST fails with all kernels unchanged, but not with NVPTX_RA=off",
    );
    let hurried = suspicion.command(TOOL).args(["bisect", "--", "false"]).env("NVPTX_RA_SECONDS", "1").output();
    assert!(said(&hurried.expect("it starts")).contains("NVPTX_RA_SECONDS is set: a search that ends early"));
    let (code, text) = suspicion.bisect(&["./no-such-test"]);
    assert!(code == Some(1) && text.contains("./no-such-test"), "{text}");
}
