//! Experiments: small kernels, one for each PTX mnemonic with its modifiers, that run as PTX and as machine code.
//!
//! An experiment is a PTX module. Its kernels load their inputs from memory, so that drawn and extreme values occur,
//! use the operands of one instruction in different ways, and store all results. They have no races and read no
//! undefined values. A [row](rows) has a pattern for each family of mnemonics. Instructions that need more than
//! registers are in rows of whole kernels.

mod atomics;
mod bulk;
mod control;
mod conversions;
mod floats;
mod groups;
mod integers;
mod matrices;
mod memory;
mod operands;
mod pattern;
mod pure;
mod rows;
mod warps;
mod wholes;

/// A PTX module of small kernels.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The name of the file, without its extension.
    pub name: String,
    /// The PTX module.
    pub text: String,
    /// The first processor with these instructions: 80 for sm_80.
    pub processor: u32,
    /// Whether no newer processor has these instructions: the target is `sm_90a`.
    pub is_specific: bool,
    /// Whether PTX defines every bit of the results.
    pub is_exact: bool,
}

/// Returns all experiments. The same seed gives the same PTX modules.
pub fn experiments(seed: u64) -> Vec<Experiment> {
    let tables = [integers::ROWS, floats::ROWS, conversions::ROWS].concat();
    let mut all: Vec<Experiment> = tables.iter().map(|row| pure::experiment(row, seed)).collect();
    let written =
        [memory::ROWS, bulk::ROWS, atomics::ROWS, warps::ROWS, control::ROWS, matrices::ROWS, groups::ROWS].concat();
    all.extend(written.iter().map(wholes::experiment));
    all
}

/// Returns the header of a PTX module.
fn head(processor: u32, is_specific: bool) -> String {
    let suffix = if is_specific { "a" } else { "" };
    format!(".version 8.6\n.target sm_{processor}{suffix}\n.address_size 64\n\n")
}

#[cfg(test)]
mod tests;
