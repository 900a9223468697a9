//! Ctrl-C and its like: noted, so that long work ends in order and leaves nothing behind.

use std::process::{Child, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use nvptx_ra::error::Error;

use crate::ptxas::Folder;

/// How often the user has interrupted.
static INTERRUPTIONS: AtomicU32 = AtomicU32::new(0);

/// How many interruptions end nothing.
static TOLERATED: AtomicU32 = AtomicU32::new(0);

/// What is said at the first interruption.
static ANSWER: Mutex<Option<&'static str>> = Mutex::new(None);

/// What is said where an interruption ends the program at once.
static LAST_WORDS: Mutex<Option<&'static str>> = Mutex::new(None);

/// How long the work may take to end in order. LLVM asks nobody whether to go on, nor does a read of standard input.
const PATIENCE: Duration = Duration::from_secs(3);

/// The program that is waited for and ends with this one.
static CHILD: Mutex<Option<Pid>> = Mutex::new(None);

/// What a shell reports of a program that Ctrl-C ended: 128 and the number of SIGINT.
const EXIT_CODE: u8 = 130;

/// From now on an interruption, or a request to terminate, ends nothing by itself: whoever works asks
/// [`is_interrupted`] every now and then. It does end the program of [`end_with_us`].
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
    ctrlc::set_handler(note).map_err(|error| {
        Error::pass(format!("interruptions cannot be watched for: {error}"), "see the system's limits")
    })
}

/// From now on, an interruption ends the program with this line where the work has not ended in order within moments; not one
/// that was answered.
pub(crate) fn end_anyway(last_words: &'static str) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(last_words);
}

/// Ends the program after that time, if it is still there and nothing has tolerated the interruption.
fn end_behind(patience: Duration, last_words: &str) {
    std::thread::sleep(patience);
    if is_interrupted() {
        say!("{last_words}");
        Folder::remove_all();
        end_at_once();
    }
}

/// Ends the program while other threads may be in LLVM, whose parts an orderly end takes down.
fn end_at_once() -> ! {
    #[cfg(feature = "llvm")]
    nvptx_ra::ffi::codegen::end_at_once(EXIT_CODE);
    #[cfg(not(feature = "llvm"))]
    std::process::exit(EXIT_CODE.into())
}

/// Whether the user wants no more of this.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTIONS.load(Ordering::Relaxed) > TOLERATED.load(Ordering::Relaxed)
}

/// Whether the user has interrupted at all, tolerated or not.
pub(crate) fn was_interrupted() -> bool {
    INTERRUPTIONS.load(Ordering::Relaxed) > 0
}

/// From now on, the first interruption is answered by a line.
pub(crate) fn answer_first(line: &'static str) {
    *ANSWER.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
}

/// From now on, one interruption ends nothing, be it past or still to come: the work is coming to its end. A second one
/// does.
pub(crate) fn tolerate_first() {
    TOLERATED.store(1, Ordering::Relaxed);
}

/// How the program ends that was interrupted.
pub(crate) fn exit_code() -> ExitCode {
    EXIT_CODE.into()
}

fn child() -> MutexGuard<'static, Option<Pid>> {
    CHILD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on an interruption ends a program, too. One program at a time, until [`wait`] has come back.
pub(crate) fn end_with_us(program: &Child) {
    let id = i32::try_from(program.id()).ok().map(Pid::from_raw);
    *child() = id;
    if let Some(id) = id.filter(|_| is_interrupted()) {
        let _ = kill(id, Signal::SIGTERM);
    }
}

/// Waits for the end of a program that is ended with this one.
pub(crate) fn wait(program: &mut Child) -> std::io::Result<ExitStatus> {
    let id = *child();
    if let Some(id) = id {
        // Its number is its own until somebody asks for its status, so that no other program is ended.
        while waitid(Id::Pid(id), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) == Err(nix::Error::EINTR) {}
    }
    *child() = None;
    program.wait()
}
