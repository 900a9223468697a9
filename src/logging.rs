//! Logging of the plugin, the tool and the ptxas wrapper. The level `debug` logs a line for the result of each pass on
//! a function, `trace` a line for each of its decisions, and `info` a line for the outcome of each kernel in the ptxas
//! wrapper.
//!
//! The plugin, the tool, the wrapper and the Python package read the same grammar. tests/golden/log.txt lists values
//! and their meanings:
//!
//! ```text
//! value = PATH | part { "," part }
//! part  = LEVEL | MODULE | MODULE "=" LEVEL
//! ```
//!
//! A value with a slash is a path: the outcomes of kernels are appended to that file, and passes log nothing. All other
//! lines go to standard error. A level is one of log's levels, in upper or lower case. A module is a Rust module of
//! this project, such as `nvptx_ra::passes`. A module without a level logs all of its lines. If several parts name a
//! line's module or its parents, the part with the longest name applies.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Once;

use log::LevelFilter;

use crate::printable::printable;

/// The environment variable that selects what is logged: `debug`, `nvptx_ra::passes=trace` …
pub const VARIABLE: &str = "NVPTX_RA_LOG";

/// The allowed values of the variable, for messages.
pub const ALLOWED: &str = "off, error, warn, info, debug or trace, for a part alone as in nvptx_ra::passes=trace, several with commas, \
                           or to the path of a file with a slash in it";

/// The module of the lines that report the outcomes of kernels in the ptxas wrapper.
const DECISIONS: &str = "nvptx_ra::ptxas";

/// What is logged, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Outcomes of kernels, appended to a file.
    File(PathBuf),
    /// Lines of modules up to a level each, on standard error. The empty name stands for all modules.
    Levels(Vec<(String, LevelFilter)>),
}

impl Wanted {
    /// No logging.
    pub const NOTHING: Self = Self::Levels(Vec::new());

    /// Parses a value. `None` if the value is malformed.
    pub fn read(value: &OsStr) -> Option<Self> {
        if value.as_encoded_bytes().contains(&b'/') {
            return Some(Self::File(value.into()));
        }
        let parts = value.to_str()?.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(part).collect::<Option<_>>().map(Self::Levels)
    }

    /// Reads the environment variable. A malformed value logs nothing.
    pub fn of_environment() -> Self {
        std::env::var_os(VARIABLE).and_then(|value| Self::read(&value)).unwrap_or(Self::NOTHING)
    }

    /// Whether the outcomes of kernels go to standard error.
    pub fn shows_decisions(&self) -> bool {
        let Self::Levels(levels) = self else { return false };
        let named = levels.iter().filter(|(module, _)| is_in(DECISIONS, module));
        // If several parts have names of this length, the last part applies.
        named.max_by_key(|(module, _)| module.len()).is_some_and(|(_, level)| *level >= LevelFilter::Info)
    }
}

fn is_in(module: &str, other: &str) -> bool {
    module.strip_prefix(other).is_some_and(|rest| rest.is_empty() || other.is_empty() || rest.starts_with("::"))
}

fn part(text: &str) -> Option<(String, LevelFilter)> {
    if let Ok(level) = text.parse() {
        return Some((String::new(), level));
    }
    let (module, level) =
        text.split_once('=').map_or((text, None), |(module, level)| (module.trim(), Some(level.trim())));
    let is_name =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
    let mut names = module.split("::");
    let is_ours = names.next() == Some("nvptx_ra") && names.all(is_name);
    let level = level.map_or(Ok(LevelFilter::Trace), str::parse).ok()?;
    is_ours.then(|| (module.to_owned(), level))
}

/// Starts to log what [`VARIABLE`] selects to standard error. An unset variable logs nothing, and a malformed value
/// prints one line. Later calls have no effect. The first call has no effect if the program already has a logger.
pub fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let Some(value) = std::env::var_os(VARIABLE) else { return };
        let Some(wanted) = Wanted::read(&value) else {
            let line = format!(
                "nvptx-ra: {VARIABLE} is '{}', and nothing is logged; set it to {ALLOWED}",
                value.to_string_lossy()
            );
            let _ = writeln!(std::io::stderr(), "{}", printable(&line));
            return;
        };
        let Wanted::Levels(levels) = wanted else { return };
        let mut builder = env_logger::Builder::new();
        builder.filter_level(LevelFilter::Off);
        for (module, level) in levels {
            builder.filter(Some(module.as_str()).filter(|module| !module.is_empty()), level);
        }
        // `try_init` fails if the program that loaded the plugin already has a logger. That logger's settings then
        // apply.
        let _ = builder.format_timestamp(None).try_init();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each value has the meaning that tests/golden/log.txt states. Tests of the Python package read the same list.
    #[test]
    fn values() {
        let list = include_str!("../tests/golden/log.txt").lines().filter(|line| !line.starts_with('#'));
        let mut count = 0;
        for line in list {
            let (value, expected) = line.rsplit_once(" -> ").expect(line);
            let meaning = match Wanted::read(value.as_ref()) {
                None => "refused",
                Some(Wanted::File(path)) if path.as_os_str() == value => "file",
                Some(Wanted::File(_)) => "another file",
                Some(wanted) if wanted.shows_decisions() => "shown",
                Some(_) => "not shown",
            };
            assert_eq!(meaning, expected, "{value}");
            count += 1;
        }
        assert!(count > 20);
    }
}
