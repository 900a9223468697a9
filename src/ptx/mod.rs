//! PTX: a reader, views of functions for passes, and a writer of their edits.
//!
//! A file is divided into tokens and statements, which are spans of it ([`File`]). The parts of a statement are read on
//! demand ([`Parts`]). Statements that no edit concerns keep every byte.

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
