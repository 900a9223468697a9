//! `cp.async.bulk` and `cp.reduce.async.bulk`: copies of many bytes, and of boxes of tensors.

use super::decoder::{Decoder, Refusal};
use crate::emulate::bulk::{Bulk, BulkCopy, Tensor};
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{AtomicOp, Op, Space};
use crate::emulate::types::Ty;
use crate::ptx::Operand;

const WORD: Ty = Ty::Unsigned(32);

impl Decoder<'_, '_> {
    /// Decodes a bulk copy, or an instruction that waits for bulk copies. `None` for other instructions.
    pub(super) fn bulk(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Option<()>, Refusal> {
        let (reduces, words) = match mnemonic.modifiers.as_slice() {
            ["async", "bulk", rest @ ..] => (false, rest),
            ["reduce", "async", "bulk", rest @ ..] => (true, rest),
            _ => return Ok(None),
        };
        match words.first() {
            // A copy to global memory is executed when it starts, so there is nothing to wait for.
            Some(&("commit_group" | "wait_group")) => self.emit(Op::Fence),
            Some(&"prefetch") => self.emit(Op::Nothing),
            _ => {
                let copy = if words.first() == Some(&"tensor") {
                    self.tensor_copy(mnemonic, &words[1..], operands, reduces)?
                } else {
                    self.bulk_copy(mnemonic, words, operands, reduces)?
                };
                self.emit(Op::Bulk(Box::new(Bulk { copy, is_of_warp: false })));
            }
        }
        Ok(Some(()))
    }

    fn bulk_copy(
        &mut self,
        mnemonic: &Mnemonic<'_>,
        words: &[&str],
        operands: &[Operand],
        reduces: bool,
    ) -> Result<BulkCopy, Refusal> {
        let [to, from, bytes, rest @ ..] = operands else { return Err("three operands".into()) };
        let bytes = self.source(bytes, WORD)?;
        match words {
            ["shared::cluster" | "shared::cta", "global", "mbarrier::complete_tx::bytes", hints @ ..] if !reduces => {
                only_hints(hints)?;
                let to = self.address(to, Space::Shared)?;
                let from = self.address(from, Space::Generic)?;
                let mbarrier = self.address(rest.first().ok_or("no mbarrier")?, Space::Shared)?;
                Ok(BulkCopy::ToShared { to, from, bytes, mbarrier })
            }
            ["global", "shared::cta", "bulk_group", rest @ ..] => {
                let reduction = if reduces {
                    let ty = mnemonic.ty().ok_or("no type")?;
                    let ty = if ty.is_integer() || ty.is_float() { ty } else { Ty::Unsigned(ty.bits() as u8) };
                    Some((reduction(mnemonic).filter(|&op| is_known(op, ty)).ok_or("the operation")?, ty))
                } else {
                    only_hints(rest)?;
                    None
                };
                let to = self.address(to, Space::Generic)?;
                let from = self.address(from, Space::Shared)?;
                Ok(BulkCopy::ToGlobal { to, from, bytes, reduction })
            }
            _ => Err("the spaces".into()),
        }
    }

    fn tensor_copy(
        &mut self,
        mnemonic: &Mnemonic<'_>,
        words: &[&str],
        operands: &[Operand],
        reduces: bool,
    ) -> Result<BulkCopy, Refusal> {
        let [_, words @ ..] = words else { return Err("no dimensions".into()) };
        if words.iter().any(|word| word.starts_with("im2col") || matches!(*word, "tile::gather4" | "tile::scatter4")) {
            return Err("a tensor that is not tiled".into());
        }
        let words: Vec<&str> = words.iter().copied().filter(|&word| word != "tile").collect();
        match (words.as_slice(), operands) {
            (
                ["shared::cluster" | "shared::cta", "global", "mbarrier::complete_tx::bytes", hints @ ..],
                [to, from, mbarrier, ..],
            ) if !reduces => {
                only_hints(hints)?;
                let to = self.address(to, Space::Shared)?;
                let tensor = self.tensor_box(from)?;
                let mbarrier = self.address(mbarrier, Space::Shared)?;
                Ok(BulkCopy::OfTensor { to, tensor, mbarrier })
            }
            (["global", "shared::cta", rest @ ..], [to, from, ..]) if rest.contains(&"bulk_group") => {
                let reduction = if reduces { Some(reduction(mnemonic).ok_or("the operation")?) } else { None };
                let tensor = self.tensor_box(to)?;
                let from = self.address(from, Space::Shared)?;
                Ok(BulkCopy::ToTensor { from, tensor, reduction })
            }
            _ => Err("the spaces".into()),
        }
    }

    /// Decodes `[map, {x, y}]`.
    fn tensor_box(&mut self, operand: &Operand) -> Result<Tensor, Refusal> {
        let Operand::Address(parts) = operand else { return Err("no address".into()) };
        let [map, Operand::Vector(coordinates)] = parts.as_slice() else { return Err("no coordinates".into()) };
        let map = self.address(&Operand::Address(vec![map.clone()]), Space::Generic)?;
        let coordinates: Result<_, _> = coordinates.iter().map(|one| self.source(one, Ty::Signed(32))).collect();
        Ok(Tensor { map, coordinates: coordinates? })
    }
}

/// Refuses modifiers other than cache hints and multicast. A cluster has one block, so multicast changes nothing.
fn only_hints(words: &[&str]) -> Result<(), Refusal> {
    let is_hint = |word: &&str| matches!(*word, "L2::cache_hint" | "multicast::cluster");
    match words.iter().find(|word| !is_hint(word)) {
        Some(word) => Err(format!("the modifier {word}")),
        None => Ok(()),
    }
}

fn reduction(mnemonic: &Mnemonic<'_>) -> Option<AtomicOp> {
    Some(match mnemonic.one_of(&["add", "min", "max", "inc", "dec", "and", "or", "xor"])? {
        "add" => AtomicOp::Add,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        "inc" => AtomicOp::Increment,
        "dec" => AtomicOp::Decrement,
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        _ => AtomicOp::Xor,
    })
}

/// Whether an atomic operation on a type is modelled.
fn is_known(op: AtomicOp, ty: Ty) -> bool {
    ty.is_integer() || op == AtomicOp::Add && matches!(ty, Ty::F16 | Ty::BF16 | Ty::F32 | Ty::F64)
}
