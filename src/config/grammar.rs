//! The grammar of options, which is the same for pass parameters, the command line and the function attribute.
//!
//! ```text
//! options    = [ assignment { ";" assignment } ]
//! assignment = NAME "=" VALUE | SWITCH | "no-" SWITCH
//! ```
//! A backslash makes the next character literal, so that a path may contain a `;`. Spaces around an assignment and
//! empty assignments are ignored. The last assignment to an option counts.

use serde::Deserialize as _;

use super::allocator_settings::AllocatorSettings;
use super::nearest::nearest;
use super::removed;
use super::table::{Config, OPTIONS, OptionSpec, Scope};
use super::value::Shape;
use crate::error::{Error, ErrorKind};

/// The place where options were given. Later origins take precedence over earlier ones.
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
    /// Returns the origin with this name, for callers that only have text.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Attribute, Self::CommandLine, Self::Parameters].into_iter().find(|origin| origin.name() == name)
    }

    /// Returns the name in diagnostics.
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

/// Parses and checks the assignments in `text`. Each result is an option and the text of its value.
pub fn assignments(text: &str, origin: Origin) -> Result<Vec<(&'static OptionSpec, String)>, Error> {
    split(text).iter().map(|assignment| assignment.check(origin)).collect()
}

/// Parses the assignments in `text` and returns those that are valid.
pub(super) fn valid_assignments(text: &str, origin: Origin) -> Vec<(&'static OptionSpec, String)> {
    split(text).iter().filter_map(|assignment| assignment.check(origin).ok()).collect()
}

/// Updates options that an earlier version wrote: replaces earlier names, and drops removed values.
pub fn of_earlier_version(text: &str) -> String {
    let left = split(text).into_iter().filter_map(|mut assignment| {
        if let Some(now) = removed::name_now(&assignment.name) {
            assignment.name = now.to_owned();
        }
        if let (Some(spec), Some(value)) = (find(&assignment.name), &assignment.value)
            && removed::remedy(spec, value).is_some()
        {
            assignment.value = Some(removed::rest(spec, value)?);
        }
        let value = assignment.value.as_deref().map(|value| format!("={}", escape(value))).unwrap_or_default();
        Some(assignment.name + &value)
    });
    left.collect::<Vec<_>>().join(";")
}

/// Deserialises a field with options from a file of any version.
pub fn read_options<'de, D: serde::Deserializer<'de>>(field: D) -> Result<String, D::Error> {
    String::deserialize(field).map(|options| of_earlier_version(&options))
}

/// The problem, and the allowed values.
type OptionFault = (String, String);

/// An assignment as it was given.
struct Assignment {
    name: String,
    value: Option<String>,
}

impl Assignment {
    /// Returns the option and the text of its value, if the option may have that value.
    fn check(&self, origin: Origin) -> Result<(&'static OptionSpec, String), Error> {
        let checked = self.resolve().and_then(|(spec, value)| check(spec, value, origin).map(|()| (spec, value)));
        checked.map(|(spec, value)| (spec, value.to_owned())).map_err(|(problem, remedy)| {
            Error::new(ErrorKind::Option, format!("{}: {self}: {problem}", origin.name()), remedy)
        })
    }

    /// Returns the option, and the text of the value that it gets.
    fn resolve(&self) -> Result<(&'static OptionSpec, &str), OptionFault> {
        if let Some(spec) = find(&self.name) {
            return match (&self.value, spec.shape) {
                (Some(value), _) => Ok((spec, value)),
                (None, Shape::Switch) => Ok((spec, "on")),
                (None, shape) => Err(("no value".into(), format!("use {}={}", spec.name, shape.meta()))),
            };
        }
        if let Some(spec) = self.name.strip_prefix("no-").and_then(find) {
            return match (&self.value, spec.shape) {
                (None, Shape::Switch) => Ok((spec, "off")),
                (Some(_), Shape::Switch) => {
                    Err(("a switch with no- takes no value".into(), format!("use {0} or no-{0}", spec.name)))
                }
                (_, shape) => Err(("not a switch".into(), format!("use {}={}", spec.name, shape.meta()))),
            };
        }
        if let Some(now) = removed::name_now(self.name.strip_prefix("no-").unwrap_or(&self.name)) {
            return Err(renamed_to(now));
        }
        if self.name == "off" {
            let remedy = "give off alone, as the whole function attribute \"nvptx-ra\"; or use position=off";
            return Err(("unknown option".into(), remedy.into()));
        }
        let names = OPTIONS.iter().map(|spec| spec.name);
        let name = self.name.strip_prefix("no-").unwrap_or(&self.name);
        let hint = nearest(name, names).map(|name| format!("did you mean {name}? ")).unwrap_or_default();
        Err(("unknown option".into(), format!("{hint}`nvptx-ra explain --all` lists the options")))
    }
}

impl std::fmt::Display for Assignment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{}={value}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Splits at each `;` without a backslash before it, then each part at its first `=`.
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
                // A backslash at the very end is literal.
                let literal = if character == '\\' { characters.next().unwrap_or('\\') } else { character };
                current.value.as_mut().unwrap_or(&mut current.name).push(literal);
            }
        }
    }
}

impl OptionSpec {
    /// Returns the shortest assignment of a value to the option.
    pub(super) fn assignment(&self, value: &str) -> String {
        match (self.shape, value) {
            (Shape::Switch, "on") => self.name.to_owned(),
            (Shape::Switch, _) => format!("no-{}", self.name),
            (_, value) => format!("{}={}", self.name, escape(value)),
        }
    }
}

/// Escapes a value so that [`split`] reads it back.
fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for character in value.chars() {
        if matches!(character, ';' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Checks that an option may have a value from this origin.
fn check(spec: &OptionSpec, value: &str, origin: Origin) -> Result<(), OptionFault> {
    if !origin.allows(spec.scope) {
        let (what, remedy) = match spec.scope {
            Scope::Process => {
                ("the option is read before there is a function", format!("use -nvptx-ra-{}=…", spec.name))
            }
            _ => ("not allowed here", format!("use -nvptx-ra-{}=… or a pass parameter", spec.name)),
        };
        return Err((what.into(), remedy));
    }
    if spec.set(&mut Config::default(), value) { Ok(()) } else { Err(fault(spec, value)) }
}

/// Returns the fault of an earlier name of an option.
fn renamed_to(now: &str) -> OptionFault {
    ("renamed".into(), format!("use {now}"))
}

/// Returns the fault of a value that an option may not have.
fn fault(spec: &OptionSpec, value: &str) -> OptionFault {
    if let Some(remedy) = removed::remedy(spec, value) {
        return ("removed".into(), remedy.to_owned());
    }
    if let (Shape::Settings(_), false, Err(fault)) = (spec.shape, value.is_empty(), AllocatorSettings::read(value)) {
        return fault;
    }
    let (problem, mut remedy) = spec.shape.refuse(value);
    if let Some(name) = nearest(value, spec.shape.choices().iter().map(|choice| choice.name)) {
        remedy = format!("{remedy}; did you mean {name}?");
    }
    (problem.into(), remedy)
}

/// Sets an option from a command-line argument of the tool, which may have another name. An error begins with `given`.
pub(super) fn give(config: &mut Config, option: &str, value: &str, given: &str) -> Result<(), Error> {
    let Some(spec) = find(option) else {
        return Err(Error::new(ErrorKind::Option, format!("{option}: unknown option"), "please report this"));
    };
    if spec.set(config, value) {
        return Ok(());
    }
    let (problem, remedy) = fault(spec, value);
    Err(Error::new(ErrorKind::Option, format!("{given}{problem}"), remedy))
}

/// Returns the option of this name.
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    OPTIONS.iter().find(|spec| spec.name == name)
}
