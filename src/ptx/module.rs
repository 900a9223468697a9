//! A file with its functions.

use super::body::Body;
use super::file::File;
use super::statement::StatementKind;
use super::view::{SharedVariables, View, add_shared, view};
use crate::error::Error;

/// A file of PTX with its functions.
#[derive(Debug)]
pub struct Module<'a> {
    file: File<'a>,
    bodies: Vec<Body>,
    shared: SharedVariables<'a>,
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
        Ok(Self { file, bodies, shared })
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
        view(&self.file, body, &self.shared)
    }

    /// The processor that the file is for: `sm_90a`. Empty where it does not say.
    pub fn target(&self) -> &'a str {
        let statements = self.file.statements();
        let headers = statements.ids().filter(|&id| statements.kind(id) == StatementKind::Header);
        let target = headers.filter(|&id| self.file.first_word(id) == ".target").find_map(|id| self.file.parts(id));
        match target {
            Some(super::Parts::Values(values, _)) => {
                values.values.first().map(|&(_, name)| self.file.text().str(name)).unwrap_or_default()
            }
            _ => "",
        }
    }
}
