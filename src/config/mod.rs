//! Options: one [table](OPTIONS), one grammar, four layers.
//!
//! An option's value comes from the pass parameter, else from the command line, else from the function attribute, else
//! from the default.

mod allocator_settings;
mod describe;
mod grammar;
mod nearest;
mod optimisations;
mod register_names;
mod removed;
mod settings_table;
mod table;
mod value;
mod word_or_number;

pub use allocator_settings::{AllocatorSettings, Setting, SettingValue};
pub use describe::{OptionInfo, developers_page, explain, explain_all, option_at, option_count, options_page};
pub use grammar::{Origin, assignments, find, of_earlier_version, read_options};
pub use optimisations::{AddPasses, Inline, SkipPasses, Unroll};
pub use register_names::{NamedLoad, NamedRegister, RegisterNames};
pub use removed::first_name;
pub use settings_table::{SETTINGS, SettingKind, SettingSpec};
pub use table::{
    APPLY_EDITS, Audience, BitSpill, COPY_COALESCER, CSSA, Chooser, CoalescerPosition, Config, CssaInterference,
    FORECAST, Injection, KeepInLoops, LOOP_SHAPE, LoopShape, OPTIONS, OptionSpec, Order, PRINT_FORECAST, PresetName,
    Priority, REGALLOC, REMAT, RENAME, Redefined, Remat, SCHEDULE, SHARED_ADDRESSES, SIMD_VIDEO, Scope, SpillTo, Trace,
    Warn,
};
pub use value::{Choice, Shape};
pub use word_or_number::{DynamicShared, KernelRegisterLimit, RegisterTarget, Slack, Threads};

use crate::error::Error;

/// The given options, as text, by origin. Empty if none were given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers<'a> {
    /// Parameters in a pipeline string, which take precedence.
    pub parameters: &'a str,
    /// `-nvptx-ra-…` options.
    pub command_line: &'a str,
    /// Function attribute `"nvptx-ra"`, or `off`.
    pub attribute: &'a str,
}

/// Function attribute that switches the passes off for a function.
const ATTRIBUTE_OFF: &str = "off";

impl<'a> Layers<'a> {
    /// Returns the layers in ascending precedence, without an attribute that is `off`.
    fn in_order(&self) -> [(Origin, &'a str); 3] {
        let attribute = if self.is_off() { "" } else { self.attribute };
        [
            (Origin::Attribute, attribute),
            (Origin::CommandLine, self.command_line),
            (Origin::Parameters, self.parameters),
        ]
    }

    fn is_off(&self) -> bool {
        self.attribute.trim() == ATTRIBUTE_OFF
    }
}

impl Config {
    /// Returns the options that result from `layers`.
    pub fn resolve(layers: &Layers<'_>) -> Result<Self, Error> {
        let mut config = Self { enabled: !layers.is_off(), ..Self::default() };
        for (origin, text) in layers.in_order() {
            config.apply(&assignments(text, origin)?);
        }
        Ok(config)
    }

    /// Like [`resolve`](Self::resolve), but ignores invalid assignments. A caller uses it to find out whether an error
    /// in the options is [fatal](Config::strict) and where its [bundle](Config::bundle) goes.
    pub fn resolve_valid(layers: &Layers<'_>) -> Self {
        let mut config = Self { enabled: !layers.is_off(), ..Self::default() };
        for (origin, text) in layers.in_order() {
            config.apply(&grammar::valid_assignments(text, origin));
        }
        config
    }

    /// Applies checked assignments, in order.
    fn apply(&mut self, assignments: &[(&OptionSpec, String)]) {
        for (spec, value) in assignments {
            let set = spec.set(self, value);
            debug_assert!(set, "{}={value} was checked", spec.name);
        }
    }

    /// Sets an option to a value from a command of the tool. An error begins with `given`.
    pub fn give(&mut self, option: &str, value: &str, given: &str) -> Result<(), Error> {
        grammar::give(self, option, value, given)
    }

    /// Checks options from one origin.
    pub fn check(text: &str, origin: Origin) -> Result<(), Error> {
        if origin == Origin::Attribute && text.trim() == ATTRIBUTE_OFF {
            return Ok(());
        }
        assignments(text, origin).map(|_| ())
    }

    /// Returns the options that differ from their defaults, in the order of the table, as text:
    /// `no-verify;copy-limit=7`. The text is parsed to the same options.
    pub fn to_parameters(&self) -> String {
        let default = Self::default();
        let mut parts = Vec::new();
        for spec in OPTIONS {
            let value = spec.value(self);
            if value == spec.value(&default) {
                continue;
            }
            parts.push(spec.assignment(&value));
        }
        parts.join(";")
    }
}

/// Returns the assignment of a value to an option; `None` if the value is the default.
pub fn unless_default(name: &str, value: &str) -> Option<String> {
    let spec = find(name);
    debug_assert!(spec.is_some_and(|spec| spec.set(&mut Config::default(), value)), "{name}={value}");
    spec.filter(|spec| spec.value(&Config::DEFAULT) != value).map(|spec| spec.assignment(value))
}

#[cfg(test)]
mod tests;
