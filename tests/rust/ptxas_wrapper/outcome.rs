//! Runs a program in its own folder and records all observable results.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The tool under test.
pub(crate) const TOOL: &str = env!("CARGO_BIN_EXE_nvptx-ra");

/// All observable results of a program that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The exit code, or the signal that ended the program.
    pub status: String,
    pub output: String,
    pub messages: String,
    /// The files of the folder.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Outcome {
    /// # Panics
    /// If the outcome differs from `expected`. The message shows the differences.
    pub(crate) fn assert_is(&self, expected: &Self, what: &str) {
        let shown = |outcome: &Self| format!("{}\n{}\n{}", outcome.status, outcome.output, outcome.messages);
        assert_eq!(shown(self), shown(expected), "{what}");
        let names = |outcome: &Self| outcome.files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(self), names(expected), "{what}");
        let different: Vec<_> = self.files.iter().filter(|(name, bytes)| expected.files[*name] != **bytes).collect();
        let texts = different.iter().map(|(name, bytes)| (name.display(), String::from_utf8_lossy(bytes)));
        assert!(
            different.is_empty(),
            "{what}: {:?}",
            texts.map(|(name, text)| format!("{name}: {text}")).collect::<Vec<_>>()
        );
    }
}

/// Runs a program in a new folder with the given files. Times and the names of temporary files are removed from the
/// output.
pub(crate) fn outcome(
    mut command: Command,
    arguments: &[impl AsRef<OsStr>],
    files: &[(&str, String)],
    input: &str,
) -> Outcome {
    let folder = tempfile::tempdir().expect("there is space");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("there is space");
    }
    fs::create_dir(folder.path().join("folder")).expect("there is space");
    let command = command.args(arguments).current_dir(folder.path());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    // A program may end without reading its input.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let done = child.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| without_chance(&String::from_utf8_lossy(bytes));
    Outcome {
        status: done.status.to_string(),
        output: text(&done.stdout),
        messages: text(&done.stderr),
        files: contents(folder.path()),
    }
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .filter(|path| path.is_file())
        .map(|path| {
            (path.strip_prefix(folder).expect("in it").to_owned(), without_names(fs::read(&path).expect("a file")))
        })
        .collect()
}

/// Removes text that differs between runs from messages: times, and the names that ptxas gives to input from a pipe.
fn without_chance(text: &str) -> String {
    let line = |line: &str| match line.split_once("Compile time = ") {
        Some((start, _)) => format!("{start}Compile time\n"),
        None => line.to_owned(),
    };
    let text: String = text.split_inclusive('\n').map(line).collect();
    String::from_utf8(without_names(text.into_bytes())).expect("digits for digits")
}

/// Start of the name that ptxas gives to input from a pipe. Eight digits of ptxas's process follow. Debug information
/// also contains the name.
const TEMPORARY: &[u8] = b"tmpxft_";

fn without_names(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = TEMPORARY.len();
    for at in 0..bytes.len().saturating_sub(length + 8) {
        if bytes[at..].starts_with(TEMPORARY) {
            bytes[at + length..at + length + 8].fill(b'0');
        }
    }
    bytes
}
