//! Statements with numbers as their source lines, so that machine code tells which of them an instruction comes from.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::module::Module;
use super::statement::{Statement, StatementKind};
use super::view::View;
use crate::function::{Inst, OperandFlags, RegClass};
use crate::target::{is_fusible_product, is_fusible_sum};

/// A text whose instructions have a source line each, in place of the source lines that they had.
#[derive(Clone, Debug, Default)]
pub struct Numbered {
    /// The text.
    pub text: Vec<u8>,
    /// By line, from 1 on: the registers that the statement writes, once for each 32-bit word.
    words: Vec<Vec<String>>,
    /// The lines of the sums that ptxas may compute together with the product that is in a register.
    sums: FxHashMap<String, Vec<u32>>,
}

impl Numbered {
    /// The register that has a word of what the statement of a line computes, where it computes so many words. A statement of
    /// one register may become several instructions, each of which computes a part of it.
    pub fn register(&self, line: u32, word: u32, of: u32) -> Option<&str> {
        let words = self.words.get(line.checked_sub(1)? as usize)?;
        let (first, rest) = words.split_first()?;
        if rest.iter().all(|other| other == first) {
            return Some(first);
        }
        (words.len() == of as usize).then(|| words.get(word as usize).map(String::as_str)).flatten()
    }

    /// Whether a register has a product that an instruction of one of these lines computes together with a sum. Such a sum is
    /// rounded once, and would be rounded twice if the product went through memory.
    pub fn is_fused(&self, register: &str, fused: &BTreeSet<u32>) -> bool {
        self.sums.get(register).is_some_and(|lines| lines.iter().any(|line| fused.contains(line)))
    }
}

impl Module<'_> {
    /// The same code with a source line for each instruction. Debug information goes. O(bytes), and what views cost.
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
                    // What is built for a debugger is not optimised.
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
        numbered.words = vec![Vec::new(); lines.len()];
        for view in self.bodies().iter().filter_map(|body| self.view(body).ok()) {
            numbered.note(&view, &lines);
        }
        numbered
    }
}

impl Numbered {
    /// Notes what the statements of a function write, where a statement is one instruction.
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
