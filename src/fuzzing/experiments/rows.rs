//! Rows of the tables.

/// Whether PTX defines every bit of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    All,
    Approximate,
}

/// A row of a table: instructions, and the kernels built from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The file's name.
    pub(super) name: &'static str,
    /// The first processor with these instructions.
    pub(super) processor: u32,
    /// Whether only this processor has them: `sm_90a`.
    pub(super) is_specific: bool,
    /// The threads of a block.
    pub(super) threads: u32,
    /// PTX's definition of the results.
    pub(super) bits: Bits,
    /// Patterns, each for several kernels.
    pub(super) patterns: &'static [&'static str],
}

/// Returns a row of instructions that all processors since sm_80 have, and whose results PTX defines in every bit.
pub(super) const fn row(name: &'static str, patterns: &'static [&'static str]) -> Row {
    Row { name, processor: 80, is_specific: false, threads: 64, bits: Bits::All, patterns }
}

impl Row {
    /// Returns the row for newer processors.
    pub(super) const fn since(self, processor: u32) -> Self {
        Self { processor, ..self }
    }

    /// Returns the row for instructions of exactly one processor.
    pub(super) const fn only(self, processor: u32) -> Self {
        Self { processor, is_specific: true, ..self }
    }

    /// Returns the row with larger or smaller blocks.
    pub(super) const fn of_threads(self, threads: u32) -> Self {
        Self { threads, ..self }
    }

    /// Returns the row with results whose error PTX bounds.
    pub(super) const fn approximate(self) -> Self {
        Self { bits: Bits::Approximate, ..self }
    }
}
