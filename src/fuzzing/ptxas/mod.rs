//! Random PTX programs with completely defined results. The machine code from ptxas must leave the same results.
//!
//! A program is a PTX module of kernels. Each thread writes to separate places, reads only data that it wrote or that
//! no thread writes, and ends. No operation has operands for which PTX leaves its result open. Products and sums have
//! explicit rounding, so they may not be fused. Therefore a difference between the program and its machine code is a
//! fault.
//!
//! * [`drawn`]: pseudo-random choices; [`class`](mod@class): contents of registers;
//! * [`body`]: PTX statements, and the values that are readable at their end;
//! * [`tables`], [`instructions`]: pure instructions; [`ranges`]: values with a range that a compiler knows;
//! * [`loops`], [`branches`], [`memory`], [`warps`]: all other statements;
//! * [`statements`]: the sequence of statements; [`kernel`]: whole kernels and functions.

mod body;
mod branches;
mod class;
mod drawn;
mod instructions;
mod kernel;
mod loops;
mod memory;
mod ranges;
mod statements;
mod tables;
#[cfg(test)]
mod tests;
mod warps;

use drawn::Drawn;

/// Threads of a block of each kernel.
pub const THREADS: u32 = kernel::THREADS;

/// A PTX module of random kernels.
#[derive(Clone, Debug)]
pub struct Program {
    /// The PTX module.
    pub text: String,
    /// The names of its kernels.
    pub kernels: Vec<String>,
}

/// Contents of programs.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    /// The number of kernels in a PTX module.
    pub kernels: usize,
    /// Whether code is included that releases of ptxas are known to translate wrongly.
    pub known_faults: bool,
}

/// Returns the program of a seed. The same seed gives the same PTX module.
pub fn program(seed: u64, contents: &Contents) -> Program {
    let text: Vec<String> = (0..contents.kernels).map(|number| kernel_of(seed, number, contents)).collect();
    let kernels = (0..contents.kernels).map(name_of).collect();
    Program { text: kernel::head(Drawn::new(seed)) + &text.join("\n"), kernels }
}

/// Returns a kernel of a program as a separate PTX module.
pub fn alone(seed: u64, number: usize, contents: &Contents) -> String {
    kernel::head(Drawn::new(seed)) + &kernel_of(seed, number, contents)
}

fn name_of(number: usize) -> String {
    format!("k{number}")
}

fn kernel_of(seed: u64, number: usize, contents: &Contents) -> String {
    let drawn = Drawn::new(seed ^ (number as u64 + 1) << 48);
    kernel::kernel(drawn, &name_of(number), contents.known_faults)
}
