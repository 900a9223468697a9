//! Source lines of PTX lines, from the `.loc` that applies.

use std::fmt;

use crate::ptx::{File, Module, Parts, Statement, StatementKind};

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file's path, as in the PTX file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// The `.loc` statements of a file.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// File numbers, with their paths.
    files: Vec<(u32, String)>,
    /// The first PTX line at which a file and line apply; `None` at the start of a function.
    places: Vec<(u32, Option<[u32; 2]>)>,
}

impl Sources {
    /// Reads all `.file` and `.loc` statements. O(bytes).
    pub(crate) fn new(module: &Module<'_>) -> Self {
        let file = module.file();
        let (text, statements) = (file.text(), file.statements());
        let mut sources = Self::default();
        let (mut line, mut counted) = (1, 0);
        for id in statements.ids() {
            let place = match statements.kind(id) {
                StatementKind::Loc => place_of(file, id),
                StatementKind::Function => None,
                StatementKind::Header => {
                    sources.files.extend(file_of(file, id));
                    continue;
                }
                _ => continue,
            };
            let at = text.start(text.skip_trivia(statements.first(id)));
            line += text.bytes()[counted..at].iter().filter(|&&byte| byte == b'\n').count() as u32;
            counted = at;
            sources.places.push((line, place));
        }
        sources
    }

    /// Returns the source of a PTX line, if it is known.
    pub(crate) fn at(&self, line: u32) -> Option<SourceLine> {
        let before = self.places.partition_point(|place| place.0 <= line);
        let [number, line] = self.places.get(before.checked_sub(1)?)?.1?;
        let file = &self.files.iter().find(|file| file.0 == number)?.1;
        // Line 0 is code without a source line.
        (line > 0).then(|| SourceLine { file: file.clone(), line })
    }
}

/// Returns file and line of a `.loc`.
fn place_of(file: &File<'_>, id: Statement) -> Option<[u32; 2]> {
    let Some(Parts::Loc(loc)) = file.parts(id) else { return None };
    let number = |at: usize| file.text().str(loc.place[at]).parse().ok();
    Some([number(0)?, number(1)?])
}

/// Returns number and path of a `.file`.
fn file_of(file: &File<'_>, id: Statement) -> Option<(u32, String)> {
    if file.first_word(id) != ".file" {
        return None;
    }
    let Some(Parts::Values(values)) = file.parts(id) else { return None };
    let [(_, number), (_, path), ..] = values.values.as_slice() else { return None };
    let text = file.text();
    Some((text.str(*number).parse().ok()?, text.str(*path).trim_matches('"').to_owned()))
}
