//! Ctrl-C and its like: noted, so that long work ends in order and leaves nothing behind.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use nvptx_ra::error::Error;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What a shell reports of a program that Ctrl-C ended: 128 and the number of SIGINT.
const EXIT_CODE: u8 = 130;

/// From now on an interruption, or a request to terminate, ends nothing by itself: whoever works asks
/// [`is_interrupted`] every now and then.
pub(crate) fn watch() -> Result<(), Error> {
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed)).map_err(|error| {
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
