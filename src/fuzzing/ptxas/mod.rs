//! Random programs of PTX whose every result PTX says: what ptxas makes of them must leave the same.
//!
//! A program is a file of kernels. Each thread writes to places of its own, reads only what was written or what nobody
//! writes, and ends; no operation has operands for which PTX leaves its result open; and products and sums say how they
//! are rounded, so that none may be fused. So a difference between the program and its machine code is a fault.
//!
//! * [`drawn`]: the source of choices; [`class`](mod@class): what registers hold;
//! * [`body`]: text, and the values that may be read where it ends;
//! * [`tables`], [`instructions`]: what only computes; [`ranges`]: values of which a compiler knows a range;
//! * [`loops`], [`branches`], [`memory`], [`warps`]: everything else;
//! * [`statements`]: which of these follow each other; [`kernel`]: kernels and functions as a whole.

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

/// A file of random kernels.
#[derive(Clone, Debug)]
pub struct Program {
    /// The text.
    pub text: String,
    /// The names of its kernels.
    pub kernels: Vec<String>,
}

/// What programs are made of.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    /// How many kernels a file has.
    pub kernels: usize,
    /// Also what releases of ptxas are known to translate wrong.
    pub known_faults: bool,
}

/// The program of a seed: the same seed gives the same text.
pub fn program(seed: u64, contents: &Contents) -> Program {
    let text: Vec<String> = (0..contents.kernels).map(|number| kernel_of(seed, number, contents)).collect();
    let kernels = (0..contents.kernels).map(name_of).collect();
    Program { text: kernel::head(Drawn::new(seed)) + &text.join("\n"), kernels }
}

/// A kernel of a program as a file of its own.
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
