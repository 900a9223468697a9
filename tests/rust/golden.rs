//! Compares texts with the files in `tests/golden`, so that a change shows as one readable difference.

use std::fs;
use std::path::Path;

/// Compares a text with the file of this name. With `UPDATE_EXPECT` in the environment, writes the file first.
pub(crate) fn expect(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, text).expect("the golden file can be written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == text, "{name} is not what users read now: UPDATE_EXPECT=1 cargo test, and read the difference");
}
