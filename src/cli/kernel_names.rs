//! Names of kernels in messages and options: tables show the source's names, and `--kernel` matches a part of the
//! source's or the mangled name.

use nvptx_ra::error::{Error, ErrorKind};
#[cfg(feature = "llvm")]
use nvptx_ra::ffi::codegen::demangle;
use nvptx_ra::printable::printable;

/// Returns a function's C++ or Rust name without parameters; `None` if the name is not mangled. LLVM's demangler
/// accepts a few more names: templates with parameters whose type depends on other parameters.
#[cfg(not(feature = "llvm"))]
fn demangle(name: &str) -> Option<String> {
    let of_cpp = || {
        let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
        cpp_demangle::Symbol::new(name).ok()?.demangle_with_options(&options).ok()
    };
    let of_rust = || rustc_demangle::try_demangle(name).ok().map(|name| format!("{name:#}"));
    of_cpp().or_else(of_rust)
}

/// Returns the C++ name of a function's template, without the arguments of the template and of its scopes. `None` if
/// the function is no instance of a template.
pub(crate) fn template(name: &str) -> Option<String> {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let name = cpp_demangle::Symbol::new(name).ok()?.demangle_with_options(&options).ok()?;
    let (mut depth, mut template) = (0u32, String::new());
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => template.push(letter),
            _ => {}
        }
    }
    (depth == 0 && template.len() < name.len()).then_some(template)
}

/// Most letters of a name in a table, and the number of letters that a shortened name keeps at its start.
const ROOM: usize = 60;
const FIRST: usize = 24;

/// Returns a kernel's source name, with scope and template arguments; the name itself if it is not mangled. LLVM allows
/// any bytes in a name: control characters are escaped.
pub(crate) fn readable(name: &str) -> String {
    printable(&demangle(name).unwrap_or_else(|| name.to_owned())).into_owned()
}

/// Returns a kernel's source name for a table. The middle of a long name is omitted, because instances of a template
/// differ at the end.
pub(crate) fn short(name: &str) -> String {
    let letters: Vec<char> = readable(name).chars().collect();
    if letters.len() <= ROOM {
        return letters.into_iter().collect();
    }
    let (head, tail) = (&letters[..FIRST], &letters[letters.len() - (ROOM - FIRST - 1)..]);
    format!("{}…{}", head.iter().collect::<String>(), tail.iter().collect::<String>())
}

/// Returns whether a part occurs in the kernel's mangled or source name.
pub(crate) fn fits(part: &str, kernel: &str) -> bool {
    kernel.contains(part) || demangle(kernel).is_some_and(|name| name.contains(part))
}

/// Returns whether a kernel is wanted: one of the parts occurs in its name, or there are no parts.
pub(crate) fn is_wanted(parts: &[String], kernel: &str) -> bool {
    parts.is_empty() || parts.iter().any(|part| fits(part, kernel))
}

/// Returns an error if a part occurs in no kernel's name, so that a misspelled name is noticed. `option` is the option
/// as given, and `input` the module's name, both for the message.
pub(crate) fn check<'a>(
    option: &str,
    part: &str,
    mut kernels: impl Iterator<Item = &'a str>,
    input: &str,
) -> Result<(), Error> {
    if kernels.any(|kernel| fits(part, kernel)) {
        return Ok(());
    }
    let problem = format!("{option}: {input} has no kernel whose name contains '{part}'");
    Err(Error::new(ErrorKind::Option, problem, "give a part of an existing kernel's name"))
}

/// Checks all parts of `--kernel`.
pub(crate) fn check_wanted<'a>(
    parts: &[String],
    kernels: impl Iterator<Item = &'a str> + Clone,
    input: &str,
) -> Result<(), Error> {
    parts.iter().try_for_each(|part| check(&format!("--kernel {part}"), part, kernels.clone(), input))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instances of a template have different names, and each displayed name is a valid value of the option.
    #[test]
    fn names_as_the_source_has_them() {
        const MANGLED: &str =
            "_ZN4vllm25paged_attention_v1_kernelIffLNS_18Fp8KVCacheDataTypeE0ELi512ELi32ELi128EEEvPT_";
        let name = "vllm::paged_attention_v1_kernel<float, float, (vllm::Fp8KVCacheDataType)0, 512, 32, 128>";
        assert_eq!(readable(MANGLED), name);
        assert_eq!(short(MANGLED), "vllm::paged_attention_v1…Fp8KVCacheDataType)0, 512, 32, 128>");
        assert_eq!(short(MANGLED).chars().count(), ROOM);
        assert_eq!(
            (readable("_Z1kPi"), short("saxpy"), readable("_Zebra")),
            ("k".into(), "saxpy".into(), "_Zebra".into())
        );
        assert!(fits("float, (vllm", MANGLED) && fits("v1_kernelIff", MANGLED) && !fits("v2_kernel", MANGLED));
        assert_eq!(readable("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
    }

    /// Instances differ in their own arguments or in those of their scopes. Functions that are no instances have no
    /// template.
    #[test]
    fn templates() {
        let of = |name| template(name);
        let [one, other] = ["_Z3mulILi8ELb0EEvPKfPf", "_Z3mulILi16ELb1EEvPKfPf"];
        assert_eq!((of(one), of(other)), (Some("mul".into()), Some("mul".into())));
        assert_eq!(
            of("_ZN4vllm25paged_attention_v1_kernelIffLi512EEEvPT_"),
            Some("vllm::paged_attention_v1_kernel".into())
        );
        let [run, rest] = ["_ZN5ArrayIfLi4EE3runEv", "_ZN5ArrayIfLi4EE4restEv"].map(of);
        assert_eq!((run, rest), (Some("Array::run".into()), Some("Array::rest".into())));
        assert_eq!(["_Z1kPi", "mul_kernel", "_ZN2ns1kEPi"].map(of), [None, None, None]);
    }

    /// A match of any part suffices, and without parts all kernels are wanted.
    #[test]
    fn any_part_will_do() {
        let parts = ["max".to_owned(), "dot".to_owned()];
        let of = |kernel| (is_wanted(&parts, kernel), is_wanted(&[], kernel));
        assert_eq!([of("softmax"), of("dot_bwd"), of("sum")], [(true, true), (true, true), (false, true)]);
    }

    /// Each part must match an existing kernel. The error contains the part without a match.
    #[test]
    fn each_part_is_of_a_kernel() {
        let kernels = ["softmax", "dot_bwd"].into_iter();
        let check = |parts: &[&str]| {
            let parts: Vec<String> = parts.iter().map(|&part| part.to_owned()).collect();
            check_wanted(&parts, kernels.clone(), "m.ll")
        };
        assert_eq!((check(&[]), check(&["max", "dot", "bwd"])), (Ok(()), Ok(())));
        let error = check(&["max", "sum"]).expect_err("there is no sum").to_string();
        assert!(error.contains("--kernel sum: m.ll has no kernel whose name contains 'sum'"), "{error}");
    }
}
