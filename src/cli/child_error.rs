//! Finds the error message in a child process's output.

/// Collects the error message of a failing child process. The output may also contain warnings, headings of functions
/// and, if LLVM aborts, the stack.
#[derive(Default)]
pub(crate) struct ChildError {
    /// The first line that is marked as an error.
    error: Option<String>,
    /// The first line of the output that is no heading and no part of the stack.
    first: Option<String>,
    /// Whether LLVM's stack has begun. The stack does not contain the reason.
    is_over: bool,
}

impl ChildError {
    /// Reads a line that is not part of a function in text form.
    pub(crate) fn hear(&mut self, line: &str) {
        self.is_over |= line.starts_with("PLEASE submit a bug report") || line.starts_with("Stack dump:");
        if self.is_over || line.trim().is_empty() || line.starts_with("nvptx-ra: trace of '") {
            return;
        }
        let said = line.trim_start_matches("nvptx-ra: ");
        let error = said.strip_prefix("error: ").or_else(|| said.strip_prefix("LLVM ERROR: "));
        if let Some(error) = error {
            self.error.get_or_insert_with(|| error.trim_start_matches("nvptx-ra: ").to_owned());
        }
        self.first.get_or_insert_with(|| said.to_owned());
    }

    /// Returns the line that is marked as an error.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the message; `None` if there is no line.
    pub(crate) fn problem(self) -> Option<String> {
        self.error.or(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(lines: &[&str]) -> Option<String> {
        let mut child_error = ChildError::default();
        lines.iter().for_each(|line| child_error.hear(line));
        child_error.problem()
    }

    /// The error is found at any position. Without an error, the result is the first line that is neither a heading nor
    /// part of a stack.
    #[test]
    fn errors_come_first() {
        let says = |problem: &str| Some(problem.to_owned());
        let (heading, stack) = ("nvptx-ra: trace of 'k'", "PLEASE submit a bug report to …");
        let warning = "'+x' is not a recognized feature for this target (ignoring feature)";
        let aborted = [warning, heading, "LLVM ERROR: Cannot select: x", stack, "Stack dump:", "error: y"];
        assert_eq!(problem(&aborted), says("Cannot select: x"));
        assert_eq!(problem(&["error: nvptx-ra: kernel 'k': no", "error: other"]), says("kernel 'k': no"));
        assert_eq!(problem(&["", heading, "nvptx-ra: k.ll:1:1: expected x", "later"]), says("k.ll:1:1: expected x"));
        assert_eq!(problem(&[heading, stack, "0. Program arguments: llc"]), None);
    }
}
