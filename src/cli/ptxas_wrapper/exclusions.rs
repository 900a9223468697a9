//! `NVPTX_RA_UNCHANGED`: kernels that stay stock, and choices that are excluded for other kernels. Search results stay
//! in the cache. The excluded parts of a result are not delivered.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::profile::{Entry, OFF, Profile};

/// The environment variable.
pub(crate) const VARIABLE: &str = "NVPTX_RA_UNCHANGED";

/// The word between a kernel and its excluded choices.
const WITHOUT: &str = "without";

/// Matches every kernel.
pub(crate) const ALL: &str = "*";

/// Names of the passes' default behaviour, each with the option that disables it.
const BY_DEFAULT: [(&str, &str); 6] = [
    ("rename", "no-rename"),
    ("join-liveintervals", "no-join-liveintervals"),
    ("simd-video", "no-simd-video"),
    ("shared-addresses", "no-shared-addresses"),
    ("remat", "remat=off"),
    ("bit-spill", "bit-spill=off"),
];

/// A kernel, or a function that kernels call, and its excluded choices.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exclusion {
    name: String,
    /// The hash of the function's code; `None` matches any code of this name.
    hash: Option<String>,
    /// The excluded choices. If empty, the function stays stock.
    without: BTreeSet<String>,
}

/// All exclusions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exclusions(Vec<Exclusion>);

/// What is delivered for a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Changed,
    /// Some of its choices are excluded.
    Partly(Vec<String>),
    Unchanged,
}

impl Exclusions {
    /// Parses the variable's value: names separated by commas, or the path of a file with one name a line. A value with
    /// a slash is a path.
    pub(super) fn read(value: OsString) -> Result<Self, Error> {
        let wrong = |problem: String| {
            let remedy = "list kernels, separated by commas, or give a file's path with a slash, or unset it";
            Error::new(ErrorKind::Option, format!("{VARIABLE}: {problem}, and ptxas runs alone"), remedy)
        };
        let Some(text) = value.to_str().filter(|text| !text.contains('/')) else {
            let path = PathBuf::from(&value);
            let text = std::fs::read_to_string(&path).map_err(|error| wrong(format!("{}: {error}", path.display())))?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            return lines.map(Exclusion::read).collect::<Result<_, _>>().map(Self).map_err(wrong);
        };
        text.split(',').map(Exclusion::read).collect::<Result<_, _>>().map(Self).map_err(wrong)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Formats the exclusions for cache keys and for the printed version.
    pub(super) fn as_text(&self) -> String {
        let one = |Exclusion { name, hash, without }: &Exclusion| {
            format!("LeftOut {{ name: {name:?}, hash: {hash:?}, without: {without:?} }}")
        };
        format!("AllLeftOut([{}])", self.0.iter().map(one).collect::<Vec<_>>().join(", "))
    }

    /// Returns what is delivered for a function with these choices.
    pub(super) fn fate(&self, entry: &Entry) -> Fate {
        let is_meant = |left: &&Exclusion| {
            (left.name == ALL || left.name == entry.name) && left.hash.as_ref().is_none_or(|hash| *hash == entry.hash)
        };
        let meant: Vec<&Exclusion> = self.0.iter().filter(is_meant).collect();
        if meant.iter().any(|left| left.without.is_empty()) {
            return Fate::Unchanged;
        }
        let without: BTreeSet<&String> = meant.iter().flat_map(|left| &left.without).collect();
        let exclusions: Vec<String> = choices(entry).into_iter().filter(|choice| without.contains(choice)).collect();
        if exclusions.is_empty() { Fate::Changed } else { Fate::Partly(exclusions) }
    }

    /// Returns the profile without the excluded choices, and whether any were removed.
    pub(super) fn apply(&self, profile: Profile) -> (Profile, bool) {
        let mut is_other = false;
        let mut functions = Vec::new();
        for entry in &profile.functions {
            match self.fate(entry) {
                Fate::Changed => functions.push(entry.clone()),
                Fate::Partly(exclusions) => functions.push(without(entry, &exclusions)),
                Fate::Unchanged => {}
            }
            is_other |= changes(entry) && functions.last() != Some(entry);
        }
        (profile.with_functions(functions), is_other)
    }
}

impl Exclusion {
    fn read(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace().peekable();
        let name = words.next().ok_or("a name is empty")?.to_owned();
        let hash = words.next_if(|word| *word != WITHOUT).map(str::to_owned);
        let has_choices = words.next().is_some();
        let without: BTreeSet<String> = words.map(str::to_owned).collect();
        if has_choices && without.is_empty() {
            return Err(format!("no choice follows '{WITHOUT}' of '{name}'"));
        }
        Ok(Self { name, hash, without })
    }
}

/// Formats a line that leaves a function stock, or that excludes some of its choices.
pub(crate) fn line(name: &str, hash: &str, without: &[String]) -> String {
    let choices: String = without.iter().map(|choice| format!(" {choice}")).collect();
    if choices.is_empty() { format!("{name} {hash}\n") } else { format!("{name} {hash} {WITHOUT}{choices}\n") }
}

/// Returns whether an entry changes its function.
pub(crate) fn changes(entry: &Entry) -> bool {
    entry.options != OFF || !bounds(entry).is_empty()
}

/// Returns the choices of a function that can be excluded: the entry's choices, and the passes' default behaviour.
pub(crate) fn choices(entry: &Entry) -> Vec<String> {
    if entry.options == OFF {
        return bounds(entry);
    }
    let named = || entry.options.split(';').filter(|option| !option.is_empty());
    let has = |name: &str, none: &str| named().any(|option| stem(option) == name || option == none);
    let by_default = BY_DEFAULT.iter().filter(|(name, none)| !has(name, none)).map(|(name, _)| (*name).to_owned());
    // An option that disables a default is no choice that can be excluded.
    let is_done = |option: &&str| !BY_DEFAULT.iter().any(|(_, none)| none == option);
    named().filter(is_done).map(str::to_owned).chain(bounds(entry)).chain(by_default).collect()
}

/// Returns the choices that are not options of passes.
fn bounds(entry: &Entry) -> Vec<String> {
    let limit = entry.maxnreg.map(|registers| format!("maxnreg={registers}"));
    let blocks = entry.minnctapersm.map(|blocks| format!("minnctapersm={blocks}"));
    let named = [("smem-spilling", entry.smem_spilling), ("other-name", entry.other_name)];
    let named = named.into_iter().filter(|(_, is_chosen)| *is_chosen).map(|(name, _)| name.to_owned());
    limit.into_iter().chain(blocks).chain(named).collect()
}

/// Returns the default that an option replaces, or the option's name.
fn stem(option: &str) -> &str {
    let name = option.split('=').next().unwrap_or(option);
    if name == "rename-all" { "rename" } else { name }
}

/// Returns the entry without some of its choices.
fn without(entry: &Entry, exclusions: &[String]) -> Entry {
    let is_out = |choice: &str| exclusions.iter().any(|left| left == choice);
    let none = |option: &str| BY_DEFAULT.iter().find(|(name, _)| *name == stem(option)).map(|(_, none)| *none);
    let mut options: Vec<&str> = Vec::new();
    for option in entry.options.split(';').filter(|option| !option.is_empty()) {
        options.extend(if is_out(option) { none(option) } else { Some(option) });
    }
    options.extend(BY_DEFAULT.iter().filter(|(name, _)| is_out(name)).map(|(_, none)| *none));
    let maxnreg = entry.maxnreg.filter(|registers| !is_out(&format!("maxnreg={registers}")));
    let smem_spilling = entry.smem_spilling && !is_out("smem-spilling");
    let minnctapersm = entry.minnctapersm.filter(|blocks| !is_out(&format!("minnctapersm={blocks}")));
    let other_name = entry.other_name && !is_out("other-name");
    Entry { options: options.join(";"), maxnreg, smem_spilling, minnctapersm, other_name, ..entry.clone() }
}

#[cfg(test)]
mod tests {
    use arbtest::arbtest;
    use nvptx_ra::config::{Config, Origin};

    use super::*;

    fn entry(name: &str, options: &str) -> Entry {
        let (name, hash, options) = (name.into(), "7".into(), options.into());
        Entry { name, hash, options, maxnreg: Some(64), smem_spilling: true, ..Entry::default() }
    }

    fn read(value: &str) -> Exclusions {
        Exclusions::read(value.into()).expect(value)
    }

    /// Names, hashes and choices are matched, from the value and from a file.
    #[test]
    fn fates() {
        let k = entry("k", "order=eager");
        for (value, fate) in [
            ("k", Fate::Unchanged),
            ("*", Fate::Unchanged),
            ("l,k 7", Fate::Unchanged),
            ("l,k 8,kk", Fate::Changed),
            ("k without order=late", Fate::Changed),
            ("k 7 without order=eager rename", Fate::Partly(vec!["order=eager".into(), "rename".into()])),
        ] {
            assert_eq!(read(value).fate(&k), fate, "{value}");
        }
        let folder = tempfile::tempdir().expect("there is space");
        let file = folder.path().join("list");
        let text = ["# a note\n".to_owned(), line("k", "7", &["rename".into()]), line("l", "7", &[])].concat();
        std::fs::write(&file, text).expect("there is space");
        let list = Exclusions::read(file.into_os_string()).expect("a list");
        assert_eq!(list.fate(&k), Fate::Partly(vec!["rename".into()]));
        assert_eq!(list.fate(&entry("l", "")), Fate::Unchanged);
        for wrong in ["", "k,,l", "k without", "/no/such/file"] {
            let error = Exclusions::read(wrong.into()).expect_err(wrong).to_string();
            assert!(
                error.starts_with("nvptx-ra: NVPTX_RA_UNCHANGED: ") && error.contains("ptxas runs alone"),
                "{error}"
            );
        }
    }

    /// If all choices are excluded, the function stays stock. If some are excluded, the other choices stay, and the
    /// options are valid.
    #[test]
    fn choices_can_be_left_out() {
        let all =
            ["order=late;order-seed=3", "remat=peaks;bit-spill=on", "no-rename", "rename-all;no-simd-video", "", "off"];
        arbtest(|u| {
            let entry = entry("k", u.choose(&all)?);
            let choices = choices(&entry);
            let mut exclusions = Vec::new();
            for choice in &choices {
                if bool::arbitrary(u)? {
                    exclusions.push(choice.clone());
                }
            }
            let rest = without(&entry, &exclusions);
            Config::check(&rest.options, Origin::Attribute).expect("they are options");
            let expected: Vec<String> = choices.iter().filter(|choice| !exclusions.contains(choice)).cloned().collect();
            let now = super::choices(&rest);
            assert!(expected.iter().all(|choice| now.contains(choice)), "{expected:?} and {now:?}");
            assert!(now.iter().all(|choice| !exclusions.contains(choice)), "{exclusions:?} and {now:?}");
            Ok(())
        });
        use arbitrary::Arbitrary as _;
    }

    /// Functions that stay stock are removed from a profile. The result contains whether any choice was removed.
    #[test]
    fn profiles() {
        let profile = Profile::new("sm_90", vec![entry("k", "order=eager"), entry("l", "")]);
        assert_eq!(read("m").apply(profile.clone()), (profile.clone(), false));
        let (rest, is_other) = read("k").apply(profile);
        assert!(is_other && rest.functions.len() == 1 && rest.functions[0].name == "l");
    }
}
