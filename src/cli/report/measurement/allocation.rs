//! Explains why a function uses more registers than are live at once, as far as the table of live registers proves it.
//!
//! A function's registers are divided into four groups: the registers that are live at the peak, the other registers
//! that it uses, the unused registers below the highest used register, and the registers above. For each value in the
//! highest used register, the module checks whether a lower register was free. The check covers the instructions from
//! the value's write to the last instruction in the listing at which the value is live.

use crate::machine::life_ranges::{Kind, LifeRanges, Mark};

/// The registers of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Allocation {
    /// Number of registers that are used.
    pub(super) named: u32,
    /// The highest used register, plus one.
    pub(super) end: u32,
    /// Whether the stack pointer, R1, is used.
    pub(super) names_stack: bool,
    /// The value with the strongest reason for the highest register.
    pub(super) top: Option<HighestRegister>,
}

/// A value in the highest register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HighestRegister {
    /// The instruction that writes it.
    pub(super) row: usize,
    /// Number of adjacent registers that the instruction writes, including the highest register.
    pub(super) width: u32,
    pub(super) why: HighestRegisterReason,
}

/// Why a value is in the highest register. Later reasons prove more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HighestRegisterReason {
    /// Lower registers are free during its whole live range.
    Choice,
    /// Enough lower registers are free, but not adjacent and aligned.
    Alignment,
    /// Too few lower registers are free.
    Full,
}

impl Allocation {
    /// Computes the allocation of a function. O(instructions · registers).
    pub(super) fn of(table: &LifeRanges) -> Self {
        let columns = if table.len() == 0 { 0 } else { table.marks(0, Kind::General).len() };
        let mut is_named = vec![false; columns];
        for row in 0..table.len() {
            for (named, &mark) in is_named.iter_mut().zip(table.marks(row, Kind::General)) {
                *named |= mark != Mark::Free;
            }
        }
        let end = is_named.iter().rposition(|&named| named).map_or(0, |highest| highest + 1);
        let named = is_named.iter().filter(|&&named| named).count() as u32;
        let names_stack = is_named.get(1) == Some(&true);
        Self { named, end: end as u32, names_stack, top: end.checked_sub(1).and_then(|highest| top(table, highest)) }
    }
}

/// Returns the value of the highest register with the strongest reason. If several have this reason, returns the first.
fn top(table: &LifeRanges, highest: usize) -> Option<HighestRegister> {
    let marks = |row: usize| table.marks(row, Kind::General);
    let mut best: Option<HighestRegister> = None;
    for row in (0..table.len()).filter(|&row| marks(row)[highest].is_write()) {
        let low = (0..highest).rev().take_while(|&at| marks(row)[at].is_write()).last().unwrap_or(highest);
        let width = highest - low + 1;
        let is_held = |row: usize| (low..=highest).any(|at| marks(row)[at] != Mark::Free);
        let next = (row + 1..table.len()).find(|&at| !is_held(at) || marks(at)[highest] == Mark::Written);
        let rows = row..next.unwrap_or(table.len());
        let mut is_free = vec![true; low];
        for row in rows {
            is_free.iter_mut().zip(marks(row)).for_each(|(free, &mark)| *free &= mark == Mark::Free);
        }
        let alignment = width.next_power_of_two().min(4);
        let has_room =
            is_free.chunks(alignment).any(|slot| slot.iter().take(width).filter(|&&free| free).count() == width);
        let why = match is_free.iter().filter(|&&free| free).count() {
            _ if has_room => HighestRegisterReason::Choice,
            free if free >= width => HighestRegisterReason::Alignment,
            _ => HighestRegisterReason::Full,
        };
        if best.is_none_or(|best| why > best.why) {
            best = Some(HighestRegister { row, width: width as u32, why });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::drawn_tables::of_marks as table;

    fn why(rows: &[&str]) -> (u32, Option<(usize, u32, HighestRegisterReason)>) {
        let of = Allocation::of(&table(rows));
        (of.named, of.top.map(|top| (top.row, top.width, top.why)))
    }

    /// Each reason for the highest register is found: no lower register is free, no aligned pair is free, or ptxas
    /// chose the highest register.
    #[test]
    fn the_highest_register() {
        assert_eq!(why(&["^   ", ":^  ", "::^ ", ":::^", "vvvv"]), (4, Some((3, 1, HighestRegisterReason::Full))));
        assert_eq!(why(&[" ^    ", " :  ^^", " v  vv"]), (3, Some((1, 2, HighestRegisterReason::Choice))));
        assert_eq!(why(&["^    ", ":  ^^", "v  vv"]).1, Some((1, 2, HighestRegisterReason::Alignment)));
        assert_eq!(why(&["^  ", ": ^", "v v"]), (2, Some((1, 1, HighestRegisterReason::Choice))));
        // A lower register is free when the value is written, but not during its whole live range.
        assert_eq!(why(&["  ^", "^ :", "v^v", " v "]).1, Some((0, 1, HighestRegisterReason::Full)));
        assert_eq!(Allocation::of(&table(&["   "])).end, 0);
    }
}
