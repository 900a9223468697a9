//! The order in which live ranges take their places, without a register limit.

use super::*;
use crate::allocate::problem::{Access, AccessKind, ClassData, FileData, ProblemBuilder};
use crate::allocate::{check_allocation, read_point, write_point};
use crate::analysis::{Segment, ValueNumber};
use crate::function::Inst;

/// Creates a problem of live ranges without holes in a file without a register limit. Each triple has the width, which
/// is also the alignment, the instruction that writes the live range, and the instruction that reads it.
fn intervals(ranges: &[(u32, u32, u32)]) -> Problem {
    let mut builder = ProblemBuilder::new("k");
    let file = builder.file(FileData { name: "R".into(), register_limit: None, units_per_register: 1 });
    for &(width, write, read) in ranges {
        let data = ClassData { name: "c".into(), file, width, align: width, bytes: 4 * width, promotes_to: None };
        let class = builder.class(data);
        let (write, read) = (Inst(write), Inst(read));
        let segment = Segment { start: write_point(write), end: read_point(read).next(), value: ValueNumber(0) };
        let access = |inst: Inst, kind: AccessKind| Access { inst, kind, frequency: 1.0 };
        builder.range(class, [segment], [access(write, AccessKind::Write), access(read, AccessKind::Read)]);
    }
    builder.finish()
}

/// Returns the units that greedy uses, after the checker has proved the allocation.
fn units(problem: &Problem) -> u32 {
    let allocation = Greedy::default().allocate(problem).expect("a sound problem");
    check_allocation(problem, &allocation).unwrap_or_else(|error| panic!("{error}\n{problem}")).units[0]
}

/// Live ranges of one width without holes need no more units than are live at once.
#[test]
fn intervals_take_what_is_live_at_once() {
    arbtest::arbtest(|u| {
        let width = 1 << u.int_in_range(0..=2_u32)?;
        let mut ranges = Vec::new();
        for _ in 0..u.int_in_range(0..=40)? {
            let write = u.int_in_range(0..=30)?;
            ranges.push((width, write, u.int_in_range(write + 1..=32)?));
        }
        let problem = intervals(&ranges);
        assert_eq!(units(&problem), problem.peaks()[File(0)], "{problem}");
        Ok(())
    });
}

/// Wide live ranges take their places first, so single registers that start earlier fit beside them.
#[test]
fn single_registers_fit_beside_pairs() {
    let problem = intervals(&[(1, 0, 9), (2, 1, 8), (1, 2, 7), (4, 3, 9)]);
    assert_eq!(units(&problem), 8);
}
