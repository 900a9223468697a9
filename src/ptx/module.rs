//! A PTX file with its functions.

use rustc_hash::FxHashSet;

use super::body::Body;
use super::edit::{Patch, begin, edit};
use super::file::File;
use super::no_unroll::stops_unrolling;
use super::parts::Parts;
use super::slice::Slicer;
use super::statement::{Statement, StatementKind};
use super::text::Text;
use super::token::{Token, TokenKind};
use super::unread::{Unread, unread};
use super::view::{Facts, View, add_shared, view};
use crate::error::Error;
use crate::function::EditList;
use crate::target::PtxVersion;

/// A PTX file with its functions.
#[derive(Debug)]
pub struct Module<'a> {
    file: File<'a>,
    bodies: Vec<Body>,
    facts: Facts<'a>,
    /// Only tests create wrong views.
    #[cfg(any(test, feature = "fuzzing"))]
    forgets_old_values: bool,
}

impl<'a> Module<'a> {
    /// Reads a file and finds its functions. `name` is the name of the file, for messages. O(bytes).
    ///
    /// # Errors
    /// The file cannot be divided into statements. The error has line and column.
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
                    facts.odd = Some("debug information gives the registers of variables");
                }
                StatementKind::Pragma if depth == 0 => facts.stops_unrolling |= stops_unrolling(&file, statement),
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

    /// Reads a file for wrong views: definitions under a predicate do not read the old value.
    #[cfg(any(test, feature = "fuzzing"))]
    #[must_use]
    pub(crate) fn forgetting_old_values(mut self) -> Self {
        self.forgets_old_values = true;
        self
    }

    /// Returns the file.
    pub fn file(&self) -> &File<'a> {
        &self.file
    }

    /// Returns the functions with a body, in order.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Returns the view of a function. O(statements · log), plus the loop analysis.
    ///
    /// # Errors
    /// The reason why the function has no view.
    pub fn view(&self, body: &Body) -> Result<View<'a>, String> {
        let view = view(&self.file, body, &self.facts);
        #[cfg(any(test, feature = "fuzzing"))]
        if self.forgets_old_values {
            return view.map(View::without_old_values);
        }
        view
    }

    /// Returns the patch of a function for a list of edits.
    ///
    /// # Errors
    /// The reason why the edits cannot be expressed in PTX, or why the function cannot be edited.
    pub fn edit(&self, body: &Body, view: &View<'_>, edits: &EditList) -> Result<Patch, String> {
        if let Some(reason) = self.facts.odd.filter(|_| !edits.is_empty()) {
            return Err(reason.into());
        }
        edit(&self.file, body, view, edits)
    }

    /// Replaces instructions in a function by new texts, and returns the number of replacements. `None` leaves an
    /// instruction unchanged.
    pub fn replace_instructions(&self, body: &Body, replacement: &dyn Fn(&str) -> Option<String>) -> (Patch, usize) {
        let (text, statements) = (self.file.text(), self.file.statements());
        let mut patch = Patch::default();
        for statement in body.ids().filter(|&statement| statements.kind(statement) == StatementKind::Instruction) {
            let start = text.start(text.skip_trivia(statements.first(statement)));
            let end = text.start(statements.end(text, statement));
            let old = std::str::from_utf8(&text.bytes()[start..end]).ok();
            patch.pieces.extend(old.and_then(replacement).map(|new| (start, end, new.into_bytes())));
        }
        let count = patch.pieces.len();
        (patch, count)
    }

    /// Returns the reason why a function cannot be edited. `None` if some edits are possible.
    pub fn why_kept(&self, body: &Body) -> Option<String> {
        self.facts.odd.map(str::to_owned).or_else(|| match self.view(body) {
            Ok(view) => view.odd,
            Err(reason) => Some(reason),
        })
    }

    /// Returns the patch that adds limit directives, such as `.maxnreg`, to a kernel, and a first line to its body.
    /// Every kernel can be changed in this way.
    pub fn begin(&self, body: &Body, bounds: &[(&str, u32)], line: Option<&str>) -> Patch {
        begin(&self.file, body, bounds, line)
    }

    /// Returns the bytes of a function, from the first word of its head to the closing brace.
    pub fn text_of(&self, body: &Body) -> &'a [u8] {
        let (text, statements) = (self.file.text(), self.file.statements());
        let first = text.skip_trivia(statements.first(body.head));
        let end = statements.end(text, body.statements.end);
        &text.bytes()[text.start(first)..text.start(end)]
    }

    /// Returns the kernels, in order.
    pub fn kernels(&self) -> impl Iterator<Item = &Body> {
        self.bodies().iter().filter(|body| body.launch_bounds(&self.file).is_some())
    }

    /// Returns the code of a function in a form that does not depend on the writer: without white space, comments,
    /// source lines, and labels that the function does not refer to. Debug information outside of the function refers
    /// to such labels.
    pub fn code_of(&self, body: &Body) -> String {
        let (text, statements) = (self.file.text(), self.file.statements());
        let all = (body.head.0..=body.statements.end.0).map(Statement);
        let others = all.filter(|&of| !matches!(statements.kind(of), StatementKind::Loc | StatementKind::Label));
        let tokens = others.flat_map(|of| statements.first(of).0..statements.end(text, of).0).map(Token);
        let named: FxHashSet<&[u8]> =
            tokens.filter(|&token| text.kind(token) == TokenKind::Word).map(|token| text.of(token)).collect();
        self.code_with(body, |label| named.contains(text.of(label)))
    }

    /// Returns the code of a function with all labels. The hashes of earlier builds are computed from this form.
    pub fn code_with_labels_of(&self, body: &Body) -> String {
        self.code_with(body, |_| true)
    }

    /// Returns the code of a function with the labels that `keeps` accepts.
    fn code_with(&self, body: &Body, keeps: impl Fn(Token) -> bool) -> String {
        let (text, statements) = (self.file.text(), self.file.statements());
        let mut code = String::new();
        for statement in (body.head.0..=body.statements.end.0).map(Statement) {
            let first = text.skip_trivia(statements.first(statement));
            match statements.kind(statement) {
                StatementKind::Loc => continue,
                StatementKind::Label if !keeps(first) => continue,
                _ => {}
            }
            let tokens = first.0..statements.end(text, statement).0;
            for token in tokens.map(Token).filter(|&token| text.kind(token) != TokenKind::Trivia) {
                code.push_str(text.str(token));
                code.push(' ');
            }
        }
        code
    }

    /// Returns, for each kernel, a file with the kernel and everything that it refers to. Functions keep every byte,
    /// and passes treat them as in the whole file. `None` if the file has no such function.
    pub fn slices(&self, kernels: &[&str]) -> Vec<Option<Vec<u8>>> {
        // If debug information forbids edits of the file, slices without this debug information would be edited.
        if self.facts.odd.is_some() {
            let is_there = |kernel: &str| self.bodies.iter().any(|body| body.name(&self.file) == kernel);
            return kernels.iter().map(|kernel| is_there(kernel).then(|| self.file.print())).collect();
        }
        let slicer = Slicer::new(&self.file);
        kernels.iter().map(|kernel| slicer.slice(kernel)).collect()
    }

    /// Whether the file has shared memory whose size the launch defines.
    pub fn sizes_shared_at_launch(&self) -> bool {
        self.facts.shared.values().any(Option::is_none)
    }

    /// Returns the functions that are not read, in order. No pass, forecast or comparison covers them.
    pub fn unread(&self) -> Vec<Unread> {
        unread(&self.file, &self.bodies)
    }

    /// Returns the PTX version of the file.
    pub fn version(&self) -> Option<PtxVersion> {
        let (major, minor) = self.header(".version").split_once('.')?;
        Some(PtxVersion(10 * major.parse::<u32>().ok()? + minor.parse::<u32>().ok()?))
    }

    /// Returns the processor that the file is for, such as `sm_90a`. Empty if it is not given.
    pub fn target(&self) -> &'a str {
        self.header(".target")
    }

    /// Whether ptxas may not optimise the file, because it is compiled for a debugger.
    pub fn is_for_debuggers(&self) -> bool {
        self.header_values(".target").iter().any(|&token| self.file.text().str(token) == "debug")
    }

    /// Returns the first value of a directive of the whole file. Empty if it is absent.
    fn header(&self, word: &str) -> &'a str {
        self.header_values(word).first().map(|&token| self.file.text().str(token)).unwrap_or_default()
    }

    /// Returns the values of a directive of the whole file. Empty if it is absent.
    pub(super) fn header_values(&self, word: &str) -> Vec<Token> {
        let headers = self.facts.headers.iter();
        let mut headers = headers.filter(|&&id| self.file.first_word(id) == word);
        match headers.find_map(|&id| self.file.parts(id)) {
            Some(Parts::Values(values)) => values.values.iter().map(|&(_, value)| value).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the reason if debug information forbids edits of all functions.
    pub(super) fn why_fixed(&self) -> Option<&'static str> {
        self.facts.odd
    }
}

/// The DWARF operation that refers to a register.
const REGISTER_OPERATION: [&[u8]; 2] = [b"144", b"0x90"];

/// Whether a section of debug information may give the registers of variables.
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

/// Whether bytes of debug information may refer to a register. The bytes may also mean something else.
fn has_register(text: &Text<'_>, (first, end): (Token, Token)) -> bool {
    (first.0..end.0).map(Token).any(|token| REGISTER_OPERATION.contains(&text.of(token)))
}
