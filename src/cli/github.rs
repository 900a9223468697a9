//! GitHub's annotations: lines of a command's output that GitHub shows beside the code.

use nvptx_ra::lint::Place;

/// Formats a line for <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.
pub(crate) fn annotation(level: &str, place: &Place, title: &str, text: &str) -> String {
    let line = if place.line == 0 { String::new() } else { format!(",line={}", place.line) };
    let (file, title) = (property(&relative(&place.file)), property(&format!("nvptx-ra: {title}")));
    format!("::{level} file={file}{line},title={title}::{}\n", data(text))
}

/// Returns a path relative to the current folder if it is below this folder, because continuous integration uses such
/// paths.
pub(crate) fn relative(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let below = std::path::Path::new(path).strip_prefix(&here).ok();
    below.map_or_else(|| path.to_owned(), |below| below.to_string_lossy().into_owned())
}

/// Escapes the text of an annotation.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of an annotation's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
