//! What a row of the tables is.

/// Whether PTX says every bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    All,
    Approximate,
}

/// A row of a table: instructions, and the kernels that are made of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The name of the file.
    pub(super) name: &'static str,
    /// The first processor that has the instructions.
    pub(super) processor: u32,
    /// Only that processor has them: `sm_90a`.
    pub(super) is_specific: bool,
    /// The threads of a block.
    pub(super) threads: u32,
    /// What PTX says of the results.
    pub(super) bits: Bits,
    /// Patterns, each of which stands for several kernels.
    pub(super) patterns: &'static [&'static str],
}

/// A row of instructions that all processors since sm_80 have, and of whose results PTX says every bit.
pub(super) const fn row(name: &'static str, patterns: &'static [&'static str]) -> Row {
    Row { name, processor: 80, is_specific: false, threads: 64, bits: Bits::All, patterns }
}

impl Row {
    /// The row on newer processors.
    pub(super) const fn since(self, processor: u32) -> Self {
        Self { processor, ..self }
    }

    /// The row of instructions that a processor has and no newer one.
    pub(super) const fn only(self, processor: u32) -> Self {
        Self { processor, is_specific: true, ..self }
    }

    /// The row with larger or smaller blocks.
    pub(super) const fn of_threads(self, threads: u32) -> Self {
        Self { threads, ..self }
    }

    /// The row with results of which PTX bounds the error.
    pub(super) const fn approximate(self) -> Self {
        Self { bits: Bits::Approximate, ..self }
    }
}
