//! A file with its functions.

use super::body::Body;
use super::edit::{Patch, edit};
use super::file::File;
use super::parts::Parts;
use super::statement::{Statement, StatementKind};
use super::text::Text;
use super::token::Token;
use super::view::{Facts, View, add_shared, view};
use crate::error::Error;
use crate::function::EditList;

/// A file of PTX with its functions.
#[derive(Debug)]
pub struct Module<'a> {
    file: File<'a>,
    bodies: Vec<Body>,
    facts: Facts<'a>,
    /// Only tests make views that are wrong.
    #[cfg(any(test, feature = "fuzzing"))]
    forgets_old_values: bool,
}

impl<'a> Module<'a> {
    /// Reads a file and finds its functions. `name` is the file's, for messages. O(bytes).
    ///
    /// # Errors
    /// A text that cannot be cut into statements, with line and column.
    pub fn read(name: &'a str, bytes: &'a [u8]) -> Result<Self, Error> {
        let file = File::read(name, bytes)?;
        let bodies = Body::all(&file);
        let mut facts = Facts::default();
        let mut depth = 0usize;
        for statement in file.statements().ids() {
            match file.statements().kind(statement) {
                StatementKind::Open => depth += 1,
                StatementKind::Close => depth -= 1,
                StatementKind::Header => facts.headers.push(statement),
                StatementKind::Section if names_registers(&file, statement) => {
                    facts.odd = Some("debug information says in which registers variables are");
                }
                _ if depth == 0 => add_shared(&file, statement, &mut facts.shared),
                _ => {}
            }
        }
        Ok(Self {
            file,
            bodies,
            facts,
            #[cfg(any(test, feature = "fuzzing"))]
            forgets_old_values: false,
        })
    }

    /// The same with views that are wrong: definitions under a predicate do not read the old value.
    #[cfg(any(test, feature = "fuzzing"))]
    #[must_use]
    pub(crate) fn forgetting_old_values(mut self) -> Self {
        self.forgets_old_values = true;
        self
    }

    /// The file.
    pub fn file(&self) -> &File<'a> {
        &self.file
    }

    /// The functions that have a body, in order.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// What passes see of a function. O(statements · log), and what finding the loops costs.
    ///
    /// # Errors
    /// Says why the function cannot be shown.
    pub fn view(&self, body: &Body) -> Result<View<'a>, String> {
        let view = view(&self.file, body, &self.facts);
        #[cfg(any(test, feature = "fuzzing"))]
        if self.forgets_old_values {
            return view.map(View::without_old_values);
        }
        view
    }

    /// What edits make of the text of a function.
    ///
    /// # Errors
    /// Says why the text cannot follow, or why the function is not to be edited.
    pub fn edit(&self, body: &Body, view: &View<'_>, edits: &EditList) -> Result<Patch, String> {
        if let Some(reason) = self.facts.odd.filter(|_| !edits.is_empty()) {
            return Err(reason.into());
        }
        edit(&self.file, body, view, edits)
    }

    /// The processor that the file is for: `sm_90a`. Empty where it does not say.
    pub fn target(&self) -> &'a str {
        let headers = self.facts.headers.iter();
        let mut targets = headers.filter(|&&id| self.file.first_word(id) == ".target");
        let target = targets.find_map(|&id| self.file.parts(id));
        match target {
            Some(Parts::Values(values, _)) => {
                values.values.first().map(|&(_, name)| self.file.text().str(name)).unwrap_or_default()
            }
            _ => "",
        }
    }
}

/// DWARF's operation that names a register.
const REGISTER_OPERATION: [&[u8]; 2] = [b"144", b"0x90"];

/// Whether a section of debug information says, or may say, in which registers variables are.
fn names_registers(file: &File<'_>, statement: Statement) -> bool {
    match file.parts(statement) {
        Some(Parts::Section(section)) => match file.text().of(section.name) {
            b".debug_loc" | b".debug_loclists" => true,
            b".debug_info" => has_register(file.text(), section.inside),
            _ => false,
        },
        _ => true,
    }
}

/// Whether bytes of debug information may name a register. They may be something else.
fn has_register(text: &Text<'_>, (first, end): (Token, Token)) -> bool {
    (first.0..end.0).map(Token).any(|token| REGISTER_OPERATION.contains(&text.of(token)))
}
