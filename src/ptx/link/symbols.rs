//! The symbols of a file: the kind of each top-level name, and the names that an item uses.
//!
//! A word of a function is a symbol of the file unless the function declares the same name. A function that uses a
//! symbol and also declares its name is refused, because the scopes of its braces are not tracked.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::index::EntityIndex;
use crate::ptx::file::File;
use crate::ptx::parts::{Declaration, FunctionHead, Operand, Parts};
use crate::ptx::slice::{Item, items};
use crate::ptx::statement::{Statement, StatementKind};
use crate::ptx::token::{Token, TokenKind};

/// The pragma that lets ptxas spill to shared memory.
const SMEM_SPILLING: &str = "\"enable_smem_spilling\"";

/// The kind of a name.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    /// A kernel.
    Kernel(FunctionHead),
    /// A function, and whether it has a body.
    Function(FunctionHead, bool),
    /// A variable: its declaration, and its position there.
    Variable(Declaration, usize),
    /// Another kind, in words.
    Other(&'static str),
}

/// A use of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use<'a> {
    pub(super) token: Token,
    pub(super) name: &'a str,
    /// Whether an instruction calls the name.
    pub(super) is_call: bool,
}

/// The names that a function or a variable uses and declares.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses<'a> {
    /// The words that the item does not declare: symbols of the file, special registers, and PTX keywords.
    pub(super) uses: Vec<Use<'a>>,
    /// The names that a function declares, parameters included.
    pub(super) locals: FxHashSet<&'a str>,
    /// The prefixes that the function declares with a count, such as `%r<10>`.
    counted: Vec<&'a str>,
    /// All occurrences of parameters, in declarations and uses.
    pub(super) parameters: Vec<Use<'a>>,
    /// The source line statements.
    pub(super) lines: Vec<Statement>,
    /// Whether the function enables spills to shared memory.
    pub(super) spills_to_shared: bool,
}

impl Uses<'_> {
    /// Whether the function declares a name.
    pub(super) fn declares(&self, name: &str) -> bool {
        let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        self.locals.contains(name) || self.counted.iter().any(|&part| name.strip_prefix(part).is_some_and(is_number))
    }
}

/// Whether a section has the names to which source lines of inlined functions refer (`.loc … function_name`).
fn is_of_lines(file: &File<'_>, section: Statement) -> bool {
    let Some(Parts::Section(section)) = file.parts(section) else { return true };
    file.text().of(section.name) == b".debug_str"
}

/// The symbols of a file.
pub(super) struct Symbols<'f, 'a> {
    pub(super) file: &'f File<'a>,
    pub(super) items: Vec<Item<'a>>,
    by_name: FxHashMap<&'a str, Vec<usize>>,
    aliases: FxHashSet<&'a str>,
    /// The words of sections that source lines need.
    pub(super) in_strings: FxHashSet<&'a str>,
    /// The words of all other sections.
    pub(super) in_sections: FxHashSet<&'a str>,
    /// The directives for the whole file other than its head.
    pub(super) directives: Vec<String>,
}

impl<'f, 'a> Symbols<'f, 'a> {
    /// O(bytes).
    pub(super) fn new(file: &'f File<'a>) -> Self {
        let (text, statements, items) = (file.text(), file.statements(), items(file));
        let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        let [mut aliases, mut in_strings, mut in_sections] = [(); 3].map(|()| FxHashSet::default());
        let mut directives = Vec::new();
        for (number, item) in items.iter().enumerate() {
            item.names.iter().for_each(|name| by_name.entry(name).or_default().push(number));
            let words = words(file, item.first);
            match statements.kind(item.first) {
                StatementKind::Directive if file.first_word(item.first) == ".alias" => {
                    aliases.extend(words.map(|word| text.str(word)).next());
                }
                StatementKind::Section if is_of_lines(file, item.first) => {
                    in_strings.extend(words.map(|word| text.str(word)));
                }
                StatementKind::Section => in_sections.extend(words.map(|word| text.str(word))),
                StatementKind::Function
                | StatementKind::Variable
                | StatementKind::Header
                | StatementKind::Empty
                | StatementKind::End => {}
                _ => directives.push(String::from_utf8_lossy(file.bytes_of(item.first)).trim().to_owned()),
            }
        }
        Self { file, items, by_name, aliases, in_strings, in_sections, directives }
    }

    /// Returns the sections that debug information needs and source lines do not.
    pub(super) fn sections_apart_from_lines(&self) -> impl Iterator<Item = &Item<'a>> {
        let is_section = |item: &&Item<'a>| self.file.statements().kind(item.first) == StatementKind::Section;
        self.items.iter().filter(is_section).filter(|item| !is_of_lines(self.file, item.first))
    }

    /// Returns the names of data that the code of all blocks sees.
    pub(super) fn data(&self) -> Vec<&'a str> {
        let names = self.items.iter().flat_map(|item| item.names.iter().copied());
        names.filter(|name| self.is_data(name)).collect()
    }

    fn is_data(&self, name: &str) -> bool {
        let is_data = |space: Token| [".global", ".const"].contains(&self.file.text().str(space));
        matches!(self.symbol(name), Some(Symbol::Variable(declaration, _)) if is_data(declaration.space))
    }

    /// Returns the data that code and its callees refer to.
    ///
    /// # Errors
    /// The part of a function that is not understood.
    pub(super) fn data_of(&self, code: &Uses<'a>) -> Result<BTreeSet<&'a str>, String> {
        let (mut data, mut seen) = (BTreeSet::new(), FxHashSet::default());
        let mut waiting: Vec<&str> = code.uses.iter().map(|one| one.name).collect();
        while let Some(name) = waiting.pop() {
            if !seen.insert(name) {
                continue;
            }
            if self.is_data(name) {
                data.insert(name);
            }
            for &number in self.items_of(name) {
                waiting.extend(self.uses(number)?.uses.iter().map(|one| one.name));
            }
        }
        Ok(data)
    }

    /// Returns the items that define a name.
    pub(super) fn items_of(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the kind of a name. `None` if the file has no such symbol.
    pub(super) fn symbol(&self, name: &str) -> Option<Symbol> {
        if self.aliases.contains(name) {
            return Some(Symbol::Other("an alias"));
        }
        let numbers = self.items_of(name);
        // A definition takes precedence over a prototype.
        let number = *numbers.iter().find(|&&number| self.has_body(number)).or(numbers.first())?;
        let item = &self.items[number];
        Some(match self.file.parts(item.first) {
            Some(Parts::Function(head)) if self.file.text().of(head.word) == b".entry" => Symbol::Kernel(head),
            Some(Parts::Function(head)) => Symbol::Function(head, self.has_body(number)),
            Some(Parts::Declaration(declaration)) => {
                let place = item.names.iter().position(|other| *other == name).unwrap_or_default();
                Symbol::Variable(declaration, place)
            }
            _ => Symbol::Other("a label of debug information"),
        })
    }

    /// Whether an item is a function with a body.
    pub(super) fn has_body(&self, number: usize) -> bool {
        let item = &self.items[number];
        self.file.statements().kind(item.first) == StatementKind::Function && item.end.0 > item.first.0 + 1
    }

    /// Returns the names that an item uses and declares. O(tokens).
    ///
    /// # Errors
    /// The part of a function that is not understood.
    pub(super) fn uses(&self, number: usize) -> Result<Uses<'a>, String> {
        let (file, item) = (self.file, &self.items[number]);
        let text = file.text();
        let mut uses = Uses::default();
        let mut parameters = FxHashSet::default();
        let mut found: Vec<Use<'a>> = Vec::new();
        let mut take = |token: Token, is_call: bool| found.push(Use { token, name: text.str(token), is_call });
        for statement in (item.first.0..item.end.0).map(Statement) {
            let kind = file.statements().kind(statement);
            match (kind, file.parts(statement)) {
                (StatementKind::Function, Some(Parts::Function(head))) => {
                    let lists = [&head.parameters, &head.returns].into_iter().flatten().flatten();
                    for token in lists.flat_map(|parameter| &parameter.declarators).filter_map(|one| one.name) {
                        take(token, false);
                        parameters.insert(text.str(token));
                    }
                }
                (StatementKind::Instruction, Some(Parts::Instruction(instruction))) => {
                    let callee =
                        (text.of(instruction.word) == b"call").then(|| callee(&instruction.operands)).flatten();
                    for token in words(file, statement).filter(|&token| token != instruction.word) {
                        take(token, Some(token) == callee);
                    }
                }
                (StatementKind::Variable, Some(Parts::Declaration(declaration))) => {
                    for declarator in &declaration.declarators {
                        let name = declarator.name.map(|name| text.str(name)).unwrap_or_default();
                        match declarator.count {
                            _ if statement == item.first => {}
                            Some(_) => uses.counted.push(name),
                            None if parameters.contains(name) => return Err(twice(name)),
                            None => drop(uses.locals.insert(name)),
                        }
                        let (first, end) = declarator.initial.unwrap_or((Token(0), Token(0)));
                        let inside = (first.0..end.0).map(Token);
                        inside.filter(|&token| text.kind(token) == TokenKind::Word).for_each(|word| take(word, false));
                    }
                }
                (StatementKind::Targets, Some(_)) => words(file, statement).for_each(|word| take(word, false)),
                (StatementKind::Label, Some(Parts::Label(name))) => drop(uses.locals.insert(text.str(name))),
                (StatementKind::Pragma, Some(Parts::Values(pragma))) => {
                    uses.spills_to_shared |= pragma.values.iter().any(|&(_, value)| text.str(value) == SMEM_SPILLING);
                }
                (StatementKind::Loc, _) => uses.lines.push(statement),
                (StatementKind::Open | StatementKind::Close | StatementKind::Empty, _)
                | (StatementKind::CallPrototype, Some(_)) => {}
                _ => {
                    return Err(format!(
                        "a statement that begins with '{}' is not understood",
                        file.first_word(statement)
                    ));
                }
            }
        }
        for one in found {
            if parameters.contains(one.name) {
                uses.parameters.push(one);
            } else if !uses.declares(one.name) {
                uses.uses.push(one);
            } else if self.by_name.contains_key(one.name) {
                return Err(twice(one.name));
            }
        }
        uses.locals.extend(parameters);
        Ok(uses)
    }
}

fn twice(name: &str) -> String {
    format!("'{name}' has two meanings in one function")
}

/// Returns the words of a statement, in order.
pub(super) fn words(file: &File<'_>, statement: Statement) -> impl Iterator<Item = Token> {
    let text = file.text();
    let (first, end) = (file.statements().first(statement), file.statements().end(text, statement));
    (first.index()..end.index()).map(Token::new).filter(move |&token| text.kind(token) == TokenKind::Word)
}

/// Returns the function that an instruction calls, or the register with its address.
pub(super) fn callee(operands: &[Operand]) -> Option<Token> {
    operands.iter().find_map(|operand| match operand {
        Operand::Name(name) => Some(name.word),
        _ => None,
    })
}
