//! Takes a draft out of SSA as LLVM does: PHI elimination, then two-address lowering, both naive.

use arbitrary::{Result, Unstructured};

use super::draft::{Draft, DraftInst};
use super::generate::{Options, draft};
use super::trace::check_same_meaning;
use crate::function::{VReg, Value};

/// Replaces every PHI by copies through a new register, and puts tied operands into the same register.
///
/// No other instruction writes the new register, so a predecessor may write the new register before its branches,
/// whichever branch is taken.
pub(super) fn lower(draft: &mut Draft) {
    for block in draft.blocks.ids() {
        let phis = std::mem::take(&mut draft.blocks[block].phis);
        let mut copies = Vec::new();
        for phi in phis {
            let class = draft.classes[phi.dst];
            let between = draft.reg(class);
            copies.push(DraftInst::copy(phi.dst, between));
            for (value, from) in phi.inputs {
                draft.blocks[from].body.push(DraftInst::copy(between, value));
            }
        }
        draft.blocks[block].body.splice(0..0, copies);
    }
    for block in draft.blocks.iter_mut() {
        for mut inst in std::mem::take(&mut block.body) {
            if let Some((def, src)) = make_tied_equal(&mut inst) {
                block.body.push(DraftInst::copy(def, src));
            }
            block.body.push(inst);
        }
    }
}

/// Replaces the tied read of an instruction by the register to which it is tied. Returns this register and the original
/// one.
fn make_tied_equal(inst: &mut DraftInst) -> Option<(VReg, VReg)> {
    let read = inst.operands.iter().position(|operand| operand.tied.is_some() && !operand.is_def())?;
    let def = inst.operands[usize::from(inst.operands[read].tied?)].reg()?;
    let src = inst.operands[read].reg()?;
    inst.operands[read].value = Value::Reg(def);
    (def != src).then_some((def, src))
}

/// Checks that generated functions are valid, and that leaving SSA keeps their meaning: the generator, the naive
/// lowering and the interpreter against each other.
pub fn check_lowering(u: &mut Unstructured<'_>) -> Result<()> {
    let options = Options { undefined_paths: u.arbitrary()?, ..Options::default() };
    let mut draft = draft(u, &options)?;
    let original = draft.finish();
    lower(&mut draft);
    let lowered = draft.finish();
    assert_eq!(original.validate(), Ok(()), "{original}");
    assert_eq!(lowered.validate(), Ok(()), "{lowered}");
    assert_eq!(check_same_meaning(&original, &original), Ok(()), "{original}");
    assert_eq!(check_same_meaning(&original, &lowered), Ok(()), "{original}\n{lowered}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowering_keeps_the_meaning() {
        arbtest::arbtest(check_lowering).budget_ms(1_000);
    }
}
