//! The output of a running `nvptx-ra tune`, and the effect of Ctrl-C on it.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::judge::{KERNELS, folder, program};

/// Stands in for ptxas. It sends a signal to the tool in the runs that `INTERRUPT` lists, and runs the judge otherwise.
const INTERRUPTING: &str = r#"#!/bin/sh
case $1 in --version|--help) exec "${0%ptxas}judge" "$@" ;; esac
echo run >> "${0%ptxas}runs"
number=$(wc -l < "${0%ptxas}runs")
for at in $INTERRUPT; do
    if [ "$number" = "$at" ]; then kill -INT $PPID; exec sleep 60; fi
done
exec "${0%ptxas}judge" "$@"
"#;

const WRITES_NOTHING: &str =
    "nvptx-ra: interrupted; nothing is written. With --cache FOLDER, a later search continues from here\n";
const KEEPS: &str = "nvptx-ra: interrupted; the best results so far are written. A second Ctrl-C writes nothing\n";
const CUT: &str = "nvptx-ra: the search was interrupted; these are the best results so far\n";

/// Makes a folder with the stand-in that sends signals.
fn interrupting() -> tempfile::TempDir {
    let folder = folder(KERNELS, true);
    let at = |name: &str| folder.path().join(name);
    fs::rename(at("ptxas"), at("judge")).expect("it is there");
    fs::create_dir(at("tmp")).expect("there is space");
    program(folder.path(), "ptxas", INTERRUPTING);
    folder
}

/// Returns the command of a search in a folder. PATH begins with the folder.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
    command.args(["tune", "k.ptx", "--jobs", "1", "-o", "out.ptx"]).args(arguments);
    command.current_dir(folder).env("PATH", path).env_remove("NVPTX_RA_LOG").stdin(Stdio::null());
    command
}

/// Runs a search that is interrupted in the given ptxas runs.
fn interrupted(folder: &Path, runs: &str, arguments: &[&str]) -> Output {
    let _ = fs::remove_file(folder.join("runs"));
    let mut command = command(folder, arguments);
    let output = command.env("INTERRUPT", runs).env("TMPDIR", folder.join("tmp")).output().expect("the tool starts");
    let left: Vec<PathBuf> =
        fs::read_dir(folder.join("tmp")).expect("it is there").map(|entry| entry.expect("an entry").path()).collect();
    assert!(left.is_empty(), "{left:?}");
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect(name)
}

/// An interrupted search writes the best result so far with its profile, reports the interruption, and ends with 130.
/// Two runs judge stock, the others variants of `moves` or `fixed`.
#[test]
fn what_was_found_is_kept() {
    let folder = interrupting();
    let folder = folder.path();
    let keep = ["--runs", "40", "--profile", "k.toml", "--json"];
    let output = interrupted(folder, "6", &keep);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains(KEEPS) && said.ends_with(CUT) && !said.contains("could not be judged"), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["cut"], true, "{json:#}");
    let kernels = json["kernels"].as_array().expect("kernels");
    let tried = |kernel: &serde_json::Value| kernel["tried"].as_array().expect("a list").clone();
    // A variant whose run was interrupted does not count as refused by ptxas.
    assert!(kernels.iter().flat_map(tried).all(|variant| variant["figures"].is_object()), "{json:#}");
    let bytes = |kernel: &serde_json::Value, of: &str| kernel[of]["spill_load_bytes"].as_u64().expect("bytes");
    assert!(kernels.iter().any(|kernel| bytes(kernel, "tuned") < bytes(kernel, "stock")), "{json:#}");
    assert!(read(folder, "k.toml").contains("# the search was interrupted"));

    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut replay = Command::new(env!("CARGO_BIN_EXE_nvptx-ra"));
    replay.args(["ptx", "k.ptx", "--profile", "k.toml", "-o", "replayed.ptx"]).current_dir(folder).env("PATH", path);
    assert!(replay.status().expect("the tool starts").success());
    assert_eq!(read(folder, "replayed.ptx"), read(folder, "out.ptx"));
    assert_ne!(read(folder, "out.ptx"), KERNELS);

    // A complete search reports no interruption.
    let whole = interrupted(folder, "", &keep);
    let json: serde_json::Value = serde_json::from_slice(&whole.stdout).expect("JSON");
    assert_eq!((whole.status.code(), &json["cut"]), (Some(0), &false.into()), "{}", stderr(&whole));
    assert!(!stderr(&whole).contains("cut") && !read(folder, "k.toml").contains("cut"));
}

/// A second interruption while the results are combined writes nothing. A first interruption before any result also
/// writes nothing.
#[test]
fn nothing_is_kept() {
    for (runs, says) in [("6 7", &[KEEPS, WRITES_NOTHING][..]), ("2", &[WRITES_NOTHING])] {
        let folder = interrupting();
        let folder = folder.path();
        let output = interrupted(folder, runs, &["--runs", "40", "--profile", "k.toml"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(130), "{runs}: {said}");
        assert!(!folder.join("out.ptx").exists() && !folder.join("k.toml").exists(), "{runs}: {said}");
        let lines = said.lines().filter(|line| line.contains("interrupted")).map(|line| format!("{line}\n"));
        assert_eq!(lines.collect::<Vec<_>>(), says, "{said}");
    }
}

/// A search that runs out of time writes the best result so far, reports this, and succeeds. `--keep-partial` is an
/// error that names the alternative.
#[test]
fn time_is_over() {
    let folder = interrupting();
    let folder = folder.path();
    let output = interrupted(folder, "", &["--runs", "40", "--seconds", "0", "--profile", "k.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let said = stderr(&output);
    assert_eq!((output.status.code(), &json["cut"]), (Some(0), &true.into()), "{said}");
    assert!(
        said.ends_with("nvptx-ra: the search reached its time limit; these are the best results so far\n"),
        "{said}"
    );
    assert!(read(folder, "k.toml").contains("# the search reached its time limit") && folder.join("out.ptx").exists());
    let output = interrupted(folder, "", &["--keep-partial"]);
    let expected =
        "--keep-partial has been removed: an interrupted search always writes the best results so far; omit the option";
    assert!(!output.status.success() && stderr(&output).contains(expected), "{}", stderr(&output));
}

/// Returns the output of a search on a terminal, and on a standard output that is not a terminal.
fn on_terminal(folder: &Path, terminal: &str, interrupt: &str, arguments: &[&str]) -> (String, Output) {
    let mut command = command(folder, arguments);
    command.env("TERM", terminal).env("INTERRUPT", interrupt);
    written_to_terminal(command)
}

/// Runs a program with a terminal as its standard error. Returns the output on the terminal, and on a standard output
/// that is not a terminal.
pub(crate) fn written_to_terminal(mut command: Command) -> (String, Output) {
    let pair = nix::pty::openpty(None, None).expect("a terminal");
    command.stderr(Stdio::from(pair.slave)).stdout(Stdio::piped());
    let child = command.spawn().expect("the tool starts");
    // Closes the last other copy of the tool's end, so that reading stops when the tool ends.
    drop(command);
    let mut text = Vec::new();
    let mut controller = fs::File::from(pair.master);
    let mut part = [0; 4096];
    // On Linux, reading fails after the tool has closed the terminal.
    while let Ok(length @ 1..) = controller.read(&mut part) {
        text.extend_from_slice(&part[..length]);
    }
    (String::from_utf8_lossy(&text).into_owned(), child.wait_with_output().expect("it ended"))
}

/// On a terminal, a bar shows the progress. Messages do not break the bar, and it is erased at the end. JSON output is
/// unchanged.
#[test]
fn a_bar_on_a_terminal() {
    let folder = interrupting();
    let arguments = ["--runs", "40", "--json"];
    let (text, output) = on_terminal(folder.path(), "xterm", "6", &arguments);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok(), "{:?}", output.stdout);
    assert!(text.contains('━') && text.contains(" of 2 kernels, ") && text.contains(" bytes spilled"), "{text:?}");
    assert!(text.contains(KEEPS.trim_end()), "a message while the bar stands: {text:?}");
    // Each message begins after a cleared line or another message.
    for (start, _) in text.match_indices("nvptx-ra: ") {
        let before = &text[..start];
        assert!(before.is_empty() || before.ends_with('\n') || before.ends_with("\u{1b}[2K"), "{before:?}");
    }
    let last = text.rfind(['━', '╌']).expect("the bar");
    assert!(text[last..].contains("\u{1b}[2K") && text.ends_with(&CUT.replace('\n', "\r\n")), "{text:?}");
}

/// Without a terminal, or on a terminal that cannot move its cursor, there is no bar.
#[test]
fn lines_elsewhere() {
    let folder = folder(KERNELS, true);
    let (text, _) = on_terminal(folder.path(), "dumb", "", &["--runs", "6"]);
    let output = command(folder.path(), &["--runs", "6"]).output().expect("the tool starts");
    for text in [text, stderr(&output)] {
        assert!(!text.contains(['\u{1b}', '━', '╌']), "{text:?}");
        assert!(text.contains(" variants, 48 → ") && text.trim_end().ends_with(" s"), "{text:?}");
    }
}
