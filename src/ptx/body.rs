//! The functions of a file: their heads, their bodies, and the launch bounds of kernels.

use std::ops::Range;

use super::file::File;
use super::no_unroll::is_no_unroll;
use super::parts::{FunctionHead, Parts};
use super::statement::{Statement, StatementKind};
use crate::function::LaunchBounds;
use crate::index::EntityIndex;

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Body {
    /// The statement of the head.
    pub head: Statement,
    /// The parts of the head.
    pub parts: FunctionHead,
    /// The statements between its braces.
    pub statements: Range<Statement>,
}

impl Body {
    /// Returns all functions of a file with a body and a head that can be read, in order. O(statements).
    pub fn all(file: &File<'_>) -> Vec<Self> {
        let statements = file.statements();
        let mut bodies = Vec::new();
        let (mut head, mut start, mut depth) = (None, None, 0usize);
        for statement in statements.ids() {
            match statements.kind(statement) {
                StatementKind::Function if depth == 0 => head = Some(statement),
                StatementKind::Open => {
                    depth += 1;
                    if depth == 1 {
                        start = head.take().map(|head| (head, Statement(statement.0 + 1)));
                    }
                }
                StatementKind::Close => {
                    depth -= 1;
                    if depth == 0
                        && let Some((head, first)) = start.take()
                        && let Some(Parts::Function(parts)) = file.parts(head)
                        && !parts.is_prototype
                    {
                        bodies.push(Self { head, parts, statements: first..statement });
                    }
                }
                _ => {}
            }
        }
        bodies
    }

    /// Returns the name.
    pub fn name<'a>(&self, file: &File<'a>) -> &'a str {
        file.text().str(self.parts.name)
    }

    /// Returns the statements of the body.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = Statement> + ExactSizeIterator + use<> {
        (self.statements.start.index()..self.statements.end.index()).map(Statement::new)
    }

    /// Whether the head asks ptxas to unroll no loop.
    pub(super) fn stops_unrolling(&self, file: &File<'_>) -> bool {
        let pragmas = self.parts.directives.iter().filter(|known| file.text().of(known.word) == b".pragma");
        pragmas.flat_map(|pragma| &pragma.values).any(|&(_, value)| is_no_unroll(file, value))
    }

    /// Returns the launch bounds if the function is a kernel.
    pub fn launch_bounds(&self, file: &File<'_>) -> Option<LaunchBounds> {
        let text = file.text();
        if text.of(self.parts.word) != b".entry" {
            return None;
        }
        let mut bounds = LaunchBounds::default();
        for directive in &self.parts.directives {
            let name = match text.of(directive.word) {
                b".maxntid" => "nvvm.maxntid",
                b".reqntid" => "nvvm.reqntid",
                b".minnctapersm" => "nvvm.minctasm",
                b".maxnreg" => "nvvm.maxnreg",
                _ => continue,
            };
            let values: Vec<&str> = directive.values.iter().map(|&(_, value)| text.str(value)).collect();
            bounds.set_attribute(name, &values.join(","));
        }
        Some(bounds)
    }
}
