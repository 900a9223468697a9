//! Experiments: small kernels, one for each mnemonic of PTX with its modifiers, that PTX and machine code are run on.
//!
//! An experiment is a file of PTX. Its kernels load their inputs from memory, so that drawn and extreme values arrive, use
//! the operands of one instruction in unlike ways, and store all results. They have no races and read nothing undefined.
//! A [row](rows) has a pattern for each family of mnemonics; what needs more than registers is written out.

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

/// A file of small kernels.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The name of the file, without its ending.
    pub name: String,
    /// The text.
    pub text: String,
    /// The first processor that has the instructions: 80 for sm_80.
    pub processor: u32,
    /// Whether no newer processor has them: the target is `sm_90a`.
    pub is_specific: bool,
    /// Whether PTX says every bit of the results.
    pub is_exact: bool,
}

/// All experiments. The same seed gives the same text.
pub fn experiments(seed: u64) -> Vec<Experiment> {
    let tables = [integers::ROWS, floats::ROWS, conversions::ROWS].concat();
    let mut all: Vec<Experiment> = tables.iter().map(|row| pure::experiment(row, seed)).collect();
    let written =
        [memory::ROWS, bulk::ROWS, atomics::ROWS, warps::ROWS, control::ROWS, matrices::ROWS, groups::ROWS].concat();
    all.extend(written.iter().map(wholes::experiment));
    all
}

/// The head of a file.
fn head(processor: u32, is_specific: bool) -> String {
    let suffix = if is_specific { "a" } else { "" };
    format!(".version 8.6\n.target sm_{processor}{suffix}\n.address_size 64\n\n")
}

#[cfg(test)]
mod tests;
