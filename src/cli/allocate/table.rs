//! Formats the allocators' results, as a table for people and as JSON for tools.

use std::fmt::Write as _;

use nvptx_ra::allocate::{AllocationStatistics, Costs, File, FileData, Problem};
use serde_json::json;

use super::Outcome;

/// Formats one line of JSON for each outcome.
pub(super) fn json(problem: &Problem, outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    let by_file = |units: &[u32]| -> serde_json::Map<String, serde_json::Value> {
        let files = problem.files().iter().zip(units);
        files.map(|(file, &units)| (file.name.to_string(), file.registers(units).into())).collect()
    };
    let peaks = by_file(problem.peaks().as_slice());
    let tuples = problem.lanes().chunk_by(|a, b| a.tuple == b.tuple).count();
    for Outcome { allocator, parts, register_limit, costs, code, statistics, time } in outcomes {
        let AllocationStatistics {
            rounds,
            evictions,
            merged_copies,
            rejected_copies,
            merged_cost,
            nodes,
            edges,
            max_degree,
            ..
        } = statistics;
        let AllocationStatistics { too_many_edges, spilled_before, phases, .. } = statistics;
        let phases: serde_json::Map<_, _> =
            phases.iter().map(|(name, time)| ((*name).to_owned(), time.as_secs_f64().into())).collect();
        let Costs { units, spilled, slot_bytes, moved_bytes, over_limit, removed_copies, copies, link_moves, .. } =
            costs;
        let Costs { tuple_copies, tuple_moves, .. } = costs;
        let mut line = json!({
            "function": problem.name(), "instructions": problem.num_insts(), "live_ranges": problem.ranges().len(),
            "allocator": allocator, "budget": register_limit, "peak": peaks, "registers": by_file(units),
            "spilled": spilled, "slot_bytes": slot_bytes, "moved_bytes": moved_bytes, "over_budget": over_limit,
            "parts": parts, "link_moves": link_moves, "copies": copies, "removed_copies": removed_copies,
            "tuples": tuples, "tuple_copies": tuple_copies, "tuple_moves": tuple_moves,
            "rounds": rounds, "evictions": evictions, "merged_copies": merged_copies,
            "rejected_copies": rejected_copies, "merged_cost": merged_cost, "nodes": nodes, "edges": edges,
            "max_degree": max_degree, "too_many_edges": too_many_edges, "spilled_before": spilled_before,
            "seconds": time.as_secs_f64(), "phases": phases,
        });
        let [before, after] = code.map(|of| {
            json!({
                "copies": of.copies, "copy_words": of.copy_words, "moved_bytes": of.moved_bytes, "removed": of.removed,
            })
        });
        line["cleanup"] = json!({ "before": before, "after": after });
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The columns after the registers, with their widths.
const COLUMNS: [(&str, usize); 11] = [
    ("spilled", 8),
    ("slot bytes", 10),
    ("bytes moved", 12),
    ("cleaned", 12),
    ("over", 5),
    ("copies", 9),
    ("words", 14),
    ("moves", 7),
    ("rounds", 7),
    ("evicted", 8),
    ("time", 10),
];

/// Formats a table with a line for each outcome.
pub(super) fn table(problem: &Problem, outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {} instructions, {} live ranges, {} copies",
        problem.name().escape_debug(),
        problem.num_insts(),
        problem.ranges().len(),
        problem.copies().len()
    );
    let mut header = format!("  {:<10} {:>6}", "allocator", "limit");
    let mut peaks = format!("  {:<10} {:>6}", "live at", "once");
    let live = problem.peaks();
    let used: Vec<(File, &FileData)> = problem.files().iter_enumerated().filter(|&(file, _)| live[file] > 0).collect();
    for &(file, data) in &used {
        let _ = write!(header, " {:>5}", data.name);
        let _ = write!(peaks, " {:>5}", data.registers(live[file]));
    }
    for (name, width) in COLUMNS {
        let _ = write!(header, " {name:>width$}");
    }
    let _ = writeln!(text, "{header}\n{peaks}");
    for outcome in outcomes {
        let Outcome { allocator, register_limit, costs, code: [before, after], statistics, time, .. } = outcome;
        let register_limit = register_limit.map_or("none".into(), |register_limit| register_limit.to_string());
        let _ = write!(text, "  {allocator:<10} {register_limit:>6}");
        for &(file, data) in &used {
            let _ = write!(text, " {:>5}", data.registers(costs.units[file.0 as usize]));
        }
        let cells = [
            costs.spilled.to_string(),
            costs.slot_bytes.to_string(),
            format!("{:.0}", costs.moved_bytes),
            format!("{:.0}", after.moved_bytes),
            costs.over_limit.to_string(),
            format!("{}>{}", before.copies, after.copies),
            format!("{:.0}>{:.0}", before.copy_words, after.copy_words),
            costs.tuple_copies.to_string(),
            statistics.rounds.to_string(),
            statistics.evictions.to_string(),
            format!("{time:.1?}"),
        ];
        for ((_, width), cell) in COLUMNS.iter().zip(cells) {
            let _ = write!(text, " {cell:>width$}");
        }
        text.push('\n');
    }
    text
}

/// Returns a remark if an allocator skipped a step because the problem is too large.
pub(super) fn remark(problem: &Problem, allocator: &str, statistics: &AllocationStatistics) -> Option<String> {
    let AllocationStatistics { too_many_edges, spilled_before, .. } = statistics;
    let instead = match spilled_before {
        _ if *too_many_edges == 0 => return None,
        0 => "the greedy allocator was used instead, because nothing may be spilled".to_owned(),
        count => format!("{count} live ranges were spilled before it was built"),
    };
    Some(format!(
        "nvptx-ra: remark: kernel '{}': allocator={allocator}: the interference graph would have about {too_many_edges} \
         edges; {instead}",
        problem.name().escape_debug(),
    ))
}
