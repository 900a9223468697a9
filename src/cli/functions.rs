//! Functions in text form, one after another, in a stream that may hold other lines too.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use nvptx_ra::error::Error;
use nvptx_ra::function::Function;

/// A file, or standard input where the path is `-`.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    Ok(Box::new(BufReader::new(File::open(path).map_err(|error| Error::file(path, &error))?)))
}

/// Calls `each` with the functions of a text, every one of them valid, and `other` with the lines before, between and
/// behind them.
pub(crate) fn for_each(
    path: &Path,
    reader: impl BufRead,
    each: &mut dyn FnMut(Function) -> Result<(), Error>,
    other: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    let mut text = String::new();
    for line in reader.lines() {
        let line = line.map_err(|error| Error::file(path, &error))?;
        if text.is_empty() && line != "mfv 1" {
            other(&line);
            continue;
        }
        text.push_str(&line);
        text.push('\n');
        if line == "end" {
            each(read(&text)?)?;
            text.clear();
        }
    }
    // What is cut off is an error of the parser, which says where.
    if text.is_empty() { Ok(()) } else { each(read(&text)?) }
}

fn read(text: &str) -> Result<Function, Error> {
    let function = Function::parse(text)?;
    function.validate().map_err(|error| Error::from(error).in_function(function.name()))?;
    Ok(function)
}
