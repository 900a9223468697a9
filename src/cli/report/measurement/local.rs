//! Traffic of a function between registers and local memory, by source line.
//!
//! Spills and arrays both use STL and LDL. ptxas marks the accesses of spills: see [`super::spills`].

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::local_access::Access;
use crate::machine::source_lines::Place;

/// Local memory of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Local {
    /// Bytes that the code stores and loads, for each thread.
    pub(in super::super) stored: u32,
    pub(in super::super) loaded: u32,
    /// Bytes of accesses with ptxas's spill mark.
    pub(in super::super) marked_stored: u32,
    pub(in super::super) marked_loaded: u32,
    /// Bytes of accesses at fixed offsets from the stack pointer, with or without a mark.
    pub(in super::super) fixed_stored: u32,
    pub(in super::super) fixed_loaded: u32,
    /// Number of accesses at fixed offsets.
    pub(super) at_fixed_places: usize,
    /// Stack bytes that marked accesses use.
    pub(in super::super) marked_places: u32,
    /// Bytes of accesses at computed addresses.
    pub(in super::super) computed: u32,
    /// Lines in the order of loop depth, deepest first, and then of bytes, most first.
    pub(in super::super) lines: Vec<LocalLine>,
}

/// Accesses of local memory by a source line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct LocalLine {
    pub(in super::super) place: Option<Place>,
    /// Loop depth.
    pub(in super::super) depth: u32,
    pub(in super::super) stored: u32,
    pub(in super::super) loaded: u32,
    /// Bytes of accesses with ptxas's mark.
    pub(in super::super) marked: u32,
    /// Bytes of accesses at computed addresses.
    pub(in super::super) computed: u32,
}

impl Local {
    /// Returns the lines with spills, and their bytes, in the order of `lines`.
    pub(in super::super) fn spills(&self) -> impl Iterator<Item = (Place, u32)> {
        let marked = self.lines.iter().filter(|line| line.marked > 0);
        marked.filter_map(|line| Some((line.place?, line.marked)))
    }

    /// Sums up accesses.
    pub(super) fn of<'a>(accesses: &[Access], depths: &[u32], places: impl Fn(usize) -> &'a [Place]) -> Self {
        let mut local = Self::default();
        let mut used: BTreeSet<u32> = BTreeSet::new();
        let mut lines: BTreeMap<(Option<Place>, u32), LocalLine> = BTreeMap::new();
        for access in accesses {
            let place = places(access.row).first().copied();
            let depth = depths[access.row];
            let line = lines.entry((place, depth)).or_insert(LocalLine { place, depth, ..LocalLine::default() });
            let (total, marked, of_line) = match access.is_store {
                true => (&mut local.stored, &mut local.marked_stored, &mut line.stored),
                false => (&mut local.loaded, &mut local.marked_loaded, &mut line.loaded),
            };
            *total += access.bytes;
            *of_line += access.bytes;
            if access.place.is_some() {
                *if access.is_store { &mut local.fixed_stored } else { &mut local.fixed_loaded } += access.bytes;
                local.at_fixed_places += 1;
            }
            match access.place {
                Some(place) if access.is_spill => used.extend(place..place.saturating_add(access.bytes)),
                Some(_) => {}
                None => (local.computed, line.computed) = (local.computed + access.bytes, line.computed + access.bytes),
            }
            if access.is_spill {
                *marked += access.bytes;
                line.marked += access.bytes;
            }
        }
        local.marked_places = used.len() as u32;
        local.lines = lines.into_values().collect();
        local.lines.sort_by_key(|line| std::cmp::Reverse((line.depth, line.stored + line.loaded)));
        local
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes add up by line and depth. Each stack offset counts once.
    #[test]
    fn sums() {
        let texts = ["STL [R1], R0 (*\"SpillRefill\"*)", "LDL R0, [R1] (*\"SpillRefill\"*)", "LDL.64 R0, [R3]"];
        let accesses: Vec<Access> = texts.iter().enumerate().filter_map(|(row, text)| Access::of(row, text)).collect();
        let places = [Place { file: 0, line: 5 }];
        let local = Local::of(&accesses, &[0, 1, 1], |_| &places);
        assert_eq!((local.stored, local.loaded, local.marked_stored, local.marked_loaded), (4, 12, 4, 4));
        assert_eq!((local.marked_places, local.computed, local.lines.len()), (4, 8, 2));
        assert_eq!((local.fixed_stored, local.fixed_loaded, local.at_fixed_places), (4, 4, 2));
        assert_eq!((local.lines[0].depth, local.lines[0].loaded, local.lines[0].marked), (1, 12, 4));
    }
}
