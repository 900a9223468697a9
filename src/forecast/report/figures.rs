//! A forecast as a list of figures. Each figure has a name for tools and a label for people.

use crate::forecast::kernel::forecast::Forecast;
use crate::printable::printable;

/// Most causes that are listed. If there are more, the number of the others follows.
const TOLD_CAUSES: usize = 3;

/// Labels of the figures that unknown callees may change: they may lower the last figure and raise the others.
const EXACT: [&str; 5] = [
    "    Registers",
    "    Spill Stores [bytes/thread]",
    "    Spill Loads [bytes/thread]",
    "    Stack [bytes/thread]",
    "    Occupancy [warps/SM]",
];

/// The same labels for kernels with unknown callees.
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
    /// Stable name, e.g. `SpillStores`.
    pub name: &'static str,
    /// Label before the value, with the unit. The figures of a kernel are indented below its name.
    pub label: &'static str,
    /// The value; `none` if there is no value, as for the next step of a kernel on the last step.
    pub value: String,
    /// Whether the figure is about the kernel's own [peak](crate::forecast::Peak::place) and not about the kernel as a
    /// whole.
    pub is_of_peak: bool,
}

impl Forecast {
    /// Returns the figures; the kernel's name comes first. The lines `label: value` have the form of the remarks of
    /// AMDGPU's back end about a kernel's resources (`kernel-resource-usage`).
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
            figures.push(figure("CompiledApart", "    Separate Compilation", link_conflict.to_string()));
        }
        if self.spill_bytes() > 0 {
            let (least, most) = self.likely_spill_bytes;
            figures.push(figure("LikelySpills", "    Likely Spills [bytes/thread]", format!("{least} to {most}")));
        }
        figures.extend(self.limited_to.map(|limit| figure("Limit", "    Limited to [registers]", limit.to_string())));
        figures
    }

    /// Prints the [likely registers](Self::likely_registers).
    pub fn likely_text(&self) -> String {
        let (least, most) = self.likely_registers;
        format!("{least} to {most}")
    }

    /// Prints why the kernel may need more registers: its calls to unknown functions.
    pub fn unknown_callees_text(&self) -> String {
        let told = self.unknown_calls.iter().take(TOLD_CAUSES);
        let mut causes: Vec<String> = told.map(|call| call.callee.to_string()).collect();
        if let Some(more) = self.unknown_calls.len().checked_sub(TOLD_CAUSES).filter(|&more| more > 0) {
            causes.push(format!("and {more} more"));
        }
        causes.join("; ")
    }

    /// Prints the figures, one a line.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(512);
        for Figure { label, value, .. } in self.figures() {
            [label, ": ", &value, "\n"].into_iter().for_each(|part| text.push_str(part));
        }
        text
    }
}
