//! What is kept from one function of a compilation to the next. The shim has a session in each compilation, and names it
//! in every request.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::NonNull;

use super::guard::entry;
use super::views::Collected;
use crate::config::{Config, Layers};
use crate::error::Error;

/// One compilation's memory, for one thread at a time.
#[derive(Default)]
pub(super) struct Session {
    /// The options of the last request: a module's functions mostly share theirs, and passes ask twice.
    last: RefCell<Option<Resolved>>,
    /// Where functions go instead of being coalesced.
    collected: Option<NonNull<Collected>>,
}

/// Options that are right, with what they were read from.
struct Resolved {
    parameters: String,
    command_line: String,
    attribute: String,
    config: Config,
}

impl Resolved {
    fn is_of(&self, layers: &Layers<'_>) -> bool {
        (self.parameters.as_str(), self.command_line.as_str(), self.attribute.as_str())
            == (layers.parameters, layers.command_line, layers.attribute)
    }
}

impl Session {
    /// As [`Config::resolve`].
    pub(super) fn resolve(&self, layers: &Layers<'_>) -> Result<Config, Error> {
        let mut last = self.last.borrow_mut();
        if let Some(last) = last.as_ref().filter(|last| last.is_of(layers)) {
            return Ok(last.config.clone());
        }
        let config = Config::resolve(layers)?;
        *last = Some(Resolved {
            parameters: layers.parameters.to_owned(),
            command_line: layers.command_line.to_owned(),
            attribute: layers.attribute.to_owned(),
            config: config.clone(),
        });
        Ok(config)
    }

    /// As [`Config::resolve_valid`]: where nothing is wrong, the same.
    pub(super) fn resolve_valid(&self, layers: &Layers<'_>) -> Config {
        self.resolve(layers).unwrap_or_else(|_| Config::resolve_valid(layers))
    }

    /// Where functions go that reach the coalescer; `None`: it coalesces them.
    pub(super) fn collected(&self) -> Option<NonNull<Collected>> {
        self.collected
    }
}

/// # Safety
/// `collected` is null, or a [`Collected`] that outlives the session and that nobody else uses meanwhile.
// SAFETY: the header declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_session_new(collected: *mut c_void) -> *mut Session {
    entry(
        |_| std::ptr::null_mut(),
        || Box::into_raw(Box::new(Session { collected: NonNull::new(collected.cast()), ..Session::default() })),
    )
}

/// # Safety
/// `session` is null, or what [`nvptx_ra_session_new`] returned, and is not used again.
// SAFETY: the header declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_session_free(session: *mut Session) {
    entry(
        |_| (),
        || {
            if !session.is_null() {
                // SAFETY: as the caller promises.
                drop(unsafe { Box::from_raw(session) });
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options are those of the layers that are asked for, whatever was asked before, and what is wrong is not kept.
    #[test]
    fn the_last_layers_count() {
        let session = Session::default();
        let of = |command_line, attribute| Layers { parameters: "", command_line, attribute };
        for _ in 0..2 {
            assert!(session.resolve(&of("verify", "")).is_ok_and(|config| config.verify));
            assert!(session.resolve(&of("", "")).is_ok_and(|config| !config.verify));
            assert!(session.resolve(&of("", "verify")).is_ok_and(|config| config.verify));
            assert!(session.resolve(&of("verify;nonsense", "")).is_err());
            assert!(session.resolve_valid(&of("verify;nonsense", "")).verify);
        }
    }
}
