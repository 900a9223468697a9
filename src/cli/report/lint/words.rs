//! Findings in ptxas's messages that the tables of a cubin do not contain.

use nvptx_ra::lint::remedy::{Language, known_at_entry};
use nvptx_ra::lint::{Finding, Lint, Place};

/// Returns findings about pragmas and about `setmaxnreg`. Findings about `setmaxnreg` are omitted if the kernel in
/// which ptxas ignores it is known.
pub(in super::super) fn of_words(words: &str, input: &str, knows_setmaxnreg: bool) -> Vec<Finding> {
    let place = Place { file: input.to_owned(), line: 0 };
    let found = |lint, reason: &str, remedy: &str| Finding {
        lint,
        kernel: String::new(),
        place: place.clone(),
        reason: format!("ptxas says: {reason}"),
        remedy: remedy.to_owned(),
    };
    let mut findings = Vec::new();
    for line in words.lines() {
        let said = line.split_once(':').map_or(line, |(_, said)| said).trim();
        let said =
            line.split_once("warning :").or_else(|| line.split_once("warning ")).map_or(said, |(_, said)| said.trim());
        // A kernel's name may contain the word "pragma", so only whole words count.
        let mut parts = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        if parts.any(|word| word.eq_ignore_ascii_case("pragma")) && !line.starts_with("ptxas fatal") {
            findings.push(found(Lint::RefusedPragma, said, "remove it, or fulfil its conditions"));
        } else if line.contains("'setmaxnreg' ignored") && !knows_setmaxnreg {
            findings.push(found(Lint::IgnoredSetmaxnreg, said, &known_at_entry(Language::of(&place))));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Findings come from CUDA 13.0's messages about pragmas and setmaxnreg, and from no other messages.
    #[test]
    fn words() {
        let words = "ptxas warning : Pragma 'x' unsupported\nptxas info    : Used 8 registers\n\
                     ptxas info    : Function properties for smem_pragma\n\
                     ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine\n";
        let lints =
            |knows| of_words(words, "k.ptx", knows).into_iter().map(|of| (of.lint, of.reason)).collect::<Vec<_>>();
        let pragma = (Lint::RefusedPragma, "ptxas says: Pragma 'x' unsupported".to_owned());
        assert_eq!(lints(true), [pragma]);
        assert_eq!(lints(false).len(), 2);
    }
}
