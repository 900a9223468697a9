//! The order of figures, as a command-line option.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use nvptx_ra::tune::figures::Measure;

/// A measure with its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedMeasure(pub(super) Measure);

impl ValueEnum for NamedMeasure {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Measure::Spills), Self(Measure::Warps), Self(Measure::Local), Self(Measure::Instructions)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self.0 {
            Measure::Spills => ("spills", "Spilled bytes, times ten for each enclosing loop"),
            Measure::Warps => ("warps", "Warps that an SM holds at once"),
            Measure::Local => ("local", "Accesses of local memory"),
            Measure::Instructions => ("instructions", "Machine instructions"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}
