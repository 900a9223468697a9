//! Value numbers that hold the same bits.
//!
//! The definition of a copy holds the value of its source, and two definitions by the same constant hold the same
//! value. The *root* of a value is the value at the end of its chain of copies. If two ranges are live at one point
//! with the same root, they hold the same bits there. The reason is that a value is live into a block as itself only if
//! its definition strictly dominates the block (`analysis::LiveRanges`). So neither value can come from an earlier
//! iteration of a loop than the other.

use std::collections::HashMap;

use super::candidates::Candidate;
use super::program::Program;
use crate::analysis::{LiveRanges, Point, ValueDef, ValueNumber};
use crate::function::{Inst, Opcode, Value};
use crate::index::{EntityIndex, IndexVec};

/// Root of each value number.
#[derive(Debug)]
pub(super) struct Values {
    roots: IndexVec<ValueNumber, ValueNumber>,
    /// The definition of a constant, for roots that have one.
    constants: IndexVec<ValueNumber, Option<Inst>>,
}

impl Values {
    /// Computes the roots. O(values + candidates · log segments).
    pub(super) fn new(program: &Program<'_>, ranges: &LiveRanges, candidates: &[Candidate]) -> Self {
        let len = ranges.num_values();
        let mut this = Self { roots: (0..len).map(ValueNumber::new).collect(), constants: IndexVec::filled(None, len) };
        for candidate in candidates {
            let defined = ranges.value_at(candidate.dst, Point::late(candidate.inst));
            let read = ranges.value_at(candidate.src, Point::early(candidate.inst));
            if let (Some(defined), Some(read)) = (defined, read) {
                this.roots[defined] = read;
            }
        }
        // A chain of copies leads from a definition to a definition that dominates it, so it terminates.
        for value in (0..len).map(ValueNumber::new) {
            let mut root = value;
            while this.roots[root] != root {
                root = this.roots[root];
            }
            let mut walk = value;
            while this.roots[walk] != root {
                walk = std::mem::replace(&mut this.roots[walk], root);
            }
        }
        this.note_constants(program, ranges);
        this.unite_equal_constants(program);
        this
    }

    /// Returns the root of a value.
    #[inline]
    pub(super) fn root(&self, value: ValueNumber) -> ValueNumber {
        self.roots[value]
    }

    /// Returns the definition of the constant that a value originates from, if it originates from a constant.
    pub(super) fn constant(&self, value: ValueNumber) -> Option<Inst> {
        self.constants[self.roots[value]]
    }

    fn note_constants(&mut self, program: &Program<'_>, ranges: &LiveRanges) {
        for value in (0..self.roots.len()).map(ValueNumber::new) {
            if self.roots[value] == value
                && let ValueDef::Inst { inst, .. } = ranges.value_def(value)
            {
                self.constants[value] = program.constant_definition(inst);
            }
        }
    }

    /// Gives equal constants one root, which is the root of the first of them. The map is only looked up, never
    /// iterated.
    fn unite_equal_constants(&mut self, program: &Program<'_>) {
        let function = program.function;
        let mut first: HashMap<(Opcode, Value), ValueNumber> = HashMap::new();
        let mut replaced = false;
        for value in (0..self.roots.len()).map(ValueNumber::new) {
            let Some(inst) = self.constants[value] else { continue };
            let [_, source] = function.operands(inst) else { continue };
            let root = *first.entry((function.opcode(inst), source.value)).or_insert(value);
            replaced |= root != value;
            self.roots[value] = root;
        }
        if replaced {
            for value in (0..self.roots.len()).map(ValueNumber::new) {
                self.roots[value] = self.roots[self.roots[value]];
            }
        }
    }
}
