//! The C ABI: the only `unsafe` of the library.
//!
//! A function comes in as a raw view, is checked and turned into a [`Function`](crate::function::Function) ([`view`]);
//! a pass runs under a guard that turns panics into errors ([`guard`], [`run`]); its edits go out as flat arrays
//! ([`edits`], [`response`]). What the shim made of them can be compared with what they mean ([`verify`]). LLVM's
//! loaders come in by [`plugin`]; the command-line tool goes out to LLVM by [`codegen`], [`branch`], [`profile`] and
//! [`mir`], and takes functions as they are by [`views`].

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
