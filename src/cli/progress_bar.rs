//! A progress bar at the foot of the terminal during long work. Messages are printed above it.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// The bar that is currently shown.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A bar, which is erased from the terminal on drop.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// Expected end of the work.
    end: Arc<Mutex<Option<Instant>>>,
}

impl Bar {
    /// Makes a bar; `None` if the terminal cannot show one.
    pub(crate) fn new() -> Option<Self> {
        let end = Arc::new(Mutex::new(None));
        let read = Arc::clone(&end);
        let left = move |_: &ProgressState, write: &mut dyn std::fmt::Write| {
            // If writing fails, the text is omitted.
            let _ = write.write_str(&left(*lock(&read), Instant::now()));
        };
        let style = ProgressStyle::with_template("{bar:24} {left}{wide_msg}").ok()?;
        Self::shown(style.progress_chars("━━╌").with_key("left", left), end)
    }

    /// Makes a line without a bar: the seconds since a time, then a text. `None` if the terminal cannot show the line.
    pub(crate) fn of_words(since: Instant) -> Option<Self> {
        let seconds = move |_: &ProgressState, write: &mut dyn std::fmt::Write| {
            let _ = write!(write, "{}", since.elapsed().as_secs());
        };
        let style = ProgressStyle::with_template("nvptx-ra: {seconds} s, {wide_msg}").ok()?;
        Self::shown(style.with_key("seconds", seconds), Arc::default())
    }

    fn shown(style: ProgressStyle, end: Arc<Mutex<Option<Instant>>>) -> Option<Self> {
        if !has_place() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(4));
        bar.set_style(style);
        *lock(&SHOWN) = Some(bar.clone());
        // The time left is updated even without other changes.
        bar.enable_steady_tick(Duration::from_secs(1));
        Some(Self { bar, end })
    }

    /// Shows the progress, a text, and the time left.
    pub(crate) fn set(&self, done: u64, of: u64, text: String, end: Option<Instant>) {
        *lock(&self.end) = end;
        self.bar.update(|state| {
            state.set_len(of);
            state.set_pos(done);
        });
        self.bar.set_message(text);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        *lock(&SHOWN) = None;
        self.bar.finish_and_clear();
    }
}

/// Returns whether a bar can be shown: standard error is a terminal with a movable cursor, and does not also show the
/// log.
pub(crate) fn has_place() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    !is_dumb && std::io::stderr().is_terminal() && log::max_level() == log::LevelFilter::Off
}

/// Writes to the terminal while the bar is hidden.
pub(crate) fn without<R>(write: impl FnOnce() -> R) -> R {
    let bar = lock(&SHOWN).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Formats the time left in its two largest units; empty if it is unknown or over.
fn left(end: Option<Instant>, now: Instant) -> String {
    let seconds = end.map_or(0, |end| end.saturating_duration_since(now).as_secs());
    match seconds {
        0 => String::new(),
        1..60 => format!("{seconds} s left, "),
        60..3600 => format!("{} min {} s left, ", seconds / 60, seconds % 60),
        _ => format!("{} h {} min left, ", seconds / 3600, seconds / 60 % 60),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left() {
        let now = Instant::now();
        let text = |seconds| left(Some(now + Duration::from_secs(seconds)), now);
        assert_eq!([0, 59, 75, 7265].map(text), ["", "59 s left, ", "1 min 15 s left, ", "2 h 1 min left, "]);
        assert_eq!(left(None, now), "");
        assert_eq!(left(Some(now), now + Duration::from_secs(5)), "");
    }
}
