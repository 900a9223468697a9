//! `nvptx-apply-edits`: applies edits that are given as text.
//!
//! The coalescer makes few kinds of edit. With this pass a test drives every kind, and every refusal, through the same
//! crossing, checks and verification as a pass that decides for itself.

use std::fs;

use super::{PassOutput, RunContext};
use crate::error::Error;
use crate::function::{EditList, Function};

/// Hands out the edits that the file of the option `edits` has for the function; none where it does not name it.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    let Some(path) = &context.config.edits else {
        return Err(Error::pass("there are no edits to apply", "name their file with edits=FILE"));
    };
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
    let edits = EditList::parse(&text, function)
        .map_err(|error| Error::pass(format!("{}: {error}", path.display()), "see docs/mfv.md"))?;
    let mut output = PassOutput::unchanged(function);
    output.edits = edits.unwrap_or(output.edits);
    Ok(output)
}
