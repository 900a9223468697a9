//! Kernels and variables of two files that come from the same source.
//!
//! Compilers agree on names that all files see. Names with internal linkage depend on the compiler: for `static void
//! k(int)`, clang emits `_ZL1ki`, and nvcc `_Z1ki`; for `static int n`, clang emits `_ZL1n`, and nvcc `n`. The
//! anonymous namespace is `_GLOBAL__N_1`, or has the file's name and a hash in its name.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

/// The prefix of mangled names (Itanium C++ ABI, section 5.1).
const MANGLED: &str = "_Z";

/// The prefix of the anonymous namespace by clang, GCC and nvcc.
const ANONYMOUS: &str = "_GLOBAL__N_";

/// The suffix that clang adds to static kernels and variables with `-fgpu-rdc`. A hash follows it.
const CLANG_STATIC: [&str; 2] = ["__intern__", "__static__"];

/// The prefix that nvcc adds with `-rdc=true`. It is followed by a length, by `__`, and by the file's name and a hash.
/// The length counts the characters of the name and the hash.
const NVCC_STATIC: &str = "__nv_static_";

/// The longest name that is read. In the worst case, the time is quadratic in the length.
const LONGEST: usize = 1 << 14;

/// The namespace in which nvcc puts `static` functions that are template arguments.
const NVCC_INTERNAL: &str = "_INTERNAL_";

/// Returns, for each of our names, its counterpart in the other file. It is the same name, or else the only name with
/// the same source name. If two names of a file have the same source name, neither is matched.
pub(super) fn counterparts<'a>(ours: &[&'a str], theirs: &[&'a str]) -> FxHashMap<&'a str, &'a str> {
    let mut found = FxHashMap::default();
    pair(&mut found, ours, theirs, |name| name.into());
    pair(&mut found, ours, theirs, as_in_source);
    // If only one of two names has nvcc's internal namespace, the numbers of their back references differ.
    for of_nvcc in [true, false] {
        let that_have = |names: &[&'a str], has: bool| {
            let names = names.iter().copied().filter(|name| name.contains(NVCC_INTERNAL) == has);
            names.collect::<Vec<&str>>()
        };
        let (ours, theirs) = (that_have(ours, of_nvcc), that_have(theirs, !of_nvcc));
        pair(&mut found, &ours, &theirs, |name| parts_of(&as_in_source(name)).into());
    }
    found
}

/// Adds pairs of names with a common key. Both names must lack a counterpart, and the key must be unique in each file.
fn pair<'a>(
    found: &mut FxHashMap<&'a str, &'a str>,
    ours: &[&'a str],
    theirs: &[&'a str],
    key: impl Fn(&'a str) -> Cow<'a, str>,
) {
    let taken: FxHashSet<&str> = found.values().copied().collect();
    let by_key = |names: &[&'a str], is_left: &dyn Fn(&str) -> bool| {
        let mut by_key: FxHashMap<Cow<'a, str>, Option<&'a str>> = FxHashMap::default();
        for name in names.iter().copied().filter(|name| is_left(name)) {
            // A name may be declared and defined.
            by_key.entry(key(name)).and_modify(|one| *one = one.filter(|&one| one == name)).or_insert(Some(name));
        }
        by_key
    };
    let ours = by_key(ours, &|name| !found.contains_key(name));
    let theirs = by_key(theirs, &|name| !taken.contains(name));
    let pairs = ours.into_iter().filter_map(|(key, name)| Some((name?, (*theirs.get(&key)?)?)));
    found.extend(pairs);
}

/// Returns the identifiers, literals, types and references of a mangled name in order. Delimiters and the numbers of
/// references are left out, because an additional namespace shifts these numbers. Different instances of a template
/// have different parts. Overloads that differ only in their references have the same parts, so none of these overloads
/// is matched.
fn parts_of(name: &str) -> String {
    let (mut rest, mut parts) = (name, String::new());
    while let Some((piece, end)) = first_piece(rest) {
        parts.push_str(match piece {
            Piece::Identifier(identifier) if identifier.starts_with(NVCC_INTERNAL) => "",
            // The number of a back reference may differ, but not its presence.
            Piece::Reference if rest.starts_with('S') => "S",
            Piece::Other if rest.starts_with(['N', 'E']) => "",
            _ => &rest[..end],
        });
        rest = &rest[end..];
    }
    parts
}

/// Returns a mangled name without marks of internal linkage. Other names are unchanged.
fn as_in_source(name: &str) -> Cow<'_, str> {
    let name = without_file(name);
    let mangled = name.strip_prefix(MANGLED).filter(|_| name.len() <= LONGEST);
    let Some(mut rest) = mangled else { return name.into() };
    let unmarked = rest.strip_prefix('L').and_then(|unmarked| Some((unmarked, identifier(unmarked)?)));
    if let Some((unmarked, (variable, end))) = unmarked {
        // A variable outside of namespaces is mangled only if it is static. Nothing follows its identifier.
        if end == unmarked.len() {
            return variable.into();
        }
        rest = unmarked;
    }
    let mut source = MANGLED.to_owned();
    while let Some((piece, end)) = first_piece(rest) {
        source.push_str(match piece {
            Piece::Identifier(identifier) if identifier.starts_with(ANONYMOUS) => ANONYMOUS,
            // The mark of a static name precedes its identifier.
            Piece::Other if rest.starts_with('L') && identifier(&rest[1..]).is_some() => "",
            _ => &rest[..end],
        });
        rest = &rest[end..];
    }
    source.into()
}

/// A piece of a mangled name.
enum Piece<'n> {
    /// An identifier, after its length.
    Identifier(&'n str),
    Literal,
    /// A back reference, a template parameter, or the bounds of an array: digits that are not a length.
    Reference,
    /// A letter, or a number that is not the length of the following identifier.
    Other,
}

/// Returns the first piece of a name, and its end. `None` for an empty name.
fn first_piece(name: &str) -> Option<(Piece<'_>, usize)> {
    let first = name.chars().next()?;
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let of_identifier = identifier(name).map(|(identifier, end)| (Piece::Identifier(identifier), end));
    let found = of_identifier
        .or_else(|| Some((Piece::Literal, literal(name)?)))
        .or_else(|| Some((Piece::Reference, reference(name)?)));
    Some(found.unwrap_or((Piece::Other, digits.max(first.len_utf8()))))
}

/// Returns a name without the parts that a compiler adds in separate compilation to distinguish files.
fn without_file(name: &str) -> &str {
    let of_nvcc = || {
        let (length, rest) = name.strip_prefix(NVCC_STATIC)?.split_once("__")?;
        rest.get(length.parse().ok()?..).filter(|rest| !rest.is_empty())
    };
    let of_clang = || {
        let (rest, hash) = CLANG_STATIC.iter().find_map(|mark| name.rsplit_once(mark))?;
        let is_hash = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_');
        is_hash.then_some(rest)
    };
    of_nvcc().or_else(of_clang).unwrap_or(name)
}

/// Returns the identifier at the start of a name, after its length, and its end.
fn identifier(name: &str) -> Option<(&str, usize)> {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let end = digits.checked_add(name[..digits].parse().ok()?)?;
    let identifier = name.get(digits..end)?;
    identifier.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_').then_some((identifier, end))
}

/// Returns the end of the [reference](Piece::Reference) at the start of a name.
fn reference(name: &str) -> Option<usize> {
    let rest = name.strip_prefix(['S', 'T', 'A'])?;
    let behind =
        rest.trim_start_matches(|one: char| one.is_ascii_digit() || one.is_ascii_uppercase()).strip_prefix('_')?;
    Some(name.len() - behind.len())
}

/// Returns the end of the literal at the start of a name: `L`, its type, its value, and `E`. Supported are types of one
/// letter, and enumerations.
fn literal(name: &str) -> Option<usize> {
    let rest = name.strip_prefix('L')?;
    let first = rest.chars().next()?;
    let value = match first {
        'a'..='z' => &rest[1..],
        '0'..='9' => identifier(rest).map(|(_, end)| &rest[end..])?,
        'N' => rest.split_once('E')?.1,
        'S' => rest.split_once('_')?.1,
        _ => return None,
    };
    let number = value.strip_prefix('n').unwrap_or(value);
    let behind = number.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let is_literal = behind.len() < number.len() && behind.starts_with('E');
    is_literal.then(|| name.len() - behind.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of static kernels, with and without templates, and of kernels in an anonymous namespace are matched.
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
            ("_ZL1mILi3EN12_GLOBAL__N_11TEEvPi", "_Z1mILi3EN36_GLOBAL__N__2e2a1440_4_x_cu_1365cbe81TEEvPi"),
            (
                "_ZL1kI1ALin12EEvv__intern__9ee012fe00_57066e25",
                "__nv_static_25__bbf17700_4_a_cu__Z1hPiPf__Z1kI1ALin12EEvv",
            ),
            (
                "_ZL11k_bin_bcastIXadL_ZL6op_addffEE6__halffS0_JPKfEEvPKT0_PKT1_",
                "_Z11k_bin_bcastIXadL_ZN46_INTERNAL_01895e11_11_binbcast_cu_849aa9b1_6326op_addEffEE6__halffS1_JPKfEEvPKT0_PKT1_",
            ),
            (
                "_ZL11k_bin_bcastIXadL_ZL6op_mulffEE6__halffS0_JPKfEEvPKT0_PKT1_",
                "_Z11k_bin_bcastIXadL_ZN46_INTERNAL_01895e11_11_binbcast_cu_849aa9b1_6326op_mulEffEE6__halffS1_JPKfEEvPKT0_PKT1_",
            ),
            (
                "_ZL1kP1AP1BP1CS3_RA3_N12_GLOBAL__N_11TE",
                "_Z1kP1AP1BP1CS3_RA3_N36_GLOBAL__N__2e2a1440_4_x_cu_1365cbe81TE",
            ),
            (
                "_ZL1kIXadL_ZL6op_mulffEEfJPKfS1_S1_EEvPKT0_",
                "_Z1kIXadL_ZN46_INTERNAL_01895e11_11_binbcast_cu_849aa9b1_6326op_mulEffEEfJPKfS2_S2_EEvPKT0_",
            ),
            (
                "_ZL1kIXadL_ZL6op_mulffEEfJPKfS1_EEvPKT0_",
                "_Z1kIXadL_ZN46_INTERNAL_01895e11_11_binbcast_cu_849aa9b1_6326op_mulEffEEfJPKfS2_EEvPKT0_",
            ),
            ("_ZL4bias__static__9ee012fe00_57066e25", "bias"),
            ("_ZL3tab", "__nv_static_25__bbf17700_4_a_cu__Z1hPiPf_tab"),
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

    /// Every name is read to its end in bounded time.
    #[test]
    fn odd_names() {
        let long = |text: &str| format!("_Z{}", text.repeat(1_000));
        let odd = [
            "_Z",
            "_ZL",
            "_ZL0",
            "_Z99999999999999999999a",
            "_Z3é",
            "_ZL1é",
            "_ZLéE",
            "_ZLi",
            "_ZLN1E",
            "__nv_static_9__k",
        ];
        for name in odd.map(str::to_owned).into_iter().chain(["9", "0", "L", "L1", "LN", "S"].map(long)) {
            assert!(parts_of(&as_in_source(&name)).len() <= name.len());
        }
        arbtest::arbtest(|u| {
            const PARTS: [&str; 12] =
                ["_Z", "L", "N", "E", "1k", "3", "i", "S0_", "12_GLOBAL__N_1", "n", "é", "__intern__a"];
            let parts = (0..u.int_in_range(0..=12)?).map(|_| u.choose(&PARTS).copied());
            let name = format!("_Z{}", parts.collect::<arbtest::arbitrary::Result<String>>()?);
            let source = as_in_source(&name);
            assert!(parts_of(&source).len() <= source.len() && source.len() <= name.len());
            // Additions that distinguish files are removed.
            assert_eq!(as_in_source(&format!("{name}v__intern__a")), as_in_source(&format!("{name}v")));
            Ok(())
        });
    }

    /// An identical name wins. An ambiguous name is not matched. Names with different sources stay apart.
    #[test]
    fn names_of_one_kernel_alone() {
        let found = |ours: &[&'static str], theirs: &[&'static str]| {
            let mut found: Vec<(&str, &str)> = counterparts(ours, theirs).into_iter().collect();
            found.sort_unstable();
            found
        };
        assert_eq!(found(&["_ZL1ki", "_Z1ki"], &["_Z1ki"]), [("_Z1ki", "_Z1ki")]);
        assert_eq!(found(&["_ZL1n", "_ZL1n"], &["n", "n"]), [("_ZL1n", "n")]);
        assert_eq!(found(&["_ZL1ki"], &["_Z1ki", "_Z1ki__intern__1"]), []);
        let of = "_Z1kIXadL_ZN34_INTERNAL_bbf17700_4_a_cu__Z1hPiPf2f1EfEE";
        let [one, other] = ["1AS1_", "1AS2_"].map(|rest| format!("{of}{rest}"));
        assert_eq!(counterparts(&["_Z1kIXadL_ZL2f1fEE1AS0_"], &[&one, &other]).len(), 0);
        assert_eq!(counterparts(&["_Z1kIXadL_ZL2f1fEE1AS0_"], &[&one]).len(), 1);
        assert_eq!(counterparts(&["_Z1kIXadL_ZL2f2fEE1AS0_"], &[&one]).len(), 0);
        // Names by the same compiler have the same references.
        assert_eq!(counterparts(&["_Z1kP1AS_", &one], &["_Z1kP1AS0_", &other]).len(), 0);
        assert_eq!(counterparts(&["_Z1kN1A1BE"], &["_Z1k1A1B", &other]).len(), 0);
        assert_eq!(found(&["_ZL1ki", "_ZL1ki__intern__1"], &["_Z1ki"]), []);
        for (one, two) in [
            ("_Z1kILi3EEvPf", "_Z1kILi4EEvPf"),
            ("_ZL1ki", "_ZL1kj"),
            ("_Z2kLi", "_Z2ki"),
            ("_Z1kILi3EEvPf", "_Z1kIi3EEvPf"),
            ("_Z1kIL1A1EEvv", "_Z1kI1A1EEvv"),
            ("_Z1kIL1An1EEvv", "_Z1kI1An1EEvv"),
            ("_Z1kILN1a1AE1EEvv", "_Z1kIN1a1AE1EEvv"),
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
