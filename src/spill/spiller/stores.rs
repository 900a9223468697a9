//! Where a value is stored: at its sink, or behind each definition that a reload may come behind.

use super::choice::Chosen;
use super::moved::Reload;
use crate::analysis::{Cfg, Occurrence};
use crate::function::{Block, Function, Role};
use crate::spill::at::At;

/// The places of the stores of a value, in the order of its definitions. `writes` are all of its writes in the order of the code:
/// the definitions, and the instructions that make it undefined. Of several writes those definitions are left out from which no
/// path leads to a reload without another write. O(blocks + reloads · writes) where there are several.
pub(super) fn places(
    function: &Function,
    cfg: &Cfg,
    chosen: &Chosen,
    writes: &[Occurrence],
    reloads: &[Reload],
) -> Vec<At> {
    if let Some(sink) = chosen.sink {
        return vec![At::end(function, sink)];
    }
    let is_needed = match writes {
        [_] => vec![true],
        _ => needed(cfg, writes, reloads),
    };
    let is_stored = |write: &Occurrence| function.role(write.inst) != Role::Undef;
    let stored = writes.iter().zip(is_needed).filter(|&(write, is_needed)| is_needed && is_stored(write));
    stored.map(|(definition, _)| At::behind(function, definition)).collect()
}

/// Which writes a reload may come behind, found backwards from each reload.
fn needed(cfg: &Cfg, writes: &[Occurrence], reloads: &[Reload]) -> Vec<bool> {
    let mut is_needed = vec![false; writes.len()];
    let mut is_seen = vec![false; cfg.num_blocks()];
    let mut todo: Vec<(Block, u32)> = reloads.iter().map(|reload| (reload.at.block, reload.at.before)).collect();
    while let Some((block, end)) = todo.pop() {
        let is_before = |write: &Occurrence| write.block == block && write.inst.0 < end;
        match writes.iter().rposition(is_before) {
            Some(number) => is_needed[number] = true,
            None => {
                for &pred in cfg.preds(block) {
                    if !std::mem::replace(&mut is_seen[pred.0 as usize], true) {
                        todo.push((pred, u32::MAX));
                    }
                }
            }
        }
    }
    is_needed
}
