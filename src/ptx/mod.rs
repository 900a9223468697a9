//! PTX as text: read, shown to passes as functions, and changed by their edits.
//!
//! A text is cut into tokens and statements, which are spans of it ([`File`]); parts of statements are read when they are
//! asked for ([`Parts`]). Statements that no edit names keep every byte.

mod body;
mod edit;
mod file;
mod lines;
mod link;
mod module;
mod no_unroll;
mod numbered;
mod other_name;
mod parts;
mod register_requests;
mod slice;
mod statement;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod unread;
mod view;

pub use body::Body;
pub use edit::Patch;
pub use file::File;
pub use link::Linker;
pub use module::Module;
pub use numbered::Numbered;
pub use other_name::{OtherName, other_names};
pub use parts::{
    CallPrototype, Declaration, Declarator, FunctionHead, Guard, Instruction, Loc, LocClause, Name, Number, Operand,
    Parts, Section, Specifier, Values,
};
pub use statement::{Statement, StatementKind, Statements};
pub use text::Text;
pub use token::{Token, TokenKind};
pub use unread::Unread;
pub use view::View;
