//! Where a value is stored: at its sink, or behind each definition that a reload may come behind.

use super::choice::Chosen;
use super::moved::Reload;
use crate::analysis::{Cfg, Occurrence};
use crate::function::{Block, Function};
use crate::spill::at::At;

/// The places of the stores of a value, in the order of its definitions. Of several definitions those are left out from
/// which no path leads to a reload without another definition. O(blocks + reloads) where there are several.
pub(super) fn places(function: &Function, cfg: &Cfg, chosen: &Chosen, reloads: &[Reload]) -> Vec<At> {
    if let Some(sink) = chosen.sink {
        return vec![At::end(function, sink)];
    }
    let definitions = &chosen.definitions[..];
    let is_needed = match definitions {
        [_] => vec![true],
        _ => needed(cfg, definitions, reloads),
    };
    let stored = definitions.iter().zip(is_needed).filter(|(_, is_needed)| *is_needed);
    stored.map(|(definition, _)| At::behind(function, definition)).collect()
}

/// Which definitions a reload may come behind, found backwards from each reload.
fn needed(cfg: &Cfg, definitions: &[Occurrence], reloads: &[Reload]) -> Vec<bool> {
    let mut is_needed = vec![false; definitions.len()];
    let mut is_seen = vec![false; cfg.num_blocks()];
    let mut todo: Vec<(Block, u32)> = reloads.iter().map(|reload| (reload.at.block, reload.at.before)).collect();
    while let Some((block, end)) = todo.pop() {
        let is_before = |definition: &Occurrence| definition.block == block && definition.inst.0 < end;
        match definitions.iter().rposition(is_before) {
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
