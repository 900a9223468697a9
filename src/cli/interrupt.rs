//! Ctrl-C and other requests to end. They are counted, so that long work ends in order and leaves no files behind.

use std::process::{Child, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use nvptx_ra::error::Error;

use crate::ptxas::Folder;

/// Number of the user's interruptions.
static INTERRUPTIONS: AtomicU32 = AtomicU32::new(0);

/// Number of interruptions without effect.
static TOLERATED: AtomicU32 = AtomicU32::new(0);

/// The line printed at the first interruption.
static ANSWER: Mutex<Option<&'static str>> = Mutex::new(None);

/// The line that is printed if the program ends before its work has ended in order.
static LAST_WORDS: Mutex<Option<&'static str>> = Mutex::new(None);

/// How long the work may take to end in order. LLVM does not check for interruptions, and a read of standard input does
/// not either.
const PATIENCE: Duration = Duration::from_secs(3);

/// The child process that this process waits for and ends.
static CHILD: Mutex<Option<Pid>> = Mutex::new(None);

/// A shell's exit code for a program that Ctrl-C ended: 128 plus SIGINT's number.
const EXIT_CODE: u8 = 130;

/// Installs a handler for interruptions and requests to terminate. The handler counts them, prints the lines that are
/// set, and ends the child process of [`end_with_us`]. Long work must check [`is_interrupted`] regularly.
pub(crate) fn watch() -> Result<(), Error> {
    let note = || {
        let before = INTERRUPTIONS.fetch_add(1, Ordering::Relaxed);
        if let Some(child) = *child() {
            let _ = kill(child, Signal::SIGTERM);
        }
        let [answer, last_words] =
            [&ANSWER, &LAST_WORDS].map(|line| *line.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(answer) = answer.filter(|_| before == 0) {
            say!("{answer}");
        } else if let Some(last_words) = last_words {
            std::thread::spawn(move || end_behind(PATIENCE, last_words));
        }
    };
    ctrlc::set_handler(note)
        .map_err(|error| Error::pass(format!("interruptions cannot be handled: {error}"), "check the system's limits"))
}

/// Makes an interruption end the program with this line, if the work has not ended in order within [`PATIENCE`]. An
/// interruption that [`answer_first`] answers does not end the program.
pub(crate) fn end_anyway(last_words: &'static str) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(last_words);
}

/// Ends the program after `patience`, unless the interruption has been tolerated meanwhile.
fn end_behind(patience: Duration, last_words: &str) {
    std::thread::sleep(patience);
    if is_interrupted() {
        say!("{last_words}");
        Folder::remove_all();
        end_at_once();
    }
}

/// Ends the program without destructors, because other threads may still be in LLVM.
fn end_at_once() -> ! {
    #[cfg(feature = "llvm")]
    nvptx_ra::ffi::codegen::end_at_once(EXIT_CODE);
    #[cfg(not(feature = "llvm"))]
    std::process::exit(EXIT_CODE.into())
}

/// Returns whether the work should stop.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTIONS.load(Ordering::Relaxed) > TOLERATED.load(Ordering::Relaxed)
}

/// Returns whether the user has interrupted at all, tolerated or not.
pub(crate) fn was_interrupted() -> bool {
    INTERRUPTIONS.load(Ordering::Relaxed) > 0
}

/// Sets the line that answers the first interruption.
pub(crate) fn answer_first(line: &'static str) {
    *ANSWER.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
}

/// Ignores one interruption, past or future, because the work is about to end. A second interruption is effective.
pub(crate) fn tolerate_first() {
    TOLERATED.store(1, Ordering::Relaxed);
}

/// Returns the exit code after an interruption.
pub(crate) fn exit_code() -> ExitCode {
    EXIT_CODE.into()
}

fn child() -> MutexGuard<'static, Option<Pid>> {
    CHILD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes an interruption also end a child process. There may be only one child at a time, until [`wait`] has returned.
pub(crate) fn end_with_us(program: &Child) {
    let id = i32::try_from(program.id()).ok().map(Pid::from_raw);
    *child() = id;
    if let Some(id) = id.filter(|_| is_interrupted()) {
        let _ = kill(id, Signal::SIGTERM);
    }
}

/// Waits for the end of the child process of [`end_with_us`].
pub(crate) fn wait(program: &mut Child) -> std::io::Result<ExitStatus> {
    let id = *child();
    if let Some(id) = id {
        // The child keeps its process id until its status is collected, so no other process is ended.
        while waitid(Id::Pid(id), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) == Err(nix::Error::EINTR) {}
    }
    *child() = None;
    program.wait()
}
