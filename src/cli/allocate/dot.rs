//! Draws the interference graph in Graphviz's language.

use std::fmt::Write as _;

use nvptx_ra::allocate::{InterferenceGraph, Placement};

use super::picture::{Picture, color};

/// Attributes of a spilled live range's node.
const SPILLED: &str = "fillcolor=\"white\", style=\"filled,bold\", color=\"red\"";

/// Returns the graph: a node for each live range, coloured by its register; copies are dashed.
pub(super) fn dot(picture: &Picture<'_>) -> String {
    let problem = picture.problem;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "graph \"{}\" {{", problem.name().escape_default());
    let _ = writeln!(text, "  label=\"{}, {}\";", problem.name().escape_default(), picture.allocator);
    text += "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
    for (range, &placement) in picture.allocation.placements.iter_enumerated() {
        let (name, class) = (picture.name(range), problem.class(range).name.escape_default());
        let _ = match (placement, picture.place(range)) {
            (Placement::Register(unit), Some(place)) => {
                writeln!(text, "  {range} [label=\"{name}\\n{class} {place}\", fillcolor=\"{}\"];", color(unit))
            }
            _ => writeln!(text, "  {range} [label=\"{name}\\n{class} spilled\", {SPILLED}];"),
        };
    }
    let graph = InterferenceGraph::new(problem);
    for range in problem.ranges().ids() {
        // Every edge is listed at both ends, and drawn at one.
        let mut others: Vec<_> = graph.neighbours(range).iter().filter(|&&other| range < other).collect();
        others.sort_unstable();
        for other in others {
            let _ = writeln!(text, "  {range} -- {other};");
        }
    }
    for copy in problem.copies() {
        let _ = writeln!(text, "  {} -- {} [style=dashed, label=\"{}\"];", copy.to, copy.from, copy.frequency);
    }
    text + "}\n"
}
