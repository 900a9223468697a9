//! Forward: a read takes its value from the first place that held it. A value that is already in its place is not
//! copied or reloaded.
//!
//! A read uses the place that the value reached through the fewest copies. A copy that remains then needs its own
//! source in any case, so no instruction that could be removed is kept alive.

use super::available::available;
use super::overlay::Overlay;
use super::place_contents::PlaceContents;
use super::places::Place;
use super::steps::{Step, Steps};
use crate::allocate::problem::LiveRange;
use crate::function::Inst;

/// Removes copies and reloads and redirects reads, as edits in the overlay.
pub(super) fn forward(steps: &Steps<'_>, overlay: &mut Overlay) {
    if !steps.has_moves() {
        return;
    }
    let mut forward = Forward::new(steps);
    let entries = available(steps, |contents, inst| forward.run(contents, inst, overlay));
    // The last pass has the final facts, and decides from which register each read takes its value. This decision
    // changes no facts.
    forward.redirects = true;
    let mut contents = PlaceContents::new(steps);
    for (block, data) in steps.problem.flow().blocks().iter_enumerated() {
        let Some(entry) = &entries[block] else { continue };
        contents.load(entry);
        for inst in data.insts() {
            forward.run(&mut contents, inst, overlay);
        }
    }
}

struct Forward<'a> {
    steps: &'a Steps<'a>,
    /// By access: whether the reload was found to be needed.
    is_reloaded: Vec<bool>,
    /// By instruction: whether the copy was found to be needed.
    is_copied: Vec<bool>,
    /// Whether the registers of reads are chosen, too.
    redirects: bool,
}

impl<'a> Forward<'a> {
    fn new(steps: &'a Steps<'a>) -> Self {
        let is_reloaded = vec![false; steps.problem.num_accesses()];
        Self { steps, is_reloaded, is_copied: vec![false; steps.problem.flow().num_insts()], redirects: false }
    }

    /// Updates the facts across an instruction, and decides which of its reloads and copies are needless. If a reload
    /// or copy was needed once, it stays needed.
    fn run(&mut self, contents: &mut PlaceContents, inst: Inst, overlay: &mut Overlay) {
        let steps = self.steps;
        for &step in steps.of(inst) {
            match step {
                Step::Reload { range, access } if !self.is_reloaded[access] => {
                    let unit = self.place_instead(contents, inst, (range, access));
                    let unit = unit.and_then(|place| steps.places.unit_of(steps.problem.file(range), place));
                    self.is_reloaded[access] = unit.is_none();
                    overlay.read_at(access, unit);
                }
                Step::Write { range, access } if !self.is_copied[inst.0 as usize] => {
                    let is_needless = self.is_needless(contents, inst, (range, access));
                    if is_needless {
                        overlay.remove(inst)
                    } else {
                        overlay.keep(inst)
                    }
                    self.is_copied[inst.0 as usize] = !is_needless;
                }
                Step::Read { range, access } if self.redirects && !steps.is_spilled(range) => {
                    let unit = self.earlier_unit(contents, inst, (range, access));
                    overlay.read_at(access, unit);
                }
                _ => {}
            }
            contents.run(steps, step, overlay);
        }
    }

    /// Whether a copy's target already holds its value.
    fn is_needless(&self, contents: &PlaceContents, inst: Inst, (range, access): (LiveRange, usize)) -> bool {
        let (steps, units) = (self.steps, self.steps.units(range, access));
        let copy = steps.copy(range, access).filter(|_| steps.is_removable(inst) && !steps.is_spilled(range));
        copy.is_some_and(|(copy, read)| {
            units != steps.units(copy.from, read) && contents.copies(copy.from, units).is_some()
        })
    }

    /// Returns a unit that the value of an access reached through fewer copies than it needed to reach the access's own
    /// unit. `None` for a copy within one place, which stays as it is.
    fn earlier_unit(&self, contents: &PlaceContents, inst: Inst, (range, access): (LiveRange, usize)) -> Option<u32> {
        let (steps, own) = (self.steps, self.steps.units(range, access));
        let copies = contents.copies(range, own)?;
        let is_within = |step: &Step| match *step {
            Step::Write { range: to, access: write } => {
                let is_copy = steps.copy(to, write).is_some_and(|(_, read)| read == access);
                is_copy && steps.units(to, write) == own
            }
            _ => false,
        };
        let is_bound = steps.problem.ranges()[range].fixed.is_some() || steps.is_in_row(range, access);
        if copies == 0 || is_bound || steps.of(inst).iter().any(is_within) {
            return None;
        }
        let earlier = |&place: &Place| Some((contents.copies(range, place).filter(|&other| other < copies)?, place));
        let fit = contents.places(range).iter().filter(|&&place| steps.is_place(range, place)).filter_map(earlier);
        let (_, place) = fit.min()?;
        steps.places.unit_of(steps.problem.file(range), place)
    }

    /// Returns a register that holds the value that an access would reload. The register must not be overwritten before
    /// the instruction has read it.
    fn place_instead(
        &self,
        contents: &PlaceContents,
        inst: Inst,
        (range, access): (LiveRange, usize),
    ) -> Option<Place> {
        let (steps, own) = (self.steps, self.steps.units(range, access));
        if steps.is_in_row(range, access) {
            return None;
        }
        let in_place = steps.of(inst).contains(&Step::ReadInPlace { range, access });
        let wide = steps.width(range);
        let is_taken = |place: Place| {
            steps.of(inst).iter().any(|&step| {
                let (first, width) = match step {
                    Step::Reload { access: other, range } if other != access => {
                        (steps.units(range, other), steps.width(range))
                    }
                    Step::Write { range, access } if steps.access(range, access).segment().start.0 % 4 == 0 => {
                        (steps.units(range, access), steps.width(range))
                    }
                    Step::Take { range } => (steps.home(range), steps.width(range)),
                    _ => return false,
                };
                place.0 < first.0 + width && first.0 < place.0 + wide
            })
        };
        let is_fit = |&place: &Place| steps.is_place(range, place) && (place == own || !in_place && !is_taken(place));
        let fit = contents.places(range).iter().copied().filter(is_fit);
        fit.min_by_key(|&place| (contents.copies(range, place), place))
    }
}
