//! The C ABI: the only `unsafe` of the library.
//!
//! A function comes in as a raw view, is checked and turned into a [`Function`](crate::function::Function) ([`view`]);
//! a pass runs under a guard that turns panics into errors ([`guard`], [`run`]); its edits go out as flat arrays
//! ([`edits`], [`response`]). What the shim made of them can be compared with what they mean ([`verify`]).

#![allow(unsafe_code, reason = "this is where C++ calls in, and the only place that may")]

mod abi;
pub mod codegen;
mod compare;
mod edits;
mod guard;
mod logging;
mod opcodes;
mod options;
mod response;
mod run;
mod verify;
mod view;

pub use logging::start_logging;

#[cfg(test)]
mod tests;
