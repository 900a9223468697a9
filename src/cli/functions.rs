//! Reads functions in text form, one after another, from a stream that may contain other lines.

use std::io::BufRead;
use std::path::Path;

use nvptx_ra::error::Error;
use nvptx_ra::function::Function;

use crate::input;

/// Validates the functions of a text and calls `each` with them. Calls `other` with all other lines.
pub(crate) fn for_each(
    path: &Path,
    mut reader: impl BufRead,
    each: &mut dyn FnMut(Function) -> Result<(), Error>,
    other: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    let mut text = String::new();
    let failed = |error: std::io::Error| Error::file(input::name(path).as_ref(), &error);
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).map_err(failed)? > 0 {
        // Other lines come from arbitrary programs, and need not be UTF-8.
        let line = String::from_utf8_lossy(&bytes);
        let line = line.strip_suffix('\n').map_or(&*line, |line| line.strip_suffix('\r').unwrap_or(line));
        if !text.is_empty() || line == "mfv 1" {
            text.push_str(line);
            text.push('\n');
        } else {
            other(line);
        }
        if line == "end" && !text.is_empty() {
            each(read(&text)?)?;
            text.clear();
        }
        bytes.clear();
    }
    // If the last function is truncated, the parser reports where.
    if text.is_empty() { Ok(()) } else { each(read(&text)?) }
}

fn read(text: &str) -> Result<Function, Error> {
    let function = Function::parse(text)?;
    function.validate().map_err(|error| Error::from(error).in_function(function.name()))?;
    Ok(function)
}
