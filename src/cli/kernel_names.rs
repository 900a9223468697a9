//! `--kernel` and what else names kernels by a part of their names.

use nvptx_ra::error::{Error, ErrorKind};

/// Whether a kernel is meant: by one of the parts, or by none being given.
pub(crate) fn is_wanted(parts: &[String], kernel: &str) -> bool {
    parts.is_empty() || parts.iter().any(|part| kernel.contains(part.as_str()))
}

/// An error where no kernel's name contains a part: a name that is written wrong must not go unseen beside others.
/// `option` is what the user wrote, and `input` the module's name, both for the message.
pub(crate) fn check<'a>(
    option: &str,
    part: &str,
    mut kernels: impl Iterator<Item = &'a str>,
    input: &str,
) -> Result<(), Error> {
    if kernels.any(|kernel| kernel.contains(part)) {
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
