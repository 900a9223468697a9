//! A function with some of its PHIs lowered as PHI elimination lowers them, but in the view alone.
//!
//! Each of them gets a register of its own, its *web's*: every predecessor copies its input there at its end, and the PHI's
//! block copies it to the result at its start. Nothing else writes or reads that register, so a predecessor may write it
//! whichever way it then goes (method I of Sreedhar et al. 1999).

use super::phis::{Input, Phi};
use super::registers::Register;
use crate::function::{Applied, Block, Edit, EditList, Function, Inst, Origin, Position, Role, VReg};
use crate::index::{EntityIndex, IndexVec};

/// The lowered function, and how it belongs to the other.
#[derive(Debug)]
pub(super) struct Lowered {
    /// The function without these PHIs. Blocks and registers are numbered as before, webs after them.
    pub(super) function: Function,
    origin: IndexVec<Inst, Origin>,
    /// The number of the first web's register.
    first_web: usize,
}

/// What a copy of the lowered function stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyOf {
    /// The inputs of a PHI, given by its number among those lowered, that come from this block.
    Input(usize, Block),
    /// The result of a PHI.
    Result(usize),
}

impl Lowered {
    /// Lowers `phis`, which something reads; `dead` ones go, the others stay.
    pub(super) fn new(function: &Function, phis: &[Phi], dead: &[Phi], registers: &IndexVec<VReg, Register>) -> Self {
        let mut edits = EditList::new(function);
        let webs: Vec<VReg> = phis.iter().map(|phi| edits.create_register(function.class(phi.result))).collect();
        // Results first: in a block of nothing but PHIs they stand where the inputs of the next block's PHIs stand.
        for (phi, &web) in phis.iter().zip(&webs) {
            edits.insert_copy(behind_phis(function, phi.block), phi.result, web);
        }
        let mut seen = IndexVec::filled(VReg::new(0), function.num_blocks());
        for (phi, &web) in phis.iter().zip(&webs) {
            for input in phi.inputs(function) {
                // After a switch a predecessor stands once for each edge.
                if std::mem::replace(&mut seen[input.from], web) != web {
                    lower_input(function, input, web, registers, &mut edits);
                }
            }
        }
        for phi in phis.iter().chain(dead) {
            edits.push(Edit::Delete { inst: phi.inst });
        }
        edits.finish();
        let Applied { function: lowered, origin } =
            edits.apply(function).expect("new registers, copies and clones fit");
        Self { function: lowered, origin, first_web: function.num_regs() }
    }

    /// What an instruction of the lowered function stands for; none for what the function had before, and none for a
    /// 128-bit register, which is LLVM's.
    pub(super) fn copy_of(&self, inst: Inst) -> Option<CopyOf> {
        let (dst, src) = self.function.as_copy(inst)?;
        if self.function.class(dst).is_left_to_llvm() {
            return None;
        }
        let web = |reg: VReg| reg.index().checked_sub(self.first_web);
        match (web(dst), web(src)) {
            (Some(phi), _) => Some(CopyOf::Input(phi, self.function.block_of(inst))),
            (None, Some(phi)) => Some(CopyOf::Result(phi)),
            (None, None) => None,
        }
    }

    /// The instruction that an instruction of the lowered function was before.
    pub(super) fn before(&self, inst: Inst) -> Option<Inst> {
        match self.origin[inst] {
            Origin::Kept(inst) => Some(inst),
            Origin::Clone(_) | Origin::Inserted => None,
        }
    }
}

/// Copies an input to the web's register. An undefined one is undefined there anew, so that the register is not live
/// before. One of another class, or of none, is not written, which makes the register live for longer than it is.
fn lower_input(
    function: &Function,
    input: Input,
    web: VReg,
    registers: &IndexVec<VReg, Register>,
    edits: &mut EditList,
) {
    let at = Position { block: input.from, before: None };
    let Some(reg) = input.reg.filter(|&reg| edits.class(function, web) == Some(function.class(reg))) else { return };
    match registers[reg].undefined {
        Some(definition) => edits.insert_clone(at, definition, web),
        None => edits.insert_copy(at, web, reg),
    };
}

/// The place behind the PHIs of a block. In a block of nothing but PHIs and its end it is the place of inputs, too: what
/// is put there first stands first.
pub(super) fn behind_phis(function: &Function, block: Block) -> Position {
    Position { block, before: function.block_insts(block).find(|&inst| function.role(inst) != Role::Phi) }
}
