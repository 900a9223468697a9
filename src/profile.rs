//! Profiles: the choices that `nvptx-ra tune` found for each function, kept in a file and replayed by later builds.
//!
//! The file is TOML. A function's hash is that of its LLVM IR, or of its text in PTX, so that choices which were made for
//! other code are seen.

use serde::{Deserialize, Serialize};

use crate::config::{Config, OPTIONS, Origin, first_name, read_options};
use crate::error::{Error, ErrorKind};
use crate::printable::one_line;

/// The version of the file's form.
const VERSION: u32 = 1;

/// What a profile holds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The version of the form.
    version: u32,
    /// The processor that the choices were made for, e.g. `sm_90`.
    pub cpu: String,
    /// [`defaults`] of the build that found the choices; empty where nobody says. A function that a choice leaves alone is
    /// compiled by the defaults, and so is what a choice does not name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    defaults: String,
    /// Whether the hashes are of code ahead of LLVM's optimisations, so that clang replays the profile there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unoptimised: bool,
    /// The functions, in the order of their module.
    #[serde(rename = "function", default)]
    pub functions: Vec<Entry>,
}

/// The choices for one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The hash of its code, as [`hash_of_ir`] has it of LLVM IR; of PTX, see [`functions_of_ptx`](crate::passes::functions_of_ptx).
    /// Debug information counts for nothing.
    pub hash: String,
    /// Options as the function attribute `"nvptx-ra"` takes them, or `off`.
    #[serde(deserialize_with = "read_options")]
    pub options: String,
    /// The most registers that a thread may have, `.maxnreg`; `None` leaves that as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxnreg: Option<u32>,
    /// Whether ptxas may spill to shared memory, `.pragma "enable_smem_spilling"`: in kernels alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub smem_spilling: bool,
    /// The fewest blocks on an SM, `.minnctapersm`; `None` leaves that as it is. With it, ptxas does what `setmaxnreg` asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minnctapersm: Option<u32>,
    /// Whether ptxas compiles the kernel under another name, [`OtherName`](crate::ptx::OtherName).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_name: bool,
    /// Where the kernel's body comes from, if another compiler made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<Linked>,
}

/// The attribute that leaves a function as LLVM makes it. It stands by itself.
pub const OFF: &str = "off";

/// The option by which loops keep their last branches, and the name of all that say how loops end.
const LOOPS_AS_THEY_COME: &str = "loop-shape=off";
const LOOP_SHAPE: &str = "loop-shape=";

impl Entry {
    /// Whether it changes with how many registers a kernel is entered, for which a kernel with `setmaxnreg` may wait for ever.
    pub fn changes_bounds(&self) -> bool {
        self.maxnreg.is_some() || self.minnctapersm.is_some()
    }

    /// The options as the function attribute that replays the entry. `nvptx-loop-shape` leaves loops alone unless the entry says
    /// otherwise: so a search judges them. A search has measured what a choice of registers costs, so that nothing is warned of.
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

/// A kernel's body in another compiler's PTX. The options of the entry are for that body.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Linked {
    /// The name of the file, for messages.
    pub file: String,
    /// The hash of the file, as [`fingerprint`] has it.
    pub hash: String,
    /// The hash of the code that the body takes the place of, in PTX without white space, comments and source lines.
    pub replaces: String,
}

/// What lets ptxas spill to shared memory. It stands anywhere in a kernel, once.
pub const SMEM_SPILLING: &str = ".pragma \"enable_smem_spilling\";";

/// Functions that a profile does not fit, by their names: they are left as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfit {
    /// Their code is another one than the profile was made for.
    pub changed: Vec<String>,
    /// Their choices need a later version of PTX.
    pub ahead: Vec<String>,
    /// Their choices limit registers that `setmaxnreg` moves between warpgroups, which may wait for ever then.
    pub limited: Vec<String>,
    /// Their bodies are in other files, by these names, which are not at hand.
    pub elsewhere: Vec<(String, String)>,
}

/// What is said of one function with `setmaxnreg` whose registers a choice limits, and of several.
const LIMITED: [&str; 2] = [
    "has setmaxnreg, which may wait for ever with the profile's bounds,",
    "have setmaxnreg, which may wait for ever with the profile's bounds,",
];

impl Unfit {
    /// Whether the profile fits all functions.
    pub fn is_empty(&self) -> bool {
        [&self.changed, &self.ahead, &self.limited].into_iter().all(Vec::is_empty) && self.elsewhere.is_empty()
    }

    /// What is said of these functions; `None` where the profile fits all. `fate` is what becomes of one of them and of
    /// several, `again` what to do about changed code, and `newer` about a version of PTX.
    pub fn warning(&self, [one, many]: [&str; 2], again: &str, newer: &str) -> Option<String> {
        let verbs = |[first, all]: [&str; 2]| [format!("{first} and {one}"), format!("{all} and {many}")];
        let parts = [
            about(&self.changed, verbs(["has changed", "have changed"]), again),
            about(&self.ahead, verbs(["needs a later version of PTX", "need a later version of PTX"]), newer),
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

/// What is said of functions that a profile does not fit.
fn about(names: &[String], [one, many]: [String; 2], remedy: &str) -> Option<String> {
    let verb = if names.len() == 1 { one } else { many };
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    (!names.is_empty()).then(|| format!("{} {verb}; {remedy}", names.join(", ")))
}

impl Profile {
    /// A profile for a processor.
    pub fn new(cpu: &str, functions: Vec<Entry>) -> Self {
        Self { version: VERSION, cpu: cpu.to_owned(), defaults: defaults(), unoptimised: false, functions }
    }

    /// The same for code ahead of LLVM's optimisations.
    pub fn of_unoptimised(self) -> Self {
        Self { unoptimised: true, ..self }
    }

    /// The same for other choices.
    #[must_use]
    pub fn with_functions(self, functions: Vec<Entry>) -> Self {
        Self { functions, ..self }
    }

    /// The same in which kernels keep their own names: only where machine code gets these back may they have others.
    #[must_use]
    pub fn with_own_names(mut self) -> Self {
        self.functions.iter_mut().for_each(|entry| entry.other_name = false);
        self
    }

    /// The same with loops as they come; `None` where all stay so anyway.
    pub fn with_loops_as_they_come(&self) -> Option<Self> {
        let without = |entry: &Entry| {
            let options: Vec<&str> =
                entry.options.split(';').filter(|option| !option.starts_with(LOOP_SHAPE)).collect();
            Entry { options: options.join(";"), ..entry.clone() }
        };
        let functions: Vec<Entry> = self.functions.iter().map(without).collect();
        (functions != self.functions).then(|| self.clone().with_functions(functions))
    }

    /// What there is to say of a replay, which may have chosen for some function; `None` where the profile fits all
    /// functions, and is of this build if it chose. `fate`, `again` and `newer` are as for [`Unfit::warning`].
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
                "made by an nvptx-ra of another version or with other defaults: the PTX may be another one than was \
                found; {again}"
            )
        });
        let parts: Vec<String> = unfit.warning(fate, again, newer).into_iter().chain(other).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Reads a profile. An error says what is wrong and where, whatever the text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let broken = |problem: String| {
            Error::new(ErrorKind::File, problem, "let nvptx-ra tune write it anew; every function gets the defaults")
        };
        let profile: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            broken(format!("line {line}: {}", error.message()))
        })?;
        if profile.version != VERSION {
            return Err(broken(format!("version {}, and this build reads {VERSION}", profile.version)));
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

    /// The text that [`parse`](Self::parse) reads back. `replayed_by` is the option that replays it. `notes` stand at its
    /// head as comments, each on a line.
    pub fn print(&self, replayed_by: &str, notes: &[String]) -> Result<String, Error> {
        let text = toml::to_string(self).map_err(|error| Error::internal(error, None))?;
        let comment = |note: &String| format!("# {}\n", one_line(note));
        let notes: String = notes.iter().map(comment).collect();
        Ok(format!("# Made by nvptx-ra tune; replayed by {replayed_by}.\n{notes}{text}"))
    }

    /// The entry of a function. O(functions).
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.functions.iter().find(|entry| entry.name == name)
    }
}

/// The version of this build and the defaults of its options, as a [`fingerprint`]. Another name of an option is no other default.
fn defaults() -> String {
    let config = Config::default();
    let values = OPTIONS.iter().map(|spec| format!("{}={}\n", first_name(spec.name), spec.value(&config)));
    fingerprint(&format!("{}\n{}", env!("CARGO_PKG_VERSION"), values.collect::<String>()))
}

/// The hash of a function's IR, as LLVM prints it. Debug information counts for nothing, so that a profile fits code that
/// is compiled with more or less of it.
pub fn hash_of_ir(ir: &str) -> String {
    fingerprint(&code_only(&without_debug(ir)))
}

/// Whether a hash is of a function's IR, as [`hash_of_ir`] has it, or as builds had it for which debug information counted.
pub fn is_hash_of_ir(hash: &str, ir: &str) -> bool {
    hash == hash_of_ir(ir) || hash == fingerprint(&code_only(ir))
}

/// What debug information attaches to instructions. Loops have metadata of their own only for their lines, or for hints
/// whose text the hash does not see either.
const ATTACHED: [&str; 4] = ["!dbg", "!DIAssignID", "!heapallocsite", "!llvm.loop"];

/// A function's IR without debug information: records and calls that say where variables are, and attached metadata.
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
                // What was last in a list has no comma behind it.
                *last = last.trim_end_matches(',');
            }
        }
        code.push_str(&kept.join(" "));
        code.push('\n');
    }
    code
}

/// What of a function's IR, as LLVM prints it, says what it computes: without comments, without attributes, to which
/// tools add some of their own, and without the numbers of metadata, which change with the rest of the module.
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

/// A reference to metadata, `!12`, `!12,` or `!12)`, without its number.
fn without_number(word: &str) -> &str {
    let number = |rest: &str| rest.trim_end_matches([',', ')']).parse::<u32>().is_ok();
    let is_reference = word.strip_prefix('!').is_some_and(number);
    if is_reference { "!" } else { word }
}

/// 128 bits that tell texts apart, in hexadecimal: FNV-1a (Fowler, Noll and Vo), the same on every machine.
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

    /// Of what code a profile is reads back, too.
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

    /// A profile whose options have values that were removed since is read without these, and with the names that options have
    /// now. Another name is no other default.
    #[test]
    fn of_before() {
        let text = sample().print("-nvptx-ra-profile=FILE", &[]).expect("it prints");
        let before = text.replace("order=late;", "order=auto;skip=auto+gvn;add=sink;usedessa=1;");
        assert_ne!(before, text);
        let profile = Profile::parse(&before).expect(&before);
        assert_eq!(profile.functions[0].options, "skip-passes=gvn;add-passes=sink;cssa-interference=1;order-seed=3");
        assert_eq!(profile.functions[1..], sample().functions[1..]);
    }

    /// A profile of a build with other defaults may give another PTX, which is said. One that somebody wrote by hand has no
    /// word of defaults.
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
        let about = "made by an nvptx-ra of another version or with other defaults: the PTX may be another one than was \
            found; tune again";
        assert_eq!(said(&other, &Unfit::default()).as_deref(), Some(about));
        let changed = Unfit { changed: vec!["k".into()], ..Unfit::default() };
        let unused = Profile::parse(&other).expect(&other);
        assert_eq!(unused.warning(false, &Unfit::default(), ["stays", "stay"], "tune again", "update"), None);
        assert_eq!(said(&other, &changed), Some(format!("'k' has changed and stays; tune again; {about}")));
    }

    /// Whatever is broken is said with its place, and is no panic.
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

    /// The hash tells code apart, and does not see the numbers of metadata and attributes.
    #[test]
    fn hashes_are_of_code() {
        let ir =
            "; Function Attrs: nounwind\ndefine void @k(i32 %x) #3 !dbg !12 {\n  %y = add i32 %x, 1, !dbg !15\n}\n";
        let renumbered = ir.replace("#3 ", "#11 ").replace("!12", "!7").replace("Attrs: nounwind", "Attrs: noinline");
        assert_eq!(fingerprint(&code_only(ir)), fingerprint(&code_only(&ir.replace("#3 ", ""))));
        assert_eq!(fingerprint(&code_only(ir)), fingerprint(&code_only(&renumbered)));
        assert_ne!(fingerprint(&code_only(ir)), fingerprint(&code_only(&ir.replace("%x, 1", "%x, 2"))));
        // Debug information counts for nothing, in whatever form it is; code and other metadata count.
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
        // Earlier builds counted it.
        let earlier = fingerprint(&code_only(debug));
        assert!(is_hash_of_ir(&earlier, debug) && is_hash_of_ir(&hash_of_ir(plain), debug));
        assert!(!is_hash_of_ir(&earlier, plain));
        // The published test vector of the empty text and of "a".
        assert_eq!(fingerprint(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(fingerprint("a"), "d228cb696f1a8caf78912b704e4a8964");
    }
}
