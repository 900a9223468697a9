//! Why a function has more registers than are live at once, as far as the table of live registers proves it.
//!
//! The registers that it has are: those live where most are; those that it names elsewhere; those below the highest one
//! that it never names; and those above. What keeps the highest named one from being a lower one is looked at value by
//! value: from where an instruction writes it to the last instruction in the listing that holds it.

use crate::machine::life_ranges::{Kind, LifeRanges, Mark};

/// The registers of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Allocation {
    /// Different registers that are named.
    pub(super) named: u32,
    /// The highest of them, and one more.
    pub(super) end: u32,
    /// Whether the stack's pointer, R1, is among them.
    pub(super) names_stack: bool,
    /// What keeps the highest one there.
    pub(super) top: Option<HighestRegister>,
}

/// A value of the highest register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HighestRegister {
    /// The instruction that writes it.
    pub(super) row: usize,
    /// Registers that this writes side by side, the highest among them.
    pub(super) width: u32,
    pub(super) why: HighestRegisterReason,
}

/// Why a value is in the highest register. The later, the more is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HighestRegisterReason {
    /// Lower registers are free as long as it lives.
    Choice,
    /// Enough of them are, but not side by side and aligned.
    Alignment,
    /// Too few are.
    Full,
}

impl Allocation {
    /// That of a function. O(instructions · registers).
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

/// The value of the highest register for which most is proved, the first of these.
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

    /// What keeps the highest register there: nothing below is free, no aligned pair is, or ptxas chose it.
    #[test]
    fn the_highest_register() {
        assert_eq!(why(&["^   ", ":^  ", "::^ ", ":::^", "vvvv"]), (4, Some((3, 1, HighestRegisterReason::Full))));
        assert_eq!(why(&[" ^    ", " :  ^^", " v  vv"]), (3, Some((1, 2, HighestRegisterReason::Choice))));
        assert_eq!(why(&["^    ", ":  ^^", "v  vv"]).1, Some((1, 2, HighestRegisterReason::Alignment)));
        assert_eq!(why(&["^  ", ": ^", "v v"]), (2, Some((1, 1, HighestRegisterReason::Choice))));
        // It is free where the value begins, and not as long as it lives.
        assert_eq!(why(&["  ^", "^ :", "v^v", " v "]).1, Some((0, 1, HighestRegisterReason::Full)));
        assert_eq!(Allocation::of(&table(&["   "])).end, 0);
    }
}
