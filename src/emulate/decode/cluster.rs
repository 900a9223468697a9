//! Clusters of one block each. A kernel runs in clusters of one block unless it requests larger clusters.

use super::decoder::{Decoder, Refusal};
use super::scopes::axis;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{BarrierMode, Op, Row, SINK, Special, ZERO};
use crate::emulate::types::Ty;
use crate::ptx::Operand;

impl Decoder<'_, '_> {
    /// Returns the row of a cluster register. `None` if the name is not a cluster register, or if clusters have several
    /// blocks.
    pub(super) fn cluster_register(&mut self, word: &str, part: Option<&str>) -> Option<Row> {
        let axis = axis(part)?;
        if self.globals.has_clusters {
            return None;
        }
        Some(match (word, axis) {
            ("%cluster_ctaid", Some(_)) | ("%cluster_ctarank" | "%is_explicit_cluster", None) => ZERO,
            ("%cluster_nctaid", Some(_)) | ("%cluster_nctarank", None) => self.constant(1, 32),
            ("%clusterid", Some(axis)) => self.special(Special::Ctaid(axis), 32),
            ("%nclusterid", Some(axis)) => self.special(Special::Nctaid(axis), 32),
            _ => return None,
        })
    }

    /// Decodes a cluster instruction. `None` for other instructions.
    pub(super) fn cluster(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Option<()>, Refusal> {
        let is_barrier = mnemonic.word == "barrier" && mnemonic.has("cluster");
        if !is_barrier && !matches!(mnemonic.word, "mapa" | "getctarank") {
            return Ok(None);
        }
        if self.globals.has_clusters {
            return Err("a cluster of several blocks".into());
        }
        match (mnemonic.word, operands) {
            ("mapa", [to, from, _]) => {
                let ty = mnemonic.ty().filter(|ty| ty.is_integer()).ok_or("the type")?;
                let (to, from) = (self.result(to)?, self.source(from, ty)?);
                self.emit(Op::MoveAddress { to, from });
            }
            ("getctarank", [to, from]) => {
                let to = self.result(to)?;
                self.source(from, Ty::Unsigned(64))?;
                self.emit(Op::Move { to, from: ZERO });
            }
            ("barrier", []) if mnemonic.has("arrive") => self.emit(Op::Fence),
            // The block synchronises at the wait, as in machine code.
            ("barrier", []) if mnemonic.has("wait") => {
                let mode = BarrierMode::Sync;
                self.emit(Op::Barrier { mode, id: ZERO, count: None, to: SINK, predicate: ZERO, negated: false });
            }
            _ => return Err("the operands".into()),
        }
        Ok(Some(()))
    }
}
