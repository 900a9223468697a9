//! ptxas's messages for a file: lines about the machine code, and lines about the PTX.
//!
//! If the delivered code comes from another module than the user's, lines about machine code come from the run on the
//! other module. All other lines come from the user's PTX, with its line numbers and its name.

/// Parts of lines about machine code. The second line of function properties has no `ptxas` prefix.
const OF_CODE: [&str; 9] = [
    // Matrix products (`wgmma`) that ptxas serialises, near a line of the PTX. The search rejects variants with more of
    // these messages.
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

/// Part of a line about the run of ptxas, from `--compiler-stats`.
const OF_RUN: &str = "info    : STAT: ";

fn is_of_code(line: &str) -> bool {
    OF_CODE.iter().any(|part| line.contains(part))
}

/// Merges the messages for the delivered code with the messages for the stock code. `None` if the messages about the
/// PTX differ, because the variant's PTX then has a diagnostic that the user's PTX lacks. Lines about a run of ptxas
/// come from the delivered code's run if it has such lines.
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

/// Selects the lines about a run of ptxas, or all other lines.
fn of_run(report: &str, is_wanted: bool) -> String {
    report.split_inclusive('\n').filter(|line| line.contains(OF_RUN) == is_wanted).collect()
}

/// Replaces the PTX file's name in stored messages. ptxas's own name comes before it: `ptxas-blackwell` under Triton.
const NAMELESS: &str = " \0, line ";

fn named(name: &str) -> String {
    format!(" {name}, line ")
}

/// Removes the lines about the run, and the file's name, because the next file with the same PTX may have another name.
pub(super) fn without_name(report: &str, name: &str) -> String {
    of_run(report, false).replace(&named(name), NAMELESS)
}

/// Inserts a file's name into stored messages.
pub(super) fn with_name(report: &str, name: &str) -> String {
    report.replace(NAMELESS, &named(name))
}

/// Returns the part of a message after its position.
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

    /// Figures come from the delivered code, and positions from the user's PTX.
    #[test]
    fn figures_and_places() {
        let found = UNCHANGED.replace("k.ptx, line 9", "found.ptx, line 12").replace("24 bytes stack", "0 bytes stack");
        assert_eq!(merged(&found, UNCHANGED), Some(UNCHANGED.replace("24 bytes stack", "0 bytes stack")));
    }

    /// A result with a warning that the user's PTX does not have is rejected.
    #[test]
    fn new_warnings() {
        let more = format!("{UNCHANGED}ptxas warning : Value is odd\n");
        assert_eq!((merged(&more, UNCHANGED), merged(UNCHANGED, &more)), (None, None));
        assert_eq!(merged(&UNCHANGED.replace("is old", "is new"), UNCHANGED), None);
    }

    /// Another file with the same PTX gets the same messages under its own name.
    #[test]
    fn names() {
        let nameless = without_name(UNCHANGED, "k.ptx");
        assert!(!nameless.contains("k.ptx"));
        assert_eq!(with_name(&nameless, "other.ptx"), UNCHANGED.replace("k.ptx", "other.ptx"));
        let of_triton = UNCHANGED.replace("ptxas ", "ptxas-blackwell ");
        assert!(!without_name(&of_triton, "k.ptx").contains("k.ptx"));
    }

    /// A message about an injected wait comes from the delivered code, also if ptxas injects the wait elsewhere or not
    /// at all.
    #[test]
    fn injected_waits() {
        let wait = |line| {
            format!("ptxas info    : (C7517) warpgroup.wait is injected in around line {line} in function 'k'\n")
        };
        assert_eq!(merged(&wait(1994), &wait(1579)), Some(wait(1994)));
        assert_eq!(merged("", &wait(1579)), Some(String::new()));
    }

    /// Statistics of a run come from the run that printed them.
    #[test]
    fn statistics() {
        let with = |milliseconds: u32| format!("{UNCHANGED}ptxas info    : STAT: CompileTime = {milliseconds}.5 ms\n");
        assert_eq!(merged(UNCHANGED, &with(1)), Some(with(1)));
        assert_eq!(merged(&with(2), UNCHANGED), Some(with(2)));
        assert_eq!(without_name(&with(1), "other.ptx"), UNCHANGED);
    }

    /// If fewer kernels spill, one warning disappears.
    #[test]
    fn spill_warnings() {
        let spills = "ptxas warning : Registers are spilled to local memory in function 'k', 4 bytes spill stores\n";
        assert_eq!(merged("", spills), Some(String::new()));
    }
}
