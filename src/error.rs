//! The error type of the project: the problem, its place and a remedy.

use std::fmt;
use std::path::Path;

use crate::printable::one_line;

/// The subject of an [`Error`]. It decides who must act: the user, or the authors of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// An option is unknown or has a value that is not allowed.
    Option,
    /// A function breaks the rules of the view, or its text cannot be read.
    View,
    /// A pass refuses the function, for a reason that is not a bug.
    Pass,
    /// A bug of this project: a panic that was caught, or an invariant that does not hold.
    Internal,
    /// The checker found that the edits change the results of the function.
    Verify,
    /// A limit cannot be met.
    Limit,
    /// A file cannot be read or written.
    File,
}

/// An error. The function in which it happened stays unchanged.
///
/// Prints as `nvptx-ra: kernel 'NAME': PROBLEM; REMEDY` on one line, without the kernel if it is unknown. Characters
/// that a terminal acts on are escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nvptx-ra: {}{}; {}", Kernel(.function.as_deref()), one_line(.problem), one_line(.remedy))]
pub struct Error {
    /// The subject of the error.
    pub kind: ErrorKind,
    /// The machine function in which the error happened, if known.
    pub function: Option<String>,
    /// The place, and what is wrong there.
    pub problem: String,
    /// What to do, or which values are allowed.
    pub remedy: String,
}

impl Error {
    /// Creates an error of a kind, without a function.
    pub fn new(kind: ErrorKind, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { kind, function: None, problem: problem.into(), remedy: remedy.into() }
    }

    /// Creates an error for a function that breaks the rules of the view.
    pub fn view(problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::View, problem, "the function is left as LLVM made it")
    }

    /// Creates an error for a pass that refuses a function.
    pub fn pass(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(ErrorKind::Pass, problem, remedy)
    }

    /// Creates an error for a bug of this project. `location` is the source file and line, as a panic reports it.
    pub fn internal(message: impl fmt::Display, location: Option<&str>) -> Self {
        let place = location.map(|location| format!(" at {location}")).unwrap_or_default();
        Self::new(
            ErrorKind::Internal,
            format!("internal error{place}: {message}"),
            "the function is left as LLVM made it; please report this",
        )
    }

    /// Creates an error for an edit that the checker refuses.
    pub fn verify(problem: impl Into<String>) -> Self {
        let problem = format!("the checker refuses the edits: {}", problem.into());
        Self::new(ErrorKind::Verify, problem, "the function is left as LLVM made it; please report this")
    }

    /// Creates an error for a file that cannot be read or written.
    pub fn file(path: &Path, error: &std::io::Error) -> Self {
        let remedy = match error.kind() {
            std::io::ErrorKind::NotFound => "check the path",
            std::io::ErrorKind::PermissionDenied => "check the permissions",
            std::io::ErrorKind::InvalidData => "check the path of the file",
            _ => "check the path and the free space",
        };
        Self::new(ErrorKind::File, format!("{}: {error}", path.display()), remedy)
    }

    /// Adds the function to the error. If the error has a function already, that function stays.
    #[must_use]
    pub fn in_function(mut self, name: &str) -> Self {
        self.function.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Adds the path of the bundle that holds the error's details.
    #[must_use]
    pub fn with_bundle(mut self, path: &Path) -> Self {
        self.remedy = format!("the function is left as LLVM made it; please report {}", path.display());
        self
    }

    /// Whether the error is a bug of this project. Bugs get a bundle.
    pub fn is_bug(&self) -> bool {
        matches!(self.kind, ErrorKind::Internal | ErrorKind::Verify)
    }
}

/// Prints `kernel 'NAME': `, or nothing if the kernel is unknown.
struct Kernel<'a>(Option<&'a str>);

impl fmt::Display for Kernel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "kernel '{}': ", one_line(name)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error names the kernel, the problem and the remedy, in that order, on one line.
    #[test]
    fn prints_kernel_problem_remedy() {
        let error = Error::pass("too\n many copies", "raise copy-limit").in_function("k");
        assert_eq!(error.to_string(), "nvptx-ra: kernel 'k': too | many copies; raise copy-limit");
    }

    /// Control characters from a file or a name do not reach the terminal unescaped.
    #[test]
    fn control_characters_are_escaped() {
        let error = Error::pass("found '\u{1b}[31m'", "\u{9b}").in_function("k\u{7}");
        assert_eq!(error.to_string(), "nvptx-ra: kernel 'k\\u{7}': found '\\u{1b}[31m'; \\u{9b}");
    }

    /// Without a kernel, the message has no `kernel` part. If several kernels are added, the first stays.
    #[test]
    fn kernel_is_optional_and_kept() {
        let error = Error::view("block 3: no terminator");
        assert_eq!(error.to_string(), "nvptx-ra: block 3: no terminator; the function is left as LLVM made it");
        assert_eq!(error.in_function("a").in_function("b").function.as_deref(), Some("a"));
    }

    /// A bug reports where it happened and which bundle to send. A refusal is no bug.
    #[test]
    fn bugs_name_place_and_bundle() {
        let error = Error::internal("index out of bounds", Some("src/coalesce/mod.rs:7")).with_bundle(Path::new("/b"));
        assert!(error.is_bug());
        assert_eq!(
            error.to_string(),
            "nvptx-ra: internal error at src/coalesce/mod.rs:7: index out of bounds; \
             the function is left as LLVM made it; please report /b"
        );
        assert!(!Error::pass("p", "r").is_bug());
    }
}
