//! What the trials of one problem have in common.

use std::sync::Arc;

use crate::allocate::availability::Timeline;
use crate::allocate::partners::Partners;
use crate::allocate::problem::{File, LiveRange, Problem};
use crate::allocate::registers::Registers;

use super::coalesce::{Merges, coalesce};
use super::constraints::Constraints;
use super::interference::Interference;
use super::knobs::Knobs;
use super::lists::interference;
use super::nodes::Nodes;
use super::pressure::Pressure;

/// A problem of one file, with its nodes and what is known of them.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) problem: &'a Problem,
    pub(super) knobs: &'a Knobs,
    pub(super) timeline: Arc<Timeline>,
    /// The register limit of the file.
    pub(super) register_limit: Option<u32>,
    /// The most units that are live at once, of what has its place from the start those within the register limit.
    pub(super) peak: u32,
    /// Units that are tried before others: as many as are live at once, or as what has its place from the start takes
    /// anyway, within the register limit.
    pub(super) target: u32,
    pub(super) nodes: Nodes<'a>,
    /// What became of the copies.
    pub(super) merges: Merges,
    pub(super) constraints: Constraints,
    /// What has its place from the start.
    pub(super) fixed: Registers<LiveRange>,
    /// By node: how many places those that it meets can take away from it.
    pub(super) interference: Vec<u64>,
    /// Which places would save a copy.
    pub(super) partners: Partners<'a>,
    /// The widths of classes that have members, in order.
    widths: Vec<u32>,
}

impl<'a> Context<'a> {
    /// Prepares a problem all of whose live ranges are in `file`. Copies are merged only where the knobs and `merges`
    /// say so.
    pub(super) fn new(problem: &'a Problem, file: File, knobs: &'a Knobs, merges: bool) -> Self {
        let timeline = Timeline::new(problem);
        let register_limit = problem.files()[file].register_limit;
        let pressure = Pressure::new(problem, &timeline, register_limit.unwrap_or(u32::MAX));
        let peak = pressure.fattest().1.max(0) as u32;
        let mut fixed = Registers::new(timeline.clone(), peak);
        let mut target = peak;
        for (range, data) in problem.ranges().iter_enumerated() {
            if let Some(unit) = data.fixed {
                let units = unit..unit + problem.class(range).width;
                if register_limit.is_none_or(|register_limit| units.end <= register_limit)
                    && !problem.segments(range).is_empty()
                {
                    target = target.max(units.end);
                }
                fixed.occupy(problem.segments(range), units, range);
            }
        }
        let (nodes, merges) = match merges && knobs.coalescing {
            true => coalesce(problem, knobs, &mut fixed),
            false => (Nodes::apart(problem), Merges::default()),
        };
        let constraints = Constraints::new(&nodes, &mut fixed);
        let interference = interference(&nodes, &Interference::new(problem, &timeline));
        let mut widths: Vec<u32> = nodes.iter().map(|node| nodes.class(node).width).collect();
        widths.sort_unstable();
        widths.dedup();
        let partners = Partners::new(problem);
        Self {
            problem,
            knobs,
            timeline,
            register_limit,
            peak,
            target: target.min(register_limit.unwrap_or(u32::MAX)),
            nodes,
            merges,
            constraints,
            fixed,
            interference,
            partners,
            widths,
        }
    }

    /// The next wider group of units that somebody needs; 1: nobody does.
    pub(super) fn wider_than(&self, width: u32) -> u32 {
        self.widths.iter().copied().find(|&wider| wider > width && wider.is_multiple_of(width)).unwrap_or(1)
    }
}
