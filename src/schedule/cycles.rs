//! A lower bound of a function's duration.

use super::facts::Facts;
use super::region::{Region, regions};
use super::top_down::latency;
use crate::analysis::{Cfg, Dominators, Edges, block_frequencies};
use crate::function::Function;
use crate::index::IndexVec;
use crate::target::Classification;

/// Returns a lower bound of the cycles in which a warp, alone on the machine, executes a function that has left SSA
/// form. For each stretch of a block, the bound is the longest chain of instructions that read each other's results, by
/// the latencies of the machine model, or one cycle for each instruction if that is more. Stretches are weighted by
/// block frequency. A call counts as one instruction. O(n log n) in the operands and dependences.
pub fn estimated_cycles(function: &Function, classification: &Classification) -> f64 {
    let facts = Facts::new(function, classification);
    let cfg = Cfg::new(function);
    let frequencies = block_frequencies(function, &cfg, &Dominators::new(function, &cfg));
    let mut edges = Edges::default();
    let mut total = 0.0;
    for block in function.blocks() {
        let mut cycles = function.block_insts(block).len() as u32;
        for (first, end) in regions(function, block) {
            let longest = longest_chain(&Region::new(&facts, &mut edges, first, end));
            cycles += longest.saturating_sub(end.0 - first.0);
        }
        total += frequencies[block] * f64::from(cycles);
    }
    total
}

/// Returns the cycles until the last result of a region is available. Only readers of a result wait for it. A later
/// write of the same register does not wait, because the machine has different registers for the two values.
fn longest_chain(region: &Region<'_>) -> u32 {
    let mut done = IndexVec::filled(0, region.kinds.len());
    for node in region.nodes() {
        let definitions = region.reads.of(node).iter().filter_map(|&value| region.values[value].definition);
        done[node] = definitions.map(|definition| done[definition]).max().unwrap_or(0) + latency(region, node);
    }
    done.iter().copied().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::estimated_cycles;
    use crate::function::Function;
    use crate::target::Classification;

    /// Two independent loads take the time of one load, a chain takes the sum of its latencies, and a loop takes the
    /// sum of its iterations.
    #[test]
    fn chains() {
        let cycles = |frequency: &str, body: &str| {
            let text = format!(
                "mfv 1\nfunction \"f\"\nopcode ADD32ri\nopcode LD_i32\nregs %0 B32 B32 B64 B32\n\
                 bb0: frequency {frequency} depth 0\n{body}end\n"
            );
            let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            estimated_cycles(&function, &Classification::by_name(function.opcodes()))
        };
        let load = |to: &str| format!("  {to} = LD_i32 0, 0, 1, 3, 32, -1, %2, 0 :: read global\n");
        let add = "  %0 = ADD32ri %0, 1\n";
        assert_eq!(cycles("1.0", add), 4.0);
        assert_eq!(cycles("1.0", &add.repeat(3)), 12.0);
        assert_eq!(cycles("1.0", &(load("%0") + &load("%1"))), 400.0);
        assert_eq!(cycles("1.0", &(load("%0") + add)), 404.0);
        assert_eq!(cycles("16.0", &(load("%0") + add)), 16.0 * 404.0);
        assert_eq!(
            cycles("1.0", &"  %3 = ADD32ri %1, 1\n".repeat(9)),
            9.0,
            "one a cycle, though all write one register"
        );
    }
}
