//! Inputs of the allocators: functions, from LLVM or from text, or a problem.

use nvptx_ra::allocate::Problem;
use nvptx_ra::error::Error;
use nvptx_ra::function::Function;
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::target::Classification;

use super::Arguments;
use crate::input::{FUNCTIONS, Input};
use crate::views::Source;

/// One input of an allocator.
pub(super) enum AllocatorInput<'a> {
    /// A function that has left SSA form, and its opcodes' meaning.
    Function(&'a Function, &'a Classification),
    /// A problem.
    Problem(&'a Problem),
}

/// Calls `each` with the contents of the inputs, in order. LLVM IR is compiled once for each optimisation level, and
/// `each` also gets the level.
pub(super) fn for_each(
    arguments: &Arguments,
    each: &mut impl FnMut(AllocatorInput<'_>, Option<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let taken = [&FUNCTIONS[..], &[InputKind::Problem]].concat();
    for path in &arguments.inputs {
        let input = Input::open(path, "allocate", &taken)?;
        if input.kind == InputKind::Problem {
            let text = String::from_utf8_lossy(&input.content()?).into_owned();
            each(AllocatorInput::Problem(&Problem::parse(&text)?), None)?;
            continue;
        }
        let mut source = Source::read(input, arguments.compilation())?;
        if !source.is_ir() {
            source.for_each(&mut |function, classification| {
                each(AllocatorInput::Function(&function, &classification), None)
            })?;
            continue;
        }
        #[cfg(feature = "llvm")]
        for &level in &arguments.levels {
            source.set_level(level);
            source.for_each(&mut |function, classification| {
                each(AllocatorInput::Function(&function, &classification), Some(level))
            })?;
        }
    }
    Ok(())
}
