//! Profiles: the winners of `nvptx-ra tune` for each function, kept in a file and replayed by later builds.
//!
//! The file is TOML. Each function has a hash of its LLVM IR or PTX. The hash detects winners that were found for other
//! code.

use serde::{Deserialize, Serialize};

use crate::config::{Config, OPTIONS, Origin, first_name, read_options};
use crate::error::{Error, ErrorKind};
use crate::printable::one_line;

/// The version of the file format.
const VERSION: u32 = 1;

/// A profile.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The version of the file format.
    version: u32,
    /// The processor of the search, e.g. `sm_90`.
    pub cpu: String,
    /// [`defaults`] of the build that ran the search, or empty if unknown. The defaults apply to functions without an
    /// entry, and to options that an entry does not set.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    defaults: String,
    /// Whether the hashes are of code before LLVM's optimisations. Clang then replays the profile before these
    /// optimisations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unoptimised: bool,
    /// The functions, in the order of their module.
    #[serde(rename = "function", default)]
    pub functions: Vec<Entry>,
}

/// The winner of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The hash of its code: by [`hash_of_ir`] for LLVM IR, by [`functions_of_ptx`](crate::passes::functions_of_ptx)
    /// for PTX. The hash ignores debug information.
    pub hash: String,
    /// Options in the form of the function attribute `"nvptx-ra"`, or `off`.
    #[serde(deserialize_with = "read_options")]
    pub options: String,
    /// The most registers of a thread, `.maxnreg`. `None` keeps the kernel's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxnreg: Option<u32>,
    /// Whether ptxas may spill to shared memory, `.pragma "enable_smem_spilling"`. Kernels only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub smem_spilling: bool,
    /// The fewest blocks on an SM, `.minnctapersm`. `None` keeps the kernel's own. With the directive, ptxas obeys
    /// `setmaxnreg`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minnctapersm: Option<u32>,
    /// Whether ptxas compiles the kernel under another name, [`OtherName`](crate::ptx::OtherName).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_name: bool,
    /// The source of the kernel's body, if another compiler made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<Linked>,
}

/// The attribute value that leaves a function as LLVM makes it. No other option may accompany it.
pub const OFF: &str = "off";

/// The option that keeps loops in LLVM's form, and the prefix of all options for the form of loops.
const LOOPS_AS_THEY_COME: &str = "loop-shape=off";
const LOOP_SHAPE: &str = "loop-shape=";

impl Entry {
    /// Whether the entry changes the number of registers with which a kernel starts. A kernel with `setmaxnreg` may
    /// then wait for ever.
    pub fn changes_bounds(&self) -> bool {
        self.maxnreg.is_some() || self.minnctapersm.is_some()
    }

    /// Returns the function attribute that replays the entry. `nvptx-loop-shape` is off unless the entry sets it,
    /// because a search judges variants without it. Warnings about register choices are off, because the search has
    /// already measured what these choices cost.
    pub fn attribute(&self) -> String {
        if self.options == OFF {
            return OFF.to_owned();
        }
        let has = |name: &str| self.options.split(';').any(|option| option.starts_with(name));
        let loops = (!has(LOOP_SHAPE)).then_some(LOOPS_AS_THEY_COME);
        let silence = has("regalloc=").then_some("warn=none");
        let own = Some(self.options.as_str()).filter(|options| !options.is_empty());
        [loops, silence, own].into_iter().flatten().collect::<Vec<_>>().join(";")
    }
}

/// A kernel's body in another compiler's PTX. The entry's options apply to that body.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Linked {
    /// The name of the file, for messages.
    pub file: String,
    /// The hash of the file, by [`fingerprint`].
    pub hash: String,
    /// The hash of the replaced code, in PTX without white space, comments and source lines.
    pub replaces: String,
}

/// The pragma that lets ptxas spill to shared memory. It appears once, anywhere in a kernel.
pub const SMEM_SPILLING: &str = ".pragma \"enable_smem_spilling\";";

/// Names of functions that a profile does not fit. These functions stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfit {
    /// Functions whose code differs from the code in the search.
    pub changed: Vec<String>,
    /// Functions whose entries need a later PTX version.
    pub ahead: Vec<String>,
    /// Functions whose entries limit registers that `setmaxnreg` moves between warpgroups. Their warps may wait for
    /// ever.
    pub limited: Vec<String>,
    /// Functions whose bodies come from other files that are not available, each with its file's name.
    pub elsewhere: Vec<(String, String)>,
}

/// Predicate of a warning, in singular and plural. Its subject is functions with `setmaxnreg` whose profile entry limits
/// registers.
const LIMITED: [&str; 2] = [
    "has setmaxnreg, which may wait for ever with the profile's bounds,",
    "have setmaxnreg, which may wait for ever with the profile's bounds,",
];

impl Unfit {
    /// Whether the profile fits all functions.
    pub fn is_empty(&self) -> bool {
        [&self.changed, &self.ahead, &self.limited].into_iter().all(Vec::is_empty) && self.elsewhere.is_empty()
    }

    /// Returns the warning about these functions. `None` if the profile fits all functions. The first argument is a
    /// verb for what happens to these functions, in singular and plural. `again` is the remedy for changed code.
    /// `newer` is the remedy for an old PTX version.
    pub fn warning(&self, [one, many]: [&str; 2], again: &str, newer: &str) -> Option<String> {
        let verbs = |[first, all]: [&str; 2]| [format!("{first} and {one}"), format!("{all} and {many}")];
        let parts = [
            about(&self.changed, verbs(["has changed", "have changed"]), again),
            about(&self.ahead, verbs(["needs a later PTX version", "need a later PTX version"]), newer),
            about(&self.limited, verbs(LIMITED), again),
        ];
        let mut parts: Vec<String> = parts.into_iter().flatten().collect();
        let mut files: Vec<&str> = self.elsewhere.iter().map(|(_, file)| file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        for file in files {
            let of_file = self.elsewhere.iter().filter(|(_, other)| other == file);
            let names: Vec<String> = of_file.map(|(name, _)| name.clone()).collect();
            let verbs = ["comes", "come"].map(|verb| format!("{verb} from another compiler's PTX"));
            let verbs = [format!("{} and stays stock", verbs[0]), format!("{} and stay stock", verbs[1])];
            parts.extend(about(&names, verbs, &format!("link it with nvptx-ra ptx --profile FILE --also {file}")));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Returns the part of a warning about one list of functions.
fn about(names: &[String], [one, many]: [String; 2], remedy: &str) -> Option<String> {
    let verb = if names.len() == 1 { one } else { many };
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    (!names.is_empty()).then(|| format!("{} {verb}; {remedy}", names.join(", ")))
}

impl Profile {
    /// Creates a profile for a processor.
    pub fn new(cpu: &str, functions: Vec<Entry>) -> Self {
        Self { version: VERSION, cpu: cpu.to_owned(), defaults: defaults(), unoptimised: false, functions }
    }

    /// Marks the profile as one of code before LLVM's optimisations.
    pub fn of_unoptimised(self) -> Self {
        Self { unoptimised: true, ..self }
    }

    /// Replaces the entries.
    #[must_use]
    pub fn with_functions(self, functions: Vec<Entry>) -> Self {
        Self { functions, ..self }
    }

    /// Lets all kernels keep their own names. A kernel may have another name only if its original name is restored in
    /// the machine code.
    #[must_use]
    pub fn with_own_names(mut self) -> Self {
        self.functions.iter_mut().for_each(|entry| entry.other_name = false);
        self
    }

    /// Removes loop forms from all entries. `None` if no entry has one.
    pub fn with_loops_as_they_come(&self) -> Option<Self> {
        let without = |entry: &Entry| {
            let options: Vec<&str> =
                entry.options.split(';').filter(|option| !option.starts_with(LOOP_SHAPE)).collect();
            Entry { options: options.join(";"), ..entry.clone() }
        };
        let functions: Vec<Entry> = self.functions.iter().map(without).collect();
        (functions != self.functions).then(|| self.clone().with_functions(functions))
    }

    /// Returns the warning of a replay: about functions that the profile does not fit, and about defaults that differ
    /// from this build's if the replay used an entry. `None` if neither applies. A profile without recorded defaults
    /// counts as equal. `fate`, `again` and `newer` are as for [`Unfit::warning`].
    pub fn warning(
        &self,
        has_chosen: bool,
        unfit: &Unfit,
        fate: [&str; 2],
        again: &str,
        newer: &str,
    ) -> Option<String> {
        let is_of_another = ![String::new(), defaults()].contains(&self.defaults);
        let other = (has_chosen && is_of_another).then(|| {
            format!(
                "made by another version of nvptx-ra or with other defaults: the PTX may differ from the result of \
                 the search; {again}"
            )
        });
        let parts: Vec<String> = unfit.warning(fate, again, newer).into_iter().chain(other).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Parses a profile. Any malformed text gives an error with the problem and its place.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let broken = |problem: String| {
            Error::new(
                ErrorKind::File,
                problem,
                "write the profile again with nvptx-ra tune; every function gets the defaults",
            )
        };
        let profile: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            broken(format!("line {line}: {}", error.message()))
        })?;
        if profile.version != VERSION {
            return Err(broken(format!("version {}, but this build reads version {VERSION}", profile.version)));
        }
        for entry in &profile.functions {
            if entry.maxnreg.is_some_and(|registers| !(1..=255).contains(&registers)) {
                return Err(broken(format!("function '{}': maxnreg is out of range, 1 to 255", entry.name)));
            }
            Config::check(&entry.options, Origin::Attribute)
                .map_err(|error| broken(format!("function '{}': {}", entry.name, error.problem)))?;
        }
        Ok(profile)
    }

    /// Prints the text that [`parse`](Self::parse) reads back. `replayed_by` is the option that replays it. `notes` are
    /// comment lines at its head.
    pub fn print(&self, replayed_by: &str, notes: &[String]) -> Result<String, Error> {
        let text = toml::to_string(self).map_err(|error| Error::internal(error, None))?;
        let comment = |note: &String| format!("# {}\n", one_line(note));
        let notes: String = notes.iter().map(comment).collect();
        Ok(format!("# Made by nvptx-ra tune; replayed by {replayed_by}.\n{notes}{text}"))
    }

    /// Returns the entry of a function. O(functions).
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.functions.iter().find(|entry| entry.name == name)
    }
}

/// Returns a [`fingerprint`] of this build's version and of the defaults of its options. A renamed option does not
/// change the fingerprint.
fn defaults() -> String {
    let config = Config::default();
    let values = OPTIONS.iter().map(|spec| format!("{}={}\n", first_name(spec.name), spec.value(&config)));
    fingerprint(&format!("{}\n{}", env!("CARGO_PKG_VERSION"), values.collect::<String>()))
}

/// Returns the hash of a function's IR, as LLVM prints it. The hash ignores debug information, so a profile fits code
/// with any amount of debug information.
pub fn hash_of_ir(ir: &str) -> String {
    fingerprint(&code_only(&without_debug(ir)))
}

/// Whether `hash` is the hash of a function's IR. Earlier builds included debug information in the hash, and their
/// hashes are accepted, too.
pub fn is_hash_of_ir(hash: &str, ir: &str) -> bool {
    hash == hash_of_ir(ir) || hash == fingerprint(&code_only(ir))
}

/// Attachments of instructions that the hash ignores: debug information and loop metadata. Loop metadata refers to
/// source lines, and to hints whose text is outside of the function and therefore not hashed.
const ATTACHED: [&str; 4] = ["!dbg", "!DIAssignID", "!heapallocsite", "!llvm.loop"];

/// Removes debug information from a function's IR: records and calls with the locations of variables, and attached
/// metadata.
fn without_debug(ir: &str) -> String {
    let mut code = String::with_capacity(ir.len());
    for line in ir.lines() {
        let start = line.trim_start();
        if start.starts_with("#dbg_") || start.contains("call void @llvm.dbg.") {
            continue;
        }
        let mut words = line.split(' ').peekable();
        let mut kept: Vec<&str> = Vec::new();
        while let Some(word) = words.next() {
            let is_reference = |next: &&str| next.starts_with('!');
            if !ATTACHED.contains(&word) || words.next_if(is_reference).is_none_or(|next| next.ends_with(',')) {
                kept.extend((!ATTACHED.contains(&word)).then_some(word));
            } else if let Some(last) = kept.last_mut() {
                // The last element of a list has no comma after it.
                *last = last.trim_end_matches(',');
            }
        }
        code.push_str(&kept.join(" "));
        code.push('\n');
    }
    code
}

/// Returns the parts of a function's IR that determine its results. Comments are removed. References to attribute
/// groups are removed, because tools add attributes of their own. The numbers of metadata nodes are removed, because
/// they change with the rest of the module.
pub fn code_only(ir: &str) -> String {
    let mut code = String::with_capacity(ir.len());
    for line in ir.lines().filter(|line| !line.starts_with(';')) {
        for word in line.split_whitespace() {
            let is_attributes =
                word.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            if !is_attributes {
                code.push_str(without_number(word));
                code.push(' ');
            }
        }
        code.push('\n');
    }
    code
}

/// Removes the number from a metadata reference `!12`, `!12,` or `!12)`.
fn without_number(word: &str) -> &str {
    let number = |rest: &str| rest.trim_end_matches([',', ')']).parse::<u32>().is_ok();
    let is_reference = word.strip_prefix('!').is_some_and(number);
    if is_reference { "!" } else { word }
}

/// Returns a 128-bit hash of a text, in hexadecimal: FNV-1a (Fowler, Noll and Vo). It is the same on every machine.
pub fn fingerprint(text: &str) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Profile {
        let entry = |name: &str, options: &str, maxnreg| Entry {
            name: name.to_owned(),
            hash: fingerprint(name),
            options: options.to_owned(),
            maxnreg,
            smem_spilling: maxnreg.is_some(),
            minnctapersm: maxnreg.map(|_| 1),
            other_name: maxnreg.is_some(),
            linked: maxnreg.map(|_| Linked { file: "n.ptx".into(), hash: "1".into(), replaces: "2".into() }),
        };
        Profile::new("sm_90", vec![entry("k", "order=late;order-seed=3", Some(128)), entry("\"odd\" {}", "off", None)])
    }

    /// The flag for unoptimised code reads back as it was printed.
    #[test]
    fn code_ahead_of_optimisations() {
        let text = sample().of_unoptimised().print("-nvptx-ra-profile=FILE", &[]).expect("it prints");
        assert_eq!(Profile::parse(&text).expect(&text), sample().of_unoptimised());
        assert!(!sample().print("-nvptx-ra-profile=FILE", &[]).expect("it prints").contains("unoptimised"));
    }

    /// A profile reads back as it was printed.
    #[test]
    fn reads_back() {
        let notes = ["k: same".to_owned(), "two\nlines".to_owned()];
        let text = sample().print("-nvptx-ra-profile=FILE", &notes).expect("it prints");
        assert_eq!(Profile::parse(&text).expect(&text), sample());
        assert!(text.contains("\n# k: same\n# two | lines\nversion"), "{text}");
        assert_eq!(text.matches("smem_spilling = true").count(), 1, "{text}");
    }

    /// Option values that this version does not have are ignored, and earlier names of options are replaced by the
    /// current names. A renamed option does not count as another default.
    #[test]
    fn of_before() {
        let text = sample().print("-nvptx-ra-profile=FILE", &[]).expect("it prints");
        let before = text.replace("order=late;", "order=auto;skip=auto+gvn;add=sink;usedessa=1;");
        assert_ne!(before, text);
        let profile = Profile::parse(&before).expect(&before);
        assert_eq!(profile.functions[0].options, "skip-passes=gvn;add-passes=sink;cssa-interference=1;order-seed=3");
        assert_eq!(profile.functions[1..], sample().functions[1..]);
    }

    /// A warning reports a profile of a build with other defaults, because it may give other PTX. A profile that is
    /// written by hand does not record defaults.
    #[test]
    fn other_defaults() {
        let text = sample().print("-nvptx-ra-profile=FILE", &[]).expect("it prints");
        let said = |text: &str, unfit: &Unfit| {
            let profile = Profile::parse(text).expect(text);
            profile.warning(true, unfit, ["stays", "stay"], "tune again", "update")
        };
        let other = text.replace(&defaults(), &fingerprint("other"));
        assert_ne!(text, other);
        assert_eq!(said(&text, &Unfit::default()), None);
        let by_hand = text.replace(&format!("defaults = \"{}\"\n", defaults()), "");
        assert!(!by_hand.contains("defaults"), "{by_hand}");
        assert_eq!(said(&by_hand, &Unfit::default()), None);
        let about = "made by another version of nvptx-ra or with other defaults: the PTX may differ from the result of \
            the search; tune again";
        assert_eq!(said(&other, &Unfit::default()).as_deref(), Some(about));
        let changed = Unfit { changed: vec!["k".into()], ..Unfit::default() };
        let unused = Profile::parse(&other).expect(&other);
        assert_eq!(unused.warning(false, &Unfit::default(), ["stays", "stay"], "tune again", "update"), None);
        assert_eq!(said(&other, &changed), Some(format!("'k' has changed and stays; tune again; {about}")));
    }

    /// Malformed text gives an error with its place, and no panic.
    #[test]
    fn broken_files() {
        let text = sample().print("-nvptx-ra-profile=FILE", &[]).expect("it prints");
        let broken = [
            (text.replace("version = 1", "version = 7"), "version 7"),
            (text.replace("order=late", "order=sideways"), "order=sideways"),
            (text.replace("maxnreg = 128", "maxnreg = 900"), "out of range"),
            (text.replace("cpu = ", "cpus = "), "line 3"),
            (text[..text.len() / 2].to_owned(), "line "),
        ];
        for (text, expected) in broken {
            let error = Profile::parse(&text).expect_err(&text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// The hash distinguishes code, and ignores the numbers of metadata and attributes.
    #[test]
    fn hashes_are_of_code() {
        let ir =
            "; Function Attrs: nounwind\ndefine void @k(i32 %x) #3 !dbg !12 {\n  %y = add i32 %x, 1, !dbg !15\n}\n";
        let renumbered = ir.replace("#3 ", "#11 ").replace("!12", "!7").replace("Attrs: nounwind", "Attrs: noinline");
        assert_eq!(fingerprint(&code_only(ir)), fingerprint(&code_only(&ir.replace("#3 ", ""))));
        assert_eq!(fingerprint(&code_only(ir)), fingerprint(&code_only(&renumbered)));
        assert_ne!(fingerprint(&code_only(ir)), fingerprint(&code_only(&ir.replace("%x, 1", "%x, 2"))));
        // Debug information of any form does not count. Code and other metadata count.
        let plain = "define void @k(ptr %p) #3 {\n  %y = load i32, ptr %p, align 4, !tbaa !9\n  br label %2, !x !4\n  ret void\n}\n";
        let debug = "define void @k(ptr %p) #3 !dbg !12 {\n    #dbg_value(ptr %p, !13, !DIExpression(), !15)\n  \
            tail call void @llvm.dbg.value(metadata ptr %p, metadata !13, metadata !DIExpression()), !dbg !15\n  \
            %y = load i32, ptr %p, align 4, !dbg !15, !tbaa !9\n  br label %2, !x !4, !dbg !2, !llvm.loop !16\n  \
            ret void, !dbg !17\n}\n";
        assert_eq!(code_only(&without_debug(debug)), code_only(&without_debug(plain)));
        assert_eq!(hash_of_ir(debug), hash_of_ir(plain));
        for (from, to) in [("align 4", "align 8"), ("!tbaa", "!range"), ("i32", "float"), (", !tbaa !9", "")] {
            assert_ne!(hash_of_ir(&debug.replace(from, to)), hash_of_ir(plain), "{from}");
        }
        // Earlier builds counted debug information.
        let earlier = fingerprint(&code_only(debug));
        assert!(is_hash_of_ir(&earlier, debug) && is_hash_of_ir(&hash_of_ir(plain), debug));
        assert!(!is_hash_of_ir(&earlier, plain));
        // The published test vector of the empty text and of "a".
        assert_eq!(fingerprint(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(fingerprint("a"), "d228cb696f1a8caf78912b704e4a8964");
    }
}
