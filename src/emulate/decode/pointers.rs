//! Finds the 64-bit registers that hold addresses: declared pointer parameters, and address operands followed backwards
//! through sums and moves.

use std::collections::BTreeSet;

use super::webs::Webs;
use crate::emulate::layout;
use crate::emulate::program::{Address, Function, Init, Inst, Op, Row, Space, WarpOp};
use crate::emulate::pure::Pure;
use crate::emulate::types::Ty;

/// The most passes over the instructions until nothing changes.
const MOST_ROUNDS: usize = 64;

/// Returns for each web whether it holds addresses.
pub(super) fn pointers(function: &Function, webs: &mut Webs) -> Vec<bool> {
    let mut is_pointer = vec![false; webs.count];
    let is_wide = |row: Row| {
        let info = function.rows[row.0 as usize];
        row.0 != 0 && info.bits == 64 && info.init == Init::Undefined
    };
    let known = known(function, webs);
    let computed = computed(function, webs);
    let said = said(function);
    for (at, inst) in function.insts.iter().enumerate() {
        let address = match &inst.op {
            Op::Load(access) | Op::Store(access) => Some(access.address),
            Op::Atomic { address, .. } | Op::AsyncCopy { from: address, .. } => Some(*address),
            Op::Bulk(bulk) => Some(bulk.generic_address()),
            Op::Warp { op: WarpOp::LoadTile { address, .. } | WarpOp::StoreTile { address, .. }, .. } => Some(*address),
            Op::MoveAddress { from, .. } => Some(Address { space: Space::Generic, base: *from, offset: 0 }),
            _ => None,
        };
        let address = address.filter(|address| address.space == Space::Generic && is_wide(address.base));
        if let Some(web) = address.and_then(|address| webs.read(at, address.base)) {
            is_pointer[web] = true;
        }
        // The parameter's declaration counts even if only a called function uses the address.
        if let Some(web) = parameter_read(function, inst, &said).and_then(|row| webs.written(at, row)) {
            is_pointer[web] = true;
        }
    }
    let loaded = parameters_loaded(function, webs);
    for _ in 0..MOST_ROUNDS {
        let mut changes = false;
        for (at, inst) in function.insts.iter().enumerate().rev() {
            let holds = |webs: &mut Webs, row| webs.written(at, row).is_some_and(|web| is_pointer[web]);
            let sources: Vec<Row> = match &inst.op {
                Op::Move { to, from } if holds(webs, *to) => vec![*from],
                Op::Select { to, yes, no, .. } if holds(webs, *to) => vec![*yes, *no],
                Op::Pure { pure, to, from } if is_sum(pure) && holds(webs, to[0]) => match *pure.sources.as_slice() {
                    // `mad.wide`: a product plus an address.
                    [_, _, last] if last.bits() == 64 => vec![from[2]],
                    [_, _] => {
                        // If one of the two sources is known to be an address, the other source is an offset.
                        let mut is_known = |row| webs.read(at, row).is_some_and(|web| known[web]);
                        match (is_known(from[0]), is_known(from[1])) {
                            (true, false) => vec![from[0]],
                            (false, true) => vec![from[1]],
                            _ => from[..2].to_vec(),
                        }
                    }
                    _ => continue,
                },
                _ => continue,
            };
            for row in sources.into_iter().filter(|&row| is_wide(row)) {
                if let Some(web) = webs.read(at, row) {
                    changes |= !computed[web] && !std::mem::replace(&mut is_pointer[web], true);
                }
            }
        }
        changes |= share_parameters(&loaded, &mut is_pointer);
        if !changes {
            break;
        }
    }
    is_pointer
}

/// Returns the loaded parameters: the offset of each, and the web that receives it.
fn parameters_loaded(function: &Function, webs: &mut Webs) -> Vec<(u64, usize)> {
    let web = |(at, inst)| {
        let (place, row) = parameter_loaded(function, inst)?;
        Some((place, webs.written(at, row)?))
    };
    function.insts.iter().enumerate().filter_map(web).collect()
}

/// Marks all loads of a parameter as addresses if one of them is marked. Returns whether this changes anything.
fn share_parameters(loaded: &[(u64, usize)], is_pointer: &mut [bool]) -> bool {
    let places: BTreeSet<u64> = loaded.iter().filter(|one| is_pointer[one.1]).map(|one| one.0).collect();
    let shared = loaded.iter().filter(|one| places.contains(&one.0));
    shared.fold(false, |changes, one| changes | !std::mem::replace(&mut is_pointer[one.1], true))
}

fn is_sum(pure: &Pure) -> bool {
    matches!(pure.results.as_slice(), [Ty::Signed(64) | Ty::Unsigned(64)])
}

/// Returns for each web whether an operation other than sums and moves computes it. Such a web holds offsets, not
/// addresses.
fn computed(function: &Function, webs: &mut Webs) -> Vec<bool> {
    let mut computed = vec![false; webs.count];
    for (at, inst) in function.insts.iter().enumerate() {
        if let Op::Pure { pure, to, .. } = &inst.op {
            let adds = is_sum(pure) && pure.sources.len() > 1 && pure.sources.last().is_some_and(|ty| ty.bits() == 64);
            if !adds || !pure.may_be_address {
                to.iter().filter_map(|&row| webs.written(at, row)).for_each(|web| computed[web] = true);
            }
        }
    }
    computed
}

/// Returns the offsets of the parameters that are declared as pointers.
fn said(function: &Function) -> Vec<u64> {
    let parameters = function.kernel.iter().flat_map(|kernel| &kernel.parameters);
    let pointers = parameters.filter(|parameter| parameter.is_pointer);
    pointers.map(|parameter| layout::PARAMETERS + u64::from(parameter.offset)).collect()
}

/// Returns the register into which an instruction loads one of these parameters.
fn parameter_read(function: &Function, inst: &Inst, parameters: &[u64]) -> Option<Row> {
    parameter_loaded(function, inst).filter(|(place, _)| parameters.contains(place)).map(|(_, row)| row)
}

/// Returns the constant address from which an instruction loads one 64-bit register, and the register.
fn parameter_loaded(function: &Function, inst: &Inst) -> Option<(u64, Row)> {
    let Op::Load(access) = &inst.op else { return None };
    let Init::Constant(base) = function.rows[access.address.base.0 as usize].init else { return None };
    let [row] = access.elements.as_slice() else { return None };
    let is_wide = function.rows[row.0 as usize].bits == 64;
    is_wide.then_some((base.wrapping_add(access.address.offset as u64), *row))
}

/// Returns for each web whether it is known to be an address: declared parameters, results of `cvta`, and sums with an
/// offset.
fn known(function: &Function, webs: &mut Webs) -> Vec<bool> {
    let mut known = vec![false; webs.count];
    let said = said(function);
    for _ in 0..MOST_ROUNDS {
        let mut changes = false;
        for (at, inst) in function.insts.iter().enumerate() {
            let found = match &inst.op {
                Op::MoveAddress { to, from } => {
                    if let Some(web) = webs.read(at, *from) {
                        changes |= !std::mem::replace(&mut known[web], true);
                    }
                    webs.written(at, *to)
                }
                Op::Load(_) => parameter_read(function, inst, &said).and_then(|row| webs.written(at, row)),
                Op::Move { to, from } => {
                    webs.read(at, *from).filter(|&web| known[web]).and_then(|_| webs.written(at, *to))
                }
                Op::Pure { pure, to, from } if is_sum(pure) && pure.may_be_address => {
                    let addends = &from[..pure.sources.len()];
                    let is_address = addends.iter().any(|&row| webs.read(at, row).is_some_and(|web| known[web]));
                    if is_address { webs.written(at, to[0]) } else { None }
                }
                _ => None,
            };
            if let Some(web) = found {
                changes |= !std::mem::replace(&mut known[web], true);
            }
        }
        if !changes {
            break;
        }
    }
    known
}
