//! The values that a variant keeps in shared memory.

use crate::config::{RegisterNames, unless_default};

/// What holds for all of them.
const FIXED: [(&str, &str); 4] =
    [("allocator", "price"), ("spill-to", "shared"), ("regalloc-trials", "1"), ("regalloc-sink", "on")];

/// What the pass that keeps values in shared memory is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillOptions {
    /// Registers for which values are kept.
    pub registers: u32,
    /// How many of them are left to ptxas.
    pub slack: u32,
    /// The registers whose values are kept, all of them; none: those that pay.
    pub named: RegisterNames,
    /// Whether they move in loops, by the name of the option.
    pub in_loops: &'static str,
    /// Whether one load may serve what several would.
    pub hoists: bool,
    /// The most bytes of one store or load.
    pub access_bytes: u32,
    /// The most values; `None`: as many as help.
    pub values: Option<u32>,
    /// The most bytes of shared memory; `None`: as many as cost no block.
    pub limit: Option<u32>,
    /// Threads of a block, where the kernel does not say.
    pub threads: Option<u32>,
    /// Bytes of shared memory that the launch adds.
    pub dynamic_shared: u32,
}

impl SpillOptions {
    /// For so many registers each value that pays by itself and outside of loops, by single accesses.
    pub fn for_registers(registers: u32, dynamic_shared: u32) -> Self {
        Self {
            registers,
            slack: 0,
            named: RegisterNames::default(),
            in_loops: "auto",
            hoists: false,
            access_bytes: 4,
            values: None,
            limit: None,
            threads: None,
            dynamic_shared,
        }
    }

    /// The options that ask for it; registers as `names_of` has them.
    pub(super) fn options(&self, names_of: impl Fn(&RegisterNames) -> String) -> Vec<String> {
        // Each field is named, so that none is forgotten.
        let Self { registers, slack, named, in_loops, hoists, access_bytes, values, limit, threads, dynamic_shared } =
            self;
        let mut options = vec![format!("regalloc={registers};regalloc-slack={slack};regalloc-redefined=on")];
        let chosen = [
            ("regalloc-hoist", if *hoists { "on" } else { "off" }),
            ("regalloc-wide", &access_bytes.to_string()),
            ("regalloc-loops", in_loops),
        ];
        options.extend(chosen.into_iter().chain(FIXED).filter_map(|(name, value)| unless_default(name, value)));
        options.extend(values.map(|values| format!("regalloc-values={values}")));
        if !named.is_empty() {
            options.push(format!("regalloc-registers={}", names_of(named)));
        }
        options.extend(threads.map(|threads| format!("threads={threads}")));
        options.extend(limit.map(|limit| format!("shared-limit={limit}")));
        if *dynamic_shared > 0 {
            options.push(format!("dynamic-shared={dynamic_shared}"));
        }
        options
    }
}
