//! The statements of a function.

use rustc_hash::FxHashMap;

use super::decoder::{Decoder, Refusal};
use super::globals::{Globals, size};
use super::numbers::number;
use super::scopes::{Scopes, Symbol};
use crate::emulate::layout;
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{Function, Init, Kernel, KernelParameter, Op, Place, Row, RowInfo, SINK, ZERO};
use crate::emulate::types::Ty;
use crate::ptx::{Body, Declaration, Instruction, Module, Parts, Statement, StatementKind};

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

    /// Opens the scope that begins with these statements, and declares its labels.
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
                    // The label before a target list names the list.
                    if let Some(Parts::Values(values)) = statements.get(number + 1).and_then(|&id| file.parts(id)) {
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

    /// Replaces labels by instructions.
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
