//! The line of progress in ptxas's place.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::search::{Build, spills};
use crate::cuda;
use crate::tune_progress::written_to_terminal;

/// Stands where the first run on a variant is, so that a build takes longer than people expect.
const SLOW: &str = "for last; do :; done\n\
    if [ \"$last\" != k.ptx ] && [ -f \"$last\" ] && mkdir slow 2> /dev/null; then sleep 12; fi\nexec ";

fn slow_build() -> Option<Build> {
    let bin = cuda::programs(&["ptxas"])?;
    let build = Build::new(&bin, &spills(21));
    let script = fs::read_to_string(&build.ptxas).expect("it is ours");
    fs::write(&build.ptxas, script.replace("exec ", SLOW)).expect("it is ours");
    fs::set_permissions(&build.ptxas, fs::Permissions::from_mode(0o755)).expect("it is ours");
    Some(build)
}

fn command(build: &Build, terminal: &str, log: &str) -> Command {
    let mut command = build.command(&[("NVPTX_RA_RUNS", "1"), ("NVPTX_RA_CACHE", "off"), ("TERM", terminal)]);
    if !log.is_empty() {
        command.env("NVPTX_RA_LOG", log);
    }
    command
}

/// What a build writes that takes longer than ten seconds.
fn written(build: &Build, terminal: &str, log: &str) -> String {
    let _ = fs::remove_dir(build.path("slow"));
    let (text, output) = written_to_terminal(command(build, terminal, log));
    assert!(output.status.success() && build.path("slow").exists(), "{text:?}");
    text
}

/// On a terminal, a line says what takes so long. It is gone when ptxas's messages come, which stand as they do without it.
/// There is none in a quick build, on a terminal that cannot move its cursor, and beside a log.
#[test]
fn a_line_on_a_terminal() {
    let Some(build) = slow_build() else { return };
    let text = written(&build, "xterm", "");
    let words = " s, k.ptx: 0 of 1 kernels searched; NVPTX_RA_RUNS=0";
    assert!(text.contains(words), "{text:?}");
    let (line, messages) = text.split_at(text.find("ptxas info").expect("messages"));
    assert!(line.ends_with("\u{1b}[2K"), "the line is erased: {text:?}");
    assert!(!messages.contains('\u{1b}') && !messages.contains("NVPTX_RA_RUNS"), "{text:?}");
    let (quick, _) = written_to_terminal(command(&build, "xterm", ""));
    assert_eq!(quick, messages, "the same without the line");
    assert_eq!(written(&build, "dumb", ""), quick);
    let logged = written(&build, "xterm", "info");
    assert!(!logged.contains("NVPTX_RA_RUNS=0") && !logged.contains('\u{1b}'), "{logged:?}");
}
