//! The names, symbols and parameters of a function during the construction of its view.

use rustc_hash::{FxHashMap, FxHashSet};

use super::names::{NameMeaning, Names};
use crate::function::{FunctionBuilder, Slot, Symbol};
use crate::ptx::body::Body;
use crate::ptx::file::File;
use crate::ptx::parts::{Declaration, Parts};
use crate::ptx::statement::{Statement, StatementKind};
use crate::ptx::token::{Token, TokenKind};

/// The shared memory variables by name, each with its size in bytes. `None` if the launch defines the size.
pub(in crate::ptx) type SharedVariables<'a> = FxHashMap<&'a str, Option<u64>>;

/// The facts about a file.
#[derive(Debug, Default)]
pub(in crate::ptx) struct Facts<'a> {
    /// The shared memory variables that it declares outside of functions.
    pub(in crate::ptx) shared: SharedVariables<'a>,
    /// The statements of its version, target and files.
    pub(in crate::ptx) headers: Vec<Statement>,
    /// Whether a pragma outside of functions asks ptxas to unroll no loop.
    pub(in crate::ptx) stops_unrolling: bool,
    /// The reason why no function can be edited.
    pub(in crate::ptx) odd: Option<&'static str>,
}

/// Adds the shared memory variables that a statement declares.
pub(in crate::ptx) fn add_shared<'a>(file: &File<'a>, statement: Statement, variables: &mut SharedVariables<'a>) {
    if file.statements().kind(statement) != StatementKind::Variable {
        return;
    }
    let Some(Parts::Declaration(declaration)) = file.parts(statement) else { return };
    let text = file.text();
    if text.of(declaration.space) != b".shared" {
        return;
    }
    for declarator in &declaration.declarators {
        let Some(name) = declarator.name else { continue };
        let is_dynamic = declaration.linkage.iter().any(|&word| text.of(word) == b".extern");
        let bytes = bytes_of(file, &declaration, &declarator.dimensions).filter(|_| !is_dynamic);
        variables.insert(text.str(name), bytes);
    }
}

/// Returns the bytes of a variable. `None` if a dimension is no number.
fn bytes_of(file: &File<'_>, declaration: &Declaration, dimensions: &[(Token, Token)]) -> Option<u64> {
    let text = file.text();
    let bits = declaration.type_name(text).get(2..)?.split('x').next()?.parse::<u64>().ok()?;
    let vector = declaration.words(text).find_map(|word| word.strip_prefix(".v")?.parse::<u64>().ok());
    let mut bytes = (bits / 8).checked_mul(vector.unwrap_or(1))?;
    for &(first, _) in dimensions {
        bytes = bytes.checked_mul(text.str(first).parse().ok()?)?;
    }
    Some(bytes)
}

/// The facts about a function.
pub(super) struct Context<'f, 'a> {
    pub(super) file: &'f File<'a>,
    pub(super) names: Names<'a>,
    pub(super) parameters: FxHashSet<&'a str>,
    /// Whether it is a device function that takes the address of a parameter. The function may then write the
    /// parameter.
    pub(super) may_write_parameters: bool,
    pub(super) facts: &'f Facts<'a>,
    own_shared: SharedVariables<'a>,
    /// The stack variables of the function.
    slots: FxHashMap<&'a str, Slot>,
    symbols: FxHashMap<String, Symbol>,
    pub(super) builder: FunctionBuilder,
}

impl<'f, 'a> Context<'f, 'a> {
    /// Creates the context of a function from its own declarations. Also returns the reason if the function cannot be
    /// edited.
    pub(super) fn new(
        file: &'f File<'a>,
        body: &Body,
        declarations: &[Statement],
        facts: &'f Facts<'a>,
        builder: FunctionBuilder,
    ) -> Result<Self, String> {
        let text = file.text();
        let mut context = Self {
            file,
            names: Names::default(),
            parameters: FxHashSet::default(),
            may_write_parameters: false,
            facts,
            own_shared: SharedVariables::default(),
            slots: FxHashMap::default(),
            symbols: FxHashMap::default(),
            builder,
        };
        let strange = |_| "a declaration of registers is not understood".to_owned();
        for list in [&body.parts.parameters, &body.parts.returns].into_iter().flatten() {
            for parameter in list {
                if text.of(parameter.space) == b".reg" {
                    context.names.declare(file, parameter).map_err(strange)?;
                } else {
                    let names = parameter.declarators.iter().filter_map(|declarator| declarator.name);
                    context.parameters.extend(names.map(|name| text.str(name)));
                }
            }
        }
        context.may_write_parameters = text.of(body.parts.word) != b".entry" && context.takes_addresses(body);
        for &statement in declarations {
            match file.parts(statement) {
                Some(Parts::Declaration(declaration)) if text.of(declaration.space) == b".reg" => {
                    context.names.declare(file, &declaration).map_err(strange)?;
                }
                Some(Parts::Declaration(declaration)) if text.of(declaration.space) == b".local" => {
                    context.add_slots(&declaration);
                }
                Some(_) => add_shared(file, statement, &mut context.own_shared),
                None => return Err("a declaration is not understood".into()),
            }
        }
        Ok(context)
    }

    /// Whether a parameter has a use other than as the base of an address.
    fn takes_addresses(&self, body: &Body) -> bool {
        let (statements, text) = (self.file.statements(), self.file.text());
        if self.parameters.is_empty() || body.statements.is_empty() {
            return false;
        }
        let last = Statement(body.statements.end.0 - 1);
        let tokens = (statements.first(body.statements.start).0..statements.end(text, last).0).map(Token);
        let mut previous: &[u8] = b"";
        tokens.filter(|&token| text.kind(token) != TokenKind::Trivia).any(|token| {
            let ahead = std::mem::replace(&mut previous, text.of(token));
            ahead != b"[" && self.parameters.contains(text.str(token))
        })
    }

    /// Adds stack variables of a known size. Other variables stay symbols.
    fn add_slots(&mut self, declaration: &Declaration) {
        let text = self.file.text();
        let align = declaration.alignment(text).and_then(|align| align.parse().ok());
        let align = align.filter(|align: &u64| align.is_power_of_two()).unwrap_or(8);
        for declarator in &declaration.declarators {
            if let Some(name) = declarator.name
                && let Some(bytes) = bytes_of(self.file, declaration, &declarator.dimensions)
            {
                let slot = self.builder.slot(bytes, align);
                self.slots.insert(text.str(name), slot);
            }
        }
    }

    /// Returns the stack variable with a name.
    pub(super) fn slot(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    /// Returns the meaning of a word in the function itself.
    pub(super) fn meant(&mut self, token: Token) -> NameMeaning {
        match self.names.register(self.file.text().str(token), token) {
            Some(reg) => NameMeaning::Register(reg),
            None => NameMeaning::Other,
        }
    }

    /// Returns the symbol with a text.
    pub(super) fn symbol(&mut self, text: String) -> Symbol {
        if let Some(&symbol) = self.symbols.get(&text) {
            return symbol;
        }
        let variable = text.trim_start_matches('@').split(['+', '-', '[']).next().unwrap_or_default();
        let symbol = match self.own_shared.get(variable).or_else(|| self.facts.shared.get(variable)) {
            None => self.builder.symbol(&text),
            Some(Some(bytes)) => self.builder.shared_symbol(&text, *bytes),
            Some(None) => self.builder.dynamic_shared_symbol(&text),
        };
        self.symbols.insert(text, symbol);
        symbol
    }

    /// Returns the symbol of a name: a variable, a function or a special register.
    pub(super) fn named_symbol(&mut self, name: &str) -> Symbol {
        let is_plain = self.parameters.contains(name) || name.starts_with('%');
        self.symbol(if is_plain { name.to_owned() } else { format!("@{name}") })
    }
}
