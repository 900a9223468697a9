//! A kernel, with the results of both ptxas and the changes between them.

use nvptx_ra::tune::predicted::Predicted;

use super::build::Figures;
use crate::meaning::Meaning;

/// One ptxas's result for a kernel.
pub(super) struct Side {
    pub(super) figures: Figures,
    /// Result of comparing its machine code with the PTX.
    pub(super) meaning: Meaning,
}

/// A kernel that both ptxas can assemble.
pub(super) struct Kernel {
    pub(super) name: String,
    /// Its line in the PTX.
    pub(super) line: u32,
    /// The result of the old ptxas, then of the new ptxas.
    pub(super) sides: [Side; 2],
    /// Predicted time of the new code relative to the old code; `None` without a prediction.
    pub(super) time: Option<Predicted>,
    /// Whether both results have the same instructions.
    pub(super) is_same_code: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Worse,
    Better,
    Neither,
}

/// A figure that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) direction: Direction,
    /// A part of a sentence for the table.
    pub(super) text: String,
}

/// Sections of the table, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Machine code differs from its PTX.
    Meaning,
    Worse,
    Better,
    /// The instructions differ, but no figure changes by a relevant amount.
    Other,
    SameCode,
}

impl Kernel {
    /// Returns all changed figures, the most important first. A relative change above `tolerance` counts as worse or
    /// better.
    pub(super) fn changes(&self, tolerance: f64) -> Vec<Change> {
        let [old, new] = &self.sides;
        let mut changes = Vec::new();
        if old.meaning.is_different() || new.meaning.is_different() {
            let direction = if new.meaning.is_different() { Direction::Worse } else { Direction::Better };
            let text = format!("compared with the PTX: {} → {}", old.meaning.word(), new.meaning.word());
            changes.push(Change { direction, text });
        }
        if let Some(time) = self.time {
            let direction = match time.ratio {
                ratio if ratio > time.uncertainty.max(1.0 + tolerance) => Direction::Worse,
                ratio if 1.0 / ratio > time.uncertainty.max(1.0 + tolerance) => Direction::Better,
                _ => Direction::Neither,
            };
            if percent(time.ratio) != "±0 %" {
                changes.push(Change { direction, text: format!("predicted time {}", percent(time.ratio)) });
            }
        }
        let figures = [&old.figures, &new.figures];
        let mut count = |what: &str, of: fn(&Figures) -> u32, matters: Option<bool>| {
            let [before, after] = figures.map(of);
            if before == after {
                return;
            }
            let is_more = after > before;
            let [less, more] = if is_more { [before, after] } else { [after, before] }.map(f64::from);
            // Any increase from 0 is beyond the tolerance.
            let is_beyond = more > less * (1.0 + tolerance);
            let direction = match matters {
                Some(is_more_worse) if is_beyond && is_more == is_more_worse => Direction::Worse,
                Some(_) if is_beyond => Direction::Better,
                _ => Direction::Neither,
            };
            changes.push(Change { direction, text: format!("{before} → {after} {what}") });
        };
        count("bytes spilled", |of| of.spilled, Some(true));
        count("warps on an SM", |of| of.warps, Some(false));
        count("bytes of stack", |of| of.stack, Some(true));
        count("registers", |of| of.registers, None);
        count("instructions", |of| of.instructions, None);
        self.words(&mut changes);
        changes.sort_by_key(|change| change.direction);
        changes
    }

    /// Adds changes in ptxas's warnings.
    fn words(&self, changes: &mut Vec<Change>) {
        let [old, new] = self.sides.each_ref().map(|side| &side.figures.said);
        for (code, said) in new.iter().chain(old.iter().filter(|(code, _)| !new.contains_key(*code))) {
            let [before, after] = [old, new].map(|of| of.get(code).map_or(0, |said| said.count));
            let direction = match (said.is_loss, before.cmp(&after)) {
                (_, std::cmp::Ordering::Equal) => continue,
                (true, std::cmp::Ordering::Less) => Direction::Worse,
                (true, std::cmp::Ordering::Greater) => Direction::Better,
                (false, _) => Direction::Neither,
            };
            let text = format!("{before} → {after} times {code}: {}", said.text);
            changes.push(Change { direction, text });
        }
    }

    pub(super) fn is_worse(&self, tolerance: f64) -> bool {
        let is_different = self.sides.iter().any(|side| side.meaning.is_different());
        is_different || self.changes(tolerance).iter().any(|change| change.direction == Direction::Worse)
    }

    pub(super) fn is_comparable(&self) -> bool {
        self.sides.iter().all(|side| side.meaning.is_comparable())
    }

    pub(super) fn rank(&self, tolerance: f64) -> Rank {
        if self.sides.iter().any(|side| side.meaning.is_different()) {
            return Rank::Meaning;
        }
        match self.changes(tolerance).first().map(|change| change.direction) {
            Some(Direction::Worse) => Rank::Worse,
            Some(Direction::Better) => Rank::Better,
            _ if self.is_same_code => Rank::SameCode,
            _ => Rank::Other,
        }
    }

    /// Returns the time of the new code divided by the old code's.
    pub(super) fn ratio(&self) -> f64 {
        self.time.map_or(1.0, |time| time.ratio)
    }
}

/// Formats a ratio as a relative change: `+14 %`.
pub(super) fn percent(ratio: f64) -> String {
    let percent = ((ratio - 1.0) * 100.0).round() as i64;
    if percent == 0 { "±0 %".into() } else { format!("{percent:+} %").replace('-', "−") }
}

#[cfg(test)]
mod tests;
