//! The values of a peak by source line, and the source text.

use nvptx_ra::forecast::{Holder, LiveValue, Peak};
use nvptx_ra::function::Function;

/// Most names shown for a line. PTX has a name for every register.
const SHOWN_NAMES: usize = 12;

/// The values that one source line computes and that are live at the peak.
pub(super) struct Line<'a> {
    /// Counted from 1; 0 if unknown.
    pub number: u32,
    /// The words of all its values.
    pub words: u32,
    /// The values, as the peak lists them.
    pub values: Vec<&'a LiveValue>,
}

impl<'a> Line<'a> {
    /// Makes a line from one or more values.
    pub(super) fn new(values: Vec<&'a LiveValue>) -> Self {
        let number = values.first().map_or(0, |value| value.line);
        Self { number, words: values.iter().map(|value| value.words).sum(), values }
    }

    /// Returns the source variables, each once, up to a maximum. Variables on the stack are marked.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let name = |value: &&'a LiveValue| match (value.holder, value.name.as_deref()) {
            (Holder::StackVariable(_), None) => Some("stack, in registers".to_owned()),
            (Holder::StackVariable(_), Some(name)) => Some(format!("{name}: stack, in registers")),
            (Holder::Register(_), name) => name.map(str::to_owned),
        };
        for name in self.values.iter().filter_map(name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() > SHOWN_NAMES {
            let more = format!("{} more", names.len() - SHOWN_NAMES);
            names.truncate(SHOWN_NAMES);
            names.push(more);
        }
        names
    }

    /// Returns whether all its values are in uniform registers.
    pub(super) fn is_uniform(&self) -> bool {
        self.values.iter().all(|value| value.is_uniform)
    }
}

/// Groups the words of a peak by line. Lines with most words come first, and lines with equally many are in source
/// order.
pub(super) fn by_line(peak: &Peak) -> Vec<Line<'_>> {
    peak.by_line().into_iter().map(|(_, _, values)| Line::new(values)).collect()
}

/// Returns whether any instruction has a source line.
pub(super) fn has_lines(function: &Function) -> bool {
    function.insts().any(|inst| function.line(inst) != 0)
}

/// The source file of a function; no lines if the file is missing.
pub(super) struct SourceText {
    lines: Vec<String>,
}

impl SourceText {
    /// Reads the file of a function; a file that cannot be read is empty.
    pub(super) fn of(function: &Function) -> Self {
        function.file().map_or(Self { lines: Vec::new() }, Self::of_path)
    }

    /// Reads a file by its path; a file that cannot be read is empty.
    pub(super) fn of_path(path: &str) -> Self {
        let text = std::fs::read(path).unwrap_or_default();
        Self { lines: String::from_utf8_lossy(&text).lines().map(str::to_owned).collect() }
    }

    /// Returns the number of lines.
    pub(super) fn len(&self) -> u32 {
        self.lines.len() as u32
    }

    /// Returns a line, counted from 1; empty if it does not exist.
    pub(super) fn line(&self, number: u32) -> &str {
        (number as usize).checked_sub(1).and_then(|line| self.lines.get(line)).map_or("", String::as_str)
    }
}
