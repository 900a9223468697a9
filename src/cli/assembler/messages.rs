//! What `--verbose` adds to ptxas's messages. The figures are always asked for; who did not ask does not see them.

/// The messages without the lines that `--verbose` adds; `None` where a line is not known, so that only ptxas can say
/// whether it belongs to them.
pub(super) fn without_figures(messages: &[u8]) -> Option<Vec<u8>> {
    let mut kept = Vec::new();
    for line in messages.split_inclusive(|&byte| byte == b'\n') {
        match belongs_to_figures(line) {
            Some(true) => {}
            Some(false) => kept.extend_from_slice(line),
            None => return None,
        }
    }
    Some(kept)
}

/// Beginnings of lines about figures.
const FIGURES: [&str; 6] = [
    "Compile time = ",
    "Compiling entry function '",
    "Function properties for ",
    "Overriding global maxrregcount ",
    "Overriding maximum register limit ",
    "Used ",
];

fn belongs_to_figures(line: &[u8]) -> Option<bool> {
    let contains = |text: &[u8], part: &str| text.windows(part.len()).any(|window| window == part.as_bytes());
    let starts_with_digit = |text: &[u8]| text.first().is_some_and(u8::is_ascii_digit);
    if let Some(rest) = line.strip_prefix(b"    ") {
        return Some(starts_with_digit(rest) && contains(rest, " bytes stack frame"));
    }
    let Some(rest) = line.strip_prefix(b"ptxas info    : ") else {
        // Other information, as that about a line of the text, is not recognised.
        return if contains(line, "info    ") { None } else { Some(false) };
    };
    // Advice with a number is given to everybody.
    if rest.starts_with(b"(C") {
        return Some(false);
    }
    let is_figure = FIGURES.iter().any(|start| rest.starts_with(start.as_bytes()))
        || starts_with_digit(rest) && contains(rest, " bytes gmem");
    is_figure.then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "ptxas warning : a warning\n\
        ptxas info    : 0 bytes gmem, 24 bytes cmem[3]\n\
        ptxas info    : Overriding maximum register limit 256 for 'k' with  32 of maxrregcount option\n\
        ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
        ptxas info    : (C7510) Potential Performance Loss: wgmma\n\
        ptxas info    : Function properties for k\n\
        \u{20}   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
        ptxas info    : Used 4 registers, used 0 barriers\n\
        ptxas info    : Compile time = 8.033 ms\n\
        ptxas fatal   : the end";

    /// Warnings and advice stay; figures go.
    #[test]
    fn figures_go() {
        let kept = without_figures(ALL.as_bytes()).expect("all lines are known");
        let expected = "ptxas warning : a warning\n\
            ptxas info    : (C7510) Potential Performance Loss: wgmma\nptxas fatal   : the end";
        assert_eq!(String::from_utf8_lossy(&kept), expected);
        assert_eq!(without_figures(b""), Some(Vec::new()));
    }

    /// Information of another kind is not guessed at.
    #[test]
    fn unknown_lines() {
        assert_eq!(without_figures(b"ptxas info    : Something new\n"), None);
        assert_eq!(without_figures(b"ptxas a.ptx, line 3; info    : Advisory\n"), None);
    }
}
