//! The panic guard: panics neither leave the library nor print messages.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use crate::error::Error;

thread_local! {
    /// The number of nested guards on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The message and the location of the last panic under a guard of this thread.
    static LAST: RefCell<Option<(String, Option<String>)>> = const { RefCell::new(None) };
    /// The backtrace of that panic.
    static LAST_BACKTRACE: RefCell<Option<Backtrace>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Runs `body`, and converts a panic in it to an error with the panic's message and location.
///
/// After an error, the data that `body` modifies must not be used, because it may be partly changed.
pub(super) fn guard<T>(body: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        // Other threads, and code outside a guard, use the previous hook.
        panic::set_hook(Box::new(move |info| if DEPTH.get() == 0 { previous(info) } else { record(info) }));
    });
    DEPTH.set(DEPTH.get() + 1);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    DEPTH.set(DEPTH.get() - 1);
    result.unwrap_or_else(|_| {
        let (message, location) = LAST.take().unwrap_or_else(|| ("a panic without a message".into(), None));
        Err(Error::internal(message, location.as_deref()))
    })
}

/// Runs `body`, the whole body of a function that C++ calls, under a guard. If `body` panics, returns the result of
/// `fallback`. The function must contain no other code: a panic outside the guard would end the process.
pub(super) fn entry<T>(fallback: impl FnOnce(Error) -> T, body: impl FnOnce() -> T) -> T {
    guard(|| {
        #[cfg(test)]
        injection::fire();
        Ok(body())
    })
    .unwrap_or_else(fallback)
}

/// Injects a panic into the next entry on this thread.
#[cfg(test)]
pub(super) mod injection {
    use std::cell::Cell;

    thread_local! {
        static ARMED: Cell<bool> = const { Cell::new(false) };
    }

    pub(in crate::ffi) fn arm() {
        ARMED.set(true);
    }

    /// Whether no entry was reached since [`arm`].
    pub(in crate::ffi) fn is_armed() -> bool {
        ARMED.get()
    }

    pub(super) fn fire() {
        assert!(!ARMED.replace(false), "a panic was asked for at an entry");
    }
}

/// Takes the backtrace of the last panic under a guard of this thread, as text. Empty if there was no panic, or if its
/// backtrace was taken before. Resolving the symbols takes milliseconds, so it is done only on request.
pub(super) fn take_backtrace() -> String {
    LAST_BACKTRACE.take().map(|backtrace| backtrace.to_string()).unwrap_or_default()
}

fn record(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| payload.downcast_ref::<String>().cloned());
    let message = message.unwrap_or_else(|| "a panic without a message".into());
    let location = info.location().map(|location| format!("{}:{}", location.file(), location.line()));
    LAST.set(Some((message, location)));
    LAST_BACKTRACE.set(Some(Backtrace::force_capture()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A panic becomes an error with its message and location, and the next run is not affected.
    #[test]
    fn panic_becomes_an_error() {
        let error = guard(|| -> Result<(), Error> { panic!("value {}", 7) }).expect_err("it panics");
        let text = error.to_string();
        assert!(text.contains("internal error at src/ffi/guard.rs:"), "{text}");
        assert!(text.contains(": value 7;"), "{text}");
        assert_eq!(guard(|| Ok(3)), Ok(3));
    }

    /// The backtrace of a panic can be taken once.
    #[test]
    fn backtrace_is_taken_once() {
        let _ = guard(|| -> Result<(), Error> { panic!("boom") });
        assert!(take_backtrace().contains("backtrace_is_taken_once"));
        assert_eq!(take_backtrace(), "");
    }

    /// A nested guard catches only its own panic.
    #[test]
    fn guards_nest() {
        let result = guard(|| {
            guard(|| -> Result<(), Error> { panic!("inner") }).expect_err("it panics");
            Ok(1)
        });
        assert_eq!(result, Ok(1));
    }
}
