//! The state of the lowering of a function: its rows, and the operations so far.

use std::collections::{BTreeMap, BTreeSet};

use super::super::cubin::Cubin;
use super::super::cubin::image::Kernel;
use super::super::instruction::{BYTES, Function as Code, Instruction};
use super::super::meaning::Approximation;
use super::super::operand::{Operand, PT, Predicate, RZ, Register};
use super::Refusal;
use crate::emulate::program::{Init, Inst, Op, Row, RowInfo, SINK, Special, ZERO};
use crate::emulate::pure::Pure;
use crate::emulate::types::low;

/// The state of the lowering of a function.
pub(super) struct Lowerer<'c> {
    pub(super) cubin: &'c Cubin,
    pub(super) kernel: &'c Kernel,
    pub(super) code: &'c Code,
    pub(super) approximation: Approximation,
    rows: Vec<RowInfo>,
    insts: Vec<Inst>,
    /// The operations before the first instruction.
    pub(super) prologue: Vec<Op>,
    files: BTreeMap<(File, u8), Row>,
    inits: BTreeMap<(u8, u64), Row>,
    /// Words of constant banks, by bank, offset and bits.
    pub(super) words: BTreeMap<(u8, u32, u32), Row>,
    /// Rows for intermediate values, by width in bits, and how many of them the current instruction uses.
    temporaries: BTreeMap<u32, (Vec<Row>, usize)>,
    /// The first operation of each machine instruction.
    starts: Vec<u32>,
    leaders: BTreeSet<u32>,
    pub(super) guard: Option<(Row, bool)>,
    line: u32,
    is_first: bool,
    is_leader: bool,
    /// Whether the operations are uniform.
    pub(super) is_uniform: bool,
}

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum File {
    General,
    Uniform,
    Predicate,
    UniformPredicate,
    Convergence,
    /// The results of a barrier: a count and a predicate.
    Barrier,
}

impl<'c> Lowerer<'c> {
    pub(super) fn new(cubin: &'c Cubin, kernel: &'c Kernel, code: &'c Code, approximation: Approximation) -> Self {
        let info = |init, bits| RowInfo { bits, init };
        Self {
            cubin,
            kernel,
            code,
            approximation,
            rows: vec![info(Init::Undefined, 64), info(Init::Constant(0), 64)],
            insts: Vec::new(),
            prologue: Vec::new(),
            files: BTreeMap::new(),
            inits: BTreeMap::new(),
            words: BTreeMap::new(),
            temporaries: BTreeMap::new(),
            starts: Vec::with_capacity(code.instructions.len()),
            leaders: leaders(&code.instructions),
            guard: None,
            line: 0,
            is_first: true,
            is_leader: true,
            is_uniform: false,
        }
    }

    /// Lowers all instructions. An instruction that cannot be lowered becomes an operation that ends the launch.
    pub(super) fn lower(&mut self) {
        let code = self.code;
        for one in &code.instructions[..without_padding(&code.instructions)] {
            self.starts.push(self.insts.len() as u32);
            self.line = one.address / BYTES + 1;
            self.is_leader = self.leaders.contains(&one.address);
            (self.is_first, self.is_uniform, self.guard) = (true, false, None);
            self.temporaries.values_mut().for_each(|(_, used)| *used = 0);
            let before = self.insts.len();
            if let Err(refusal) = self.instruction(one) {
                self.insts.truncate(before);
                (self.is_first, self.is_uniform) = (true, false);
                self.is_leader = self.leaders.contains(&one.address);
                self.guard = one.guard.and_then(|guard| self.guard_of(guard));
                self.emit(Op::Unknown(format!("{}: {refusal}", one.mnemonic)));
            }
        }
        (self.is_first, self.is_leader, self.is_uniform, self.guard) = (false, false, false, None);
        self.emit(Op::Unknown("execution reaches the end of the code".into()));
    }

    /// Returns the operations, the prologue first, and the rows.
    pub(super) fn finish(self) -> (Vec<Inst>, Vec<RowInfo>) {
        let ahead = self.prologue.len() as u32;
        let end = self.insts.len() as u32 - 1;
        let at = |number: u32| ahead + self.starts.get(number as usize).copied().unwrap_or(end);
        let inst = |op| Inst { op, guard: None, line: 0, is_first: false, is_leader: false, is_uniform: false };
        let mut insts: Vec<Inst> = self.prologue.into_iter().map(inst).collect();
        insts.extend(self.insts);
        for inst in &mut insts {
            match &mut inst.op {
                Op::Branch { target } => *target = at(*target),
                Op::IndexedBranch { targets, .. } => *targets = (0..self.starts.len() as u32).map(at).collect(),
                _ => {}
            }
        }
        (insts, self.rows)
    }

    /// Adds an operation of the current instruction.
    pub(super) fn emit(&mut self, op: Op) {
        let (is_first, is_leader) = (std::mem::take(&mut self.is_first), std::mem::take(&mut self.is_leader));
        let Self { guard, line, is_uniform, .. } = *self;
        self.insts.push(Inst { op, guard, line, is_first, is_leader, is_uniform });
    }

    /// Adds a function of rows.
    pub(super) fn emit_pure(&mut self, pure: Pure, to: &[Row], from: &[Row]) {
        self.emit(pure_op(pure, to, from));
    }

    pub(super) fn new_row(&mut self, init: Init, bits: u32) -> Row {
        self.rows.push(RowInfo { bits, init });
        Row(self.rows.len() as u32 - 1)
    }

    /// Returns a row for an intermediate value of the current instruction.
    pub(super) fn temporary(&mut self, bits: u32) -> Row {
        let used = self.temporaries.get(&bits).and_then(|(rows, used)| rows.get(*used)).copied();
        let row = used.unwrap_or_else(|| self.new_row(Init::Undefined, bits));
        let (rows, count) = self.temporaries.entry(bits).or_default();
        if *count == rows.len() {
            rows.push(row);
        }
        *count += 1;
        row
    }

    pub(super) fn constant(&mut self, value: u64, bits: u32) -> Row {
        let value = low(value, bits);
        if value == 0 {
            return ZERO;
        }
        if let Some(&row) = self.inits.get(&(0, value)) {
            return row;
        }
        let row = self.new_row(Init::Constant(value), 64);
        self.inits.insert((0, value), row);
        row
    }

    pub(super) fn special(&mut self, special: Special) -> Row {
        let known = self.rows.iter().position(|row| row.init == Init::Special(special));
        known.map_or_else(|| self.new_row(Init::Special(special), 32), |known| Row(known as u32))
    }

    /// Returns the row of a register other than the zero register.
    pub(super) fn row(&mut self, file: File, number: u8) -> Row {
        if let Some(&row) = self.files.get(&(file, number)) {
            return row;
        }
        let bits = if matches!(file, File::Predicate | File::UniformPredicate) { 1 } else { 32 };
        let init = match file {
            File::General | File::Predicate => Init::Leftover { is_uniform: false },
            File::Uniform | File::UniformPredicate => Init::Leftover { is_uniform: true },
            File::Convergence | File::Barrier => Init::Undefined,
        };
        let row = self.new_row(init, bits);
        self.files.insert((file, number), row);
        row
    }

    fn file(is_uniform: bool) -> File {
        if is_uniform { File::Uniform } else { File::General }
    }

    /// Returns the row from which a register is read.
    pub(super) fn read_register(&mut self, register: Register) -> Row {
        if register.number == RZ { ZERO } else { self.row(Self::file(register.is_uniform), register.number) }
    }

    /// Returns the row to which a register is written.
    pub(super) fn written_register(&mut self, register: Register) -> Row {
        if register.number == RZ { SINK } else { self.row(Self::file(register.is_uniform), register.number) }
    }

    /// Returns the row of a predicate, without its negation.
    pub(super) fn read_predicate(&mut self, predicate: Predicate) -> Row {
        let file = if predicate.is_uniform { File::UniformPredicate } else { File::Predicate };
        if predicate.number == PT { self.constant(1, 1) } else { self.row(file, predicate.number) }
    }

    pub(super) fn written_predicate(&mut self, predicate: Predicate) -> Row {
        let file = if predicate.is_uniform { File::UniformPredicate } else { File::Predicate };
        if predicate.number == PT { SINK } else { self.row(file, predicate.number) }
    }

    /// Returns the guard. `None` if it is always true.
    pub(super) fn guard_of(&mut self, guard: Predicate) -> Option<(Row, bool)> {
        let is_always = guard.number == PT && !guard.negated;
        (!is_always).then(|| (self.read_predicate(guard), guard.negated))
    }

    /// Returns the number of the machine instruction at an address.
    pub(super) fn number_of(&self, address: i64) -> Result<u32, Refusal> {
        let number = u32::try_from(address).ok().filter(|address| address % BYTES == 0).map(|address| address / BYTES);
        let known = number.filter(|&number| (number as usize) < self.code.instructions.len());
        known.ok_or_else(|| format!("there is no instruction at {address:#x}"))
    }
}

/// Returns the number of instructions before the padding at the end of a function: a jump to itself, and NOPs.
fn without_padding(instructions: &[Instruction]) -> usize {
    let count = instructions.iter().rposition(|one| one.word() != "NOP").map_or(0, |last| last + 1);
    let jumps_to_itself = |one: &Instruction| {
        one.guard.is_none() && one.operands == [Operand::Target(one.address.into())] && one.word() == "BRA"
    };
    count - usize::from(instructions[..count].last().is_some_and(jumps_to_itself))
}

/// Creates an operation that computes.
pub(super) fn pure_op(pure: Pure, to: &[Row], from: &[Row]) -> Op {
    let mut results = [SINK; 2];
    results[..to.len()].copy_from_slice(to);
    let mut sources = [ZERO; crate::emulate::pure::MOST_SOURCES];
    sources[..from.len()].copy_from_slice(from);
    Op::Pure { pure, to: results, from: sources }
}

/// Returns the addresses at which blocks begin: jump targets, and the instructions after jumps, calls and exits.
fn leaders(instructions: &[Instruction]) -> BTreeSet<u32> {
    let mut leaders = BTreeSet::from([0]);
    for one in instructions {
        let leaves = matches!(one.word(), "BRA" | "BRX" | "JMX" | "JMP" | "CALL" | "RET" | "EXIT" | "BREAK" | "KILL");
        if leaves {
            leaders.insert(one.address + BYTES);
        }
        for operand in &one.operands {
            if let Operand::Target(target) = operand
                && one.word() != "RET"
            {
                leaders.extend(u32::try_from(*target));
            }
        }
    }
    leaders
}
