//! What kind of values rows hold, from the instructions that use them.
//!
//! Rows that moves, choices, packing or shuffles join are one class. Each class has the most telling kind that any
//! instruction gives to one of its rows: a double before a float before an address before bits before an integer.

use crate::disjoint_sets::DisjointSets;
use crate::emulate::layout;
use crate::emulate::program::{Address, Function, Init, Op, Row, Space, WarpOp};
use crate::emulate::pure::Pure;
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
    let known = known_pointers(function);
    let computed = computed(function);
    for inst in &function.insts {
        let address = match &inst.op {
            Op::Load(access) | Op::Store(access) => Some(access.address),
            Op::Atomic { address, .. } | Op::AsyncCopy { from: address, .. } => Some(*address),
            Op::Warp { op: WarpOp::LoadTile { address, .. } | WarpOp::StoreTile { address, .. }, .. } => Some(*address),
            Op::MoveAddress { from, .. } => Some(Address { space: Space::Generic, base: *from, offset: 0 }),
            _ => None,
        };
        if let Some(address) = address.filter(|address| address.space == Space::Generic && is_wide(address.base)) {
            is_pointer[address.base.0 as usize] = true;
        }
    }
    for _ in 0..MOST_ROUNDS {
        let mut changes = false;
        let mut mark = |row: Row, is_pointer: &mut Vec<bool>| {
            let may_be = is_wide(row) && !computed[row.0 as usize];
            changes |= may_be && !std::mem::replace(&mut is_pointer[row.0 as usize], true);
        };
        for inst in function.insts.iter().rev() {
            match &inst.op {
                Op::Move { to, from } if is_pointer[to.0 as usize] => mark(*from, &mut is_pointer),
                Op::Select { to, yes, no, .. } if is_pointer[to.0 as usize] => {
                    mark(*yes, &mut is_pointer);
                    mark(*no, &mut is_pointer);
                }
                Op::Pure { pure, to, from } if is_pointer[to[0].0 as usize] => match *pure.sources.as_slice() {
                    // A product and an address: `mad.wide`.
                    [_, _, last] if is_sum(pure) && last.bits() == 64 => mark(from[2], &mut is_pointer),
                    [_, _] if is_sum(pure) => {
                        // Where one of the two is known to be an address, the other is a distance.
                        let is_known = |row: Row| known[row.0 as usize];
                        match (is_known(from[0]), is_known(from[1])) {
                            (true, false) => mark(from[0], &mut is_pointer),
                            (false, true) => mark(from[1], &mut is_pointer),
                            _ => from[..2].iter().for_each(|&row| mark(row, &mut is_pointer)),
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        if !changes {
            break;
        }
    }
    is_pointer
}

/// How often the instructions are gone through until nothing changes.
const MOST_ROUNDS: usize = 64;

fn is_sum(pure: &Pure) -> bool {
    matches!(pure.results.as_slice(), [Ty::Signed(64) | Ty::Unsigned(64)])
}

/// The rows that are computed by anything but sums and moves, or that are constants: distances, not addresses.
fn computed(function: &Function) -> Vec<bool> {
    let mut computed: Vec<bool> = function.rows.iter().map(|row| row.init != Init::Undefined).collect();
    for inst in &function.insts {
        if let Op::Pure { pure, to, .. } = &inst.op {
            let adds = is_sum(pure) && pure.sources.len() > 1 && pure.sources.last().is_some_and(|ty| ty.bits() == 64);
            if !adds || !pure.may_be_address {
                to.iter().for_each(|row| computed[row.0 as usize] = true);
            }
        }
    }
    computed
}

/// The rows that are known to be addresses: parameters that say so, results of `cvta`, and what is added to them.
fn known_pointers(function: &Function) -> Vec<bool> {
    let mut known = vec![false; function.rows.len()];
    let parameters = function.kernel.iter().flat_map(|kernel| &kernel.parameters);
    let pointers: Vec<u64> = parameters
        .filter(|parameter| parameter.is_pointer)
        .map(|parameter| layout::PARAMETERS + u64::from(parameter.offset))
        .collect();
    for _ in 0..MOST_ROUNDS {
        let before = known.iter().filter(|known| **known).count();
        for inst in &function.insts {
            match &inst.op {
                Op::MoveAddress { to, from } => {
                    known[to.0 as usize] = true;
                    known[from.0 as usize] = true;
                }
                Op::Load(access) => {
                    let address = access.address;
                    if let (Init::Constant(base), [row]) =
                        (function.rows[address.base.0 as usize].init, access.elements.as_slice())
                    {
                        known[row.0 as usize] |= pointers.contains(&base.wrapping_add(address.offset as u64));
                    }
                }
                Op::Move { to, from } => known[to.0 as usize] |= known[from.0 as usize],
                Op::Pure { pure, to, from } if is_sum(pure) && pure.may_be_address => {
                    let addends = &from[..pure.sources.len()];
                    known[to[0].0 as usize] |= addends.iter().any(|row| known[row.0 as usize]);
                }
                _ => {}
            }
        }
        if known.iter().filter(|known| **known).count() == before {
            break;
        }
    }
    known[0] = false;
    known
}
