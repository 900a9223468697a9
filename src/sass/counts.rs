//! Executed instructions of a kernel, by class and by block.

use super::class::Class;
use super::instruction::{Function, Instruction};
use crate::emulate::{Count, Traffic};

/// A block of a function, with its execution counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCount {
    /// The address of the first instruction.
    pub address: u32,
    /// The number of instructions.
    pub instructions: u32,
    /// How often warps executed the first instruction.
    pub runs: u64,
    /// The instructions that warps issued in the block.
    pub issued: u64,
    /// The traffic of the block's memory accesses.
    pub traffic: Traffic,
}

/// The executed instructions of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The instructions that warps issued, by class. Classes that were never executed are left out.
    pub classes: Vec<(Class, u64)>,
    /// The blocks, in order.
    pub blocks: Vec<BlockCount>,
    /// The traffic of all memory accesses, by class.
    pub traffic: Vec<(Class, Traffic)>,
}

impl Counts {
    /// Computes the counts from the counts of a function's instructions. O(n).
    pub fn new(function: &Function, counts: &[Count]) -> Self {
        let mut found = Self::default();
        let mut classes = [0u64; Class::ALL.len()];
        let mut traffic = [Traffic::default(); Class::ALL.len()];
        for count in counts {
            let instruction = count.line.checked_sub(1).and_then(|at| function.instructions.get(at as usize));
            let class = instruction.map_or(Class::Unknown, Class::of);
            classes[class as usize] += count.issued;
            traffic[class as usize] = traffic[class as usize].sum(count.traffic);
            let address = instruction.map_or(0, |one: &Instruction| one.address);
            match found.blocks.last_mut().filter(|_| !count.is_leader) {
                Some(block) => {
                    block.instructions += 1;
                    block.issued += count.issued;
                    block.traffic = block.traffic.sum(count.traffic);
                }
                None => found.blocks.push(BlockCount {
                    address,
                    instructions: 1,
                    runs: count.issued,
                    issued: count.issued,
                    traffic: count.traffic,
                }),
            }
        }
        let all = || Class::ALL.into_iter().enumerate();
        found.classes = all().map(|(at, class)| (class, classes[at])).filter(|class| class.1 > 0).collect();
        found.traffic = all().map(|(at, class)| (class, traffic[at])).filter(|class| class.1.accesses > 0).collect();
        found
    }

    /// Returns the number of instructions that warps issued, without instructions that have no effect.
    pub fn issued(&self) -> u64 {
        self.classes.iter().filter(|class| class.0 != Class::Nothing).map(|class| class.1).sum()
    }
}
