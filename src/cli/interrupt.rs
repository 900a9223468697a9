//! Ctrl-C and its like: noted, so that long work ends in order and leaves nothing behind.

use std::process::{Child, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use nvptx_ra::error::Error;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The program that is waited for and ends with this one.
static CHILD: Mutex<Option<Pid>> = Mutex::new(None);

/// What a shell reports of a program that Ctrl-C ended: 128 and the number of SIGINT.
const EXIT_CODE: u8 = 130;

/// From now on an interruption, or a request to terminate, ends nothing by itself: whoever works asks
/// [`is_interrupted`] every now and then. It does end the program of [`end_with_us`].
pub(crate) fn watch() -> Result<(), Error> {
    let note = || {
        INTERRUPTED.store(true, Ordering::Relaxed);
        if let Some(child) = *child() {
            let _ = kill(child, Signal::SIGTERM);
        }
    };
    ctrlc::set_handler(note).map_err(|error| {
        Error::pass(format!("interruptions cannot be watched for: {error}"), "see the system's limits")
    })
}

/// Whether the user wants no more of this.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
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
