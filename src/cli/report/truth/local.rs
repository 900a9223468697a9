//! What a function moves between registers and local memory, by source line.
//!
//! Spilled values and arrays both move by STL and LDL. ptxas marks some of those of spilled values, and not all: what
//! has no mark may be either.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::listing;
use crate::machine::source_lines::Place;

/// An access of local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// The instruction.
    pub(super) row: usize,
    pub(super) is_store: bool,
    pub(super) bytes: u32,
    /// Bytes from the stack's pointer, for a fixed place; an address that is computed otherwise.
    pub(super) place: Option<u32>,
    /// ptxas marks it as one of a spilled value.
    pub(super) is_spill: bool,
}

impl Access {
    /// Reads an instruction; `None` where it accesses no local memory.
    pub(super) fn of(row: usize, text: &str) -> Option<Self> {
        let rest =
            text.strip_prefix('@').and_then(|rest| rest.split_once(' ')).map_or(text, |(_, rest)| rest.trim_start());
        let (opcode, operands) = rest.split_once(' ')?;
        let is_store = match opcode.split('.').next() {
            Some("STL") => true,
            Some("LDL") => false,
            _ => return None,
        };
        let place = (listing::stack_bytes(opcode, operands) > 0).then(|| {
            let offset = operands.split("[R1+0x").nth(1).and_then(|rest| rest.split(']').next());
            offset.and_then(|offset| u32::from_str_radix(offset, 16).ok()).unwrap_or(0)
        });
        let is_spill = text.contains("SpillRefill");
        Some(Self { row, is_store, bytes: listing::width(opcode), place, is_spill })
    }
}

/// Local memory of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Local {
    /// Bytes that a thread stores and loads, in the code.
    pub(in super::super) stored: u32,
    pub(in super::super) loaded: u32,
    /// Those of accesses with ptxas's mark of spilled values.
    pub(in super::super) marked_stored: u32,
    pub(in super::super) marked_loaded: u32,
    /// Bytes of the stack that marked accesses use.
    pub(in super::super) marked_places: u32,
    /// Bytes moved by accesses of addresses that are computed.
    pub(in super::super) computed: u32,
    /// By source line and loop depth, the most often run first, then those that move most.
    pub(in super::super) lines: Vec<LocalLine>,
}

/// Accesses of local memory in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct LocalLine {
    pub(in super::super) place: Option<Place>,
    /// How many loops are around them.
    pub(in super::super) depth: u32,
    pub(in super::super) stored: u32,
    pub(in super::super) loaded: u32,
    /// Bytes of those with ptxas's mark.
    pub(in super::super) marked: u32,
    /// Bytes of those of an address that is computed.
    pub(in super::super) computed: u32,
}

impl Local {
    /// Adds up accesses.
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

    /// Accesses are read with their width, place and ptxas's mark.
    #[test]
    fn accesses() {
        let of = |text| Access::of(7, text).map(|of| (of.is_store, of.bytes, of.place, of.is_spill));
        assert_eq!(of("STL.64 [R1+0x8], R52 (*\"SpillRefill\"*)"), Some((true, 8, Some(8), true)));
        assert_eq!(of("@!P0 LDL.128 R4, [R1]"), Some((false, 16, Some(0), false)));
        assert_eq!(of("LDL R4, [R2+0x4]"), Some((false, 4, None, false)));
        assert_eq!((of("LDG.E R4, [R2]"), of("STL"), of("")), (None, None, None));
    }

    /// Bytes add up by line and depth; a place of the stack counts once.
    #[test]
    fn sums() {
        let texts = ["STL [R1], R0 (*\"SpillRefill\"*)", "LDL R0, [R1] (*\"SpillRefill\"*)", "LDL.64 R0, [R3]"];
        let accesses: Vec<Access> = texts.iter().enumerate().filter_map(|(row, text)| Access::of(row, text)).collect();
        let places = [Place { file: 0, line: 5 }];
        let local = Local::of(&accesses, &[0, 1, 1], |_| &places);
        assert_eq!((local.stored, local.loaded, local.marked_stored, local.marked_loaded), (4, 12, 4, 4));
        assert_eq!((local.marked_places, local.computed, local.lines.len()), (4, 8, 2));
        assert_eq!((local.lines[0].depth, local.lines[0].loaded, local.lines[0].marked), (1, 12, 4));
    }
}
