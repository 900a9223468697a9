//! The wrapper's progress line: the current file, its progress, and how to turn the search off. The line appears at the
//! foot of the terminal if a build takes longer than users expect of ptxas. It is erased before other output is
//! written.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::settings::Log;
use crate::progress_bar::{Bar, has_place};

/// Time before the line appears.
const PATIENCE: Duration = Duration::from_secs(10);

/// Shows the line while this value exists.
pub(super) struct ProgressLine {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    /// The number of finished kernels, and of all kernels.
    kernels: [usize; 2],
    is_over: bool,
}

impl ProgressLine {
    /// Starts the line for a file whose work began at `start`. There is no line if the log goes to the standard error.
    pub(super) fn start(file: &str, start: Instant, log: &Log) -> Self {
        let shared = Arc::<Shared>::default();
        let is_wanted = *log != Log::StandardError && has_place();
        let thread = is_wanted.then(|| {
            let (shared, file) = (Arc::clone(&shared), file.to_owned());
            std::thread::spawn(move || shared.show(&file, start))
        });
        Self { shared, thread }
    }

    /// Sets the number of finished kernels.
    pub(super) fn set(&self, done: usize, of: usize) {
        self.shared.lock().kernels = [done, of];
        self.shared.changed.notify_all();
    }
}

/// Erases the line and restores the terminal.
impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
        // The line is also erased if the thread panicked.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn show(&self, file: &str, start: Instant) {
        let mut state = self.lock();
        while !state.is_over && start.elapsed() < PATIENCE {
            let left = PATIENCE.saturating_sub(start.elapsed());
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let Some(bar) = (!state.is_over).then(|| Bar::of_words(start)).flatten() else { return };
        while !state.is_over {
            bar.set(0, 0, text(file, state.kernels), None);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Formats the part of the line after the seconds.
fn text(file: &str, [done, of]: [usize; 2]) -> String {
    let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    let file = nvptx_ra::printable::printable(&file);
    format!("{file}: {done} of {of} kernels searched; NVPTX_RA_RUNS=0 turns this off")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line contains the file's name without its folder, and no control characters.
    #[test]
    fn words() {
        let expected = "k.ptx: 3 of 8 kernels searched; NVPTX_RA_RUNS=0 turns this off";
        assert_eq!(text("/tmp/a/k.ptx", [3, 8]), expected);
        assert!(!text("\u{1b}[2J.ptx", [0, 1]).contains('\u{1b}'));
    }
}
