//! The progress line of the ptxas wrapper.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::search::{Build, spills};
use crate::cuda;
use crate::tune_progress::written_to_terminal;

/// Makes the first run on a variant sleep, so that the build takes unusually long.
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

/// Returns the output of a build that takes longer than ten seconds, without ptxas's times.
fn written(terminal: &str, log: &str) -> Option<String> {
    let build = slow_build()?;
    let (text, output) = written_to_terminal(command(&build, terminal, log));
    assert!(output.status.success() && build.path("slow").exists(), "{text:?}");
    Some(without_times(&text))
}

fn without_times(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.contains("Compile time")).collect()
}

/// On a terminal, a line shows the progress of a slow build. The line is erased before ptxas's messages, which are
/// unchanged. No line appears if standard error is not a terminal, if the terminal cannot move its cursor, or if the
/// log goes to the terminal.
#[test]
fn a_line_on_a_terminal() {
    let Some(build) = slow_build() else { return };
    std::thread::scope(|scope| {
        let [shown, dumb, logged] = [("xterm", ""), ("dumb", ""), ("xterm", "info")]
            .map(|(terminal, log)| scope.spawn(move || written(terminal, log).expect("ptxas is there")));
        let piped = command(&build, "xterm", "").output().expect("it starts").stderr;
        assert!(build.path("slow").exists());
        let expected = without_times(&String::from_utf8_lossy(&piped)).replace('\n', "\r\n");
        assert!(expected.starts_with("ptxas info") && !expected.contains("NVPTX_RA_RUNS"), "{expected:?}");
        let shown = shown.join().expect("it ended");
        assert!(shown.contains(" s, k.ptx: 0 of 1 kernels searched; NVPTX_RA_RUNS=0"), "{shown:?}");
        let line = shown.strip_suffix(&expected).expect("the messages are the same");
        assert!(line.ends_with("\u{1b}[2K"), "the line is erased: {shown:?}");
        assert_eq!(dumb.join().expect("it ended"), expected);
        let logged = logged.join().expect("it ended");
        assert!(!logged.contains("NVPTX_RA_RUNS=0") && !logged.contains('\u{1b}'), "{logged:?}");
    });
}
