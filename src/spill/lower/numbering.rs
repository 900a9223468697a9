//! Numbers the instructions of a lowered list, in which one edit may be replaced by several.

use std::ops::Range;

use super::entry_place;
use crate::function::{
    Block, Edit, EditList, Function, Insertion, Inst, LoweredEdit, MachineOp, MemoryAccess, Operand, Position, VReg,
};
use crate::index::EntityIndex;

/// An instruction without a number.
pub(super) enum Code {
    Inst { op: MachineOp, operands: Vec<Operand>, memory: Option<MemoryAccess> },
    Assembly { text: String, results: Vec<VReg> },
}

/// The lowered form of one edit.
pub(super) enum Piece {
    /// The unchanged edit.
    Kept(Edit),
    /// Successive instructions that replace one instruction.
    Group { of: Inst, at: Position, insertions: Vec<Code> },
}

pub(super) struct Numbering {
    first: u32,
    next: u32,
    entry: Position,
    /// For each instruction that the edits insert: the numbers of its replacements.
    became: Vec<Range<u32>>,
    entry_code: Range<u32>,
}

impl Numbering {
    pub(super) fn new(function: &Function, edits: &EditList) -> Self {
        let first = function.num_insts() as u32;
        Self { first, next: first, entry: entry_place(function, edits), became: Vec::new(), entry_code: first..first }
    }

    /// Returns the list. The code of the entry precedes all other insertions at the entry.
    pub(super) fn numbered(&mut self, pieces: Vec<Piece>, entry: Vec<Code>) -> Vec<LoweredEdit> {
        let mut lowered = Vec::with_capacity(pieces.len() + entry.len());
        let mut entry = Some(entry);
        for piece in pieces {
            // These edits precede all insertions and do not create instructions.
            if !matches!(piece, Piece::Kept(Edit::CreateRegister { .. } | Edit::SplitEdge { .. }))
                && let Some(entry) = entry.take()
            {
                self.enter(entry, &mut lowered);
            }
            match piece {
                Piece::Kept(edit) => {
                    let edit = self.renumbered(edit);
                    lowered.push(LoweredEdit::Kept(edit));
                }
                Piece::Group { of, at, insertions } => {
                    debug_assert_eq!(
                        of.0,
                        self.first + self.became.len() as u32,
                        "edits number what they insert in order"
                    );
                    let start = self.next;
                    for code in insertions {
                        lowered.push(self.insertion(code, at));
                    }
                    self.became.push(start..self.next);
                }
            }
        }
        if let Some(entry) = entry {
            self.enter(entry, &mut lowered);
        }
        lowered
    }

    fn enter(&mut self, entry: Vec<Code>, lowered: &mut Vec<LoweredEdit>) {
        for code in entry {
            lowered.push(self.insertion(code, self.entry));
        }
        self.entry_code.end = self.next;
    }

    fn insertion(&mut self, code: Code, at: Position) -> LoweredEdit {
        let inst = self.take();
        match code {
            Code::Inst { op, operands, memory } => LoweredEdit::Insert(Insertion { inst, at, op, operands, memory }),
            Code::Assembly { text, results } => LoweredEdit::InsertAssembly { inst, at, text, results },
        }
    }

    fn take(&mut self) -> Inst {
        self.next += 1;
        Inst(self.next - 1)
    }

    /// Returns an edit with the numbers of this list.
    fn renumbered(&mut self, mut edit: Edit) -> Edit {
        match &mut edit {
            Edit::InsertCopy { inst, .. } | Edit::InsertConstant { inst, .. } | Edit::InsertClone { inst, .. } => {
                *inst = self.take();
                self.became.push(inst.0..self.next);
            }
            // Among inserted instructions, only clones have operands that edits set.
            Edit::SetRegister { inst, .. } => *inst = self.all_of(*inst).next().unwrap_or(*inst),
            Edit::Permute { block, order } => {
                let entry = if *block == Block(0) { self.entry_code.clone() } else { 0..0 };
                *order = entry.map(Inst).chain(order.iter().flat_map(|&inst| self.all_of(inst))).collect();
            }
            _ => {}
        }
        edit
    }

    /// Returns the replacements of an instruction of the view or of the edits.
    fn all_of(&self, inst: Inst) -> impl Iterator<Item = Inst> + use<> {
        let number = inst.index().checked_sub(self.first as usize);
        let became = number.and_then(|number| self.became.get(number)).cloned();
        became.unwrap_or(inst.0..inst.0 + 1).map(Inst)
    }
}
