//! What there is to allocate: functions, from LLVM or from text, or a problem.

use std::io::BufRead;
use std::path::Path;

use nvptx_ra::allocate::Problem;
use nvptx_ra::error::Error;
use nvptx_ra::function::Function;

use super::Arguments;
use crate::functions;
use crate::views::Source;

/// One thing to allocate.
pub(super) enum Given<'a> {
    /// A function that has left SSA form.
    Function(&'a Function),
    /// A problem.
    Problem(&'a Problem),
}

/// Calls `each` with what the inputs hold, in order, and with the level of optimisation where LLVM IR is compiled,
/// which is done once for each level.
pub(super) fn for_each(
    arguments: &Arguments,
    each: &mut impl FnMut(Given<'_>, Option<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    for path in &arguments.inputs {
        let source = |level| Source { path: path.clone(), cpu: arguments.cpu.clone(), mattr: String::new(), level };
        let first = source(arguments.levels.first().copied().unwrap_or(2));
        if first.is_ir() {
            for &level in &arguments.levels {
                source(level).for_each(&mut |function| each(Given::Function(&function), Some(level)))?;
            }
        } else if first.is_for_llvm() {
            first.for_each(&mut |function| each(Given::Function(&function), None))?;
        } else {
            text(path, functions::open(path)?, &mut |given| each(given, None))?;
        }
    }
    Ok(())
}

/// Functions in text form, or a problem, told apart by the first line.
fn text(
    path: &Path,
    mut reader: impl BufRead,
    each: &mut dyn FnMut(Given<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let begin = reader.fill_buf().map_err(|error| Error::file(path, &error))?;
    if !begin.starts_with(b"allocation ") {
        return functions::for_each(path, reader, &mut |function| each(Given::Function(&function)), &mut |_| {});
    }
    let mut text = String::new();
    reader.read_to_string(&mut text).map_err(|error| Error::file(path, &error))?;
    each(Given::Problem(&Problem::parse(&text)?))
}
