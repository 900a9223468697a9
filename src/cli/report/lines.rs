//! The values of a peak by source line, and the text of the lines.

use nvptx_ra::forecast::{Holder, LiveValue, Peak};
use nvptx_ra::function::Function;

/// So many names of a line are shown: PTX names every register.
const SHOWN_NAMES: usize = 12;

/// The values that one source line computes and that are live at a peak.
pub(super) struct Line<'a> {
    /// Counted from 1; 0 where unknown.
    pub number: u32,
    /// The words of all its values.
    pub words: u32,
    /// The values, as the peak lists them.
    pub values: Vec<&'a LiveValue>,
}

impl<'a> Line<'a> {
    /// Some values of one line, one or more.
    pub(super) fn new(values: Vec<&'a LiveValue>) -> Self {
        let number = values.first().map_or(0, |value| value.line);
        Self { number, words: values.iter().map(|value| value.words).sum(), values }
    }

    /// The source variables, each once, as far as there is room; those of the stack are marked.
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

    /// Whether all of its values are in uniform registers.
    pub(super) fn is_uniform(&self) -> bool {
        self.values.iter().all(|value| value.is_uniform)
    }
}

/// The lines that hold words at a peak; those with most first, then in the order of the source.
pub(super) fn by_line(peak: &Peak) -> Vec<Line<'_>> {
    peak.by_line().into_iter().map(|(_, _, values)| Line::new(values)).collect()
}

/// Whether any instruction has a source line.
pub(super) fn has_lines(function: &Function) -> bool {
    function.insts().any(|inst| function.line(inst) != 0)
}

/// The source file of a function; without lines where it is not there.
pub(super) struct SourceText {
    lines: Vec<String>,
}

impl SourceText {
    /// Reads the file; one that cannot be read has no lines.
    pub(super) fn of(function: &Function) -> Self {
        function.file().map_or(Self { lines: Vec::new() }, Self::of_path)
    }

    /// Reads a file by its path; one that cannot be read has no lines.
    pub(super) fn of_path(path: &str) -> Self {
        let text = std::fs::read(path).unwrap_or_default();
        Self { lines: String::from_utf8_lossy(&text).lines().map(str::to_owned).collect() }
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> u32 {
        self.lines.len() as u32
    }

    /// A line, counted from 1; empty where there is none.
    pub(super) fn line(&self, number: u32) -> &str {
        (number as usize).checked_sub(1).and_then(|line| self.lines.get(line)).map_or("", String::as_str)
    }
}
