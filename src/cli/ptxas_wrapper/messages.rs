//! What ptxas prints of a file: lines that follow from the machine code, and lines that follow from the text.
//!
//! Where other code is delivered than that of the user's text, the first are those of the code delivered, and the others
//! those of the user's text, with its lines and its name.

/// What stands in a line that follows from the machine code. The second line of function properties has no `ptxas` in
/// front.
const OF_CODE: [&str; 9] = [
    // Products of matrices that wait for each other, around a line. The search sees to it that they get no worse.
    "info    : (C75",
    " bytes stack frame, ",
    "Function properties for ",
    "Compiling entry function '",
    ": Used ",
    " bytes gmem",
    "Compile time = ",
    "Registers are spilled to local memory in function '",
    "Local memory used for function '",
];

/// What stands in a line on the run of ptxas itself, which `--compiler-stats` asks for.
const OF_RUN: &str = "info    : STAT: ";

fn is_of_code(line: &str) -> bool {
    OF_CODE.iter().any(|part| line.contains(part))
}

/// The messages on the code that is delivered, `delivered`, with those on the text as it is, `unchanged`. `None` where
/// the two do not have the same messages on the text: then the text that was found says something that the user's does
/// not. Lines on a run are those on the run that has some.
pub(super) fn merged(delivered: &str, unchanged: &str) -> Option<String> {
    let [of_delivered, of_unchanged] = [delivered, unchanged].map(|report| of_run(report, true));
    let (delivered, unchanged) = (&of_run(delivered, false), &of_run(unchanged, false));
    let of_text = |report: &'_ str| report.split_inclusive('\n').filter(|line| !is_of_code(line)).count();
    if of_text(delivered) != of_text(unchanged) {
        return None;
    }
    let mut others = unchanged.split_inclusive('\n').filter(|line| !is_of_code(line));
    let mut text = String::with_capacity(delivered.len());
    for line in delivered.split_inclusive('\n') {
        if is_of_code(line) {
            text.push_str(line);
            continue;
        }
        let other = others.next()?;
        if words(line) != words(other) {
            return None;
        }
        text.push_str(other);
    }
    text.push_str(if of_delivered.is_empty() { &of_unchanged } else { &of_delivered });
    Some(text)
}

/// The lines on a run of ptxas, or all others.
fn of_run(report: &str, is_wanted: bool) -> String {
    report.split_inclusive('\n').filter(|line| line.contains(OF_RUN) == is_wanted).collect()
}

/// What stands in a message for the name of the text's file. Ahead of it, ptxas says what it is called itself:
/// `ptxas-blackwell` under Triton.
const NAMELESS: &str = " \0, line ";

fn named(name: &str) -> String {
    format!(" {name}, line ")
}

/// The messages on a text whose file has this name, without the name, as the next file with the text may have another, and
/// without those on the run.
pub(super) fn without_name(report: &str, name: &str) -> String {
    of_run(report, false).replace(&named(name), NAMELESS)
}

/// The same with a name.
pub(super) fn with_name(report: &str, name: &str) -> String {
    report.replace(NAMELESS, &named(name))
}

/// The words of a message behind the place that it names.
fn words(line: &str) -> &str {
    line.split_once("; ").map_or(line, |(_, message)| message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNCHANGED: &str = "ptxas k.ptx, line 9; warning : Instruction 'x' is old\n\
        ptxas info    : 0 bytes gmem\n\
        ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
        ptxas info    : Function properties for k\n\
        \u{20}   24 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
        ptxas info    : Used 255 registers\n";

    /// Figures are those of the code, and places those of the user's text.
    #[test]
    fn figures_and_places() {
        let found = UNCHANGED.replace("k.ptx, line 9", "found.ptx, line 12").replace("24 bytes stack", "0 bytes stack");
        assert_eq!(merged(&found, UNCHANGED), Some(UNCHANGED.replace("24 bytes stack", "0 bytes stack")));
    }

    /// A warning that the user's text does not have is no result.
    #[test]
    fn new_warnings() {
        let more = format!("{UNCHANGED}ptxas warning : Value is odd\n");
        assert_eq!((merged(&more, UNCHANGED), merged(UNCHANGED, &more)), (None, None));
        assert_eq!(merged(&UNCHANGED.replace("is old", "is new"), UNCHANGED), None);
    }

    /// Another file with the same text has the same messages under its own name.
    #[test]
    fn names() {
        let nameless = without_name(UNCHANGED, "k.ptx");
        assert!(!nameless.contains("k.ptx"));
        assert_eq!(with_name(&nameless, "other.ptx"), UNCHANGED.replace("k.ptx", "other.ptx"));
        let of_triton = UNCHANGED.replace("ptxas ", "ptxas-blackwell ");
        assert!(!without_name(&of_triton, "k.ptx").contains("k.ptx"));
    }

    /// Where ptxas injects a wait elsewhere, or none, the code is another, and its message.
    #[test]
    fn injected_waits() {
        let wait = |line| {
            format!("ptxas info    : (C7517) warpgroup.wait is injected in around line {line} in function 'k'\n")
        };
        assert_eq!(merged(&wait(1994), &wait(1579)), Some(wait(1994)));
        assert_eq!(merged("", &wait(1579)), Some(String::new()));
    }

    /// Statistics of a run are those of the run that was asked for them.
    #[test]
    fn statistics() {
        let with = |milliseconds: u32| format!("{UNCHANGED}ptxas info    : STAT: CompileTime = {milliseconds}.5 ms\n");
        assert_eq!(merged(UNCHANGED, &with(1)), Some(with(1)));
        assert_eq!(merged(&with(2), UNCHANGED), Some(with(2)));
        assert_eq!(without_name(&with(1), "other.ptx"), UNCHANGED);
    }

    /// Where less is spilled, there is one warning less.
    #[test]
    fn spill_warnings() {
        let spills = "ptxas warning : Registers are spilled to local memory in function 'k', 4 bytes spill stores\n";
        assert_eq!(merged("", spills), Some(String::new()));
    }
}
