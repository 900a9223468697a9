//! Symbol resolution: a symbol of the other file is replaced by a symbol of our file, or is copied under a free name.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::names::counterparts;
use super::signature::{Head, same_parameters};
use super::symbols::{Symbol, Symbols, Uses};
use super::variable::{Linkage, Variable};
use super::writes::written;
use crate::index::EntityIndex;
use crate::ptx::file::File;
use crate::ptx::token::{Token, TokenKind};
use crate::target::SYSTEM_FUNCTIONS;

/// The resolution of a symbol of the other file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A symbol of our file replaces it: the symbol of the same name, or [`Resolver::name_of_ours`].
    Ours,
    /// The symbol is copied into our file.
    Copied,
}

/// The symbols that the code of a kernel needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs<'a> {
    /// Our symbols.
    pub(super) ours: BTreeSet<&'a str>,
    /// The copied items of the other file, in its order, with their uses.
    pub(super) copied: BTreeMap<usize, Uses<'a>>,
}

/// The symbol resolution of two files.
pub(super) struct Resolver<'f, 'a> {
    pub(super) own: Symbols<'f, 'a>,
    pub(super) other: Symbols<'f, 'a>,
    /// Variables of the other file that have another name in our file, and this name.
    variables: FxHashMap<&'a str, &'a str>,
    /// The functions that are the same in both files.
    same_functions: FxHashSet<&'a str>,
    written: OnceCell<[FxHashSet<&'a str>; 2]>,
    words: OnceCell<FxHashSet<&'a str>>,
}

impl<'f, 'a> Resolver<'f, 'a> {
    /// O(bytes).
    pub(super) fn new(own: &'f File<'a>, other: &'f File<'a>) -> Self {
        let [own, other] = [own, other].map(Symbols::new);
        let (same_functions, written, words) = (FxHashSet::default(), OnceCell::new(), OnceCell::new());
        let mut variables = counterparts(&other.data(), &own.data());
        variables.retain(|theirs, ours| theirs != ours);
        let mut resolver = Self { own, other, variables, same_functions, written, words };
        resolver.find_same_functions();
        resolver
    }

    /// Finds the functions that have the same text in both files and use only symbols that are the same.
    fn find_same_functions(&mut self) {
        let names = self.other.items.iter().flat_map(|item| item.names.iter().copied());
        let same: FxHashSet<&str> = names.filter(|name| self.has_same_text(name)).collect();
        self.same_functions = same;
        loop {
            let uses_same = |name: &&str| {
                self.other.items_of(name).iter().all(|&number| {
                    self.other.uses(number).is_ok_and(|uses| {
                        let symbols = uses.uses.iter().filter(|one| self.other.symbol(one.name).is_some());
                        symbols.map(|one| self.resolve(one.name)).all(|found| found == Ok(Outcome::Ours))
                    })
                })
            };
            let kept: FxHashSet<&str> = self.same_functions.iter().copied().filter(uses_same).collect();
            let is_done = kept.len() == self.same_functions.len();
            self.same_functions = kept;
            if is_done {
                return;
            }
        }
    }

    /// Whether both files define a function by the same text.
    fn has_same_text(&self, name: &str) -> bool {
        let text = |symbols: &Symbols<'_, 'a>| {
            let number = *symbols.items_of(name).iter().find(|&&number| symbols.has_body(number))?;
            let is_function = matches!(symbols.symbol(name), Some(Symbol::Function(_, true)));
            is_function.then(|| {
                let (text, item) = (symbols.file.text(), &symbols.items[number]);
                let first = text.skip_trivia(symbols.file.statements().first(item.first));
                let end = symbols.file.statements().end(text, crate::ptx::Statement(item.end.0 - 1));
                &text.bytes()[text.start(first)..text.start(end)]
            })
        };
        text(&self.other).is_some_and(|theirs| text(&self.own) == Some(theirs))
    }

    /// Returns the first source variable that our kernel accesses and the other kernel does not. The other compiler may
    /// have folded a variable to which it saw no writes, although other code writes the variable.
    pub(super) fn ignored(&self, own: &Uses<'a>, uses: &Uses<'a>) -> Result<Option<&'a str>, String> {
        let theirs = self.other.data_of(uses)?;
        let served: FxHashSet<&str> = theirs.iter().map(|name| self.name_of_ours(name)).collect();
        let ours = self.own.data_of(own)?;
        Ok(ours.into_iter().find(|name| !is_of_compiler(name) && !served.contains(name)))
    }

    /// Returns the resolution of a symbol of the other file.
    ///
    /// # Errors
    /// The reason why the code that uses the symbol cannot be linked.
    pub(super) fn resolve(&self, name: &str) -> Result<Outcome, String> {
        match self.other.symbol(name) {
            Some(Symbol::Variable(declaration, place)) => {
                let text = self.other.file.text();
                let theirs = Variable::new(text, &declaration, place);
                self.variable(name, &theirs.map_err(|problem| format!("'{name}' {problem}"))?)
            }
            Some(Symbol::Function(head, is_defined)) => self.function(name, Head(self.other.file, &head), is_defined),
            Some(Symbol::Kernel(_)) => Err(format!("the code uses the kernel '{name}'")),
            Some(Symbol::Other(what)) => Err(format!("'{name}' is {what}")),
            None if self.own.symbol(name).is_some() => Err(format!("'{name}' is not declared in the other file")),
            None => Ok(Outcome::Ours),
        }
    }

    /// Returns our name of the other file's symbol.
    pub(super) fn name_of_ours<'n>(&self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        self.variables.get(name).copied().unwrap_or(name)
    }

    fn variable(&self, name: &str, theirs: &Variable<'_>) -> Result<Outcome, String> {
        let ours = match self.own.symbol(self.name_of_ours(name)) {
            Some(Symbol::Variable(declaration, place)) => {
                let ours = Variable::new(self.own.file.text(), &declaration, place);
                Some(ours.map_err(|problem| format!("'{name}' of the input {problem}"))?)
            }
            _ => None,
        };
        // Compilers number the symbols that they create. The same name may mean something else in the other file.
        let is_written = || self.written()[0].contains(self.name_of_ours(name)) || self.written()[1].contains(name);
        if is_of_compiler(name) && theirs.space != ".shared" {
            let is_constant = theirs.is_initialised && (is_literal(name) || !is_written());
            if !is_constant {
                return Err(format!(
                    "the code needs '{name}', which may be written, and has a name made up by a compiler"
                ));
            }
        }
        let difference = match &ours {
            Some(ours) => match ours.serves_as(theirs) {
                Ok(()) => return Ok(Outcome::Ours),
                // The host cannot write the variable, and code does not write it, so a copy is equivalent.
                Err(_) if ours.is_constant_like(theirs) && !is_written() => return Ok(Outcome::Copied),
                Err(difference) => difference,
            },
            None => "is missing",
        };
        match theirs.linkage {
            // All such names mean the same memory, and the launch defines its size.
            _ if theirs.is_sized_at_launch() => Ok(Outcome::Copied),
            // Each block has its own shared memory, whose contents do not outlive the kernel.
            Linkage::Internal if theirs.space == ".shared" => Ok(Outcome::Copied),
            Linkage::Internal if is_of_compiler(name) => Ok(Outcome::Copied),
            _ => Err(format!("the code needs '{name}', which {difference} in the input")),
        }
    }

    fn function(&self, name: &str, theirs: Head<'_, '_>, is_defined: bool) -> Result<Outcome, String> {
        if self.same_functions.contains(name) {
            return Ok(Outcome::Ours);
        }
        if is_defined {
            let has_attributes = !theirs.1.specifiers.is_empty();
            return if has_attributes { Err(format!("'{name}' has an attribute")) } else { Ok(Outcome::Copied) };
        }
        match self.own.symbol(name) {
            Some(Symbol::Function(head, is_own)) => {
                let linkage = Linkage::of(self.own.file.text(), &head.linkage);
                if is_own && linkage == Linkage::Internal {
                    return Err(format!("'{name}' of the input is another function"));
                }
                same_parameters(Head(self.own.file, &head), theirs)
                    .map_err(|problem| format!("'{name}' is declared differently: {problem}"))?;
                Ok(Outcome::Ours)
            }
            None if SYSTEM_FUNCTIONS.contains(&name) => Ok(Outcome::Copied),
            None => Err(format!("the code needs the function '{name}', which the input does not declare")),
            Some(_) => Err(format!("'{name}' of the input is no function")),
        }
    }

    /// Returns the variables that code may write, of our file and of the other one.
    fn written(&self) -> &[FxHashSet<&'a str>; 2] {
        self.written.get_or_init(|| [written(&self.own), written(&self.other)])
    }

    /// Returns the uses of a kernel of the other file, and everything that it needs.
    ///
    /// # Errors
    /// The reason why the kernel cannot be linked.
    pub(super) fn needs(&self, kernel: usize) -> Result<(Uses<'a>, Needs<'a>), String> {
        let mut needs = Needs::default();
        let uses = self.other.uses(kernel)?;
        let mut waiting: Vec<(&'a str, bool)> = uses.uses.iter().map(|one| (one.name, one.is_call)).collect();
        while let Some((name, is_call)) = waiting.pop() {
            let is_function = match self.other.symbol(name) {
                Some(symbol) => matches!(symbol, Symbol::Function(..)),
                None if self.own.symbol(name).is_none() => continue,
                None => false,
            };
            // The address of a function could be compared with an address from our file.
            if is_function && !is_call {
                return Err(format!("the code takes the address of the function '{name}'"));
            }
            if self.resolve(name)? == Outcome::Ours {
                needs.ours.insert(name);
                continue;
            }
            for &number in self.other.items_of(name) {
                if needs.copied.contains_key(&number) {
                    continue;
                }
                // A statement is copied with all names that it declares.
                for other in &self.other.items[number].names {
                    if self.resolve(other)? != Outcome::Copied {
                        return Err(format!("'{name}' and '{other}' are declared in one statement"));
                    }
                }
                let of_item = self.other.uses(number).map_err(|problem| format!("'{name}': {problem}"))?;
                waiting.extend(of_item.uses.iter().map(|one| (one.name, one.is_call)));
                needs.copied.insert(number, of_item);
            }
        }
        Ok((uses, needs))
    }

    /// Returns a name for a copy. It is the symbol's own name if our file has no symbol of this name. Otherwise, a
    /// number is added, and neither file contains the result.
    pub(super) fn name_of_copy(&self, name: &str) -> String {
        let has = |name: &str| self.own.symbol(name).is_some();
        if !has(name) {
            return name.to_owned();
        }
        let words = self.words.get_or_init(|| {
            [&self.own, &self.other]
                .into_iter()
                .flat_map(|symbols| {
                    let text = symbols.file.text();
                    let tokens = (0..text.num_tokens()).map(Token::new);
                    tokens.filter(|&token| text.kind(token) == TokenKind::Word).map(|token| text.str(token))
                })
                .collect()
        });
        let candidates = (1u32..).map(|number| format!("{name}_{number}"));
        candidates.into_iter().find(|candidate| !words.contains(candidate.as_str())).unwrap_or_default()
    }
}

/// Whether the name is nvcc's or clang's name for a string literal, which no code may write.
fn is_literal(name: &str) -> bool {
    ["$str", "_$_str"].iter().any(|first| name.starts_with(first))
}

/// Whether a compiler invented the name, such as `$str$1` and `__unnamed_2`. No source refers to the name, so the host
/// does not refer to it, either.
fn is_of_compiler(name: &str) -> bool {
    name.contains('$') || name.starts_with("__unnamed_")
}
