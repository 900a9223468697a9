//! Which kernel or variable of the other file has the source of ours. Compilers agree on names that all files see. Names
//! that only one file sees are the compiler's matter: of `static void k(int)` clang makes `_ZL1ki`, and nvcc `_Z1ki`; of
//! `static int n` clang makes `_ZL1n`, and nvcc `n`. What is in a namespace without a name stands in `_GLOBAL__N_1` or in
//! one that has the file's name and a hash.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

/// How the Itanium C++ ABI, section 5.1, begins a name.
const MANGLED: &str = "_Z";

/// The namespace without a name, as clang, GCC and nvcc begin it.
const ANONYMOUS: &str = "_GLOBAL__N_";

/// What clang adds to the name of a static kernel with `-fgpu-rdc`, and a hash behind it.
const CLANG_STATIC: &str = "__intern__";

/// For each of our names the one in the other file: the same, or else the only one that the source has alike. A name that
/// two of ours or two of theirs would have is given to none. O(bytes of the names).
pub(super) fn counterparts<'a>(ours: &[&'a str], theirs: &[&'a str]) -> FxHashMap<&'a str, &'a str> {
    let same: FxHashMap<&str, &str> = theirs.iter().map(|&name| (name, name)).collect();
    let mut found: FxHashMap<&str, &str> = ours.iter().filter_map(|&name| Some((name, *same.get(name)?))).collect();
    let [ours, theirs] = [ours, theirs].map(|names| {
        let left = names.iter().copied().filter(|name| !found.contains_key(name));
        let mut by_source: FxHashMap<Cow<'a, str>, Option<&'a str>> = FxHashMap::default();
        for name in left {
            by_source.entry(as_in_source(name)).and_modify(|one| *one = None).or_insert(Some(name));
        }
        by_source
    });
    let pairs = ours.into_iter().filter_map(|(source, name)| Some((name?, (*theirs.get(&source)?)?)));
    found.extend(pairs);
    found
}

/// A mangled name without what says that only one file sees it; others as they are.
fn as_in_source(name: &str) -> Cow<'_, str> {
    let Some(mut rest) = name.strip_prefix(MANGLED) else { return name.into() };
    if let Some((first, hash)) = rest.rsplit_once(CLANG_STATIC)
        && !hash.is_empty()
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        rest = first;
    }
    let mut source = MANGLED.to_owned();
    let mut identifiers = 0;
    let mut last = "";
    while let Some(first) = rest.chars().next() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let end = rest[..digits].parse().ok().and_then(|length: usize| digits.checked_add(length));
        if let Some(identifier) = end.and_then(|end| rest.get(digits..end)) {
            if identifier.starts_with(ANONYMOUS) {
                source.push_str(ANONYMOUS);
            } else {
                source.push_str(&rest[..digits]);
                source.push_str(identifier);
            }
            (identifiers, last) = (identifiers + 1, identifier);
            rest = &rest[digits + identifier.len()..];
            continue;
        }
        // `L` stands ahead of the identifier, which is its length and its letters. A literal, as `Li3E`, begins with its type.
        let is_static = first == 'L' && rest[1..].starts_with(|next: char| next.is_ascii_digit());
        if !is_static {
            source.push(first);
        }
        rest = &rest[first.len_utf8()..];
    }
    // A function has parameters behind its name, at least `v`. Names of variables are not mangled outside of namespaces.
    let is_variable = identifiers == 1 && source.len() == MANGLED.len() + last.len().to_string().len() + last.len();
    if is_variable { last.to_owned().into() } else { source.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of static kernels, with or without templates, and of kernels in a namespace without a name.
    #[test]
    fn names_that_one_file_sees() {
        let pairs = [
            ("_ZL10arange_f32Pfiff", "_Z10arange_f32Pfiff"),
            ("_ZL9mul_mat_qIL9ggml_type10ELi112ELb1EEvPKcPi", "_Z9mul_mat_qIL9ggml_type10ELi112ELb1EEvPKcPi"),
            ("_ZN2at6nativeL3dotEPf", "_ZN2at6native3dotEPf"),
            (
                "_ZN12_GLOBAL__N_127moe_align_block_size_kernelEPKiPi",
                "_ZN45_GLOBAL__N__2e2a1440_12_moe_align_cu_1365cbe827moe_align_block_size_kernelEPKiPi",
            ),
            ("_ZL1ki__intern__9e37fa01", "_Z1ki"),
            ("_ZL5table", "table"),
            ("_ZN2nsL5tableE", "_ZN2ns5tableE"),
            ("k", "k"),
        ];
        let [ours, theirs] = [pairs.map(|(one, _)| one), pairs.map(|(_, two)| two)];
        assert_eq!(counterparts(&ours[..4], &theirs), pairs[..4].iter().copied().collect());
        assert_eq!(counterparts(&ours[4..], &theirs), pairs[4..].iter().copied().collect());
        let back: FxHashMap<&str, &str> = pairs.iter().map(|&(one, two)| (two, one)).collect();
        assert_eq!(counterparts(&theirs, &ours), back);
    }

    /// The same name wins, a name that could be of two kernels is given to none, and what differs in the source stays apart.
    #[test]
    fn names_of_one_kernel_alone() {
        let found = |ours: &[&'static str], theirs: &[&'static str]| {
            let mut found: Vec<(&str, &str)> = counterparts(ours, theirs).into_iter().collect();
            found.sort_unstable();
            found
        };
        assert_eq!(found(&["_ZL1ki", "_Z1ki"], &["_Z1ki"]), [("_Z1ki", "_Z1ki")]);
        assert_eq!(found(&["_ZL1ki"], &["_Z1ki", "_Z1ki__intern__1"]), []);
        assert_eq!(found(&["_ZL1ki", "_ZL1ki__intern__1"], &["_Z1ki"]), []);
        for (one, two) in [
            ("_Z1kILi3EEvPf", "_Z1kILi4EEvPf"),
            ("_ZL1ki", "_ZL1kj"),
            ("_Z2kLi", "_Z2ki"),
            ("_Z1kILi3EEvPf", "_Z1kIi3EEvPf"),
            ("_ZL1kv", "k"),
            ("_ZN1aL5tableE", "table"),
            ("_ZL1ki__intern__", "_Z1ki"),
            ("ZL1k", "Z1k"),
            ("_ZN1aL1kEv", "_ZN1bL1kEv"),
            ("_ZL99k", "_ZL98k"),
            ("_ZL1é", "_ZL1è"),
        ] {
            assert_eq!(found(&[one], &[two]), [], "{one} {two}");
        }
    }
}
