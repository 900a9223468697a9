//! A cubin: the file of machine code that ptxas writes.
//!
//! * [`attributes`]: what sections of attributes say of kernels;
//! * [`banks`]: where a processor keeps what a launch gives to a kernel;
//! * [`image`]: code, constants, variables and what they name each other by.

pub mod attributes;
pub(crate) mod banks;
pub mod image;

pub use image::Cubin;
