//! Statements numbered by their source lines, so that each machine instruction can be traced to its statement.

use std::collections::BTreeSet;
use std::iter;

use rustc_hash::FxHashMap;

use super::module::Module;
use super::other_name::{notes, other_names};
use super::statement::{Statement, StatementKind};
use super::view::View;
use crate::config::NamedLoad;
use crate::function::{Inst, OperandFlags, RegClass, Role};
use crate::target::{is_fusible_product, is_fusible_sum};

/// The most copies of a value that are followed.
const MOST_COPIES: usize = 4;

/// The most instructions from a read to the instruction into which ptxas has folded the read.
const MOST_FOLDED: usize = 3;

/// The most readers of a result that are followed.
const MOST_READERS: usize = 8;

/// PTX with a unique source line for each instruction. The original source lines are replaced.
#[derive(Clone, Debug, Default)]
pub struct Numbered {
    /// The PTX.
    pub text: Vec<u8>,
    /// By line, from 1 on: the registers that the statement writes, repeated for each 32-bit word.
    words: Vec<Vec<String>>,
    /// By register with a product: the lines of the sums that ptxas may fuse with it.
    sums: FxHashMap<String, Vec<u32>>,
    /// By register: the lines of its readers, in order. The line of an instruction of several statements is 0.
    reads: FxHashMap<String, Vec<u32>>,
    /// By register: the register into which it is copied, alone or packed with other registers.
    copies: FxHashMap<String, String>,
}

impl Numbered {
    /// Returns the register with a word of a statement's result, if the result has `of` words. A statement with one
    /// result register may become several instructions, each of which computes a part of the register.
    pub fn register(&self, line: u32, word: u32, of: u32) -> Option<&str> {
        let words = self.words.get(line.checked_sub(1)? as usize)?;
        let (first, rest) = words.split_first()?;
        if rest.iter().all(|other| other == first) {
            return Some(first);
        }
        (words.len() == of as usize).then(|| words.get(word as usize).map(String::as_str)).flatten()
    }

    /// Returns the register that has the value of `register` for most of the value's life. If the only reader of a
    /// register copies it, the value is in the copy from then on.
    pub fn carrier<'n>(&'n self, register: &'n str) -> &'n str {
        let is_read_once = |register: &str| self.reads.get(register).is_some_and(|lines| lines.len() == 1);
        let copy = |register: &&'n str| {
            let copy = self.copies.get(*register).filter(|_| is_read_once(register));
            copy.map(String::as_str)
        };
        iter::successors(Some(register), copy).take(MOST_COPIES).last().unwrap_or(register)
    }

    /// Returns the loads of a register's value, in the order of the reads. Each load has its execution count and the
    /// numbers of the reads that it serves. Loads that serve the same read are merged, and loads that serve no read are
    /// left out. ptxas may fold a read into a later instruction, which uses the read's result. The load then has the
    /// line of the later instruction's statement as its reader.
    pub fn loads<'l>(
        &self,
        register: &str,
        loads: impl IntoIterator<Item = (u32, &'l BTreeSet<u32>)>,
    ) -> Vec<NamedLoad> {
        let lines = self.reads.get(register).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<NamedLoad> = Vec::new();
        for (times, readers) in loads {
            let served = |steps: usize| -> Vec<u32> {
                let is_served = |line: u32| self.leads_to(line, readers, steps);
                (1..).zip(lines).filter(|&(_, &line)| is_served(line)).map(|(number, _)| number).collect()
            };
            let Some(reads) = (0..=MOST_FOLDED).map(served).find(|reads| !reads.is_empty()) else { continue };
            let mut load = NamedLoad { reads, times };
            let (same, others): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|other| other.reads.iter().any(|read| load.reads.contains(read)));
            for NamedLoad { reads, times } in same {
                load.reads.extend(reads);
                load.times = load.times.max(times);
            }
            load.reads.sort_unstable();
            load.reads.dedup();
            found = others;
            found.push(load);
        }
        found.sort_by(|one, other| one.reads.cmp(&other.reads));
        found
    }

    /// Whether the statement of a line, or an instruction that uses its result after `steps` steps, is on one of the
    /// wanted lines.
    fn leads_to(&self, line: u32, wanted: &BTreeSet<u32>, steps: usize) -> bool {
        if line == 0 || steps == 0 {
            return wanted.contains(&line);
        }
        let written = self.words.get(line as usize - 1).into_iter().flatten();
        let mut reading = written.filter_map(|register| self.reads.get(register)).flatten().take(MOST_READERS);
        reading.any(|&next| self.leads_to(next, wanted, steps - 1))
    }

    /// Whether a register has a product that ptxas fuses with a sum into an instruction on one of the lines `fused`.
    /// The fused sum is rounded once. It would be rounded twice if the product were spilled.
    pub fn is_fused(&self, register: &str, fused: &BTreeSet<u32>) -> bool {
        self.sums.get(register).is_some_and(|lines| lines.iter().any(|line| fused.contains(line)))
    }
}

impl Module<'_> {
    /// Returns the same code with a source line for each instruction. Debug information is removed. O(bytes), plus the
    /// cost of views.
    pub fn numbered(&self) -> Numbered {
        let file = self.file();
        let (text, statements) = (file.text(), file.statements());
        let mut numbered = Numbered::default();
        let mut lines: FxHashMap<Statement, u32> = FxHashMap::default();
        let mut depth = 0usize;
        for statement in statements.ids() {
            match statements.kind(statement) {
                StatementKind::Open => depth += 1,
                StatementKind::Close => depth -= 1,
                StatementKind::Loc | StatementKind::Section => continue,
                StatementKind::Header if file.first_word(statement) == ".file" => continue,
                StatementKind::Header if file.first_word(statement) == ".target" => {
                    // Code for a debugger is not optimised.
                    let values = self.header_values(".target").into_iter().map(|value| text.str(value));
                    let values: Vec<&str> = values.filter(|&value| value != "debug").collect();
                    numbered.text.extend(format!("\n.target {}\n", values.join(", ")).into_bytes());
                    continue;
                }
                StatementKind::Instruction if depth > 0 => {
                    let line = lines.len() as u32 + 1;
                    lines.insert(statement, line);
                    numbered.text.extend(format!("\n.loc 1 {line} 1\n").into_bytes());
                }
                _ => {}
            }
            numbered.text.extend_from_slice(file.bytes_of(statement));
        }
        numbered.text.extend_from_slice(b"\n.file 1 \"statements.ptx\"\n");
        numbered.text.extend(notes(&other_names(text.bytes())));
        numbered.words = vec![Vec::new(); lines.len()];
        for view in self.bodies().iter().filter_map(|body| self.view(body).ok()) {
            numbered.note(&view, &lines);
        }
        numbered
    }
}

impl Numbered {
    /// Records the registers that the statements of a function write, for statements that are one instruction.
    fn note(&mut self, view: &View<'_>, lines: &FxHashMap<Statement, u32>) {
        let function = &view.function;
        let name = |reg| function.reg_name(reg).unwrap_or_default().to_owned();
        let line_of = |inst: Inst| {
            let (first, last) = view.statements[inst];
            (first == last).then(|| lines.get(&first).copied()).flatten()
        };
        let opcode = |inst: Inst| function.opcodes().name(function.opcode(inst));
        for inst in function.insts() {
            let Some(line) = line_of(inst) else { continue };
            let operands = function.operands(inst).iter();
            let written = operands.filter(|operand| !operand.flags.contains(OperandFlags::IMPLICIT));
            for reg in written.filter_map(|operand| operand.def()).filter(|&reg| function.class(reg) != RegClass::B1) {
                let words = function.class(reg).words().max(1) as usize;
                self.words[line as usize - 1].extend(std::iter::repeat_n(name(reg), words));
                if is_fusible_product(opcode(inst)) {
                    self.sums.entry(name(reg)).or_default();
                }
            }
        }
        let mut last_read: FxHashMap<&str, Inst> = FxHashMap::default();
        for inst in function.insts() {
            for reg in function.operands(inst).iter().filter_map(|operand| operand.read_reg()) {
                let name = function.reg_name(reg).unwrap_or_default();
                if last_read.insert(name, inst) != Some(inst) {
                    self.reads.entry(name.to_owned()).or_default().push(line_of(inst).unwrap_or(0));
                }
            }
            if matches!(function.role(inst), Role::Copy | Role::Pack) {
                let operands = function.operands(inst);
                let mut written = operands.iter().filter_map(|operand| operand.def());
                if let (Some(copy), None) = (written.next(), written.next()) {
                    let read = operands.iter().filter_map(|operand| operand.read_reg());
                    self.copies.extend(read.map(|reg| (name(reg), name(copy))));
                }
            }
        }
        for inst in function.insts().filter(|&inst| is_fusible_sum(opcode(inst))) {
            let Some(line) = line_of(inst) else { continue };
            for reg in function.operands(inst).iter().filter_map(|operand| operand.read_reg()) {
                if let Some(of) = self.sums.get_mut(function.reg_name(reg).unwrap_or_default()) {
                    of.push(line);
                }
            }
        }
    }
}
