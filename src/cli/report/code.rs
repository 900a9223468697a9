//! The functions of a report.

use std::sync::Arc;

use nvptx_ra::coalesce::coalesce;
use nvptx_ra::config::{Config, Layers};
use nvptx_ra::error::Error;
use nvptx_ra::forecast::{Forecast, without_dead_code};
use nvptx_ra::function::{EditList, Function};
use nvptx_ra::schedule::{estimated_cycles, schedule};
use nvptx_ra::target::Classification;

use super::Arguments;
use crate::views::Source;

/// The functions of an input after coalescing and reordering. Code that ptxas removes is omitted, for example accesses
/// with a mask that is always false.
#[derive(Default)]
pub(super) struct Code {
    pub(super) functions: Vec<Function>,
    /// The meaning of each function's opcodes.
    pub(super) classifications: Vec<Arc<Classification>>,
}

impl Code {
    pub(super) fn read(source: &mut Source, arguments: &Arguments) -> Result<Self, Error> {
        let config = Config::resolve(&Layers::default())?;
        let order = arguments.order.unwrap_or(config.order);
        let mut code = Self::default();
        source.for_each(&mut |function, classification| {
            let edits = coalesce(&function, &classification, &config).edits;
            let coalesced = edited(function, &edits)?;
            let edits = schedule(&coalesced, &classification, order, 0).edits;
            code.functions.push(without_dead_code(edited(coalesced, &edits)?, &classification));
            code.classifications.push(classification);
            Ok(())
        })?;
        Ok(code)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Function, &Classification)> {
        self.functions.iter().zip(self.classifications.iter().map(|classification| &**classification))
    }

    /// Returns a function by name, with the meaning of its opcodes.
    pub(super) fn find(&self, name: &str) -> Option<(&Function, &Arc<Classification>)> {
        self.functions.iter().zip(&self.classifications).find(|(function, _)| function.name() == name)
    }

    /// Returns the cycles that a single warp takes to run the kernel's own code once.
    pub(super) fn cycles(&self, forecast: &Forecast) -> Option<f64> {
        let own = self.find(&forecast.name);
        own.map(|(function, classification)| estimated_cycles(function, classification))
    }
}

/// Returns the function with the edits applied.
fn edited(function: Function, edits: &EditList) -> Result<Function, Error> {
    if edits.is_empty() {
        return Ok(function);
    }
    let applied = edits.apply(&function);
    applied.map(|applied| applied.function).map_err(|error| Error::from(error).in_function(function.name()))
}
