//! The parameters that are addresses. Machine code does not state which parameters are addresses.

use rustc_hash::FxHashSet;

use crate::emulate::layout;
use crate::emulate::program::{Function, Init, Op, Row, Space};

/// The most iterations over the instructions.
const MOST_ROUNDS: usize = 16;

/// Marks parameters of 8 bytes of which a part reaches the base of an access through sums and moves. Each register
/// counts as one value in the whole function. Other parameters may therefore be marked, too, such as a size that is
/// added to an address.
pub(super) fn find_pointers(function: &mut Function) {
    let mut parameters: Vec<u32> = Vec::new();
    for (number, parameter) in function.kernel.iter().flat_map(|kernel| kernel.parameters.iter().enumerate()) {
        if parameter.bytes == 8 && reaches(function, parameter.offset) {
            parameters.push(number as u32);
        }
    }
    if let Some(kernel) = &mut function.kernel {
        parameters.iter().for_each(|&number| kernel.parameters[number as usize].is_pointer = true);
    }
}

/// Whether a parameter reaches the base of an access to global memory.
fn reaches(function: &Function, offset: u32) -> bool {
    let wanted = layout::PARAMETERS + u64::from(offset);
    let is_read = |row: Row| function.rows[row.0 as usize].init == Init::Constant(wanted);
    let mut held: FxHashSet<Row> = FxHashSet::default();
    for _ in 0..MOST_ROUNDS {
        let before = held.len();
        for inst in &function.insts {
            match &inst.op {
                Op::Load(access) if is_read(access.address.base) && access.address.offset == 0 => {
                    held.extend(&access.elements);
                }
                Op::Load(access) | Op::Store(access)
                    if access.address.space == Space::Generic && held.contains(&access.address.base) =>
                {
                    return true;
                }
                Op::Atomic { address, .. } | Op::AsyncCopy { from: address, .. }
                    if address.space == Space::Generic && held.contains(&address.base) =>
                {
                    return true;
                }
                Op::Bulk(bulk) if held.contains(&bulk.generic_address().base) => return true,
                Op::Move { to, from } | Op::First { to, from } if held.contains(from) => _ = held.insert(*to),
                Op::Select { to, yes, no, .. } if held.contains(yes) || held.contains(no) => _ = held.insert(*to),
                Op::Pack { to, parts, .. } if parts.iter().any(|row| held.contains(row)) => _ = held.insert(*to),
                Op::Unpack { parts, from, .. } if held.contains(from) => held.extend(parts),
                Op::Pure { pure, to, from } if pure.results[0].bits() >= 32 => {
                    // Only the addend of a multiply-add can be an address. The factors are offsets.
                    let sources = &from[..pure.sources.len()];
                    let summands = if pure.sources.len() >= 3 { &sources[2..] } else { sources };
                    let is_sum = pure.may_be_address && (pure.sources.len() != 3 || pure.sources[2].bits() == 64);
                    let all = if is_sum && pure.sources.len() == 3 { summands } else { sources };
                    if all.iter().any(|row| held.contains(row)) {
                        held.insert(to[0]);
                    }
                }
                _ => {}
            }
        }
        if held.len() == before {
            break;
        }
    }
    false
}
