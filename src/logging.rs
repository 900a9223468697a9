//! Logging, the same in the plugin, the tool and the program in ptxas's place: a line for what each pass has done to a function at
//! the level `debug`, for each of its decisions at `trace`, and for what becomes of each kernel in ptxas's place at `info`.
//!
//! All of them, and the Python package, read one grammar; tests/golden/log.txt has values and what they mean:
//!
//! ```text
//! value = PATH | part { "," part }
//! part  = LEVEL | MODULE | MODULE "=" LEVEL
//! ```
//!
//! What has a slash is a path: what becomes of kernels goes to the end of that file, and passes log nothing. Everything else goes to
//! standard error. A level is one of log's, in any case. A module is a part of the sources, `nvptx_ra::passes`, and alone means all
//! of its lines. Of the parts that name a line's module or one above it, the most precise counts.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Once;

use log::LevelFilter;

use crate::printable::printable;

/// The environment variable that says what is logged: `debug`, `nvptx_ra::passes=trace` …
pub const VARIABLE: &str = "NVPTX_RA_LOG";

/// What the variable may say, for messages.
pub const ALLOWED: &str = "off, error, warn, info, debug or trace, for a part alone as in nvptx_ra::passes=trace, several with commas, \
                           or to the path of a file with a slash in it";

/// The module of the lines that say what becomes of kernels in ptxas's place.
const DECISIONS: &str = "nvptx_ra::ptxas";

/// What the variable asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// What becomes of kernels, at the end of a file.
    File(PathBuf),
    /// Lines of modules up to a level each, on standard error; no name stands for all modules.
    Levels(Vec<(String, LevelFilter)>),
}

impl Wanted {
    /// Nothing.
    pub const NOTHING: Self = Self::Levels(Vec::new());

    /// Reads a value; `None` where it is none.
    pub fn read(value: &OsStr) -> Option<Self> {
        if value.as_encoded_bytes().contains(&b'/') {
            return Some(Self::File(value.into()));
        }
        let parts = value.to_str()?.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(part).collect::<Option<_>>().map(Self::Levels)
    }

    /// What the environment says; nothing where it says what is no value.
    pub fn of_environment() -> Self {
        std::env::var_os(VARIABLE).and_then(|value| Self::read(&value)).unwrap_or(Self::NOTHING)
    }

    /// Whether standard error is to have what becomes of kernels.
    pub fn shows_decisions(&self) -> bool {
        let Self::Levels(levels) = self else { return false };
        let named = levels.iter().filter(|(module, _)| is_in(DECISIONS, module));
        // The last of several that are as precise.
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

/// Sends what [`VARIABLE`] asks for to standard error; nothing unless it is set, and one line where it has no value that there is.
/// Later calls do nothing, and neither does the first where the program has a logger already.
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
        // An error means that the program which loaded the plugin logs already: then its choices hold.
        let _ = builder.format_timestamp(None).try_init();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each value means what the list says, which the Python package is tested by, too.
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
