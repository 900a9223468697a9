//! Quotes paths and words for Ninja and the shell that it starts.

use std::path::Path;

use nvptx_ra::error::{Error, ErrorKind};

/// Quotes a word for the shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Quotes a path as a word of a command.
pub(crate) fn word(path: &Path) -> Result<String, Error> {
    Ok(in_value(&quoted(checked(path)?)))
}

/// Escapes text as the value of a Ninja variable.
pub(crate) fn in_value(text: &str) -> String {
    text.replace('$', "$$")
}

/// Escapes a path in a list of Ninja's paths.
pub(crate) fn in_path(path: &Path) -> Result<String, Error> {
    let path = checked(path)?.chars();
    Ok(path.flat_map(|c| matches!(c, '$' | ' ' | ':').then_some('$').into_iter().chain([c])).collect())
}

/// Checks that Ninja can express a path.
fn checked(path: &Path) -> Result<&str, Error> {
    path.to_str().filter(|path| !path.contains(['\n', '\r', '|'])).ok_or_else(|| {
        let problem = format!("{}: Ninja has no way to write this path", path.display());
        Error::new(ErrorKind::File, problem, "use one that is UTF-8, without | and line breaks")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path that Ninja cannot express is an error.
    #[test]
    fn paths_with_line_breaks() {
        for path in ["a\nb", "a|b"] {
            assert!(in_path(Path::new(path)).is_err() && word(Path::new(path)).is_err());
        }
        assert_eq!(in_path(Path::new("a b:$")).expect("a path"), "a$ b$:$$");
    }
}
