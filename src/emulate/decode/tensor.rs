//! `tcgen05`: tensor memory, and matrix products that one thread starts.

use super::decoder::{Decoder, Refusal};
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{Address, MbarrierOp, Op, SINK, Space, WarpOp, ZERO};
use crate::emulate::tensor::{Factor, Numbers, Shape, Spot, TensorMultiply, TensorOp};
use crate::emulate::types::Ty;
use crate::ptx::Operand;

const WORD: Ty = Ty::Unsigned(32);

impl Decoder<'_, '_> {
    /// Decodes a tensor-memory instruction. `None` for other instructions.
    pub(super) fn tensor(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Option<()>, Refusal> {
        if mnemonic.word != "tcgen05" {
            return Ok(None);
        }
        if mnemonic.has("cta_group::2") {
            return Err("a pair of blocks".into());
        }
        let (&first, rest) = mnemonic.modifiers.split_first().ok_or("the operation")?;
        let known: &[&str] = match first {
            "alloc" | "dealloc" | "relinquish_alloc_permit" => {
                &["cta_group::1", "sync", "aligned", "shared::cta", "b32"]
            }
            "ld" | "st" => return self.tensor_move(first == "ld", rest, operands).map(Some),
            "mma" => return self.tensor_multiply(rest, operands).map(Some),
            "commit" => &["cta_group::1", "mbarrier::arrive::one", "shared::cluster", "shared::cta", "b64"],
            // Operations complete at once, so later instructions see them in program order.
            "wait::ld" | "wait::st" | "fence::before_thread_sync" | "fence::after_thread_sync" => &["sync", "aligned"],
            other => return Err(format!("the operation {other}")),
        };
        if let Some(word) = rest.iter().find(|word| !known.contains(word)) {
            return Err(format!("the modifier {word}"));
        }
        match (first, operands) {
            ("alloc", [to, columns]) => {
                let space = if mnemonic.has("shared::cta") { Space::Shared } else { Space::Generic };
                let (to, columns) = (self.address(to, space)?, self.source(columns, WORD)?);
                self.emit_tensor(TensorOp::Allocate { columns }, to);
            }
            ("dealloc", [at, columns]) => {
                let (base, columns) = (self.source(at, WORD)?, self.source(columns, WORD)?);
                self.emit_tensor(TensorOp::Free { columns }, Address { space: Space::Shared, base, offset: 0 });
            }
            ("commit", [barrier]) => {
                let is_shared = mnemonic.has("shared::cluster") || mnemonic.has("shared::cta");
                let address = self.address(barrier, if is_shared { Space::Shared } else { Space::Generic })?;
                let count = self.constant(1, 32);
                let op = MbarrierOp::Arrive { to: SINK, count, expected: ZERO, drops: false };
                self.emit(Op::Mbarrier { address, op });
            }
            ("relinquish_alloc_permit", []) => self.emit(Op::Nothing),
            (word, []) if word.starts_with("wait") || word.starts_with("fence") => self.emit(Op::Fence),
            _ => return Err("the operands".into()),
        }
        Ok(Some(()))
    }

    fn emit_tensor(&mut self, op: TensorOp, at: Address) {
        let mask = self.constant(0xffff_ffff, 32);
        self.emit(Op::Warp { op: WarpOp::Tensor { op: Box::new(op), at }, mask });
    }

    fn tensor_move(&mut self, is_load: bool, words: &[&str], operands: &[Operand]) -> Result<(), Refusal> {
        let ["sync", "aligned", shape, count, "b32"] = *words else { return Err("the form".into()) };
        let (registers, address, distance) = match operands {
            [registers, address] if is_load => (registers, address, None),
            [registers, address, distance] if is_load => (registers, address, Some(distance)),
            [address, registers] if !is_load => (registers, address, None),
            [address, distance, registers] if !is_load => (registers, address, Some(distance)),
            _ => return Err("the operands".into()),
        };
        let shape = match (shape, distance) {
            ("32x32b", None) => Shape::Lanes,
            ("16x64b", None) => Shape::Narrow,
            ("16x128b", None) => Shape::Middle,
            ("16x256b", None) => Shape::Broad,
            ("16x32bx2", Some(Operand::Number(number))) => Shape::Halves(self.constant_number(number, WORD)? as u32),
            _ => return Err("the shape".into()),
        };
        let count: u32 = count.strip_prefix('x').and_then(|count| count.parse().ok()).ok_or("the count")?;
        let address = self.address(address, Space::Shared)?;
        let rows = match registers {
            _ if is_load => self.results(registers)?,
            Operand::Vector(parts) => parts.iter().map(|part| self.source(part, WORD)).collect::<Result<_, _>>()?,
            other => vec![self.source(other, WORD)?],
        };
        if count > 128 || rows.len() as u32 != count * shape.registers() {
            return Err("the number of registers".into());
        }
        let op = if is_load {
            TensorOp::Load { to: rows, shape, carried: Vec::new() }
        } else {
            TensorOp::Store { from: rows, shape, kinds: Vec::new() }
        };
        self.emit_tensor(op, address);
        Ok(())
    }

    fn spot(&mut self, operand: &Operand) -> Result<Spot, Refusal> {
        let Address { base, offset, .. } = self.address(operand, Space::Shared)?;
        Ok(Spot { base, offset })
    }

    fn tensor_multiply(&mut self, words: &[&str], operands: &[Operand]) -> Result<(), Refusal> {
        let ["cta_group::1", kind, rest @ ..] = words else { return Err("the form".into()) };
        let numbers = match *kind {
            "kind::f16" => Numbers::Halves,
            "kind::tf32" => Numbers::Words,
            "kind::f8f6f4" => Numbers::Bytes,
            "kind::i8" => Numbers::Integers,
            other => return Err(format!("the modifier {other}")),
        };
        // The contents of a collector buffer change no result.
        if let Some(word) = rest.iter().find(|word| !word.starts_with("collector::a::")) {
            return Err(format!("the modifier {word}"));
        }
        let [to, left, right, descriptor, adds] = operands else {
            return Err("disabled lanes, or a scale".into());
        };
        let to = self.spot(to)?;
        let left = match left {
            Operand::Address(_) => Factor::Tensor(self.spot(left)?),
            other => Factor::Shared(self.source(other, Ty::Unsigned(64))?),
        };
        let right = self.source(right, Ty::Unsigned(64))?;
        let (descriptor, adds) = (self.source(descriptor, WORD)?, self.source(adds, Ty::Pred)?);
        let multiply = TensorMultiply { numbers, to, left, right, descriptor, adds };
        self.emit(Op::TensorMultiply(Box::new(multiply)));
        Ok(())
    }
}
