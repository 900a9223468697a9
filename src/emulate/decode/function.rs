//! The statements of a function.

use rustc_hash::FxHashMap;

use super::globals::{Globals, size};
use super::operands::{Refusal, number};
use super::scopes::{Scopes, Symbol, rows_of};
use crate::emulate::layout;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{
    Function, Init, Inst, Kernel, KernelParameter, Op, Place, Row, RowInfo, SINK, Special, ZERO,
};
use crate::emulate::pure::{MOST_SOURCES, find};
use crate::emulate::types::Ty;
use crate::ptx::{Body, Declaration, Instruction, Module, Parts, Statement, StatementKind, Text, Values};

/// Decodes one function.
pub(super) struct Decoder<'a, 'm> {
    pub(super) text: &'m Text<'a>,
    pub(super) globals: &'m mut Globals<'a>,
    pub(super) function_names: Vec<&'a str>,
    pub(super) scopes: Scopes<'a>,
    pub(super) insts: Vec<Inst>,
    pub(super) rows: Vec<RowInfo>,
    pub(super) hashed: &'m mut Vec<String>,
    /// The carry of the condition code.
    pub(super) carry: Option<Row>,
    inits: FxHashMap<(u64, u64), Row>,
    /// The instruction that stands behind each label.
    labels: Vec<Option<u32>>,
    /// Labels of lists of targets.
    lists: FxHashMap<&'a str, Values>,
    frame_bytes: u32,
    guard: Option<(Row, bool)>,
    line: u32,
    is_first: bool,
    begins_block: bool,
    offset_of_line: usize,
}

/// Decodes a function.
pub(super) fn decode<'a>(
    module: &Module<'a>,
    body: &Body,
    globals: &mut Globals<'a>,
    hashed: &mut Vec<String>,
) -> Function {
    let file = module.file();
    let text = file.text();
    let info = |init, bits| RowInfo { bits, init };
    let mut decoder = Decoder {
        text,
        globals,
        function_names: module.bodies().iter().map(|body| body.name(file)).collect(),
        scopes: Scopes::default(),
        insts: Vec::new(),
        rows: vec![info(Init::Undefined, 64), info(Init::Constant(0), 64)],
        hashed,
        carry: None,
        inits: FxHashMap::default(),
        labels: Vec::new(),
        lists: FxHashMap::default(),
        frame_bytes: 0,
        guard: None,
        line: text.place(text.start(file.statements().first(body.head))).0 as u32,
        is_first: true,
        begins_block: true,
        offset_of_line: text.start(file.statements().first(body.head)),
    };
    debug_assert_eq!((SINK, ZERO), (Row(0), Row(1)));
    let statements: Vec<Statement> = body.ids().collect();
    decoder.open_scope(module, &statements);
    let is_kernel = text.of(body.parts.word) == b".entry";
    let (parameters, returns, kernel) = decoder.head(body, is_kernel);
    let kernel = is_kernel.then_some(kernel);
    for (number, &id) in statements.iter().enumerate() {
        decoder.statement(module, id, &statements[number + 1..]);
    }
    decoder.finish();
    let Decoder { insts, rows, frame_bytes, .. } = decoder;
    let name = body.name(file).to_owned();
    let has_atomics = insts.iter().any(|inst| matches!(inst.op, Op::Atomic { .. }));
    let frame_bytes = frame_bytes.next_multiple_of(16);
    Function { name, insts, rows, frame_bytes, parameters, returns, kernel, has_atomics }
}

impl<'a> Decoder<'a, '_> {
    fn head(&mut self, body: &Body, is_kernel: bool) -> (Vec<Place>, Vec<Place>, Kernel) {
        let mut kernel = Kernel::default();
        let mut at = 0u32;
        let mut places = |decoder: &mut Self, list: &Option<Vec<Declaration>>| {
            let mut places = Vec::new();
            for declaration in list.iter().flatten() {
                let Some(declarator) = declaration.declarators.first() else { continue };
                let name = declarator.name.map_or("", |name| decoder.text.str(name));
                let Some((bytes, alignment)) = size(decoder.text, declaration, declarator) else { continue };
                let ty = Ty::of(declaration.type_name(decoder.text).trim_start_matches('.'));
                if is_kernel {
                    at = at.next_multiple_of(alignment.max(1));
                    decoder.scopes.declare(name, Symbol::Constant(layout::PARAMETERS + u64::from(at)));
                    let is_pointer = declaration.words(decoder.text).any(|word| word == ".ptr");
                    let ty = ty.filter(|_| declarator.dimensions.is_empty());
                    kernel.parameters.push(KernelParameter { name: name.into(), offset: at, bytes, ty, is_pointer });
                    at += bytes;
                } else if let Some(ty) = ty.filter(|_| decoder.text.of(declaration.space) == b".reg") {
                    let row = decoder.new_register(ty);
                    decoder.scopes.declare(name, Symbol::Register(row, ty));
                    places.push(Place::Register(row));
                } else {
                    let offset = decoder.frame(bytes, alignment);
                    decoder.scopes.declare(name, Symbol::Frame { offset, bytes });
                    places.push(Place::Frame { offset, bytes });
                }
            }
            places
        };
        let parameters = places(self, &body.parts.parameters);
        let returns = places(self, &body.parts.returns);
        for directive in &body.parts.directives {
            let mut sizes = [1; 3];
            for (size, (_, value)) in sizes.iter_mut().zip(&directive.values) {
                *size = number(self.text.str(*value), Ty::Unsigned(32)).unwrap_or(1) as u32;
            }
            match self.text.of(directive.word) {
                b".reqntid" => kernel.required_block = Some(sizes),
                b".maxntid" => kernel.largest_block = Some(sizes),
                _ => {}
            }
        }
        (parameters, returns, kernel)
    }

    /// Opens the scope that begins with these statements, with the labels in it.
    fn open_scope(&mut self, module: &Module<'a>, statements: &[Statement]) {
        let file = module.file();
        let mut labels = FxHashMap::default();
        let mut depth = 0usize;
        for (number, &id) in statements.iter().enumerate() {
            match file.statements().kind(id) {
                StatementKind::Open => depth += 1,
                StatementKind::Close if depth == 0 => break,
                StatementKind::Close => depth -= 1,
                StatementKind::Label if depth == 0 => {
                    let Some(Parts::Label(name)) = file.parts(id) else { continue };
                    let name = self.text.str(name);
                    // A label of a list names the list.
                    if let Some(Parts::Values(values, _)) = statements.get(number + 1).and_then(|&id| file.parts(id)) {
                        self.lists.insert(name, values);
                    }
                    labels.insert(name, self.labels.len());
                    self.labels.push(None);
                }
                _ => {}
            }
        }
        self.scopes.open(labels);
    }

    fn statement(&mut self, module: &Module<'a>, id: Statement, rest: &[Statement]) {
        let file = module.file();
        let kind = file.statements().kind(id);
        match kind {
            StatementKind::Open => return self.open_scope(module, rest),
            StatementKind::Close => return self.scopes.close(),
            StatementKind::Label => {
                let Some(Parts::Label(name)) = file.parts(id) else { return };
                if let Some(number) = self.scopes.label(self.text.str(name)) {
                    self.labels[number] = Some(self.insts.len() as u32);
                }
                self.begins_block = true;
                return;
            }
            StatementKind::Variable => {
                match file.parts(id) {
                    Some(Parts::Declaration(declaration)) => self.declare(&declaration),
                    _ => self.unknown("a declaration that cannot be read"),
                }
                return;
            }
            StatementKind::Instruction => {}
            StatementKind::Unknown | StatementKind::Line => {
                return self.unknown("a statement that cannot be read");
            }
            _ => return,
        }
        let at = self.text.start(self.text.skip_trivia(file.statements().first(id)));
        let between = &self.text.bytes()[self.offset_of_line..at];
        self.line += between.iter().filter(|&&byte| byte == b'\n').count() as u32;
        self.offset_of_line = at;
        self.is_first = true;
        let Some(Parts::Instruction(instruction)) = file.parts(id) else {
            return self.unknown("an instruction that cannot be read");
        };
        let before = self.insts.len();
        if let Err(refusal) = self.instruction(&instruction) {
            self.insts.truncate(before);
            self.is_first = true;
            self.unknown(&format!("{}: {refusal}", instruction.mnemonic(self.text)));
        }
        self.guard = None;
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        self.guard = match &instruction.guard {
            Some(guard) => Some((self.register(&guard.name)?.0, guard.is_negated)),
            None => None,
        };
        let modifiers: Vec<&str> = instruction.modifiers.iter().map(|&word| &self.text.str(word)[1..]).collect();
        let mnemonic = Mnemonic { word: self.text.str(instruction.word), modifiers };
        self.select(&mnemonic, &instruction.operands)
    }

    fn declare(&mut self, declaration: &Declaration) {
        let text = self.text;
        let space = text.of(declaration.space);
        if matches!(space, b".shared" | b".global" | b".const") {
            for (name, symbol) in self.globals.name(text, declaration) {
                self.globals.symbols.remove(name);
                self.scopes.declare(name, symbol);
            }
            self.globals.fill(text, declaration);
            return;
        }
        let ty = Ty::of(declaration.type_name(text).trim_start_matches('.'));
        for declarator in &declaration.declarators {
            let Some(name) = declarator.name.map(|name| text.str(name)) else { continue };
            match (space, ty) {
                (b".reg", Some(ty)) => {
                    let count = declarator.count.and_then(|count| number(text.str(count), Ty::Unsigned(32)));
                    let vector = declaration.words(text).any(|word| matches!(word, ".v2" | ".v4"));
                    if vector {
                        continue;
                    }
                    match count {
                        None => {
                            let row = self.new_register(ty);
                            self.scopes.declare(name, Symbol::Register(row, ty));
                        }
                        Some(count) => {
                            let first = Row(self.rows.len() as u32);
                            (0..count).for_each(|_| _ = self.new_register(ty));
                            self.scopes.declare_family(name, first, count as u32, ty);
                        }
                    }
                }
                (b".local" | b".param", Some(_)) => {
                    if let Some((bytes, alignment)) = size(text, declaration, declarator) {
                        let offset = self.frame(bytes, alignment);
                        self.scopes.declare(name, Symbol::Frame { offset, bytes });
                    }
                }
                _ => {}
            }
        }
    }

    /// Bytes of the frame.
    fn frame(&mut self, bytes: u32, alignment: u32) -> u32 {
        let offset = self.frame_bytes.next_multiple_of(alignment.max(1));
        self.frame_bytes = offset + bytes;
        offset
    }

    fn new_register(&mut self, ty: Ty) -> Row {
        let row = Row(self.rows.len() as u32);
        for _ in 0..rows_of(ty) {
            self.rows.push(RowInfo { bits: ty.bits().min(64), init: Init::Undefined });
        }
        row
    }

    /// A register that no name of the text has.
    pub(super) fn temporary(&mut self, ty: Ty) -> Row {
        self.new_register(ty)
    }

    /// The row that is filled so when the function is entered.
    pub(super) fn row_of(&mut self, init: Init, bits: u32) -> Row {
        let key = match init {
            Init::Constant(value) => (0, value),
            Init::Frame(offset) => (1, offset.into()),
            // There are few of them.
            Init::Special(special) => {
                let position = self.rows.iter().position(|row| row.init == Init::Special(special));
                if let Some(number) = position {
                    return Row(number as u32);
                }
                (2, self.rows.len() as u64)
            }
            Init::Undefined => (3, 0),
        };
        let next = Row(self.rows.len() as u32);
        let row = *self.inits.entry(key).or_insert(next);
        if row == next {
            self.rows.push(RowInfo { bits, init });
        }
        row
    }

    pub(super) fn constant(&mut self, value: u64, bits: u32) -> Row {
        if value == 0 { ZERO } else { self.row_of(Init::Constant(value), bits.max(1)) }
    }

    pub(super) fn special(&mut self, special: Special, bits: u32) -> Row {
        self.row_of(Init::Special(special), bits)
    }

    /// Adds an operation of the statement.
    pub(super) fn emit(&mut self, op: Op) {
        let is_end = matches!(op, Op::Branch { .. } | Op::IndexedBranch { .. } | Op::Return | Op::Exit | Op::Trap);
        let is_leader = std::mem::replace(&mut self.begins_block, is_end);
        let is_first = std::mem::take(&mut self.is_first);
        self.insts.push(Inst { op, guard: self.guard, line: self.line, is_first, is_leader });
    }

    /// Adds the operation of a mnemonic that only computes.
    pub(super) fn emit_pure(&mut self, mnemonic: &str, to: &[Row], from: &[Row]) -> Result<(), Refusal> {
        let mut words = mnemonic.split('.');
        let parts = Mnemonic { word: words.next().unwrap_or_default(), modifiers: words.collect() };
        let pure = find(&parts).ok_or_else(|| format!("{mnemonic} is not known"))?;
        let mut rows = [ZERO; MOST_SOURCES];
        rows[..from.len()].copy_from_slice(from);
        let mut results = [SINK; 2];
        results[..to.len()].copy_from_slice(to);
        self.emit(Op::Pure { pure, to: results, from: rows });
        Ok(())
    }

    pub(super) fn unknown(&mut self, what: &str) {
        self.emit(Op::Unknown(what.into()));
    }

    /// The number of a label, until the function is finished.
    pub(super) fn target(&self, name: &str) -> Result<u32, Refusal> {
        self.scopes.label(name).map(|label| label as u32).ok_or_else(|| format!("the label {name} is not known"))
    }

    /// The labels of a list of targets.
    pub(super) fn targets(&self, name: &str) -> Result<Vec<u32>, Refusal> {
        let values = self.lists.get(name).ok_or_else(|| format!("the list {name} is not known"))?;
        values.values.iter().map(|&(_, label)| self.target(self.text.str(label))).collect()
    }

    /// Puts instructions in place of labels.
    fn finish(&mut self) {
        let end = self.insts.len() as u32;
        self.guard = None;
        self.is_first = false;
        self.emit(Op::Return);
        let at = |label: u32| self.labels.get(label as usize).copied().flatten().unwrap_or(end);
        for inst in &mut self.insts {
            match &mut inst.op {
                Op::Branch { target } => *target = at(*target),
                Op::IndexedBranch { targets, .. } => targets.iter_mut().for_each(|target| *target = at(*target)),
                _ => {}
            }
        }
    }
}
