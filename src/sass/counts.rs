//! What a kernel executed, by classes of machine instructions and by blocks.

use super::class::Class;
use super::instruction::{Function, Instruction};
use crate::emulate::{Count, Traffic};

/// A block of a function, and how often warps ran it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCount {
    /// The address of its first instruction.
    pub address: u32,
    /// Its instructions.
    pub instructions: u32,
    /// How often a warp ran its first instruction.
    pub runs: u64,
    /// Instructions that warps issued in it.
    pub issued: u64,
    /// What its accesses moved.
    pub traffic: Traffic,
}

/// What a kernel executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions that warps issued, by class, without those that never ran.
    pub classes: Vec<(Class, u64)>,
    /// The blocks, in order.
    pub blocks: Vec<BlockCount>,
    /// What all accesses moved, by class.
    pub traffic: Vec<(Class, Traffic)>,
}

impl Counts {
    /// The counts of a function's instructions. O(n).
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

    /// All instructions that warps issued, without those that do nothing.
    pub fn issued(&self) -> u64 {
        self.classes.iter().filter(|class| class.0 != Class::Nothing).map(|class| class.1).sum()
    }
}
