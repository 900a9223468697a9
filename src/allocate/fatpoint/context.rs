//! Data that the trials of one problem share.

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

/// A problem of one file, with its nodes and their properties.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) problem: &'a Problem,
    pub(super) knobs: &'a Knobs,
    pub(super) timeline: Arc<Timeline>,
    /// The register limit of the file.
    pub(super) register_limit: Option<u32>,
    /// The most units that are live at once. Of live ranges with places from the start, only the units within the
    /// register limit count.
    pub(super) peak: u32,
    /// Number of units that are tried first, at most the register limit: the most units that are live at once, or more
    /// if a place from the start reaches further.
    pub(super) target: u32,
    pub(super) nodes: Nodes<'a>,
    /// Results of coalescing.
    pub(super) merges: Merges,
    pub(super) constraints: Constraints,
    /// Live ranges with places from the start.
    pub(super) fixed: Registers<LiveRange>,
    /// By node: the number of places that its neighbours can take away from it.
    pub(super) interference: Vec<u64>,
    /// Places that would save a copy.
    pub(super) partners: Partners<'a>,
    /// Widths of classes that have members, in order.
    widths: Vec<u32>,
}

impl<'a> Context<'a> {
    /// Prepares a problem whose live ranges are all in `file`. Copies are merged only if both the knobs and `merges`
    /// allow it.
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

    /// Returns the next greater width that is a multiple of this one and that a node has; 1 if there is none.
    pub(super) fn wider_than(&self, width: u32) -> u32 {
        self.widths.iter().copied().find(|&wider| wider > width && wider.is_multiple_of(width)).unwrap_or(1)
    }
}
