//! Formats the measurement as text: a table, then each kernel with its registers by source line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use nvptx_ra::forecast::Forecast;

use super::allocation::HighestRegisterReason;
use super::kernel::{Kernel, LiveRegister, Point};
use super::spills::{SpillBytes, SpillSource};
use super::{Measurement, Place, executed};
use crate::kernel_names;
use crate::machine::life_ranges::Kind;
use crate::report::lines::SourceText;
use crate::report::table::short;

/// Most lines shown of a list.
const SHOWN: usize = 12;
/// Most register names shown for a line.
const NAMES: usize = 12;

/// Source files that were read or are missing, by path.
#[derive(Default)]
pub(in super::super) struct Sources(BTreeMap<String, SourceText>);

impl Sources {
    /// Returns the text of a line; empty if it is missing.
    pub(in super::super) fn line(&mut self, path: &str, line: u32) -> &str {
        self.text(path).line(line)
    }

    /// Returns a file's text.
    pub(in super::super) fn text(&mut self, path: &str) -> &SourceText {
        self.0.entry(path.to_owned()).or_insert_with(|| SourceText::of_path(path))
    }
}

/// Returns the report of one cubin. `forecasts` are the forecasts of the same kernels, if there are any.
pub(in super::super) fn table(measurement: &Measurement, forecasts: &[Forecast]) -> String {
    let names: Vec<String> = measurement.kernels.iter().map(|kernel| kernel_names::short(&kernel.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    let has_forecast = if forecasts.is_empty() { "" } else { "                 forecast" };
    let mut text = format!(
        "{:width$}  registers  live  predicates  uniform  spills (bytes)  stack  warps  limited by{has_forecast}\n",
        "kernel"
    );
    for (kernel, name) in measurement.kernels.iter().zip(&names) {
        let occupancy = measurement.occupancy(kernel);
        let spills = kernel.spills();
        let warps = format!("{}/{}", occupancy.warps, measurement.architecture.max_warps);
        let limits = if kernel.facts.is_kernel { occupancy.limits.to_string() } else { "(function)".to_owned() };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{name:width$}  {:>9}  {:>4}  {:>10}  {:>7}  {spills:>14}  {:>5}  {warps:>5}  {limits}",
            kernel.registers(),
            kernel.live[0],
            kernel.live[1],
            kernel.live[2],
            kernel.stack_bytes(),
        );
        if let Some(forecast) = forecasts.iter().find(|forecast| forecast.name == kernel.name) {
            let pad = 25usize.saturating_sub(limits.chars().count());
            let _ = write!(text, "{:pad$}  {} registers, {} bytes", "", forecast.registers, forecast.spill_bytes());
        }
        text.push('\n');
    }
    let mut sources = Sources::default();
    for kernel in &measurement.kernels {
        describe(&mut text, measurement, kernel, &mut sources);
    }
    if !measurement.has_lines {
        text += "\nno source lines: compile with nvcc's -lineinfo, or clang's -gline-tables-only\n";
    }
    text
}

/// Formats a kernel: its registers, its peak by line, and its local memory.
fn describe(text: &mut String, measurement: &Measurement, kernel: &Kernel, sources: &mut Sources) {
    let _ = writeln!(text, "\n{}", kernel_names::readable(&kernel.name));
    let _ = write!(text, "  {} registers, {} live at most", kernel.registers(), kernel.live[0]);
    let _ = match measurement.next_step(kernel).filter(|_| kernel.facts.is_kernel) {
        Some(step) => {
            writeln!(text, "; {} warps on an SM, more with at most {step}", measurement.occupancy(kernel).warps)
        }
        None => writeln!(text),
    };
    for reason in reasons(measurement, kernel) {
        let _ = writeln!(text, "  {reason}");
    }
    let peak = &kernel.peak;
    let loops = in_loops(peak.depth);
    let _ = writeln!(text, "  peak at {}{loops}: {}", measurement.at(&peak.point), instruction(&peak.point.text));
    if let Some(&place) = peak.point.places.first() {
        let _ = writeln!(text, "  {:>5} {:<28}{}", "", "", quoted(measurement, place, sources));
    }
    for (place, held) in by_line(kernel).into_iter().take(if measurement.has_lines { SHOWN } else { 0 }) {
        let (at, line) = match place {
            Some(place) => (measurement.place(place), quoted(measurement, place, sources)),
            None => ("no known line".to_owned(), String::new()),
        };
        let _ = writeln!(text, "  {:>5} from {at:<22}  ({}){line}", held.len(), names(&held));
    }
    let lines = by_line(kernel).len();
    if measurement.has_lines && lines > SHOWN {
        let rest: usize = by_line(kernel)[SHOWN..].iter().map(|(_, held)| held.len()).sum();
        let _ = writeln!(text, "  {rest:>5} from {} more lines", lines - SHOWN);
    }
    local(text, measurement, kernel);
    executed::describe(text, measurement, &kernel.executed);
    for call in &kernel.calls {
        let callee = call.callee.as_deref().map_or("an address in a register".to_owned(), kernel_names::readable);
        let _ = writeln!(text, "  calls {callee} at {}{}", measurement.at(&call.point), in_loops(call.depth));
    }
}

/// Formats local memory, by line.
fn local(text: &mut String, measurement: &Measurement, kernel: &Kernel) {
    let local = &kernel.local;
    if local.lines.is_empty() {
        return;
    }
    let SpillBytes { stored, loaded, source, .. } = kernel.spills();
    let by = match source {
        SpillSource::Ptxas => "by ptxas's figures",
        SpillSource::Marks => "by ptxas's marks",
        SpillSource::FixedPlaces => "at most",
    };
    let _ = match (source, stored + loaded) {
        (SpillSource::Ptxas | SpillSource::Marks, 0) => {
            writeln!(text, "  no spills, {by}; local memory holds variables whose address is used")
        }
        _ => writeln!(text, "  spills, {by}: {stored} bytes stored, {loaded} loaded"),
    };
    if source == SpillSource::FixedPlaces {
        let _ =
            writeln!(text, "  this machine code does not distinguish spills from arrays at fixed places; its PTX does");
    }
    let _ = writeln!(text, "  {}", kernel.stack_text());
    for line in local.lines.iter().take(SHOWN) {
        let at = line.place.map_or("no known line".to_owned(), |place| measurement.place(place));
        let marked = if line.marked > 0 { format!(", {} bytes marked as spills", line.marked) } else { String::new() };
        let computed =
            if line.computed > 0 { format!(", {} at computed addresses", line.computed) } else { String::new() };
        let loops = in_loops(line.depth);
        let _ = writeln!(
            text,
            "  local at {at}{loops}: {} bytes stored, {} loaded{marked}{computed}",
            line.stored, line.loaded
        );
    }
    if local.lines.len() > SHOWN {
        let rest: u32 = local.lines[SHOWN..].iter().map(|line| line.stored + line.loaded).sum();
        let _ = writeln!(text, "  local at {} more lines: {rest} bytes", local.lines.len() - SHOWN);
    }
}

/// Explains why a kernel uses more registers than are live at once.
pub(in super::super) fn reasons(measurement: &Measurement, kernel: &Kernel) -> Vec<String> {
    let allocation = &kernel.allocation;
    let (registers, live, named, end) = (kernel.registers(), kernel.live[0], allocation.named, allocation.end);
    let mut reasons = Vec::new();
    if registers > end {
        let more = registers - end;
        let cause = if kernel.calls.is_empty() { "" } else { ", or for its callees" };
        reasons.push(format!("{more} above the highest that it uses, {}: reserved by ptxas{cause}", highest(end)));
    }
    if end > named {
        let stack = if allocation.names_stack || end < 2 { "" } else { ", with R1, the stack pointer" };
        reasons.push(format!("{} below {} that no instruction uses{stack}", end - named, highest(end)));
    }
    if named > live {
        reasons.push(format!("{} that it uses elsewhere, and that are free at the peak", named - live));
    }
    if let (Some(top), Some(point), true) = (allocation.top, &kernel.top, end > live) {
        let what = match top.width {
            1 => String::new(),
            width => format!(" with {} adjacent", width - 1),
        };
        let why = match top.why {
            HighestRegisterReason::Full => "too few lower registers are free while this value is live",
            HighestRegisterReason::Alignment => {
                "lower registers are free while it is live, but not adjacent and aligned"
            }
            HighestRegisterReason::Choice => {
                "lower registers are free while it is live: ptxas's choice, or a part of a wide operand"
            }
        };
        reasons.push(format!("{} is written{what} at {}: {why}", highest(end), measurement.at(point)));
    }
    reasons
}

fn highest(end: u32) -> String {
    format!("R{}", end.saturating_sub(1))
}

/// Groups the registers at the peak by the line that wrote them. Lines with most registers come first.
pub(in super::super) fn by_line(kernel: &Kernel) -> Vec<(Option<Place>, Vec<&LiveRegister>)> {
    let mut lines: BTreeMap<Option<Place>, Vec<&LiveRegister>> = BTreeMap::new();
    for held in kernel.peak.held.iter().filter(|held| held.kind == Kind::General) {
        let place = held.written.as_ref().and_then(|point| point.places.first().copied());
        lines.entry(place).or_default().push(held);
    }
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_by_key(|(place, held)| (std::cmp::Reverse(held.len()), *place));
    lines
}

/// Formats the names of registers. A register is marked if its value may come from several writes.
fn names(held: &[&LiveRegister]) -> String {
    let name = |held: &&LiveRegister| {
        let mark = if held.writes > 1 { "*" } else { "" };
        format!("{}{}{mark}", held.kind.prefix(), held.number)
    };
    let mut names: Vec<String> = held.iter().take(NAMES).map(name).collect();
    if held.len() > NAMES {
        names.push(format!("{} more", held.len() - NAMES));
    }
    names.join(", ")
}

fn in_loops(depth: u32) -> String {
    match depth {
        0 => String::new(),
        1 => " in a loop".to_owned(),
        depth => format!(" in {depth} loops"),
    }
}

/// Returns an instruction without the disassembler's annotations.
pub(in super::super) fn instruction(text: &str) -> &str {
    text.split("(*").next().unwrap_or(text).trim_end()
}

fn quoted(measurement: &Measurement, place: Place, sources: &mut Sources) -> String {
    let text = sources.line(measurement.file(place), place.line).trim();
    if text.is_empty() { String::new() } else { format!("  | {}", text.chars().take(70).collect::<String>()) }
}

impl Measurement {
    /// Formats a place as `k.cu:12`.
    pub(in super::super) fn place(&self, place: Place) -> String {
        format!("{}:{}", short(self.file(place)), place.line)
    }

    /// Formats an instruction's place: its line and the inlined calls around it, or else its offset.
    pub(in super::super) fn at(&self, point: &Point) -> String {
        let Some((own, around)) = point.places.split_first() else { return format!("/*{:04x}*/", point.offset) };
        let around: String = around.iter().map(|&place| format!(" in {}", self.place(place))).collect();
        format!("{}{around}", self.place(*own))
    }
}

impl Kernel {
    /// Returns a thread's stack bytes.
    pub(in super::super) fn stack_bytes(&self) -> u32 {
        let said = self.ptxas_report.map(|ptxas_report| ptxas_report.total_stack_bytes);
        said.or(self.facts.stack).or(self.facts.frame).unwrap_or(0)
    }

    /// Formats the stack by cause, as far as it is known.
    pub(in super::super) fn stack_text(&self) -> String {
        let (all, own) = (self.stack_bytes(), self.facts.frame.unwrap_or(0));
        let mut text = format!("{all} bytes of stack");
        let marked = self.local.marked_places;
        if marked > 0 {
            text += &format!(": {marked} for accesses marked as spills, {} other", own.saturating_sub(marked));
        }
        if all > own {
            text += &format!("; {} in its callees", all - own);
        }
        text
    }
}
