//! The grammar of options, the same for pass parameters, the command line and the function attribute.
//!
//! ```text
//! options    = [ assignment { ";" assignment } ]
//! assignment = NAME "=" VALUE | SWITCH | "no-" SWITCH
//! ```
//! A backslash takes the character behind it as it stands, so that a path may hold a `;`. Spaces around an assignment
//! and empty assignments mean nothing; the last assignment to an option counts.

use super::nearest::nearest;
use super::table::{Config, OPTIONS, OptionSpec, Scope};
use super::value::Shape;
use crate::error::{Error, ErrorKind};

/// Where options were given. Later ones take precedence over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The function attribute `"nvptx-ra"`.
    Attribute,
    /// `-nvptx-ra-…` options.
    CommandLine,
    /// The parameters in a pipeline string.
    Parameters,
}

impl Origin {
    /// The origin of that name, for callers that only have text.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Attribute, Self::CommandLine, Self::Parameters].into_iter().find(|origin| origin.name() == name)
    }

    /// Its name in diagnostics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attribute => "function attribute",
            Self::CommandLine => "command line",
            Self::Parameters => "pass parameters",
        }
    }

    fn allows(self, scope: Scope) -> bool {
        match scope {
            Scope::Function => true,
            Scope::Trusted => self != Self::Attribute,
            Scope::Process => self == Self::CommandLine,
        }
    }
}

/// Applies `text` to `config`. What stands before a wrong assignment has been applied when it is found.
pub(super) fn apply(config: &mut Config, text: &str, origin: Origin) -> Result<(), Error> {
    for assignment in split(text) {
        apply_one(config, &assignment, origin)
            .map_err(|(problem, remedy)| refuse(origin, &assignment.printed(), &problem, remedy))?;
    }
    Ok(())
}

/// Applies those assignments of `text` that are right and skips the others.
pub(super) fn apply_valid(config: &mut Config, text: &str, origin: Origin) {
    for assignment in split(text) {
        // Skipping is the purpose: the caller wants what can be known in spite of errors that others report.
        let _ = apply_one(config, &assignment, origin);
    }
}

fn refuse(origin: Origin, assignment: &str, problem: &str, remedy: String) -> Error {
    Error::new(ErrorKind::Option, format!("{}: {assignment}: {problem}", origin.name()), remedy)
}

/// An assignment as it was given.
struct Assignment {
    name: String,
    value: Option<String>,
}

impl Assignment {
    fn printed(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Splits at the `;` that no backslash precedes, then each part at its first `=`.
fn split(text: &str) -> Vec<Assignment> {
    let mut assignments = Vec::new();
    let mut current = Assignment { name: String::new(), value: None };
    let mut characters = text.chars();
    loop {
        let character = characters.next();
        match character {
            None | Some(';') => {
                current.name = current.name.trim().to_owned();
                current.value = current.value.map(|value| value.trim().to_owned());
                let empty = Assignment { name: String::new(), value: None };
                let done = std::mem::replace(&mut current, empty);
                if !done.name.is_empty() || done.value.is_some() {
                    assignments.push(done);
                }
                if character.is_none() {
                    return assignments;
                }
            }
            Some('=') if current.value.is_none() => current.value = Some(String::new()),
            Some(character) => {
                // A backslash at the very end stands for itself.
                let literal = if character == '\\' { characters.next().unwrap_or('\\') } else { character };
                current.value.as_mut().unwrap_or(&mut current.name).push(literal);
            }
        }
    }
}

/// The text that [`split`] reads back as `value`.
pub(super) fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for character in value.chars() {
        if matches!(character, ';' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// What is wrong, and what is allowed.
type Refusal = (String, String);

fn apply_one(config: &mut Config, assignment: &Assignment, origin: Origin) -> Result<(), Refusal> {
    let (spec, value) = resolve(assignment)?;
    if !origin.allows(spec.scope) {
        let (what, remedy) = match spec.scope {
            Scope::Process => ("read before there is a function", format!("use -nvptx-ra-{}=…", spec.name)),
            _ => ("not allowed here", format!("use -nvptx-ra-{}=… or a pass parameter", spec.name)),
        };
        return Err((what.into(), remedy));
    }
    if (spec.set)(config, value, &spec.shape) {
        return Ok(());
    }
    let (problem, mut remedy) = spec.shape.refuse(value);
    if let Some(name) = nearest(value, spec.shape.choices().iter().map(|choice| choice.name)) {
        remedy = format!("{remedy}; did you mean {name}?");
    }
    Err((problem.into(), remedy))
}

/// The option that an assignment names, and the text of the value that it gets.
fn resolve(assignment: &Assignment) -> Result<(&'static OptionSpec, &str), Refusal> {
    if let Some(spec) = find(&assignment.name) {
        return match (&assignment.value, spec.shape) {
            (Some(value), _) => Ok((spec, value)),
            (None, Shape::Switch) => Ok((spec, "on")),
            (None, shape) => Err(("no value".into(), format!("use {}={}", spec.name, shape.meta()))),
        };
    }
    if let Some(spec) = assignment.name.strip_prefix("no-").and_then(find) {
        return match (&assignment.value, spec.shape) {
            (None, Shape::Switch) => Ok((spec, "off")),
            (Some(_), Shape::Switch) => {
                Err(("a switch with no- takes no value".into(), format!("use {0} or no-{0}", spec.name)))
            }
            (_, shape) => Err(("no switch".into(), format!("use {}={}", spec.name, shape.meta()))),
        };
    }
    if assignment.name == "off" {
        let remedy = "off stands alone, as the whole function attribute \"nvptx-ra\"; or use position=off";
        return Err(("unknown option".into(), remedy.into()));
    }
    let visible = OPTIONS.iter().filter(|spec| !spec.hidden).map(|spec| spec.name);
    let name = assignment.name.strip_prefix("no-").unwrap_or(&assignment.name);
    let hint = nearest(name, visible).map(|name| format!("did you mean {name}? ")).unwrap_or_default();
    Err(("unknown option".into(), format!("{hint}`nvptx-ra explain --all` lists the options")))
}

/// The option of that name.
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    OPTIONS.iter().find(|spec| spec.name == name)
}
