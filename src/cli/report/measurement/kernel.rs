//! Measures a function of machine code: joins the disassembler's tables with the file's attributes.

use std::collections::BTreeMap;

use nvptx_ra::forecast::MAX_STEPS;
use nvptx_ra::tune::ptxas_output::PtxasReport;

use super::allocation::Allocation;
use super::assigned::keep_assigned;
use super::executed::Ran;
use super::local::Local;
use super::spills::SpillBytes;
use crate::machine::control_flow::ControlFlow;
use crate::machine::cubin::Facts;
use crate::machine::instruction::Instruction;
use crate::machine::life_ranges::{Kind, LifeRanges, Mark};
use crate::machine::local_access::Access;
use crate::machine::source_lines::{Place, SourceLines};
use crate::machine::writes::{nearest, writes};

/// A measured function.
#[derive(Clone, Debug)]
pub(in super::super) struct Kernel {
    pub(in super::super) name: String,
    pub(in super::super) facts: Facts,
    /// Bytes of shared memory that the launch adds.
    pub(in super::super) dynamic_shared: u32,
    /// ptxas's own figures, if it was run.
    pub(in super::super) ptxas_report: Option<PtxasReport>,
    /// The source line where the function begins.
    pub(in super::super) begin: Option<Place>,
    pub(in super::super) instructions: u32,
    /// The most registers of each kind that are live at once.
    pub(in super::super) live: [u32; 4],
    /// The most general registers that the disassembler counts as live at once, including registers without a value.
    pub(in super::super) counted: u32,
    pub(super) allocation: Allocation,
    /// The instruction that writes the value of the highest register.
    pub(super) top: Option<Point>,
    pub(in super::super) peak: Peak,
    /// Traffic between registers and local memory.
    pub(in super::super) local: Local,
    /// Calls of functions, with their callees.
    pub(in super::super) calls: Vec<Call>,
    /// Figures of each source line.
    pub(in super::super) lines: BTreeMap<Place, LineFigures>,
    pub(in super::super) curve: Curve,
    /// Execution counts of a launch.
    pub(in super::super) executed: Ran,
}

/// An instruction, and its source lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Point {
    /// Its index among the function's instructions.
    pub(in super::super) row: usize,
    pub(in super::super) offset: u32,
    pub(in super::super) text: String,
    /// Its source lines, the innermost inlined function first.
    pub(in super::super) places: Vec<Place>,
}

/// A call of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Call {
    /// Its name; `None` for a call through a register.
    pub(in super::super) callee: Option<String>,
    pub(in super::super) point: Point,
    pub(in super::super) depth: u32,
}

/// The instruction with most live general registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Peak {
    pub(in super::super) point: Point,
    /// Loop depth.
    pub(in super::super) depth: u32,
    pub(in super::super) held: Vec<LiveRegister>,
}

/// A register that is live at the peak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct LiveRegister {
    pub(in super::super) kind: Kind,
    pub(in super::super) number: u32,
    /// The last write before the peak; `None` if the register has a value at the start of the function.
    pub(in super::super) written: Option<Point>,
    /// How many writes may have made the value.
    pub(in super::super) writes: usize,
}

/// Figures of a source line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct LineFigures {
    pub(in super::super) instructions: u32,
    /// The most general registers live at one of its instructions.
    pub(in super::super) live: u32,
    /// Number of registers that are live at the peak and were written by this line.
    pub(in super::super) held: u32,
    /// Greatest loop depth.
    pub(in super::super) depth: u32,
    /// Bytes that a thread stores to and loads from local memory.
    pub(in super::super) local_stored: u32,
    pub(in super::super) local_loaded: u32,
}

/// Live general registers along the code: the maximum of every `stride` instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Curve {
    pub(in super::super) stride: u32,
    pub(in super::super) live: Vec<u32>,
    /// Greatest loop depth of the instructions.
    pub(in super::super) depths: Vec<u32>,
    /// Bytes that each step stores to and loads from local memory.
    pub(in super::super) local: Vec<u32>,
}

impl Kernel {
    /// Measures a function.
    pub(super) fn new(
        mut table: LifeRanges,
        lines: &SourceLines,
        code: &[Instruction],
        facts: Facts,
        ptxas_report: Option<PtxasReport>,
    ) -> Self {
        let flow = ControlFlow::of_table(&table, code);
        let depths = flow.as_ref().map_or_else(|| vec![0; table.len()], ControlFlow::depths);
        let counted = (0..table.len()).map(|row| table.count(row, Kind::General)).max().unwrap_or(0);
        if let Some(flow) = &flow {
            keep_assigned(&mut table, code, flow, facts.is_kernel);
        }
        let table = &table;
        let places = |row: usize| lines.of(&table.name, table.offset(row));
        let point = |row: usize| Point {
            row,
            offset: table.offset(row),
            text: table.text(row).to_owned(),
            places: places(row).to_vec(),
        };
        let live = Kind::ALL.map(|kind| (0..table.len()).map(|row| table.live(row, kind)).max().unwrap_or(0));
        let peak_row = (0..table.len()).find(|&row| table.live(row, Kind::General) == live[0]).unwrap_or(0);
        let mut held = Vec::new();
        for kind in [Kind::General, Kind::Uniform] {
            for (number, _) in (0..).zip(table.marks(peak_row, kind)).filter(|&(_, &mark)| mark != Mark::Free) {
                let found = flow.as_ref().map_or(Vec::new(), |flow| writes(table, flow, peak_row, kind, number));
                let written = nearest(&found, peak_row).map(point);
                held.push(LiveRegister { kind, number: number as u32, written, writes: found.len() });
            }
        }
        let peak = Peak { point: point(peak_row), depth: depths[peak_row], held };
        let allocation = Allocation::of(table);
        // CUDA 12.8's nvdisasm prints no marks.
        let is_marked = |row| facts.spill_marks.binary_search(&table.offset(row)).is_ok();
        let access = |row| {
            let access = Access::of(row, table.text(row))?;
            Some(Access { is_spill: access.is_spill || is_marked(row), ..access })
        };
        let accesses: Vec<Access> = (0..table.len()).filter_map(access).collect();
        let mut by_line: BTreeMap<Place, LineFigures> = BTreeMap::new();
        for (row, &depth) in depths.iter().enumerate() {
            let Some(&place) = places(row).first() else { continue };
            let of = by_line.entry(place).or_default();
            of.instructions += 1;
            of.live = of.live.max(table.live(row, Kind::General));
            of.depth = of.depth.max(depth);
        }
        for access in &accesses {
            let Some(&place) = places(access.row).first() else { continue };
            let of = by_line.entry(place).or_default();
            *if access.is_store { &mut of.local_stored } else { &mut of.local_loaded } += access.bytes;
        }
        for held in peak.held.iter().filter(|held| held.kind == Kind::General) {
            let place = held.written.as_ref().and_then(|point| point.places.first());
            place.into_iter().for_each(|&place| by_line.entry(place).or_default().held += 1);
        }
        let calls = (0..table.len()).filter_map(|row| {
            let callee = callee(&table.name, table.text(row))?;
            Some(Call { callee, point: point(row), depth: depths[row] })
        });
        Self {
            name: table.name.clone(),
            dynamic_shared: 0,
            begin: (table.len() > 0).then(|| places(0).last().copied()).flatten(),
            instructions: table.len() as u32,
            live,
            counted,
            top: allocation.top.map(|top| point(top.row)),
            allocation,
            peak,
            calls: calls.collect(),
            curve: Curve::of(table, &depths, &accesses),
            local: Local::of(&accesses, &depths, places),
            lines: by_line,
            facts,
            ptxas_report,
            executed: None,
        }
    }

    /// Returns the bytes that the code stores to and loads from spill slots, for each thread.
    pub(in super::super) fn spills(&self) -> SpillBytes {
        SpillBytes::of(self.ptxas_report, &self.local, self.facts.release)
    }

    /// Returns a thread's general registers: from ptxas, or else from the file, or else the highest used register plus
    /// one.
    pub(in super::super) fn registers(&self) -> u32 {
        let said = self.ptxas_report.map(|ptxas_report| ptxas_report.registers).filter(|&registers| registers > 0);
        said.or(self.facts.registers).unwrap_or(self.allocation.end)
    }
}

/// Returns the callee of an instruction that calls a function by the calling convention, with its source name.
/// `Some(None)` if the callee's address is in a register. `None` for other calls: calls of subroutines that ptxas
/// generates, for example for divisions, and of labels in the caller's own code.
fn callee(caller: &str, text: &str) -> Option<Option<String>> {
    let text = text.strip_prefix('@').and_then(|rest| rest.split_once(' ')).map_or(text, |(_, rest)| rest.trim_start());
    let (opcode, operands) = text.split_once(' ')?;
    if opcode.split('.').next() != Some("CALL") {
        return None;
    }
    let Some((_, name)) = operands.split_once("`(").filter(|(ahead, _)| ahead.trim().is_empty()) else {
        return Some(None);
    };
    let name = name.trim_end().trim_end_matches(')');
    let name = name.strip_prefix('$').and_then(|rest| rest.strip_prefix(caller)?.strip_prefix('$')).unwrap_or(name);
    (!name.contains("__internal_") && !name.starts_with(".L_")).then(|| Some(name.to_owned()))
}

impl Curve {
    fn of(table: &LifeRanges, depths: &[u32], accesses: &[Access]) -> Self {
        let stride = table.len().div_ceil(MAX_STEPS as usize).max(1);
        let counts: Vec<u32> = (0..table.len()).map(|row| table.live(row, Kind::General)).collect();
        let most = |of: &[u32]| of.chunks(stride).map(|step| step.iter().copied().max().unwrap_or(0)).collect();
        let mut local = vec![0; table.len().div_ceil(stride)];
        accesses.iter().for_each(|access| local[access.row / stride] += access.bytes);
        Self { stride: stride as u32, live: most(&counts), depths: most(depths), local }
    }
}

#[cfg(test)]
mod tests {
    use super::callee;

    /// Calls of functions are distinguished from ptxas's own subroutines and from calls through a register.
    #[test]
    fn calls() {
        let of = |text| callee("k", text);
        assert_eq!(of("CALL.REL.NOINC `($k$_Z3extff)"), Some(Some("_Z3extff".into())));
        assert_eq!(of("@!P0 CALL.ABS.NOINC `(puts)"), Some(Some("puts".into())));
        assert_eq!(of("CALL.REL.NOINC `($__internal_0_$__cuda_sm3x_div_rn)"), None);
        assert_eq!(of("@P0 CALL.REL.NOINC `(.L_x_2)"), None);
        assert_eq!(of("CALL.REL.NOINC R2 `(k)"), Some(None));
        assert_eq!((of("RET.REL.NODEC R2 `(k)"), of("EXIT"), of("")), (None, None, None));
    }
}
