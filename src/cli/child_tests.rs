//! Child processes for tests: the test program starts itself again, and runs one test in the role of a child.

use std::ffi::OsStr;
use std::process::{Child, Command};

const PART: &str = "NVPTX_RA_TEST_PART";

/// Starts this program again; the test of this name then finds its [`part`].
pub(super) fn child(test: &str, part: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(PART, part);
    command
}

/// Returns the role of a child process; `None` in the process that the user started.
pub(super) fn part() -> Option<String> {
    std::env::var(PART).ok()
}

/// A process that is killed on drop, so that a failing test leaves no process.
pub(super) struct KillOnDrop(pub(super) Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A sequence of numbers that is the same in every run: SplitMix64.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}
