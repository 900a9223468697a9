//! Processes of the ptxas wrapper: how it finds the real ptxas, what it starts, and how it ends.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::outcome::TOOL;

/// Writes a script as a program of a folder.
pub(crate) fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("there is space");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("there is space");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

/// Returns a command without this project's settings. PATH begins with these folders and contains no other ptxas.
fn command(program: impl AsRef<std::ffi::OsStr>, folders: &[PathBuf]) -> Command {
    let mut command = Command::new(program);
    for name in ["PTXAS", "RUNS", "SECONDS", "LOG", "PROFILE"] {
        command.env_remove(format!("NVPTX_RA_{name}"));
    }
    let system = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    let system = system.into_iter().filter(|folder| !folder.join("ptxas").exists());
    let path = std::env::join_paths(folders.iter().cloned().chain(system)).expect("names of folders");
    command.env_remove("CUDA_PATH").env("NVPTX_RA_CACHE", "off").env("PATH", path);
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// If the tool is called as `ptxas`, by a link, a copy or a script, it runs the next ptxas on PATH. A missing ptxas is
/// an error.
#[test]
fn the_next_ptxas() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    let sub = |name: &str| folder.join(name);
    for name in ["link", "copy"] {
        fs::create_dir(sub(name)).expect("there is space");
    }
    symlink(TOOL, sub("link/ptxas")).expect("there is space");
    fs::copy(TOOL, sub("copy/ptxas")).expect("there is space");
    script(folder, "script/ptxas", &format!("exec '{TOOL}' ptxas \"$@\""));
    script(folder, "real/ptxas", "echo \"real $*\"");
    let ours = ["link", "copy", "script"].map(sub);
    let with_real = [&ours[..], &[sub("real")]].concat();
    for name in ours.each_ref().map(|folder| folder.join("ptxas")) {
        let output = command(&name, &with_real).args(["-c", "a b"]).output().expect("it starts");
        assert_eq!(said(&output), "real -c a b\n", "{}", name.display());
        let output = command(&name, &ours).arg("-c").output().expect("it starts");
        assert_eq!(output.status.code(), Some(1), "{}", name.display());
        assert!(said(&output).contains("nvptx-ra: NVIDIA's ptxas: not found on PATH"), "{}", said(&output));
        let itself = command(&name, &ours).env("NVPTX_RA_PTXAS", &name).arg("-c").output().expect("it starts");
        assert!(
            said(&itself).contains("which calls this program again; set it to NVIDIA's ptxas"),
            "{}",
            said(&itself)
        );
    }
}

/// An invalid setting is a warning, and ptxas runs alone.
#[test]
fn wrong_settings() {
    let folder = tempfile::tempdir().expect("there is space");
    let real = script(folder.path(), "real", "echo \"real $*\"");
    let mut command = command(TOOL, &[]);
    let command = command.args(["ptxas", "a.ptx"]).env("NVPTX_RA_PTXAS", real).env("NVPTX_RA_RUNS", "all");
    let output = command.output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "real a.ptx\n");
    let warning = "nvptx-ra: NVPTX_RA_RUNS is 'all', and ptxas runs alone; \
        set it to a number of runs; 0 for ptxas alone, or unset it; NVPTX_RA=off turns nvptx-ra off\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), warning);
    assert!(output.status.success());
}

/// If a call is passed through to ptxas, the log gives the reason.
#[test]
fn the_log() {
    let folder = tempfile::tempdir().expect("there is space");
    let real = script(folder.path(), "real", "exit 3");
    let log = folder.path().join("log");
    let run = |log: &str| {
        let mut command = command(TOOL, &[]);
        command.args(["ptxas", "-g", "a.ptx"]).env("NVPTX_RA_PTXAS", &real).env("NVPTX_RA_LOG", log);
        command.output().expect("it starts")
    };
    assert_eq!(run(&log.display().to_string()).status.code(), Some(3));
    let line = "a.ptx: ptxas runs alone: --device-debug: it is for debugging\n";
    assert_eq!(fs::read_to_string(&log).expect("a log"), line);
    assert_eq!(said(&run("info")), line);
    assert_eq!(said(&run("warn")), "");
}

/// If a signal ends ptxas, the wrapper ends with the same signal, and the log names the signal. If ptxas fails, the
/// wrapper returns its exit code and its messages.
#[test]
fn ends_as_ptxas_ends() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    fs::write(folder.join("a.ptx"), "text").expect("there is space");
    let run = |real: &str| {
        let real = script(folder, "real", real);
        let mut command = command(TOOL, &[]);
        command
            .args(["ptxas", "-arch=sm_90", "a.ptx"])
            .current_dir(folder)
            .env("NVPTX_RA_PTXAS", real)
            .env("NVPTX_RA_LOG", folder.join("log"))
            .output()
            .expect("it starts")
    };
    for (signal, number, how) in [("SEGV", 11, "crashed"), ("ABRT", 6, "crashed"), ("KILL", 9, "was ended")] {
        let ended = run(&format!("kill -{signal} $$"));
        assert_eq!(ended.status.signal(), Some(number), "{signal}");
        assert_eq!(said(&ended), "", "{signal}");
        let log = fs::read_to_string(folder.join("log")).expect("a log");
        assert_eq!(log, format!("a.ptx for sm_90: nothing is searched: ptxas {how} (signal {number})\n"));
        fs::remove_file(folder.join("log")).expect("it is there");
    }
    let failed = run("echo out; echo 'ptxas fatal   : no' >&2; exit 255");
    assert_eq!(failed.status.code(), Some(255));
    assert_eq!(failed.stdout, b"out\n");
    assert_eq!(failed.stderr, b"ptxas fatal   : no\n");
    let log = fs::read_to_string(folder.join("log")).expect("a log");
    assert_eq!(log, "a.ptx for sm_90: nothing is searched: ptxas ends with exit status: 255\n");
}

/// Every signal that ends the wrapper also ends ptxas.
#[test]
fn ptxas_ends_with_us() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    fs::write(folder.join("a.ptx"), "text").expect("there is space");
    let real = script(folder, "real", "echo $$ > started; exec sleep 60");
    for signal in ["TERM", "INT", "HUP"] {
        let mut command = command(TOOL, &[]);
        let command = command.args(["ptxas", "-arch=sm_90", "a.ptx"]).current_dir(folder).env("NVPTX_RA_PTXAS", &real);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let limit = Instant::now() + Duration::from_secs(30);
        let wait_for = |done: &dyn Fn() -> bool| {
            while !done() {
                assert!(Instant::now() < limit, "it takes too long");
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        let started = || fs::read_to_string(folder.join("started")).unwrap_or_default();
        wait_for(&|| started().ends_with('\n'));
        let sleeper = PathBuf::from("/proc").join(started().trim());
        assert!(sleeper.exists());
        let kill = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status();
        assert!(kill.expect("a shell").success());
        let status = child.wait().expect("it ends");
        assert_eq!((status.code(), status.signal()), (Some(130), None), "{signal}");
        wait_for(&|| !sleeper.exists());
        let mut messages = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut messages).expect("text");
        assert_eq!(messages, "", "{signal}");
        fs::remove_file(folder.join("started")).expect("it is there");
    }
}
