//! Collective operations of a warp, except matrices.

use super::decoder::{Decoder, Refusal};
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{Op, Reduction, Row, SINK, ShuffleMode, Vote, WarpOp};
use crate::emulate::types::Ty;
use crate::ptx::Operand;

const WORD: Ty = Ty::Unsigned(32);

impl Decoder<'_, '_> {
    /// Decodes a shuffle, vote, match or reduction. `None` for other instructions.
    pub(super) fn warp(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Option<()>, Refusal> {
        match mnemonic.word {
            "activemask" => {
                let to = self.result(operands.first().ok_or("no result")?)?;
                self.emit(Op::ActiveMask { to, is_known: false });
                return Ok(Some(()));
            }
            "shfl" | "vote" | "match" | "redux" | "elect" => {}
            _ => return Ok(None),
        }
        if !mnemonic.has("sync") {
            return Err("it has no thread mask".into());
        }
        let (first, rest) = operands.split_first().ok_or("no operands")?;
        let (to, second) = match first {
            Operand::Pair(pair) => (self.result(&pair[0])?, self.result(&pair[1])?),
            other => (self.result(other)?, SINK),
        };
        let (mask, given) = rest.split_last().ok_or("no mask")?;
        let mask = self.source(mask, WORD)?;
        let op = match mnemonic.word {
            "shfl" => self.shuffle(mnemonic, to, second, given)?,
            "vote" => {
                let [predicate] = given else { return Err("the operands".into()) };
                let predicate = self.source(predicate, Ty::Pred)?;
                let vote = match mnemonic.one_of(&["all", "any", "uni", "ballot"]) {
                    Some("all") => Vote::All,
                    Some("any") => Vote::Any,
                    Some("uni") => Vote::Uniform,
                    Some(_) => Vote::Ballot,
                    None => return Err("the kind of vote".into()),
                };
                WarpOp::Vote { vote, to, predicate }
            }
            "match" => {
                let [value] = given else { return Err("the operands".into()) };
                let value = self.source(value, mnemonic.ty().ok_or("no type")?)?;
                WarpOp::Match { is_all: mnemonic.has("all"), to, is_same: second, value }
            }
            "redux" => {
                let [value] = given else { return Err("the operands".into()) };
                let ty = mnemonic.ty().filter(|ty| ty.is_integer() && ty.bits() == 32).ok_or("the type")?;
                let value = self.source(value, ty)?;
                let reduction = match mnemonic.one_of(&["add", "min", "max", "and", "or", "xor"]) {
                    Some("add") => Reduction::Add,
                    Some("min") => Reduction::Min,
                    Some("max") => Reduction::Max,
                    Some("and") => Reduction::And,
                    Some("or") => Reduction::Or,
                    Some(_) => Reduction::Xor,
                    None => return Err("the operation".into()),
                };
                WarpOp::Reduce { reduction, ty, to, value }
            }
            _ => WarpOp::Elect { to, is_elected: second },
        };
        self.emit(Op::Warp { op, mask });
        Ok(Some(()))
    }

    fn shuffle(
        &mut self,
        mnemonic: &Mnemonic<'_>,
        to: Row,
        is_inside: Row,
        given: &[Operand],
    ) -> Result<WarpOp, Refusal> {
        let mode = match mnemonic.one_of(&["up", "down", "bfly", "idx"]) {
            Some("up") => ShuffleMode::Up,
            Some("down") => ShuffleMode::Down,
            Some("bfly") => ShuffleMode::Butterfly,
            Some(_) => ShuffleMode::Index,
            None => return Err("the mode".into()),
        };
        let [value, lane, control] = given else { return Err("the operands".into()) };
        let (value, lane, control) = (self.source(value, WORD)?, self.source(lane, WORD)?, self.source(control, WORD)?);
        Ok(WarpOp::Shuffle { mode, to, is_inside, value, lane, control })
    }
}
