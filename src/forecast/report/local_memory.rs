//! Traffic to local memory: stack and spills, under the names of ptxas's statistics.

use std::fmt;

use crate::forecast::kernel::forecast::Forecast;
use crate::stats::SpillBytes;

/// Bytes of slots for each byte that is stored to them: the median of the 190 kernels of the corpus that spill with
/// ptxas 13.0.88 on sm_90. A value that is stored twice has one slot. Values that are not live at the same time share a
/// slot.
const SLOTS_OF_STORES: f64 = 0.73;
/// Alignment of the end of the slots, in bytes.
const ALIGNMENT: u32 = 8;

/// Expected traffic of a kernel to local memory, in bytes. [`Display`](fmt::Display) prints the figures under the names
/// and in the order of ptxas's statistics. ptxas prints them after the latency estimate. Stores and loads count once in
/// the code, without their execution counts.
///
/// The documents' *SSpillB* and *SRefillB*, spills to shared memory, are always 0. Kernels that ask for them are
/// forecast as if they spilled to local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalMemory {
    /// Bytes stored to slots.
    pub spilled: u32,
    /// Bytes loaded from slots.
    pub refilled: u32,
    /// Bytes of the words above the register limit at the peak: a lower bound of the slots.
    pub least_slots: u32,
    /// Bytes of slots.
    pub slots: u32,
    /// Bytes stored to stack variables.
    pub stored: u64,
    /// Bytes loaded from stack variables.
    pub loaded: u64,
    /// Bytes of stack variables.
    pub variables: u64,
}

impl Forecast {
    /// Returns the warning that the kernel spills, in ptxas's words and marked as a forecast; `None` if no spill is
    /// expected.
    pub fn spill_warning(&self) -> Option<String> {
        let (stores, loads) = (self.spill_store_bytes, self.spill_load_bytes);
        (self.spill_bytes() > 0).then(|| {
            format!(
                "Registers are spilled to local memory in function '{}', {stores} bytes spill stores, {loads} bytes spill \
                 loads (forecast)",
                self.name
            )
        })
    }
}

impl LocalMemory {
    /// Returns the bytes of the stack frame: variables and slots.
    pub fn frame(&self) -> u64 {
        self.variables.next_multiple_of(u64::from(ALIGNMENT)) + u64::from(self.slots)
    }

    /// Converts the figures to statistics.
    pub fn spill_bytes(&self) -> SpillBytes {
        SpillBytes {
            local_stored: self.spilled.into(),
            local_loaded: self.refilled.into(),
            least_slots: self.least_slots.into(),
            slots: self.slots.into(),
            stored: self.stored,
            loaded: self.loaded,
            variables: self.variables,
            ..SpillBytes::default()
        }
    }
}

impl Forecast {
    /// Returns the expected traffic to local memory.
    pub fn local_memory(&self) -> LocalMemory {
        let slots = (f64::from(self.spill_store_bytes) * SLOTS_OF_STORES).ceil() as u32;
        let slots = slots.next_multiple_of(ALIGNMENT);
        let beyond = (self.features.get("varying_words") as u32).saturating_sub(self.register_limit);
        LocalMemory {
            spilled: self.spill_store_bytes,
            refilled: self.spill_load_bytes,
            least_slots: (4 * beyond).min(slots),
            slots,
            stored: self.stack_store_bytes,
            loaded: self.stack_load_bytes,
            variables: self.stack_bytes,
        }
    }
}

impl fmt::Display for LocalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spill_bytes().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use crate::forecast::{Case, Forecast, forecast_by_name};
    use crate::function::Function;
    use crate::target::machine::Architecture;

    /// A kernel with a variable of 12 bytes, and with `words` other words. The variable is stored once and loaded
    /// twice, in pairs. Its address is stored, so the variable stays in memory.
    fn kernel(words: u32, max_registers: Option<u32>) -> Forecast {
        let mut text = String::from(
            "mfv 1\nfunction \"k\"\nkernel\nopcode LDV_i32_v2\nopcode LD_i32\nopcode LEA_ADDRi64\nopcode ST_i32\n\
             opcode ST_i64\nregs %0 B64 B32 B32 B32\n",
        );
        (0..words).for_each(|word| text += &format!("regs %{} B32\n", 4 + word));
        text += "slot0 size 12 align 4\nbb0: frequency 1.0 depth 0\n  %0 = LEA_ADDRi64 slot0, 0\n  \
                 ST_i64 %0, 0, 0, 1, 64, %0, 0 :: write global\n  ST_i32 %1, 0, 0, 5, 32, %0, 4 :: write local\n  \
                 %2, %3 = LDV_i32_v2 0, 0, 5, 3, 32, -1, %0, 0 :: read local\n  \
                 %2, %3 = LDV_i32_v2 0, 0, 5, 3, 32, -1, %0, 0 :: read local\n";
        let each = |line: &str| -> String {
            (0..words)
                .map(|word| line.replace("%N", &format!("%{}", 4 + word)).replace('M', &word.to_string()))
                .collect()
        };
        text += &each("  %N = LD_i32 0, 0, 1, 3, 32, -1, %0, M :: read ordered global\n");
        text += &each("  ST_i32 %N, 0, 0, 1, 32, %0, M :: write ordered global\n");
        text += "end\n";
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let architecture = Architecture::by_name("sm_90").expect("is known");
        forecast_by_name(&[function], &Case { architecture, max_registers }).expect("the models are there").remove(0)
    }

    /// The traffic of stack variables is that of the code. The frame holds variables and slots.
    #[test]
    fn variables_and_slots() {
        let free = kernel(4, None).local_memory();
        assert_eq!((free.stored, free.loaded, free.variables, free.frame()), (4, 16, 12, 16));
        assert_eq!(
            free.to_string(),
            "[LSpillB=0] [LRefillB=0], [SSpillB=0], [SRefillB=0], [LowLmemSpillSize=0] [FrameLmemSpillSize=0]\n\
             # [LNonSpillB=4] [LNonRefillB=16], [NonSpillSize=12]"
        );
        let tight = kernel(200, Some(32));
        let memory = tight.local_memory();
        assert!(memory.spilled > 0 && memory.slots < memory.spilled && memory.slots.is_multiple_of(8), "{memory:?}");
        assert!(memory.least_slots > 0 && memory.least_slots <= memory.slots, "{memory:?}");
        assert_eq!(memory.frame(), 16 + u64::from(memory.slots));
    }
}
