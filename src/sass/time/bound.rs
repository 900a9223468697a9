//! Lower bounds of the cycles that an SM needs for its blocks in any order of issue. They follow from issue slots,
//! units, the memory queue, bandwidth and the longest warp.

use super::facts::Work;
use super::memory::Data;
use super::processor::Numbers;
use super::simulate::{Load, Simulated, simulate};
use super::unit::Unit;
use crate::emulate::AccessSpace;

/// The resource of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Issue: one instruction per cycle and partition.
    Issue,
    /// A unit.
    Unit(Unit),
    /// The SM's memory queue, in passes.
    Queue,
    /// The bandwidth between L1 and L2.
    L2,
    /// The SM's share of the DRAM bandwidth.
    Dram,
    /// The latency of one warp alone on the SM.
    Latency,
}

impl Resource {
    /// Returns the name that reports print.
    pub fn name(self) -> String {
        match self {
            Self::Issue => "issue".into(),
            Self::Unit(unit) => format!("{} unit", unit.name()),
            Self::Queue => "memory queue".into(),
            Self::L2 => "bandwidth of L2".into(),
            Self::Dram => "bandwidth of DRAM".into(),
            Self::Latency => "latency".into(),
        }
    }
}

/// Bounds in cycles, in descending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds(pub Vec<(Resource, u64)>);

impl Bounds {
    /// Returns the largest bound.
    pub fn largest(&self) -> u64 {
        self.0.first().map_or(0, |bound| bound.1)
    }

    /// Returns the largest bound other than latency.
    pub fn throughput(&self) -> Option<(Resource, u64)> {
        self.0.iter().copied().find(|bound| bound.0 != Resource::Latency)
    }
}

/// Computes the bounds of a load. `ran` is the model's result for the same load, which gives the sectors between L1 and
/// L2. O(steps).
pub fn bounds(load: &Load<'_>, ran: &Simulated, numbers: &Numbers) -> Bounds {
    let partitions = numbers.whole("partitions").max(1) as usize;
    let mut issued = vec![0u64; partitions];
    let mut units = vec![[0u64; Unit::ALL.len()]; partitions];
    let sectors_a_cycle = (numbers.whole("l1.bytes") / super::cache::SECTOR).max(1);
    let (mut queue, mut longest) = (0u64, (0, 0));
    let mut number = 0;
    for block in (0..load.held).map(|block| block % load.blocks.len().max(1)) {
        for (warp, trace) in load.blocks[block].iter().enumerate() {
            let partition = number % partitions;
            number += 1;
            if trace.steps.len() > longest.0 {
                longest = (trace.steps.len(), block << 8 | warp);
            }
            for step in &trace.steps {
                let facts = load.facts[usize::from(step.function)][step.line.saturating_sub(1) as usize];
                let access = trace.accesses.get(step.access as usize);
                if load.without_local && access.is_some_and(|access| access.space == AccessSpace::Local) {
                    continue;
                }
                issued[partition] += 1;
                units[partition][facts.unit as usize] += facts.interval;
                let passes = access
                    .map_or(1, |one| u64::from(one.passes) + (one.sectors.len() as u64).div_ceil(sectors_a_cycle));
                queue += if matches!(facts.work, Work::Access(_)) {
                    passes.max(1)
                } else {
                    u64::from(facts.unit == Unit::Memory)
                };
            }
        }
    }
    let mut found = vec![(Resource::Issue, issued.iter().copied().max().unwrap_or_default())];
    for unit in Unit::ALL.into_iter().filter(|unit| !matches!(unit, Unit::Memory | Unit::None)) {
        found.push((Resource::Unit(unit), units.iter().map(|of| of[unit as usize]).max().unwrap_or_default()));
    }
    let [bytes, far_bytes] = ran.sectors.map(|sectors| (sectors * super::cache::SECTOR) as f64);
    found.push((Resource::Queue, queue));
    found.push((Resource::L2, (bytes / numbers.get("l2.bytes").max(0.01)) as u64));
    if load.data == Data::InDram {
        found.push((Resource::Dram, (far_bytes / numbers.dram_bytes().max(0.01)) as u64));
    }
    found.push((Resource::Latency, alone(load, longest.1, numbers)));
    found.sort_by_key(|bound| std::cmp::Reverse(bound.1));
    Bounds(found)
}

/// Returns the cycles of the longest warp when it runs alone on the SM.
fn alone(load: &Load<'_>, place: usize, numbers: &Numbers) -> u64 {
    let Some(trace) = load.blocks.get(place >> 8).and_then(|block| block.get(place & 0xff)) else { return 0 };
    let blocks = [vec![*trace]];
    simulate(&Load { blocks: &blocks, held: 1, ..*load }, numbers).cycles
}
