//! Matrix instructions of a warp.

use super::decoder::{Decoder, Refusal};
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{Multiply, Op, Row, Tile, WarpOp, ZERO};
use crate::emulate::types::Ty;
use crate::ptx::Operand;

const WORD: Ty = Ty::Unsigned(32);

/// Parses `m16n8k16`.
pub(super) fn shape(word: &str) -> Option<[u32; 3]> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// Returns the number of rows of a fragment with `values` values of a type.
fn registers(values: u32, ty: Ty) -> u32 {
    (values * ty.bits()).div_ceil(32 * ty.bits().max(32))
}

impl Decoder<'_, '_> {
    /// Decodes a matrix instruction. `None` for other instructions, and for matrix instructions that are not modelled.
    pub(super) fn matrix(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Option<()>, Refusal> {
        let all = |decoder: &mut Self| decoder.constant(0xffff_ffff, 32);
        let op = match mnemonic.word {
            "ldmatrix" | "stmatrix" => {
                if !mnemonic.has("m8n8") || !mnemonic.has("b16") {
                    return Err("the shape".into());
                }
                let is_load = mnemonic.word == "ldmatrix";
                let space = self.space(mnemonic)?;
                let is_transposed = mnemonic.has("trans");
                let [first, second] = operands else { return Err("two operands".into()) };
                let (registers, address) = if is_load { (first, second) } else { (second, first) };
                let address = self.address(address, space)?;
                if is_load {
                    let to = self.results(registers)?;
                    WarpOp::LoadMatrix { to, address, is_transposed, carried: Vec::new() }
                } else {
                    let from = self.fragment(registers, WORD)?;
                    WarpOp::StoreMatrix { from, address, is_transposed, kinds: Vec::new() }
                }
            }
            "movmatrix" => {
                let [to, from] = operands else { return Err("two operands".into()) };
                WarpOp::MoveMatrix { to: self.result(to)?, from: self.source(from, WORD)? }
            }
            "mma" => WarpOp::Multiply(Box::new(self.multiply(mnemonic, operands)?)),
            "wmma" => match mnemonic.modifiers.first() {
                Some(&"mma") => WarpOp::Multiply(Box::new(self.tile_multiply(mnemonic, operands)?)),
                _ => self.tile_access(mnemonic, operands)?,
            },
            _ => return Ok(None),
        };
        let mask = all(self);
        self.emit(Op::Warp { op, mask });
        Ok(Some(()))
    }

    fn fragment(&mut self, operand: &Operand, ty: Ty) -> Result<Vec<Row>, Refusal> {
        match operand {
            Operand::Vector(parts) => parts.iter().map(|part| self.source(part, ty)).collect(),
            other => Ok(vec![self.source(other, ty)?]),
        }
    }

    fn multiply(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Multiply, Refusal> {
        let known = |word: &&str| {
            matches!(*word, "sync" | "aligned" | "row" | "col" | "satfinite")
                || shape(word).is_some()
                || Ty::of(word).is_some()
        };
        if let Some(word) = mnemonic.modifiers.iter().find(|word| !known(word)) {
            return Err(format!("the modifier {word}"));
        }
        let shape = mnemonic.modifiers.iter().find_map(|word| shape(word)).ok_or("no shape")?;
        let types: [Ty; 4] = mnemonic.types().try_into().map_err(|_| "the types")?;
        let orders: Vec<&str> =
            mnemonic.modifiers.iter().copied().filter(|word| matches!(*word, "row" | "col")).collect();
        if orders != ["row", "col"] || shape == [8, 8, 4] && types[1] != Ty::F64 {
            return Err("the layout".into());
        }
        let [m, n, k] = shape;
        let is_shape_known = match types[1] {
            Ty::F16 => n == 8 && m == 16 && matches!(k, 8 | 16),
            Ty::BF16 => n == 8 && m == 16 && matches!(k, 8 | 16),
            Ty::TF32 => n == 8 && m == 16 && matches!(k, 4 | 8),
            Ty::F64 => shape == [8, 8, 4] || n == 8 && m == 16 && matches!(k, 4 | 8 | 16),
            Ty::Signed(8) | Ty::Unsigned(8) | Ty::E4M3 | Ty::E5M2 => n == 8 && m == 16 && matches!(k, 16 | 32),
            _ => false,
        };
        if !is_shape_known {
            return Err("the shape".into());
        }
        let [to, a, b, c] = operands else { return Err("four operands".into()) };
        let rows = [
            self.results(to)?,
            self.fragment(a, WORD)?,
            self.fragment(b, WORD)?,
            self.fragment(c, if types[3] == Ty::F64 { Ty::F64 } else { WORD })?,
        ];
        let sizes = [m * n, m * k, k * n, m * n];
        for ((rows, size), ty) in rows.iter().zip(sizes).zip(types) {
            if rows.len() as u32 != registers(size, ty) {
                return Err("the number of registers".into());
            }
        }
        Ok(Multiply { shape, types, rows, is_tile: false, saturates: mnemonic.has("satfinite") })
    }

    fn tile_multiply(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Multiply, Refusal> {
        let shape = mnemonic.modifiers.iter().find_map(|word| shape(word)).ok_or("no shape")?;
        let given = mnemonic.types();
        let is_supported = |ty: &Ty| {
            matches!(ty, Ty::F16 | Ty::BF16 | Ty::TF32 | Ty::F32 | Ty::F64 | Ty::Signed(8 | 32) | Ty::Unsigned(8))
        };
        let types = match *given.as_slice() {
            // For halves, the mnemonic has only the types of the result and the addend.
            [to, addend] => [to, Ty::F16, Ty::F16, addend],
            [to, a, b, addend] => [to, a, b, addend],
            _ => return Err("the types".into()),
        };
        let is_plain = |word: &str| {
            matches!(word, "mma" | "sync" | "aligned" | "row" | "col" | "satfinite" | "rn")
                || self::shape(word).is_some()
                || Ty::of(word).is_some()
        };
        if !types.iter().all(is_supported) || !mnemonic.modifiers.iter().all(|word| is_plain(word)) {
            return Err("the types".into());
        }
        let [to, a, b, c] = operands else { return Err("four operands".into()) };
        let rows = [self.results(to)?, self.fragment(a, WORD)?, self.fragment(b, WORD)?, self.fragment(c, WORD)?];
        Ok(Multiply { shape, types, rows, is_tile: true, saturates: mnemonic.has("satfinite") })
    }

    fn tile_access(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<WarpOp, Refusal> {
        let [m, n, k] = mnemonic.modifiers.iter().find_map(|word| shape(word)).ok_or("no shape")?;
        let ty = mnemonic.ty().ok_or("no type")?;
        if !matches!(ty, Ty::F16 | Ty::BF16 | Ty::TF32 | Ty::F32 | Ty::F64 | Ty::Signed(8 | 32) | Ty::Unsigned(8)) {
            return Err("the type".into());
        }
        let (rows, columns) = match mnemonic.one_of(&["a", "b", "c", "d"]) {
            Some("a") => (m, k),
            Some("b") => (k, n),
            _ => (m, n),
        };
        let is_row_major = mnemonic.one_of(&["row", "col"]).ok_or("no layout")? == "row";
        let tile = Tile { rows, columns, ty, is_row_major };
        let space = self.space(mnemonic)?;
        let is_load = mnemonic.has("load");
        let (registers, address, stride) = match operands {
            [registers, address, rest @ ..] if is_load => (registers, address, rest.first()),
            [address, registers, rest @ ..] => (registers, address, rest.first()),
            _ => return Err("two operands".into()),
        };
        let address = self.address(address, space)?;
        let stride = match stride {
            Some(stride) => self.source(stride, WORD)?,
            None if is_row_major => self.constant(columns.into(), 32),
            None => self.constant(rows.into(), 32),
        };
        debug_assert_ne!(stride, ZERO);
        Ok(if is_load {
            WarpOp::LoadTile { to: self.results(registers)?, address, stride, tile }
        } else {
            WarpOp::StoreTile { from: self.fragment(registers, WORD)?, address, stride, tile }
        })
    }
}
