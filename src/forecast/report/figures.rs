//! A forecast as a list of figures, each with a name for tools and a label for people.

use crate::forecast::kernel::forecast::Forecast;
use crate::printable::printable;

/// Of more causes the number is told.
const TOLD_CAUSES: usize = 3;

/// Labels of figures that callees may raise or, of the last, lower.
const EXACT: [&str; 5] = [
    "    Registers",
    "    Spill Stores [bytes/thread]",
    "    Spill Loads [bytes/thread]",
    "    Stack [bytes/thread]",
    "    Occupancy [warps/SM]",
];

/// The same where the callees are not there to be seen.
const AT_LEAST: [&str; 5] = [
    "    Registers, at least",
    "    Spill Stores, at least [bytes/thread]",
    "    Spill Loads, at least [bytes/thread]",
    "    Stack, at least [bytes/thread]",
    "    Occupancy, at most [warps/SM]",
];

/// A figure of a forecast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its stable name, e.g. `SpillStores`.
    pub name: &'static str,
    /// What people read before the value, its unit included; the figures of a kernel stand indented below its name.
    pub label: &'static str,
    /// The value; `none` where there is none, as of the next step on the last one.
    pub value: String,
    /// It is about [the place where most is live](crate::forecast::Peak::place) in the kernel itself, not about the kernel as a
    /// whole.
    pub is_of_peak: bool,
}

impl Forecast {
    /// The figures, the kernel's name first. As lines, `label: value`, they are in the shape of the remarks that
    /// AMDGPU's back end makes of a kernel's resources (`kernel-resource-usage`).
    pub fn figures(&self) -> Vec<Figure> {
        let [registers, stores, loads, stack, warps] = match self.is_at_least() {
            true => AT_LEAST,
            false => EXACT,
        };
        let or_none = |number: Option<u32>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
        let figure = |name, label, value: String| Figure { name, label, value, is_of_peak: false };
        let is_of_peak = self.holder == self.name;
        let of_peak = |name, label, value: String| Figure { name, label, value, is_of_peak };
        let mut figures = vec![
            figure("FunctionName", "Function Name", printable(&self.name).into_owned()),
            figure("Registers", registers, self.registers.to_string()),
            figure("LikelyRegisters", "    Likely [registers]", self.likely_text()),
            figure("Predicates", "    Predicates", self.predicates.to_string()),
            figure("SpillStores", stores, self.spill_store_bytes.to_string()),
            figure("SpillLoads", loads, self.spill_load_bytes.to_string()),
            figure("Stack", stack, self.stack_bytes.to_string()),
            figure("SharedMemory", "    Shared Memory [bytes/block]", self.shared_bytes.to_string()),
            figure("Occupancy", warps, self.occupancy.warps.to_string()),
            figure("LimitedBy", "    Limited by", self.occupancy.limits.to_string()),
            figure("NextStep", "    Next Step [registers]", or_none(self.next_step)),
            of_peak("PeakWords", "    Peak [words]", self.peak.words.to_string()),
            of_peak("PeakLine", "    Peak [line]", or_none(Some(self.peak.line).filter(|&line| line != 0))),
        ];
        if !is_of_peak {
            figures.push(figure("PeakFunction", "    Peak [function]", printable(&self.holder).into_owned()));
        }
        if self.is_at_least() {
            figures.push(figure("AtLeastBecause", "    At Least Because It", self.unknown_callees_text()));
        }
        if let Some(link_conflict) = &self.link_conflict {
            figures.push(figure("CompiledApart", "    Compiled Apart", link_conflict.to_string()));
        }
        if self.spill_bytes() > 0 {
            let (least, most) = self.likely_spill_bytes;
            figures.push(figure("LikelySpills", "    Likely Spills [bytes/thread]", format!("{least} to {most}")));
        }
        figures.extend(self.limited_to.map(|limit| figure("Limit", "    Limited to [registers]", limit.to_string())));
        figures
    }

    /// The [registers that are likely](Self::likely_registers), as people read them.
    pub fn likely_text(&self) -> String {
        let (least, most) = self.likely_registers;
        format!("{least} to {most}")
    }

    /// Why it may take more, as people read it: what the kernel does.
    pub fn unknown_callees_text(&self) -> String {
        let told = self.unknown_calls.iter().take(TOLD_CAUSES);
        let mut causes: Vec<String> = told.map(|call| call.callee.to_string()).collect();
        if let Some(more) = self.unknown_calls.len().checked_sub(TOLD_CAUSES).filter(|&more| more > 0) {
            causes.push(format!("and {more} more"));
        }
        causes.join("; ")
    }

    /// The figures as lines of text.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(512);
        for Figure { label, value, .. } in self.figures() {
            [label, ": ", &value, "\n"].into_iter().for_each(|part| text.push_str(part));
        }
        text
    }
}
