//! A cubin: the machine code file that ptxas writes.
//!
//! * [`attributes`]: the attribute sections of kernels;
//! * [`banks`]: the launch values in constant bank 0, by processor;
//! * [`image`]: code, constants, variables, symbols and relocations.

pub mod attributes;
pub(crate) mod banks;
pub mod image;

pub use image::Cubin;
