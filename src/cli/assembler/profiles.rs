//! A folder of profiles, one for each text: what one machine has searched, others make again without a search.

use std::fs;
use std::path::{Path, PathBuf};

use nvptx_ra::error::Error;

use super::entry::digest;

/// Digits of a text's digest in a file's name.
const DIGITS: usize = 16;

/// Where the profile of a text is. A text whose object is linked later has another one: less may be chosen there.
pub(super) fn path(folder: &Path, text: &[u8], is_relocatable: bool) -> PathBuf {
    let end = if is_relocatable { "-c" } else { "" };
    folder.join(format!("{}{end}.toml", &digest(text)[..DIGITS]))
}

/// The profile, where there is one.
pub(super) fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Writes a profile, completely or not at all.
pub(super) fn write(path: &Path, profile: &str) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
    }
    crate::output::write(path, profile.as_bytes())
}
