//! A file with its functions.

use super::body::Body;
use super::edit::{Patch, edit};
use super::file::File;
use super::parts::Parts;
use super::statement::StatementKind;
use super::text::Text;
use super::token::Token;
use super::view::{SharedVariables, View, add_shared, view};
use crate::error::Error;
use crate::function::EditList;

/// A file of PTX with its functions.
#[derive(Debug)]
pub struct Module<'a> {
    file: File<'a>,
    bodies: Vec<Body>,
    shared: SharedVariables<'a>,
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
        let mut shared = SharedVariables::default();
        let mut depth = 0usize;
        for statement in file.statements().ids() {
            match file.statements().kind(statement) {
                StatementKind::Open => depth += 1,
                StatementKind::Close => depth -= 1,
                _ if depth == 0 => add_shared(&file, statement, &mut shared),
                _ => {}
            }
        }
        Ok(Self {
            file,
            bodies,
            shared,
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
        let view = view(&self.file, body, &self.shared);
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
        edit(self, body, view, edits)
    }

    /// Why no function is to be edited: debug information says in which registers variables are.
    pub(super) fn debug_locations(&self) -> Option<&'static str> {
        let (statements, text) = (self.file.statements(), self.file.text());
        let mut sections = statements.ids().filter(|&id| statements.kind(id) == StatementKind::Section);
        let names_registers = sections.any(|id| match self.file.parts(id) {
            Some(Parts::Section(section)) => match text.of(section.name) {
                b".debug_loc" | b".debug_loclists" => true,
                b".debug_info" => has_register(text, section.inside),
                _ => false,
            },
            _ => true,
        });
        names_registers.then_some("debug information says in which registers variables are")
    }

    /// The processor that the file is for: `sm_90a`. Empty where it does not say.
    pub fn target(&self) -> &'a str {
        let statements = self.file.statements();
        let headers = statements.ids().filter(|&id| statements.kind(id) == StatementKind::Header);
        let target = headers.filter(|&id| self.file.first_word(id) == ".target").find_map(|id| self.file.parts(id));
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

/// Whether bytes of debug information may name a register. They may be something else.
fn has_register(text: &Text<'_>, (first, end): (Token, Token)) -> bool {
    (first.0..end.0).map(Token).any(|token| REGISTER_OPERATION.contains(&text.of(token)))
}
