//! Data that is kept from one function of a compilation to the next. The shim has one session in each compilation, and
//! passes it in every request.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::NonNull;

use super::guard::entry;
use super::views::Collected;
use crate::config::{Config, Layers};
use crate::error::Error;

/// The memory of one compilation, for one thread at a time.
#[derive(Default)]
pub(super) struct Session {
    /// The options of the last request. Most functions of a module have the same options, and each pass reads them
    /// twice.
    last: RefCell<Option<Resolved>>,
    /// The collection to which functions are added instead of being coalesced.
    collected: Option<NonNull<Collected>>,
}

/// Valid options, with the texts from which they were read.
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
    /// Like [`Config::resolve`].
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

    /// Like [`Config::resolve_valid`]; the same as [`Self::resolve`] if all options are valid.
    pub(super) fn resolve_valid(&self, layers: &Layers<'_>) -> Config {
        self.resolve(layers).unwrap_or_else(|_| Config::resolve_valid(layers))
    }

    /// Returns the collection for functions that reach the coalescer. `None` if they are coalesced.
    pub(super) fn collected(&self) -> Option<NonNull<Collected>> {
        self.collected
    }
}

/// # Safety
/// `collected` must be null, or a [`Collected`] that outlives the session and that no other code uses meanwhile.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_session_new(collected: *mut c_void) -> *mut Session {
    entry(
        |_| std::ptr::null_mut(),
        || Box::into_raw(Box::new(Session { collected: NonNull::new(collected.cast()), ..Session::default() })),
    )
}

/// # Safety
/// `session` must be null, or the result of [`nvptx_ra_session_new`], and must not be used again.
// SAFETY: the header declares this exact name.
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

    /// The result depends only on the requested layers, not on earlier requests, and wrong options are not kept.
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
