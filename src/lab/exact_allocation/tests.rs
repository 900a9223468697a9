//! The exact solver agrees with an enumeration of all allocations.

use arbitrary::{Result, Unstructured};

use super::items::{Item, Items};
use super::*;
use crate::allocate::check_allocation;
use crate::fuzzing::{Sizes, problem};

/// All choices: for each item, a place within the register limit, or a place of its own beyond the limit.
struct Enumeration<'a> {
    problem: &'a Problem,
    items: Items,
    best: Option<(u64, f64)>,
}

impl Enumeration<'_> {
    fn spill(&mut self, whole: usize, present: &mut Vec<Item>, allocation: &mut Allocation) {
        if whole == self.items.num_wholes {
            return self.place(present, 0, allocation);
        }
        let item = Item::new(whole);
        let data = &self.items.items[item];
        let (range, pieces, can) = (data.range, data.pieces(), data.cost.is_some());
        present.push(item);
        self.spill(whole + 1, present, allocation);
        present.pop();
        if can {
            let before = present.len();
            present.extend(pieces);
            allocation.placements[range] = Placement::Spilled(SpillSlot::new(whole));
            self.spill(whole + 1, present, allocation);
            present.truncate(before);
        }
    }

    fn place(&mut self, present: &[Item], at: usize, allocation: &mut Allocation) {
        let Some(&item) = present.get(at) else {
            if let Ok(Costs { over_limit, moved_bytes, .. }) = check_allocation(self.problem, allocation) {
                let found = (over_limit, moved_bytes);
                self.best = Some(self.best.map_or(found, |best| if found < best { found } else { best }));
            }
            return;
        };
        let data = &self.items.items[item];
        let (range, access, align) = (data.range, data.access, data.align);
        let register_limit = self.problem.files()[self.problem.file(range)].register_limit.expect("a limit is drawn");
        // Items beyond the register limit are placed far apart, so that they do not conflict with each other.
        let beyond = (64 + 16 * at as u32).next_multiple_of(align);
        let places = (0..register_limit).filter(|unit| unit % align == 0).chain(data.may_exceed.then_some(beyond));
        for unit in data.fixed.map_or(places.collect::<Vec<_>>(), |unit| vec![unit]) {
            match access {
                None => allocation.placements[range] = Placement::Register(unit),
                Some(access) => allocation.pieces[access] = Some(unit),
            }
            self.place(present, at + 1, allocation);
        }
    }
}

/// Finds the least cost in a file by trying all allocations.
fn by_enumeration(problem: &Problem, file: File) -> Option<(u64, f64)> {
    let items = Items::new(problem, file);
    let register_limit = u64::from(problem.files()[file].register_limit?);
    if (register_limit + 1).checked_pow(items.items.len() as u32)? > 20_000 {
        return None;
    }
    let mut allocation = Allocation::blank(problem);
    // The other files keep the places of the greedy allocation.
    let known = Greedy::default().allocate(problem).expect("a sound problem");
    for other in problem.files().ids() {
        take_over(problem, other, &known, &mut allocation);
    }
    allocation.number_slots(problem);
    for (number, range) in problem.ranges().ids().enumerate() {
        if let Placement::Spilled(slot) = &mut allocation.placements[range] {
            *slot = SpillSlot::new(1000 + number);
        }
    }
    let elsewhere = |(of, _): &(File, _)| *of != file;
    let others: Vec<_> = problem.files().iter_enumerated().filter(elsewhere).collect();
    let theirs: Vec<FileCost> = others.iter().map(|&(other, _)| cost(problem, other, &known)).collect();
    let mut all = Enumeration { problem, items, best: None };
    all.spill(0, &mut Vec::new(), &mut allocation);
    let (over, moved) = all.best.expect("what greedy found is among them");
    let (their_over, their_moved) =
        theirs.iter().fold((0, 0.0), |(over, moved), cost| (over + cost.over_limit, moved + cost.moved_bytes));
    Some((over - their_over, moved - their_moved))
}

fn check_enumeration(u: &mut Unstructured<'_>, compared: &mut u32) -> Result<()> {
    let sizes = Sizes { ranges: 5, insts: 5, register_limit: 4, width: 2 };
    let problem = problem(u, &sizes)?;
    if problem.validate().is_err() {
        return Ok(());
    }
    let exact = Solver { steps: 100_000 }.solve(&problem).expect("a sound problem");
    assert!(exact.is_optimal, "{problem}");
    for file in problem.files().ids() {
        if let Some((over, moved)) = by_enumeration(&problem, file) {
            let found = cost(&problem, file, &exact.allocation);
            assert_eq!(found.over_limit, over, "{problem}\n{exact:?}");
            assert!((found.moved_bytes - moved).abs() < 1e-3, "{moved} and not {}\n{problem}", found.moved_bytes);
            *compared += u32::from(moved > 0.0 || over > 0);
        }
    }
    Ok(())
}

/// On tiny problems, no allocation that the checker accepts costs less.
#[test]
fn nothing_is_cheaper() {
    let mut compared = 0;
    // The number of repetitions is fixed, so that it does not depend on the machine's speed.
    for _ in 0..40 {
        arbtest::arbtest(|u| check_enumeration(u, &mut compared)).budget_ms(1_500);
        if compared > 20 {
            return;
        }
    }
    panic!("only {compared} problems needed spilling");
}

/// Without steps, the result has the bound and the better allocation of the other engines. With enough steps, it has
/// the optimum.
#[test]
fn more_steps_prove_more() {
    let text = "allocation 1\nproblem k\nfile R budget 3\nclass A R\n\
        range A cost 20 live 2..37 write 0*1 read 9*1\nrange A cost 30 live 6..37 write 1*1 read 9*1\n\
        range A cost 2 live 10..41 write 2*1 read 10*1\nrange A cost 40 live 14..37 write 3*1 read 9*1\nend\n";
    let problem = Problem::parse(text).expect("a problem");
    let [none, some] = [0, 100].map(|steps| Solver { steps }.solve(&problem).expect("a sound problem"));
    assert!(!none.is_optimal && none.least.moved_bytes <= 8.0);
    assert!(some.is_optimal && some.least.moved_bytes == 8.0 && some.costs.moved_bytes == 8.0);
}

/// Without a register limit, two aligned pairs and two single registers take no more units than are live at once.
#[test]
fn fewest_units() {
    let text = "allocation 1\nproblem k\nfile R\nclass A R\nclass B R width 2 align 2\n\
        range B live 2..17 write 0*1 read 4*1\nrange A live 2..9 write 0*1 read 2*1\n\
        range A live 6..25 write 1*1 read 6*1\nrange B live 18..33 write 4*1 read 8*1\nend\n";
    let problem = Problem::parse(text).expect("a problem");
    let exact = Solver::default().solve(&problem).expect("a sound problem");
    assert!(exact.is_optimal);
    assert_eq!((exact.costs.units[0], exact.least.units[0]), (4, 4));
}
