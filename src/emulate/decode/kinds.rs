//! What kind of values rows hold, from the instructions that use them.
//!
//! Rows that moves, choices, packing or shuffles join are one class. Each class has the most telling kind that any
//! instruction gives to one of its rows: a double before a float before an address before bits before an integer.

use crate::disjoint_sets::DisjointSets;
use crate::emulate::program::{Function, Init, Op, Row, Space, WarpOp};
use crate::emulate::types::{Kind, Ty};

/// Finds the kinds of the rows of a function. O(instructions), twice.
pub(super) fn find(function: &mut Function) {
    let count = function.rows.len();
    let mut sets: DisjointSets<Row> = DisjointSets::new(count);
    let is_register: Vec<bool> = function.rows.iter().map(|row| row.init == Init::Undefined && row.bits > 1).collect();
    let may_join = |row: Row| row.0 != 0 && is_register[row.0 as usize];
    let mut join = |a: Row, b: Row| {
        if may_join(a) && may_join(b) {
            sets.unite(a, b);
        }
    };
    for inst in &function.insts {
        match &inst.op {
            Op::Move { to, from } => join(*to, *from),
            Op::Select { to, yes, no, .. } => {
                join(*to, *yes);
                join(*to, *no);
            }
            Op::Pack { to, parts, .. } => parts.iter().for_each(|&part| join(*to, part)),
            Op::Unpack { parts, from, .. } => parts.iter().for_each(|&part| join(*from, part)),
            Op::Warp { op: WarpOp::Shuffle { to, value, .. }, .. } => join(*to, *value),
            _ => {}
        }
    }
    let mut kinds = vec![Kind::Integer; count];
    let mut vote = |sets: &mut DisjointSets<Row>, row: Row, kind: Kind| {
        if row.0 != 0 {
            let class = sets.find(row).0 as usize;
            kinds[class] = kinds[class].max(kind);
        }
    };
    for inst in &function.insts {
        match &inst.op {
            Op::Pure { pure, to, from } => {
                let sources = pure.sources.iter().zip(from).map(|(&ty, &row)| (ty, row, pure.takes_apart));
                let results = pure.results.iter().zip(to).map(|(&ty, &row)| (ty, row, false));
                for (ty, row, is_apart) in sources.chain(results) {
                    vote(&mut sets, row, if is_apart { Kind::of(ty).max(Kind::Bits) } else { Kind::of(ty) });
                }
            }
            Op::Load(access) | Op::Store(access) => {
                access.elements.iter().for_each(|&row| vote(&mut sets, row, Kind::of(access.ty)));
            }
            Op::Atomic { ty, to, from, .. } => {
                [*to, from[0], from[1]].into_iter().for_each(|row| vote(&mut sets, row, Kind::of(*ty)));
            }
            Op::Warp { op: WarpOp::Multiply(multiply), .. } => {
                for (rows, &ty) in multiply.rows.iter().zip(&multiply.types) {
                    let kind = if ty.bits() == 8 { Kind::Bits } else { Kind::of(ty) };
                    rows.iter().for_each(|&row| vote(&mut sets, row, kind));
                }
            }
            Op::Warp {
                op: WarpOp::LoadTile { to: rows, tile, .. } | WarpOp::StoreTile { from: rows, tile, .. },
                ..
            } => {
                rows.iter().for_each(|&row| vote(&mut sets, row, Kind::of(tile.ty)));
            }
            _ => {}
        }
    }
    let pointers = pointers(function);
    for number in 0..count {
        let class = sets.find(Row(number as u32)).0 as usize;
        let kind = kinds[class];
        let is_pointer = pointers[number] && kind < Kind::Pointer;
        function.rows[number].kind = if is_pointer { Kind::Pointer } else { kind };
    }
}

/// The rows of 64 bits that hold addresses, from accesses backwards through sums and moves.
fn pointers(function: &Function) -> Vec<bool> {
    let mut is_pointer = vec![false; function.rows.len()];
    let is_wide = |row: Row| row.0 != 0 && function.rows[row.0 as usize].bits == 64;
    for inst in &function.insts {
        let address = match &inst.op {
            Op::Load(access) | Op::Store(access) => Some(access.address),
            Op::Atomic { address, .. } | Op::AsyncCopy { from: address, .. } => Some(*address),
            Op::Warp { op: WarpOp::LoadTile { address, .. } | WarpOp::StoreTile { address, .. }, .. } => Some(*address),
            _ => None,
        };
        if let Some(address) = address.filter(|address| address.space == Space::Generic && is_wide(address.base)) {
            is_pointer[address.base.0 as usize] = true;
        }
    }
    let mut changes = true;
    let mut rounds = 0;
    while changes && rounds < 64 {
        changes = false;
        rounds += 1;
        let mut mark = |row: Row, is_pointer: &mut Vec<bool>| {
            if is_wide(row) && !std::mem::replace(&mut is_pointer[row.0 as usize], true) {
                changes = true;
            }
        };
        for inst in function.insts.iter().rev() {
            match &inst.op {
                Op::Move { to, from } if is_pointer[to.0 as usize] => mark(*from, &mut is_pointer),
                Op::Select { to, yes, no, .. } if is_pointer[to.0 as usize] => {
                    mark(*yes, &mut is_pointer);
                    mark(*no, &mut is_pointer);
                }
                Op::Pure { pure, to, from } if is_pointer[to[0].0 as usize] => {
                    let is_integer = pure.results == [Ty::Signed(64)] || pure.results == [Ty::Unsigned(64)];
                    match pure.sources.as_slice() {
                        // A product and an address: `mad.wide`.
                        [_, _, Ty::Signed(64) | Ty::Unsigned(64)] if is_integer => mark(from[2], &mut is_pointer),
                        [Ty::Signed(64) | Ty::Unsigned(64), Ty::Signed(64) | Ty::Unsigned(64)] if is_integer => {
                            // One of the two is the address: the one that is known, or both.
                            if !is_pointer[from[0].0 as usize] && !is_pointer[from[1].0 as usize] {
                                mark(from[0], &mut is_pointer);
                                mark(from[1], &mut is_pointer);
                            }
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
    is_pointer
}
