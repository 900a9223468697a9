//! Functions that tests contain as text.

use crate::function::Function;

/// Parses a function in text form without its end: `head` has its opcodes and registers, `blocks` the rest. It must be
/// valid.
pub(crate) fn view(head: &str, blocks: &str) -> Function {
    let function = Function::parse(&format!("{head}{blocks}\nend\n")).expect("the test's text is a view");
    function.validate().expect("the test's function is valid");
    function
}
