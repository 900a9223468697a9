//! Tokens of a machine: a folder with as many files as children may run. A token is the lock of one file. The system
//! releases a lock when its process ends, for any reason.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The files of a folder.
pub(super) struct Slots(Vec<Slot>);

struct Slot {
    file: File,
    /// Whether this process holds the lock. The system would grant the same process the lock a second time.
    is_ours: AtomicBool,
}

impl Slots {
    pub(super) fn open(folder: &Path, count: NonZeroUsize) -> io::Result<Self> {
        let slot = |number: usize| {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let file = options.open(folder.join(format!("slot-{number}")))?;
            Ok(Slot { file, is_ours: AtomicBool::new(false) })
        };
        (0..count.get()).map(slot).collect::<io::Result<_>>().map(Self)
    }

    /// Takes a token if one is free.
    pub(super) fn take(&self) -> Option<usize> {
        // Processes start at different files, so that they seldom compete.
        let first = std::process::id() as usize % self.0.len();
        (first..self.0.len()).chain(0..first).find(|&slot| self.0[slot].take())
    }

    pub(super) fn give_back(&self, slot: usize) {
        let Slot { file, is_ours } = &self.0[slot];
        // If unlocking fails, this process keeps the slot until it ends.
        if file.unlock().is_ok() {
            is_ours.store(false, Ordering::Release);
        }
    }
}

impl Slot {
    fn take(&self) -> bool {
        if self.is_ours.swap(true, Ordering::Acquire) {
            return false;
        }
        let is_locked = self.file.try_lock().is_ok();
        if !is_locked {
            self.is_ours.store(false, Ordering::Release);
        }
        is_locked
    }
}
