//! The C ABI, which has the only `unsafe` code of the library.
//!
//! A function arrives as a raw view, is checked and converted to a [`Function`](crate::function::Function) ([`view`]).
//! A pass runs under a guard that converts panics to errors ([`guard`], [`run`]). Its edits are returned as flat arrays
//! ([`edits`], [`response`]). The function that the shim makes of them can be compared with the expected function
//! ([`verify`]). LLVM's plugin loaders call [`plugin`]. The command-line tool calls LLVM through [`codegen`],
//! [`branch`], [`profile`] and [`mir`], and receives uncoalesced functions through [`views`].

#![expect(unsafe_code, reason = "this is where C++ calls in")]

mod abi;
mod ahead;
mod assembly;
pub mod branch;
mod choices;
pub mod codegen;
mod compare;
mod edits;
mod forecast;
mod guard;
mod inserted;
mod loops;
mod messages;
mod mir;
mod opcodes;
mod optimisations;
mod options;
mod plugin;
pub mod profile;
mod purpose;
mod response;
mod run;
mod session;
mod switch;
mod verify;
mod view;
pub mod views;
mod wrong_edits;

#[cfg(test)]
mod tests;

pub use mir::mir_main;
pub use switch::serve_tool;
