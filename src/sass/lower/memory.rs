//! Loads, stores, and asynchronous copies.

use super::super::instruction::{BYTES, Instruction};
use super::super::operand::{Constant, Operand, RZ, Register};
use super::Refusal;
use super::lowerer::Lowerer;
use super::operands::next;
use crate::emulate::layout;
use crate::emulate::program::{Access, Address, Op, Order, Row, SINK, Space, ZERO};
use crate::emulate::pure::Pure;
use crate::emulate::types::{Kind, Ty};

const U32: Ty = Ty::Unsigned(32);
const U64: Ty = Ty::Unsigned(64);

/// The number of instructions after a load in which the matching compare-and-swap is searched for.
const NEAR: usize = 64;

/// The type, count and order of an access.
struct Form {
    ty: Ty,
    /// The number of values of this type.
    count: u8,
    order: Order,
}

/// Reads the modifiers of an access. Cache modifiers are ignored.
fn form(instruction: &Instruction) -> Result<Form, Refusal> {
    let mut form = Form { ty: U32, count: 1, order: Order::Weak };
    for modifier in instruction.modifiers() {
        match modifier {
            "U8" => form.ty = Ty::Unsigned(8),
            "S8" => form.ty = Ty::Signed(8),
            "U16" => form.ty = Ty::Unsigned(16),
            "S16" => form.ty = Ty::Signed(16),
            "32" => {}
            "64" => form.ty = U64,
            "128" => (form.ty, form.count) = (U64, 2),
            "STRONG" => form.order = Order::Strong,
            "E" | "CONSTANT" | "SYS" | "GPU" | "SM" | "CTA" | "PRIVATE" | "WEAK" | "VOLATILE" => {}
            "EF" | "EL" | "EU" | "EN" | "NA" | "LU" | "LTC64B" | "LTC128B" | "LTC256B" | "BYPASS" | "ACCESS" => {}
            "ZFILL" => {}
            other => return Err(format!("the modifier {other}")),
        }
    }
    Ok(form)
}

impl Lowerer<'_> {
    /// Lowers a memory access. Returns whether the instruction is a memory access.
    pub(super) fn memory(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        match instruction.word() {
            "LDG" | "LD" => self.load(instruction, Space::Generic)?,
            "LDS" => self.load(instruction, Space::Shared)?,
            "LDL" => self.load(instruction, Space::Local)?,
            "STG" | "ST" => self.store(instruction, Space::Generic)?,
            "STS" => self.store(instruction, Space::Shared)?,
            "STL" => self.store(instruction, Space::Local)?,
            "LDC" | "ULDC" | "LDCU" => self.load_constant(instruction)?,
            "LDGSTS" => self.copy_to_shared(instruction)?,
            "LDGDEPBAR" => self.emit(Op::AsyncCommit),
            "DEPBAR" => self.wait_for_copies(instruction)?,
            "MEMBAR" | "FENCE" | "ERRBAR" | "CGAERRBAR" | "CCTL" | "UCGABAR_ARV" => self.emit(Op::Fence),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the rows of the values that an access moves. The first value is in `register`. A loaded value of 64 bits
    /// must be split into two registers after the load, so the splits are returned, too.
    fn elements(
        &mut self,
        register: Register,
        form: &Form,
        is_load: bool,
    ) -> (Vec<Row>, Vec<Option<super::operands::Wide>>) {
        let (mut rows, mut wides) = (Vec::new(), Vec::new());
        for number in 0..form.count {
            let own = match register.number {
                RZ => register,
                first => {
                    Register { number: first.saturating_add(number * if form.ty == U64 { 2 } else { 1 }), ..register }
                }
            };
            match (form.ty == U64, is_load) {
                (true, true) => {
                    let (row, wide) = self.wide_result(own);
                    rows.push(row);
                    wides.push(wide);
                }
                (true, false) => rows.push(self.pair(own)),
                (false, true) => rows.push(self.written_register(own)),
                (false, false) => rows.push(self.read_register(own)),
            }
        }
        (rows, wides)
    }

    fn access(address: Address, form: &Form, elements: Vec<Row>) -> Access {
        let (kinds, carried) = (vec![Kind::default(); elements.len()], vec![None; elements.len()]);
        Access { address, ty: form.ty, elements, kinds, carried, order: form.order }
    }

    /// Whether a load reads the expected value of a nearby compare-and-swap. The loop around both instructions accepts
    /// writes of other threads in between.
    fn is_of_exchange(&self, instruction: &Instruction) -> bool {
        let [Operand::Register(to, _), Operand::Address(_)] = *instruction.operands.as_slice() else {
            return false;
        };
        let behind = (instruction.address / BYTES) as usize + 1;
        let end = self.code.instructions.len().min(behind + NEAR);
        self.code.instructions[behind.min(end)..end].iter().any(|one| {
            let exchanges = one.word().starts_with("ATOM") && (one.has("CAS") || one.has("CAST"));
            let compares = |operand: &Operand| matches!(operand, Operand::Register(other, _) if *other == to);
            // The address may be in another register: a load takes a uniform register, a compare-and-swap does not.
            exchanges && one.operands.iter().skip(2).any(compares)
        })
    }

    fn load(&mut self, instruction: &Instruction, space: Space) -> Result<(), Refusal> {
        let mut form = form(instruction)?;
        if space != Space::Local && self.is_of_exchange(instruction) {
            form.order = Order::Strong;
        }
        let [Operand::Register(to, _), Operand::Address(place)] = *instruction.operands.as_slice() else {
            return Err("unknown operands".into());
        };
        let address = self.place(place, space);
        let (rows, wides) = self.elements(to, &form, true);
        let rows = rows.into_iter().map(|row| if row == SINK { self.temporary(64) } else { row }).collect();
        self.emit(Op::Load(Self::access(address, &form, rows)));
        wides.into_iter().for_each(|wide| self.settle(wide));
        Ok(())
    }

    fn store(&mut self, instruction: &Instruction, space: Space) -> Result<(), Refusal> {
        let form = form(instruction)?;
        let [Operand::Address(place), Operand::Register(from, _)] = *instruction.operands.as_slice() else {
            return Err("unknown operands".into());
        };
        let address = self.place(place, space);
        let (rows, _) = self.elements(from, &form, false);
        self.emit(Op::Store(Self::access(address, &form, rows)));
        Ok(())
    }

    /// Lowers a load from a constant bank: of a known word, or with an index register.
    fn load_constant(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let form = form(instruction)?;
        let [Operand::Register(to, _), Operand::Constant(constant, _)] = *instruction.operands.as_slice() else {
            return Err("unknown operands".into());
        };
        self.is_uniform = to.is_uniform;
        let bits = form.ty.bits();
        if constant.index.is_some() || bits < 32 {
            return self.load_indexed(constant, to, &form);
        }
        for number in 0..u32::from(form.count) {
            let offset = constant.offset as u32 + number * bits / 8;
            let from = self.bank_word(constant.bank, offset, bits)?;
            let first = Register { number: to.number.saturating_add((number * bits / 32) as u8), ..to };
            if bits == 64 {
                let parts = vec![self.written_register(first), self.written_register(next(first))];
                self.emit(Op::Unpack { parts, from, bits: 32 });
            } else {
                let to = self.written_register(first);
                self.emit(Op::Move { to, from });
            }
        }
        Ok(())
    }

    /// Lowers a load whose address is a variable or parameter plus a register.
    fn load_indexed(&mut self, constant: Constant, to: Register, form: &Form) -> Result<(), Refusal> {
        let offset = constant.offset as u32;
        let (start, distance) = if constant.bank == 0 {
            let at = self.parameter_at(offset).or_else(|| self.parameter_at(self.kernel.parameters_at));
            at.ok_or("a constant that is no parameter")?;
            (layout::PARAMETERS, i64::from(offset) - i64::from(self.kernel.parameters_at))
        } else {
            let section = self.section(constant.bank).ok_or("the bank is not in the file")?;
            match self.variable_at(&section, offset) {
                Some(found) => found,
                None => return self.load_table(constant, &section, to, form),
            }
        };
        let base = self.constant(start, 64);
        let base = match constant.index {
            None => base,
            Some(index) => {
                let (index, sum) = (self.read_register(index), self.temporary(64));
                let add = Pure::new(U64, |[a, b]: [u64; 2]| [a.wrapping_add(b & 0xffff_ffff)]).sources(&[U64, U32]);
                self.emit_pure(add, &[sum], &[base, index]);
                sum
            }
        };
        let address = Address { space: Space::Generic, base, offset: distance };
        let (rows, wides) = self.elements(to, form, true);
        let load = Op::Load(Self::access(address, form, rows));
        self.emit(load);
        wides.into_iter().for_each(|wide| self.settle(wide));
        Ok(())
    }

    /// Lowers a load from a table that ptxas stores in a bank, such as the table of a `switch`. The contents are known.
    fn load_table(&mut self, constant: Constant, name: &str, to: Register, form: &Form) -> Result<(), Refusal> {
        let section = self.cubin.sections.get(name).ok_or("the bank is not in the file")?;
        let mut bytes = section.bytes.clone();
        for relocation in &section.relocations {
            let symbol = self.cubin.symbols.get(relocation.symbol).ok_or("a symbol is missing")?;
            let value = super::address_of(symbol).wrapping_add(relocation.addend as u64);
            if let Some(place) = bytes.get_mut(relocation.offset as usize..).and_then(<[u8]>::first_chunk_mut::<8>) {
                *place = value.to_le_bytes();
            }
        }
        let (width, offset, ty) = (form.ty.bytes() as usize, constant.offset as i64, form.ty);
        (form.count == 1).then_some(()).ok_or("a wide load of a table")?;
        let index = constant.index.map_or(ZERO, |index| self.read_register(index));
        let look_up = Pure::new(ty, move |[index]: [u64; 1]| {
            let at = (i64::from(index as u32 as i32) + offset) as usize;
            let mut word = [0; 8];
            let found = bytes.get(at..at.saturating_add(width)).unwrap_or_default();
            word[..found.len()].copy_from_slice(found);
            let value = u64::from_le_bytes(word);
            [if ty.is_signed() { crate::emulate::types::signed(value, ty.bits()) as u64 } else { value }]
        })
        .sources(&[U32]);
        if ty == U64 {
            let (row, wide) = self.wide_result(to);
            self.emit_pure(look_up, &[row], &[index]);
            self.settle(wide);
        } else {
            let row = self.written_register(to);
            self.emit_pure(look_up, &[row], &[index]);
        }
        Ok(())
    }

    /// Lowers `LDGSTS`: a copy from global to shared memory. If the predicate is false, the source is ignored and zeros
    /// are written.
    fn copy_to_shared(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let form = form(instruction)?;
        let bytes = form.ty.bytes() * u32::from(form.count);
        let (to, from, given) = match *instruction.operands.as_slice() {
            [Operand::Address(to), Operand::Address(from)] => (to, from, None),
            [Operand::Address(to), Operand::Address(from), Operand::Predicate(given)] => (to, from, Some(given)),
            _ => return Err("unknown operands".into()),
        };
        let (to, from) = (self.place(to, Space::Shared), self.place(from, Space::Generic));
        let given = given.map(|given| {
            let (by, count) = (self.truth(given), self.temporary(32));
            let all = self.constant(bytes.into(), 32);
            self.emit(Op::Select { to: count, yes: all, no: ZERO, by });
            count
        });
        self.emit(Op::AsyncCopy { to, from, bytes, given });
        Ok(())
    }

    /// Lowers `DEPBAR.LE SB0, n`, which waits until at most `n` groups of copies are left. Its waits for other
    /// instructions have no effect here.
    fn wait_for_copies(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let left = match *instruction.operands.as_slice() {
            [Operand::Scoreboard(_), Operand::Immediate(left), ..] => left,
            _ => 0,
        };
        self.emit(Op::AsyncWait { left });
        Ok(())
    }
}
