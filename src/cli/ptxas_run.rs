//! Runs of ptxas, and how they end: successfully, with a refusal, or with a crash.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use nvptx_ra::ptx::OtherName;

use crate::machine::own_names;
use crate::ptxas::{refusal, tool};

/// Signals of a program's own faults: ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS.
const FAULTS: [i32; 7] = [4, 5, 6, 7, 8, 11, 31];

/// If a signal ended a program, the shell's exit code is this number plus the signal's number.
const OF_SHELL: i32 = 128;

/// Describes the signal that ended a program: `ptxas crashed (signal 11)`. `None` if the program exited. If a script
/// started the program, the script's exit code contains the signal.
pub(crate) fn crash(program: &str, status: ExitStatus) -> Option<String> {
    let of_shell = status.code().and_then(|code| code.checked_sub(OF_SHELL)).filter(|signal| FAULTS.contains(signal));
    let signal = status.signal().or(of_shell)?;
    let how = if FAULTS.contains(&signal) { "crashed" } else { "was ended" };
    Some(format!("{program} {how} (signal {signal})"))
}

/// Reason why ptxas fails on PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A signal ended ptxas, with this description.
    Crashed(String),
    /// ptxas refuses the PTX, with this reason.
    Refused(String),
}

impl Failure {
    /// Returns why a run with this output failed; `None` if it succeeded.
    pub(crate) fn of(status: ExitStatus, words: &str) -> Option<Self> {
        if status.success() {
            return None;
        }
        let refused = || match words.trim() {
            "" => format!("{} ({status})", refusal(words)),
            _ => refusal(words).to_owned(),
        };
        Some(crash("ptxas", status).map_or_else(|| Self::Refused(refused()), Self::Crashed))
    }

    /// Formats the failure as a sentence without its full stop. `what` is the PTX that was assembled.
    pub(crate) fn about(&self, what: &str) -> String {
        match self {
            Self::Crashed(crash) => crash.clone(),
            Self::Refused(reason) => format!("ptxas refuses {what}: {reason}"),
        }
    }
}

/// ptxas's result for PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assembled {
    pub(crate) cubin: Vec<u8>,
    /// Its output, with the PTX file's real name.
    pub(crate) messages: String,
}

impl Assembled {
    /// Restores the kernels' own names.
    ///
    /// # Errors
    /// A name is at a place where it cannot be restored.
    pub(crate) fn with_own_names(self, others: &[OtherName]) -> Result<Self, String> {
        if others.is_empty() {
            return Ok(self);
        }
        let cubin = own_names::put_back(&self.cubin, others)?;
        Ok(Self { cubin, messages: own_names::in_messages(self.messages, others) })
    }
}

/// A completed run of ptxas.
pub(crate) struct Run {
    pub(crate) status: ExitStatus,
    /// Its messages.
    pub(crate) words: String,
}

impl Run {
    /// Runs a ptxas command.
    pub(crate) fn of(command: &mut Command) -> io::Result<Self> {
        let output = command.stdin(Stdio::null()).output()?;
        let words = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        Ok(Self { status: output.status, words })
    }

    /// Assembles a file as `nvcc` does. The output has ptxas's figures. `is_part` is true if the output is linked
    /// later.
    pub(crate) fn assemble(ptx: &Path, cpu: &str, output: &Path, is_part: bool, has_lines: bool) -> io::Result<Self> {
        let mut command = Command::new(tool("ptxas"));
        let head = ["-v", "-O3", "-arch", cpu, "-o"].map(OsStr::new);
        command.args(head).arg(output).args(has_lines.then_some("-lineinfo")).args(is_part.then_some("-c")).arg(ptx);
        Self::of(&mut command)
    }

    /// Returns why it failed; `None` if it succeeded.
    pub(crate) fn failure(&self) -> Option<Failure> {
        Failure::of(self.status, &self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A signal is a crash, from ptxas or through a script. An exit code is a refusal, with its reason or the code.
    #[test]
    fn ends() {
        let of = |script: &str| {
            let run = Run::of(Command::new("sh").args(["-c", script])).expect("there is a shell");
            run.failure().map(|failure| failure.about("its PTX"))
        };
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(of("exit 0"), None);
        assert_eq!(of("echo 'ptxas fatal   : no'; exit 1"), said("ptxas refuses its PTX: ptxas fatal   : no"));
        assert_eq!(of("exit 255"), said("ptxas refuses its PTX: it failed without a message (exit status: 255)"));
        assert_eq!(of("kill -SEGV $$"), said("ptxas crashed (signal 11)"));
        assert_eq!(of("echo 'ptxas info    : 0 bytes gmem'; kill -ABRT $$"), said("ptxas crashed (signal 6)"));
        assert_eq!(of("sh -c 'kill -SEGV $$'; exit $?"), said("ptxas crashed (signal 11)"));
        assert_eq!(of("kill -TERM $$"), said("ptxas was ended (signal 15)"));
    }
}
