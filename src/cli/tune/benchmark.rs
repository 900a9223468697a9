//! The user's own benchmark.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::tune::timing::Timing;

use super::process::{self, Limit};
use crate::ninja::quoted;
use crate::ptxas::Folder;

/// The placeholders for the file with the machine code and for the kernel's name.
const CUBIN: &str = "{cubin}";
const KERNEL: &str = "{kernel}";

/// A command that measures a kernel's machine code. It never runs twice at the same time.
pub(super) struct Benchmark {
    command: String,
    repetitions: u32,
    /// The time limit of a run.
    limit: Duration,
    folder: Folder,
    /// The lock that a run holds.
    turn: Mutex<()>,
}

impl Benchmark {
    /// Creates a benchmark from a shell command, in which `{cubin}` and `{kernel}` stand for the measured code.
    pub(super) fn new(command: &str, repetitions: u32, limit: Duration) -> Result<Self, Error> {
        if !command.contains(CUBIN) {
            let problem = format!("--run='{command}': the placeholder {CUBIN} is missing");
            return Err(Error::new(ErrorKind::Option, problem, "write './bench {cubin} {kernel}', for example"));
        }
        let folder = Folder::new("run")?;
        Ok(Self { command: command.to_owned(), repetitions, limit, folder, turn: Mutex::new(()) })
    }

    /// Measures a kernel. An error states why there is no number.
    pub(super) fn measure(&self, cubin: &Path, kernel: &str) -> Result<Timing, String> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let runs: Result<Vec<f64>, String> = (0..self.repetitions.max(1)).map(|_| self.once(cubin, kernel)).collect();
        runs.map(Timing::new).map_err(|problem| format!("--run: {problem}"))
    }

    fn once(&self, cubin: &Path, kernel: &str) -> Result<f64, String> {
        let (output, errors) = (self.folder.path("output"), self.folder.path("errors"));
        let filled = self.command.replace(CUBIN, &quoted(&cubin.to_string_lossy())).replace(KERNEL, &quoted(kernel));
        let mut shell = Command::new("sh");
        shell.args(["-c", &filled]);
        let end = process::run(shell, &output, &errors, Limit::Elapsed(self.limit));
        let status = end.map_err(|problem| format!("the benchmark {problem}"))?.status;
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        if !status.success() {
            let errors = text(&errors);
            return Err(format!(
                "the benchmark fails: {}",
                last_line(&errors).unwrap_or("no message on standard error")
            ));
        }
        let output = text(&output);
        let line = last_line(&output).ok_or("the benchmark prints nothing on standard output")?;
        last_number(line).ok_or_else(|| format!("no number in the last line, '{line}'"))
    }
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

/// Returns the last number in a line, with or without a unit directly after it.
fn last_number(line: &str) -> Option<f64> {
    let words = line.split(|c: char| c.is_whitespace() || "=:,;()[]".contains(c)).rev();
    let number = |word: &str| {
        let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
        digits.parse::<f64>().ok().filter(|number| number.is_finite())
    };
    words.filter(|word| !word.is_empty()).find_map(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last number of a line counts, whatever the text around it.
    #[test]
    fn numbers() {
        let cases = [("12.5", 12.5), ("a: 3 b: 4 ms", 4.0), ("took 1e-3", 0.001), ("t=-7,", -7.0), ("2 of 3.5us", 3.5)];
        for (line, number) in cases {
            assert_eq!(last_number(line), Some(number), "{line}");
        }
        for line in ["", "none", "nan", "inf", "1.2.3"] {
            assert_eq!(last_number(line), None, "{line}");
        }
    }

    /// The last number of the command's output is the result. The command receives the file's path and the kernel's
    /// name unchanged, whatever characters they contain.
    #[test]
    fn commands() {
        let measure = |command: &str, kernel: &str| {
            let benchmark = Benchmark::new(command, 3, Duration::from_secs(20)).expect("it names the file");
            benchmark.measure("a 'file'".as_ref(), kernel)
        };
        let length = measure("printf %s {cubin}{kernel} | wc -c", "$HOME;'").map(|timing| timing.median);
        assert_eq!(length, Ok("a 'file'$HOME;'".len() as f64));
        assert_eq!(measure(": {cubin}; echo no >&2; exit 3", "k"), Err("--run: the benchmark fails: no".into()));
        assert_eq!(measure(": {cubin}; echo fast", "k"), Err("--run: no number in the last line, 'fast'".into()));
        assert_eq!(measure(": {cubin}", "k"), Err("--run: the benchmark prints nothing on standard output".into()));
        assert!(Benchmark::new("./bench", 3, Duration::ZERO).is_err());
    }
}
