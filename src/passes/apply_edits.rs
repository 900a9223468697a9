//! `nvptx-apply-edits`: applies edits in text form.
//!
//! The other passes make few kinds of edit. With this pass, tests exercise every kind of edit and every refusal. The
//! edits go through the same interface to LLVM, and the same checks, as the edits of the other passes.

use std::fs;

use super::{PassOutput, RunContext};
use crate::error::Error;
use crate::function::{EditList, Function};

/// Returns the edits that the file of the option `edits` has for the function; no edits if the file does not name the
/// function.
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
