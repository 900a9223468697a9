//! Names of kernels, as people read and write them: in tables as the source has them, and a part of either in `--kernel`
//! and the like.

use nvptx_ra::error::{Error, ErrorKind};
#[cfg(feature = "llvm")]
use nvptx_ra::ffi::codegen::demangle;
use nvptx_ra::printable::printable;

/// A function's name as C++ or Rust has it, without its parameters; `None` for one that neither has mangled. LLVM reads a
/// few more where it is at hand: parameters of templates whose type depends on other parameters.
#[cfg(not(feature = "llvm"))]
fn demangle(name: &str) -> Option<String> {
    let of_cpp = || {
        let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
        cpp_demangle::Symbol::new(name).ok()?.demangle_with_options(&options).ok()
    };
    let of_rust = || rustc_demangle::try_demangle(name).ok().map(|name| format!("{name:#}"));
    of_cpp().or_else(of_rust)
}

/// The name of the template that a function is an instance of, as C++ has it: without the arguments of it and of its scopes. `None`
/// where it is no instance.
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

/// Letters of a name that a table has room for, and how many of them are the name's first.
const ROOM: usize = 60;
const FIRST: usize = 24;

/// A kernel's name as the source has it, with scope and template arguments; as it is where it is not mangled. LLVM takes
/// any bytes for a name: those that a terminal acts on are escaped.
pub(crate) fn readable(name: &str) -> String {
    printable(&demangle(name).unwrap_or_else(|| name.to_owned())).into_owned()
}

/// The same for a table. Of long ones the middle is left out: instances of a template differ at the end.
pub(crate) fn short(name: &str) -> String {
    let letters: Vec<char> = readable(name).chars().collect();
    if letters.len() <= ROOM {
        return letters.into_iter().collect();
    }
    let (head, tail) = (&letters[..FIRST], &letters[letters.len() - (ROOM - FIRST - 1)..]);
    format!("{}…{}", head.iter().collect::<String>(), tail.iter().collect::<String>())
}

/// Whether a part is one of the kernel's name, as it is or as the source has it.
pub(crate) fn fits(part: &str, kernel: &str) -> bool {
    kernel.contains(part) || demangle(kernel).is_some_and(|name| name.contains(part))
}

/// Whether a kernel is meant: by one of the parts, or by none being given.
pub(crate) fn is_wanted(parts: &[String], kernel: &str) -> bool {
    parts.is_empty() || parts.iter().any(|part| fits(part, kernel))
}

/// An error where no kernel's name contains a part: a name that is written wrong must not go unseen beside others.
/// `option` is what the user wrote, and `input` the module's name, both for the message.
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
    Err(Error::new(ErrorKind::Option, problem, "name a part of one that it has"))
}

/// The same for all parts of `--kernel`.
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

    /// Instances of a template are told apart, and what is read can be written.
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

    /// Instances differ in arguments, of their own or of their scopes, and functions that are no instances have no template.
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

    /// Any of the parts will do, and all kernels are wanted where none is named.
    #[test]
    fn any_part_will_do() {
        let parts = ["max".to_owned(), "dot".to_owned()];
        let of = |kernel| (is_wanted(&parts, kernel), is_wanted(&[], kernel));
        assert_eq!([of("softmax"), of("dot_bwd"), of("sum")], [(true, true), (true, true), (false, true)]);
    }

    /// Each part must be of a kernel that is there, and the one that is not is named.
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
