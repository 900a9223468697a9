//! The options of the last request of each thread: a module's functions mostly share theirs, and passes ask twice.

use std::cell::RefCell;

use crate::config::{Config, Layers};
use crate::error::Error;

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

thread_local! {
    static LAST: RefCell<Option<Resolved>> = const { RefCell::new(None) };
}

/// As [`Config::resolve`].
pub(super) fn resolve(layers: &Layers<'_>) -> Result<Config, Error> {
    LAST.with_borrow_mut(|last| {
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
    })
}

/// As [`Config::resolve_valid`]: where nothing is wrong, the same.
pub(super) fn resolve_valid(layers: &Layers<'_>) -> Config {
    resolve(layers).unwrap_or_else(|_| Config::resolve_valid(layers))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options are those of the layers that are asked for, whatever was asked before, and what is wrong is not kept.
    #[test]
    fn the_last_layers_count() {
        let of = |command_line, attribute| Layers { parameters: "", command_line, attribute };
        for _ in 0..2 {
            assert!(resolve(&of("verify", "")).is_ok_and(|config| config.verify));
            assert!(resolve(&of("", "")).is_ok_and(|config| !config.verify));
            assert!(resolve(&of("", "verify")).is_ok_and(|config| config.verify));
            assert!(resolve(&of("verify;nonsense", "")).is_err());
            assert!(resolve_valid(&of("verify;nonsense", "")).verify);
        }
    }
}
