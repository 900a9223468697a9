//! Limits how many child processes run at once, across all processes of a build. A build of 64 files has 64 wrapper
//! processes. Without a limit, each would start as many children as there are processors.
//!
//! A child runs with a token. Tokens belong to the make that runs the build ([jobserver]), or else are files of this
//! user on this machine ([slots]). No process that holds a token waits for another process's child, so there is no
//! deadlock.

mod jobserver;
pub(crate) mod memory;
mod slots;
#[cfg(test)]
mod tests;

use std::env;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use nvptx_ra::error::Error;

use jobserver::Jobserver;
use slots::Slots;

use crate::private_folder;

/// The longest pause between two attempts to get a token.
const LONGEST_PAUSE: Duration = Duration::from_millis(32);

/// The source of the tokens with which children run.
pub(crate) struct Limit {
    shared: Shared,
    /// Whether the token that need not be acquired is in use. The parent process has taken this token for this process.
    own: Option<AtomicBool>,
    /// Locked by the thread of this process that tries to get a token.
    looks: Mutex<()>,
    /// How many children of this process may run at once, regardless of free tokens.
    most: usize,
    running: AtomicUsize,
}

enum Shared {
    Make(Jobserver),
    Machine(Slots),
    Nothing,
}

impl Limit {
    /// Returns the limit of the make that runs this build, else the limit of this machine. If neither is available,
    /// returns a limit of one child at a time, with an error for the log.
    pub(crate) fn of_environment() -> (Self, Option<Error>) {
        if let Some(limit) = env::var_os("MAKEFLAGS").and_then(|flags| Self::of_make(flags.to_str()?)) {
            return (limit, None);
        }
        let count = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        match Self::of_machine(&folder_of_machine(), count) {
            Ok(limit) => (limit, None),
            Err(error) => (Self::new(Shared::Nothing, true), Some(error)),
        }
    }

    /// Returns the limit by make's tokens, from the content of MAKEFLAGS; `None` if MAKEFLAGS has no pipe, or if the
    /// pipe is not accessible.
    pub(crate) fn of_make(flags: &str) -> Option<Self> {
        // Make has taken a token for this process.
        Some(Self::new(Shared::Make(Jobserver::open(flags)?), true))
    }

    /// Returns a limit of `count` tokens for all processes that use the same folder.
    ///
    /// # Errors
    /// The folder, or a file in it, cannot be created, or other users have access to the folder.
    pub(crate) fn of_machine(folder: &Path, count: NonZeroUsize) -> Result<Self, Error> {
        let folder = private_folder::open(folder)?;
        let slots = Slots::open(&folder, count).map_err(|error| Error::file(&folder, &error))?;
        // No token has been taken for this process.
        Ok(Self::new(Shared::Machine(slots), false))
    }

    fn new(shared: Shared, has_own: bool) -> Self {
        Self {
            shared,
            own: has_own.then(AtomicBool::default),
            looks: Mutex::new(()),
            most: usize::MAX,
            running: AtomicUsize::new(0),
        }
    }

    /// Returns the same limit with at most `most` children of this process at once.
    pub(crate) fn at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Waits for a token; `None` once `is_over` returns true.
    pub(crate) fn acquire(&self, is_over: &dyn Fn() -> bool) -> Option<Token<'_>> {
        let mut pause = Duration::from_millis(1);
        loop {
            if let Ok(_turn) = self.looks.try_lock()
                && let Some(held) = self.look()
            {
                return Some(Token { limit: self, held: Some(held) });
            }
            if is_over() {
                return None;
            }
            sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Takes a token if one is free.
    fn look(&self) -> Option<HeldToken> {
        // Only the thread that holds `looks` increments the count.
        if self.running.load(Ordering::Acquire) >= self.most {
            return None;
        }
        let held = self.look_at_tokens();
        self.running.fetch_add(usize::from(held.is_some()), Ordering::AcqRel);
        held
    }

    fn look_at_tokens(&self) -> Option<HeldToken> {
        if self.own.as_ref().is_some_and(|taken| !taken.swap(true, Ordering::Acquire)) {
            return Some(HeldToken::Own);
        }
        match &self.shared {
            Shared::Make(jobserver) => jobserver.take().map(HeldToken::OfMake),
            Shared::Machine(slots) => slots.take().map(HeldToken::Slot),
            Shared::Nothing => None,
        }
    }
}

/// The right to run a child. The token is released when this value is dropped or when the process ends. With make's
/// tokens, the token is lost if the process is killed, because of make's protocol.
pub(crate) struct Token<'a> {
    limit: &'a Limit,
    held: Option<HeldToken>,
}

enum HeldToken {
    Own,
    OfMake(u8),
    Slot(usize),
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        self.limit.running.fetch_sub(usize::from(self.held.is_some()), Ordering::AcqRel);
        match (self.held.take(), &self.limit.shared) {
            (Some(HeldToken::Own), _) => {
                if let Some(own) = &self.limit.own {
                    own.store(false, Ordering::Release);
                }
            }
            (Some(HeldToken::OfMake(byte)), Shared::Make(jobserver)) => jobserver.give_back(byte),
            (Some(HeldToken::Slot(slot)), Shared::Machine(slots)) => slots.give_back(slot),
            _ => {}
        }
    }
}

/// Returns the folder of this user's tokens on this machine. The folder is never on a file system that several machines
/// share.
fn folder_of_machine() -> PathBuf {
    let of_session = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    match of_session.filter(|folder| folder.is_dir()) {
        Some(folder) => folder.join("nvptx-ra"),
        None => env::temp_dir().join(format!("nvptx-ra-{}", nix::unistd::geteuid().as_raw())),
    }
}
