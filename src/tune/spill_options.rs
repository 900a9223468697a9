//! The values that a variant spills to shared memory.

use crate::config::{RegisterNames, unless_default};

/// Options that are the same for all variants.
const FIXED: [(&str, &str); 4] =
    [("allocator", "price"), ("spill-to", "shared"), ("regalloc-trials", "1"), ("regalloc-sink", "on")];

/// The options of the pass that spills to shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillOptions {
    /// The register limit of the pass.
    pub registers: u32,
    /// How many of the registers are left to ptxas.
    pub slack: u32,
    /// Registers whose values are all spilled. If there are none, the profitable values are spilled.
    pub named: RegisterNames,
    /// Whether values are stored and reloaded inside loops, by the name of the option.
    pub in_loops: &'static str,
    /// Whether one load may replace several.
    pub hoists: bool,
    /// The most bytes of one store or load.
    pub access_bytes: u32,
    /// The most values. `None` for as many as help.
    pub values: Option<u32>,
    /// The most bytes of shared memory. `None` for as many as cost no block.
    pub limit: Option<u32>,
    /// Threads of a block, if the kernel does not state them.
    pub threads: Option<u32>,
    /// Bytes of shared memory that the launch adds.
    pub dynamic_shared: u32,
}

impl SpillOptions {
    /// Returns options for a register limit: all values that are profitable by themselves, outside of loops, with
    /// single accesses.
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

    /// Returns the pass options. `names_of` prints the registers.
    pub(super) fn options(&self, names_of: impl Fn(&RegisterNames) -> String) -> Vec<String> {
        // All fields are listed, so that none can be forgotten.
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
