//! Formats execution counts of machine code, as text and JSON.

use std::fmt::Write as _;

use nvptx_ra::sass::counts::Counts;
use serde_json::{Map, Value, json};

/// Formats all counts of a launch.
pub(crate) fn as_text(kernel: &str, [grid, block]: [[u32; 3]; 2], counts: &Counts) -> String {
    let mut text = format!("{kernel}: grid {grid:?}, block {block:?}\n");
    _ = writeln!(text, "  {} machine instructions issued by warps", counts.issued());
    for (class, count) in &counts.classes {
        _ = write!(text, "  {:>12}  {}", count, class.name());
        if let Some((_, traffic)) = counts.traffic.iter().find(|one| one.0 == *class) {
            let [accesses, sectors, passes] = [traffic.accesses, traffic.sectors, traffic.passes];
            _ = match (sectors, passes) {
                (0, _) => write!(text, ": {passes} passes of {accesses} accesses"),
                (_, 0) => write!(text, ": {sectors} sectors of {accesses} accesses"),
                _ => write!(text, ": {sectors} sectors and {passes} passes of {accesses} accesses"),
            };
        }
        text.push('\n');
    }
    _ = writeln!(text, "  block     runs  instructions     issued  sectors   passes");
    for block in &counts.blocks {
        let [sectors, passes] = [block.traffic.sectors, block.traffic.passes];
        let (runs, issued, instructions) = (block.runs, block.issued, block.instructions);
        _ = writeln!(
            text,
            "  {:#06x} {runs:>7} {instructions:>13} {issued:>10} {sectors:>8} {passes:>8}",
            block.address
        );
    }
    text
}

/// Formats the sum of counts, and the classes.
pub(crate) fn in_a_line(counts: &Counts) -> String {
    let classes: Vec<String> =
        counts.classes.iter().map(|(class, count)| format!("{count} {}", class.name())).collect();
    format!("{} machine instructions: {}", counts.issued(), classes.join(", "))
}

pub(crate) fn as_json(counts: &Counts) -> Value {
    let classes: Map<String, Value> =
        counts.classes.iter().map(|(class, count)| (class.name().to_owned(), Value::from(*count))).collect();
    json!({ "issued": counts.issued(), "classes": classes })
}
