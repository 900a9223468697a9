//! The data of a function that are kept until all its possible callees are known.

use std::cell::Cell;

use super::stack::Stack;
use super::unknown_callees::Call;
use crate::forecast::footprint::RegisterFootprint;
use crate::forecast::footprint::dead_code::eliminate_dead_code;
use crate::forecast::footprint::promotion::UnpromotedVariable;
use crate::forecast::live::Live;
use crate::forecast::live::curve::Curve;
use crate::forecast::live::instruction_counts::Counts;
use crate::forecast::live::peak::Peak;
use crate::forecast::model::features::Features;
use crate::function::{Applied, Function, Inst, LaunchBounds, Origin};
use crate::target::machine::Repartition;
use crate::target::{Classification, assembly_may_ask, repartitions};

/// Largest number of instructions for which the memory of the analyses is kept. Larger functions release it.
const MOST_KEPT: usize = 1 << 18;

thread_local! {
    /// Memory of the analyses, for the next function.
    static MEMORY: Cell<Option<Box<(RegisterFootprint, Live)>>> = const { Cell::new(None) };
}

/// All data that a module's forecast needs from one function. A summary is small compared with the code, which can be
/// freed: a compiler can summarise functions one by one and forecast the module at its end.
#[derive(Clone, Debug)]
pub struct Summary {
    pub(in crate::forecast) name: String,
    /// Launch bounds; `None` if the function is no kernel.
    pub(in crate::forecast) bounds: Option<LaunchBounds>,
    pub(in crate::forecast) pressure: PressureDetail,
    /// Calls, in the order of the code.
    pub(in crate::forecast) calls: Vec<Call>,
    /// Features without those of calls.
    pub(in crate::forecast) features: Features,
    /// Most uniform words that are live at once.
    pub(in crate::forecast) uniform_words: u32,
    /// Requests and releases of registers at run time.
    pub(in crate::forecast) repartitions: Vec<Repartition>,
    /// Lines of these instructions.
    pub(in crate::forecast) repartition_lines: Vec<u32>,
    pub(in crate::forecast) stack: Stack,
    /// Why the stack variables are in memory. `None` if they are not, or if no details were requested.
    pub(in crate::forecast) in_memory: Option<Box<UnpromotedVariable>>,
    pub(in crate::forecast) shared_bytes: u64,
}

/// Live words along the code, and the peak.
#[derive(Clone, Debug)]
pub(in crate::forecast) struct PressureDetail {
    pub(in crate::forecast) curve: Curve,
    pub(in crate::forecast) peak: Peak,
}

/// Amount of data that is kept of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Data for a kernel's [figures](crate::forecast::Figure).
    Figures,
    /// Additionally the curve, the values live at the peak, and the features of loops that only reports show.
    Everything,
}

impl Summary {
    /// Summarises a function that has left SSA form and is coalesced: the data for the figures of a forecast, without a
    /// curve and without the values at the peak. O(n log n) in its operands and live ranges.
    pub fn new(function: &Function, classification: &Classification) -> Self {
        Self::with(function, classification, Detail::Figures)
    }

    /// Summarises a function with all details that a report shows.
    pub fn detailed(function: &Function, classification: &Classification) -> Self {
        Self::with(function, classification, Detail::Everything)
    }

    /// Summarises a function with the requested details.
    fn with(function: &Function, classification: &Classification, detail: Detail) -> Self {
        // The memory is taken out while it is in use, so that a panic leaves no partial state.
        let mut memory = MEMORY.take().unwrap_or_default();
        let summary = Self::from_analyses((function, classification), detail, &mut memory);
        if function.num_insts() <= MOST_KEPT {
            MEMORY.set(Some(memory));
        }
        summary
    }

    fn from_analyses(
        (function, classification): (&Function, &Classification),
        detail: Detail,
        memory: &mut (RegisterFootprint, Live),
    ) -> Self {
        if let Some(Applied { function, origin }) = eliminate_dead_code(function, classification) {
            let mut summary = Self::of_code((&function, classification), detail, memory);
            let place = &mut summary.pressure.peak.place;
            *place = place.and_then(|place| match origin[place] {
                Origin::Kept(inst) => Some(inst),
                Origin::Clone(_) | Origin::Inserted(_) => None,
            });
            return summary;
        }
        Self::of_code((function, classification), detail, memory)
    }

    /// Summarises the code that ptxas compiles.
    fn of_code(
        (function, classification): (&Function, &Classification),
        detail: Detail,
        (footprint, live): &mut (RegisterFootprint, Live),
    ) -> Self {
        footprint.compute(function, classification);
        live.compute(function, footprint);
        let mut features = Features::new(live);
        let all_words = &live.pressures.all;
        let mut pressure = PressureDetail { curve: Curve::none(function), peak: Peak::new(function, all_words) };
        if detail == Detail::Everything {
            features.add_report_features(&live.report_features(function, footprint));
            pressure.peak.find_live(function, footprint, all_words);
            pressure.curve = Curve::new(function, all_words);
        }
        let calls = match live.counts.calls > 0 {
            true => {
                let call = |inst| Call::of((function, classification), &footprint.occurrences, inst);
                function.insts().filter_map(call).collect()
            }
            false => Vec::new(),
        };
        // Only inline assembly and the counted `repartitions` can request registers.
        let Counts { assembly, repartitions: asking, .. } = live.counts;
        let may_ask = asking > 0 || (assembly > 0 && assembly_may_ask(function));
        let asked = if may_ask { repartitions(function) } else { Vec::new() };
        let (repartitions, repartition_lines) = asked.into_iter().unzip();
        Self {
            name: function.name().to_owned(),
            bounds: function.kernel().copied(),
            pressure,
            calls,
            features,
            uniform_words: live.pressures.most_uniform,
            repartitions,
            repartition_lines,
            in_memory: (detail == Detail::Everything)
                .then(|| footprint.promotion.in_memory((function, classification), &footprint.occurrences))
                .flatten()
                .map(Box::new),
            stack: if footprint.promotion.is_promoted() { Stack::default() } else { Stack::of(function) },
            shared_bytes: function.static_shared_bytes(),
        }
    }

    /// The same for functions whose opcodes are known only by name.
    #[cfg(test)]
    pub(in crate::forecast) fn by_name(function: &Function) -> Self {
        Self::new(function, &Classification::by_name(function.opcodes()))
    }

    /// Returns the function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the function is a kernel.
    pub fn is_kernel(&self) -> bool {
        self.bounds.is_some()
    }

    /// Returns the [place of a kernel's peak](Peak::place).
    pub fn place(&self) -> Option<Inst> {
        self.pressure.peak.place.filter(|_| self.is_kernel())
    }
}
