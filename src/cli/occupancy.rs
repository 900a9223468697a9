//! `nvptx-ra occupancy`: prints occupancy tables for programs.

use std::process::ExitCode;

use nvptx_ra::error::Error;
use nvptx_ra::target::machine::{Architecture, Launch, MAX_REGISTERS, MAX_THREADS_PER_BLOCK, WARP_SIZE};
use serde_json::{Map, Value, json};

/// Print how many warps an SM holds, by registers of a thread and threads of a block, as JSON
///
/// "warps" has a list for each number of warps in a block. The list "0" counts single warps instead of blocks, limited
/// by registers only. The first entry of a list is for one register.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The processor
    #[arg(long, default_value = "sm_90")]
    cpu: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    super::print(format!("{}\n", table(Architecture::by_name(&arguments.cpu)?)).as_bytes())
}

fn table(machine: &Architecture) -> Value {
    let registers = || 1..=MAX_REGISTERS;
    // If a block has one warp, each warp gets its registers independently.
    let alone = |registers| {
        let limit = machine.occupancy(&Launch::new(registers).with_threads(WARP_SIZE)).block_limits.registers;
        limit.unwrap_or(machine.max_warps).min(machine.max_warps)
    };
    let mut warps = Map::new();
    warps.insert("0".into(), registers().map(alone).collect());
    for of_block in 1..=MAX_THREADS_PER_BLOCK / WARP_SIZE {
        let launch = Launch::new(1).with_threads(of_block * WARP_SIZE);
        let held = |registers| machine.occupancy(&launch.with_registers(registers)).warps;
        warps.insert(of_block.to_string(), registers().map(held).collect());
    }
    json!({
        "cpu": machine.name, "max_warps": machine.max_warps, "max_blocks": machine.max_blocks, "warps": warps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table has a row for each block size and a column for each number of registers. It has the known values of an
    /// H100.
    #[test]
    fn table_of_hopper() {
        let table = table(Architecture::by_name("sm_90").expect("it is known"));
        let warps = table["warps"].as_object().expect("an object");
        assert_eq!(warps.len(), 33);
        assert!(warps.values().all(|row| row.as_array().is_some_and(|row| row.len() == 255)));
        let at = |warps_of_block: &str, registers: usize| warps[warps_of_block][registers - 1].as_u64();
        assert_eq!([16, 32, 33, 40, 41, 64, 128, 255].map(|n| at("0", n)), [64, 64, 48, 48, 40, 32, 16, 8].map(Some));
        assert_eq!(["1", "4", "24", "32"].map(|block| at(block, 32)), [32, 64, 48, 64].map(Some));
        assert_eq!([40, 48, 56, 64, 255].map(|n| at("8", n)), [48, 40, 32, 32, 8].map(Some));
    }
}
