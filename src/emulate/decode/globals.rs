//! Variables of a PTX module: addresses and initial contents.

use rustc_hash::FxHashMap;

use super::numbers::number;
use super::scopes::Symbol;
use crate::emulate::layout;
use crate::emulate::program::{Init, Program, Variable, function_address};
use crate::emulate::types::Ty;
use crate::ptx::{Body, Declaration, Declarator, Module, Parts, StatementKind, Text, Token, TokenKind};

/// Stand-in for the start of shared variables of unknown size, until all other variables have addresses.
pub(super) const DYNAMIC: u64 = 0xdead_0000_0000;

/// The variables of a PTX module.
#[derive(Debug)]
pub(super) struct Globals<'a> {
    pub(super) symbols: FxHashMap<&'a str, Symbol>,
    pub(super) variables: Vec<Variable>,
    pub(super) shared_end: u32,
    /// Whether there is a shared variable of unknown size.
    pub(super) has_dynamic: bool,
    /// Whether a kernel asks for clusters of several blocks.
    pub(super) has_clusters: bool,
}

/// Whether a kernel asks for clusters of a size other than one block.
fn asks_for_clusters(text: &Text<'_>, body: &Body) -> bool {
    body.parts.directives.iter().any(|directive| {
        let sizes = directive.values.iter().map(|(_, value)| number(text.str(*value), Ty::Unsigned(32)).unwrap_or(0));
        match text.of(directive.word) {
            b".reqnctapercluster" => sizes.product::<u64>() != 1,
            b".explicitcluster" => !body.parts.directives.iter().any(|one| text.of(one.word) == b".reqnctapercluster"),
            _ => false,
        }
    })
}

impl<'a> Globals<'a> {
    pub(super) fn new(module: &Module<'a>, functions: &FxHashMap<&'a str, usize>) -> Self {
        let mut globals = Self {
            symbols: FxHashMap::default(),
            variables: Vec::new(),
            shared_end: layout::FIRST_SHARED,
            has_dynamic: false,
            has_clusters: module.bodies().iter().any(|body| asks_for_clusters(module.file().text(), body)),
        };
        for (&name, &number) in functions {
            globals.symbols.insert(name, Symbol::Function(number));
        }
        let (file, mut depth) = (module.file(), 0usize);
        let mut declarations = Vec::new();
        for id in file.statements().ids() {
            match file.statements().kind(id) {
                StatementKind::Open => depth += 1,
                StatementKind::Close => depth -= 1,
                StatementKind::Variable if depth == 0 => {
                    if let Some(Parts::Declaration(declaration)) = file.parts(id) {
                        globals.name(file.text(), &declaration);
                        declarations.push(declaration);
                    }
                }
                _ => {}
            }
        }
        for declaration in &declarations {
            globals.fill(file.text(), declaration);
        }
        globals
    }

    /// Assigns addresses to the variables of a declaration in shared, global or constant memory, and returns them.
    pub(super) fn name(&mut self, text: &Text<'a>, declaration: &Declaration) -> Vec<(&'a str, Symbol)> {
        let mut named = Vec::new();
        for declarator in &declaration.declarators {
            let Some(name) = declarator.name.map(|name| text.str(name)) else { continue };
            let Some((bytes, alignment)) = size(text, declaration, declarator) else { continue };
            let symbol = match text.of(declaration.space) {
                b".shared" => {
                    let is_dynamic = declaration.linkage.iter().any(|&word| text.of(word) == b".extern") || bytes == 0;
                    self.has_dynamic |= is_dynamic;
                    let offset = if is_dynamic {
                        DYNAMIC
                    } else {
                        self.shared_end = self.shared_end.next_multiple_of(alignment.max(1));
                        self.shared_end += bytes;
                        (self.shared_end - bytes).into()
                    };
                    Symbol::Shared(offset)
                }
                b".global" | b".const" => Symbol::Constant(layout::variable(name)),
                _ => continue,
            };
            self.symbols.insert(name, symbol);
            named.push((name, symbol));
        }
        named
    }

    /// Reads the initial contents of a declaration's variables.
    pub(super) fn fill(&mut self, text: &Text<'a>, declaration: &Declaration) {
        if !matches!(text.of(declaration.space), b".global" | b".const") {
            return;
        }
        let element = Ty::of(declaration.type_name(text).trim_start_matches('.')).map_or(1, |ty| ty.bits() / 8).max(1);
        for declarator in &declaration.declarators {
            let Some(name) = declarator.name.map(|name| text.str(name)) else { continue };
            let Some((bytes, _)) = size(text, declaration, declarator) else { continue };
            let is_here = declaration.linkage.iter().all(|&word| text.of(word) != b".extern");
            let mut content = Vec::new();
            if let Some((first, end)) = declarator.initial {
                content = self.initial(text, first, end, element as usize);
            }
            if is_here {
                // The rest is zero.
                content.resize(bytes.max(content.len() as u32) as usize, 0);
            }
            let address = layout::variable(name);
            self.variables.push(Variable { name: name.into(), address, bytes: bytes.into(), content });
        }
    }

    fn initial(&self, text: &Text<'a>, first: Token, end: Token, element: usize) -> Vec<u8> {
        let mut content = Vec::new();
        let (mut negative, mut shift, mut adds) = (false, 0u32, false);
        for token in (first.0..end.0).map(Token) {
            let value = match text.kind(token) {
                TokenKind::Number => match number(text.str(token), Ty::Unsigned(64)) {
                    Some(value) => value,
                    None => continue,
                },
                TokenKind::Word => match self.symbols.get(text.str(token)) {
                    Some(Symbol::Constant(address)) => *address,
                    Some(Symbol::Shared(offset)) => *offset,
                    Some(Symbol::Function(_)) => function_address(text.str(token)),
                    // `generic(a)`: all variable addresses are generic already.
                    _ => continue,
                },
                TokenKind::Punctuation => {
                    match text.of(token)[0] {
                        b'-' => negative = true,
                        b'+' => adds = true,
                        // `0xff00(a)`: one byte of an address.
                        b'(' if content.len() >= element && text.kind(Token(token.0 - 1)) == TokenKind::Number => {
                            let mask = content.split_off(content.len() - element);
                            let mut bytes = [0; 8];
                            bytes[..element.min(8)].copy_from_slice(&mask[..element.min(8)]);
                            shift = u64::from_le_bytes(bytes).trailing_zeros() & 63;
                        }
                        _ => {}
                    }
                    continue;
                }
                _ => continue,
            };
            let value = if std::mem::take(&mut negative) { value.wrapping_neg() } else { value };
            if std::mem::take(&mut adds) && content.len() >= element {
                let last = content.split_off(content.len() - element);
                let mut bytes = [0; 8];
                bytes[..element.min(8)].copy_from_slice(&last[..element.min(8)]);
                let sum = u64::from_le_bytes(bytes).wrapping_add(value);
                content.extend_from_slice(&sum.to_le_bytes()[..element.min(8)]);
                continue;
            }
            let value = value >> std::mem::take(&mut shift);
            content.extend_from_slice(&value.to_le_bytes()[..element.min(8)]);
        }
        content
    }
}

/// Returns the size in bytes and the alignment of a declarator.
pub(super) fn size(text: &Text<'_>, declaration: &Declaration, declarator: &Declarator) -> Option<(u32, u32)> {
    let ty = Ty::of(declaration.type_name(text).trim_start_matches('.'))?;
    let vector = declaration.words(text).find_map(|word| match word {
        ".v2" => Some(2),
        ".v4" => Some(4),
        _ => None,
    });
    let element = ty.bytes() * vector.unwrap_or(1);
    let mut bytes = element;
    for &(first, end) in &declarator.dimensions {
        let numbers: Vec<u64> = (first.0..end.0)
            .map(Token)
            .filter(|&token| text.kind(token) == TokenKind::Number)
            .filter_map(|token| number(text.str(token), Ty::Unsigned(64)))
            .collect();
        // `a[]` of an initialised or extern variable has no explicit size.
        bytes = bytes.checked_mul(u32::try_from(numbers.iter().product::<u64>()).ok()?)?;
        if numbers.is_empty() {
            bytes = 0;
        }
    }
    let alignment = declaration.alignment(text).and_then(|text| text.parse().ok()).unwrap_or(element);
    // The alignment of a `.ptr` is that of the memory that it points to.
    let is_pointer = declaration.words(text).any(|word| word == ".ptr");
    Some((bytes, if is_pointer { element } else { alignment }))
}

/// Replaces the stand-in by the start of dynamic shared memory.
pub(super) fn resolve_dynamic(program: &mut Program) {
    let start = u64::from(program.dynamic_shared);
    for row in program.functions.iter_mut().flat_map(|function| &mut function.rows) {
        if let Init::Constant(value) = &mut row.init
            && value.wrapping_sub(DYNAMIC) < 1 << 31
        {
            *value = *value - DYNAMIC + start;
        }
    }
}
