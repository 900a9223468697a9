//! Descriptions of options, for people and for the compiler's help. All text about options is made here, from the
//! table.

use std::fmt::Write as _;
use std::sync::LazyLock;

use super::nearest::nearest;
use super::removed;
use super::table::{Audience, Config, OPTIONS, OptionSpec, Scope};
use super::value::Shape;
use crate::error::{Error, ErrorKind};

/// An option as the compiler's command line registers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Name without `nvptx-ra-`.
    pub name: &'static str,
    /// Help, with type, range, default and unit.
    pub help: String,
    /// Placeholder of the value in the help.
    pub meta: String,
    /// Whether the option may be given without a value.
    pub is_switch: bool,
    /// Whether only the help of hidden options lists it.
    pub hidden: bool,
}

static INFOS: LazyLock<Vec<OptionInfo>> = LazyLock::new(|| {
    let info = |spec: &OptionSpec| OptionInfo {
        name: spec.name,
        help: format!("{} {}", paragraph(spec.help), facts(spec)),
        meta: spec.shape.meta(),
        is_switch: spec.shape == Shape::Switch,
        hidden: spec.audience == Audience::Developers,
    };
    OPTIONS.iter().map(info).chain(removed::renamed().map(of_earlier_name)).collect()
});

/// Returns the entry of an option's earlier name. The entry lets the compiler print the new name, whether or not a
/// value is given.
fn of_earlier_name((name, now): (&'static str, &'static str)) -> OptionInfo {
    let help = format!("Renamed: use -nvptx-ra-{now}.");
    OptionInfo { name, help, meta: String::new(), is_switch: true, hidden: true }
}

/// Returns the number of options on the compiler's command line: those of the table, and the renamed ones.
pub fn option_count() -> usize {
    INFOS.len()
}

/// Returns the option at an index: those of the table come first, then the renamed ones. The entry is static, so that
/// C++ may keep pointers to its text.
pub fn option_at(index: usize) -> Option<&'static OptionInfo> {
    INFOS.get(index)
}

/// Describes an option for a terminal.
pub fn explain(name: &str) -> Result<String, Error> {
    // Also accepts the form on the command line and the negated form of a switch, because people paste what they see.
    let bare = name.trim_start_matches('-');
    let bare = bare.strip_prefix("nvptx-ra-").unwrap_or(bare);
    let bare = bare.split_once('=').map_or(bare, |(name, _)| name);
    let found = super::find(bare).or_else(|| super::find(bare.strip_prefix("no-")?));
    found.map(explain_one).ok_or_else(|| {
        if let Some(now) = removed::name_now(bare.strip_prefix("no-").unwrap_or(bare)) {
            return Error::new(ErrorKind::Option, format!("{name}: renamed"), format!("use {now}"));
        }
        let hint = nearest(bare, OPTIONS.iter().map(|spec| spec.name));
        let remedy = match hint {
            Some(hint) => format!("did you mean {hint}? `nvptx-ra explain --all` lists the options"),
            None => "`nvptx-ra explain --all` lists the options".to_owned(),
        };
        Error::new(ErrorKind::Option, format!("{name}: unknown option"), remedy)
    })
}

/// Describes all options for a terminal, including those for developers on request.
pub fn explain_all(for_developers: bool) -> String {
    let shown = OPTIONS.iter().filter(|spec| for_developers || spec.audience == Audience::Users);
    shown.map(explain_one).collect::<Vec<_>>().join("\n")
}

fn explain_one(spec: &OptionSpec) -> String {
    let mut text = format!("{}={}\n", spec.name, spec.shape.meta());
    let mut line = |label: &str, content: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {label:<11} {content}");
    };
    line("effect", &paragraph(spec.help));
    for choice in spec.shape.choices() {
        line("", &format!("{}: {}", choice.name, choice.help));
    }
    line("type", &spec.shape.describe());
    line("default", &default_with_unit(spec));
    line("read by", spec.pass.unwrap_or("every pass"));
    line("given as", &usage(spec, ""));
    text
}

/// Returns the contents of docs/options.md.
pub fn options_page() -> String {
    let head = "# Options\n\n\
         Made from the table in src/config/table.rs (`UPDATE_EXPECT=1 cargo test` rewrites this page). Options that \
         only profiles, the search and tests set are [on a page of their own](options-for-developers.md).\n\n\
         An option is given in one of three ways. If it is given in several ways, the first in this list counts:\n\n\
         1. as a parameter of a pass: `nvptx-ra mir -passes='nvptx-remat<remat=peaks>' in.mir`;\n\
         2. on the command line: `-nvptx-ra-NAME=VALUE` for llc, the same after `-mllvm` for clang, and `--set \
         NAME=VALUE` for `nvptx-ra`;\n\
         3. as the function attribute `\"nvptx-ra\"=\"NAME=VALUE;NAME=VALUE\"`. `opt -load-pass-plugin=… \
         -passes='nvptx-ra<order=late;remat=peaks>'` sets the attribute of all functions of a module.\n\n\
         In parameters and in the attribute, `;` separates the options, and a backslash makes the next character \
         literal. The name of a switch alone turns the switch on; `no-` before it turns it off. The attribute \
         `\"nvptx-ra\"=\"off\"` switches all passes off for a function. `nvptx-ra explain NAME` prints the entry of an \
         option.\n";
    page(head, Audience::Users)
}

/// Returns the contents of docs/options-for-developers.md.
pub fn developers_page() -> String {
    let head = "# Options for developers\n\n\
         Made from the table in src/config/table.rs (`UPDATE_EXPECT=1 cargo test` rewrites this page).\n\n\
         These options are set by profiles and the search, or help to develop and test the passes. They are given like \
         [the options for users](options.md). `-help-hidden` of the compiler and `nvptx-ra explain --all --hidden` \
         list them.\n";
    page(head, Audience::Developers)
}

fn page(head: &str, audience: Audience) -> String {
    let mut page = head.to_owned();
    let mut pass = None;
    for spec in OPTIONS.iter().filter(|spec| spec.audience == audience) {
        if pass != Some(spec.pass) {
            pass = Some(spec.pass);
            match spec.pass {
                Some(name) => page.push_str(&format!("\n## `{name}`\n")),
                None => page.push_str("\n## Every pass\n"),
            }
        }
        page.push_str(&section(spec));
    }
    page
}

fn section(spec: &OptionSpec) -> String {
    let mut text = format!("\n### `{}`\n\n{}\n\n", spec.name, paragraph(spec.help));
    for choice in spec.shape.choices() {
        text.push_str(&format!("- `{}`: {}\n", choice.name, choice.help));
    }
    if !spec.shape.choices().is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("{}\n\n", facts(spec)));
    text.push_str(&format!("Given as {}.\n", usage(spec, "`")));
    text
}

/// Describes type, range and default, each in a sentence.
fn facts(spec: &OptionSpec) -> String {
    let described = spec.shape.describe();
    let mut letters = described.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase()).unwrap_or_default();
    format!("{first}{}. Default: {}.", letters.as_str(), default_with_unit(spec))
}

fn default_with_unit(spec: &OptionSpec) -> String {
    let value = spec.value(&Config::default());
    match (value.as_ref(), spec.unit) {
        ("", _) => "not given".to_owned(),
        (value, "") => value.to_owned(),
        (value, unit) => format!("{value} {unit}"),
    }
}

/// Describes how the option is written in each place where it is allowed; `quote` encloses what the user types.
fn usage(spec: &OptionSpec, quote: &str) -> String {
    let (name, meta) = (spec.name, spec.shape.meta());
    let typed = |text: String| format!("{quote}{text}{quote}");
    let long = typed(format!("-nvptx-ra-{name}={meta}"));
    let short = if spec.shape == Shape::Switch {
        format!("{} or {}", typed(name.to_owned()), typed(format!("no-{name}")))
    } else {
        typed(format!("{name}={meta}"))
    };
    match spec.scope {
        Scope::Function => format!("{long}, or {short} as a pass parameter or in the function attribute"),
        Scope::Trusted => format!("{long}, or {short} as a pass parameter"),
        Scope::Process => long,
    }
}

/// Joins the lines of a documentation comment to one paragraph.
fn paragraph(help: &str) -> String {
    help.split_whitespace().collect::<Vec<_>>().join(" ")
}
