//! Items that may need a place in one file. These are all live ranges, and a piece for each access of live ranges that
//! can be spilled. The module also has the interference between items.

use crate::allocate::placement::moved_bytes;
use crate::allocate::sweep::{Start, sweep};
use crate::allocate::{Class, CopyInst, File, LiveRange, Problem};
use crate::analysis::{Point, Segment, covering};
use crate::define_index;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// A live range of the file, or a piece of a live range. Pieces are numbered after all live ranges.
    Item, "item"
}

/// Data of an item.
#[derive(Clone, Debug)]
pub(super) struct ItemData {
    pub(super) range: LiveRange,
    pub(super) class: Class,
    /// For a piece: the number of its access, among all accesses.
    pub(super) access: Option<usize>,
    pub(super) width: u32,
    pub(super) align: u32,
    pub(super) fixed: Option<u32>,
    /// Bytes that spilling it moves in one run of the function. `None` for pieces, and for live ranges that may not be
    /// spilled.
    pub(super) cost: Option<f64>,
    /// Whether it may have a place beyond the register limit, which counts as a cost.
    pub(super) may_exceed: bool,
    pub(super) segments: Vec<Segment>,
    /// Pieces that replace a live range if it is spilled.
    pub(super) pieces: std::ops::Range<u32>,
}

impl ItemData {
    pub(super) fn is_live_at(&self, point: Point) -> bool {
        covering(&self.segments, point).is_some()
    }

    pub(super) fn pieces(&self) -> impl Iterator<Item = Item> + use<> {
        self.pieces.clone().map(Item)
    }
}

/// Relation between two items that interfere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// They share no unit.
    Apart,
    /// They share either no unit or all units, because one is a copy of the other.
    Alike,
}

/// All items of a file, live ranges first.
pub(super) struct Items {
    pub(super) items: IndexVec<Item, ItemData>,
    pub(super) num_wholes: usize,
    /// By item: the items with which it interferes, sorted, each once.
    relations: IndexVec<Item, Vec<(Item, Relation)>>,
}

impl Items {
    /// Collects the items of a file. O(segments · (log segments + live at once)).
    pub(super) fn new(problem: &Problem, file: File) -> Self {
        let register_limit = problem.files()[file].register_limit;
        let mut items: IndexVec<Item, ItemData> = IndexVec::new();
        let ranges = problem.ranges().iter_enumerated();
        for (range, data) in ranges.filter(|&(range, _)| problem.file(range) == file) {
            if problem.segments(range).is_empty() {
                continue;
            }
            let class = problem.class(range);
            let must_stay = data.fixed.is_some() || data.spill_cost.is_infinite();
            let bytes = |access| moved_bytes(problem, range, access);
            items.push(ItemData {
                range,
                class: data.class,
                access: None,
                width: class.width,
                align: class.align,
                fixed: data.fixed,
                cost: (!must_stay && register_limit.is_some()).then(|| problem.accesses(range).iter().map(bytes).sum()),
                may_exceed: data.fixed.is_none() && data.spill_cost.is_infinite(),
                segments: problem.segments(range).to_vec(),
                pieces: 0..0,
            });
        }
        let num_wholes = items.len();
        for whole in items.ids() {
            if items[whole].cost.is_none() {
                continue;
            }
            let ItemData { range, class, width, align, .. } = items[whole];
            let first = items.len() as u32;
            for (number, access) in (problem.first_access(range)..).zip(problem.accesses(range)) {
                let segments = vec![access.segment()];
                let (cost, fixed, access) = (None, None, Some(number));
                items.push(ItemData {
                    range,
                    class,
                    access,
                    width,
                    align,
                    fixed,
                    cost,
                    may_exceed: true,
                    segments,
                    pieces: 0..0,
                });
            }
            items[whole].pieces = first..items.len() as u32;
        }
        let relations = relations(problem, &items);
        Self { items, num_wholes, relations }
    }

    /// Returns the items that are whole live ranges.
    pub(super) fn wholes(&self) -> impl DoubleEndedIterator<Item = Item> + ExactSizeIterator + use<> {
        (0..self.num_wholes).map(Item::new)
    }

    /// Returns the items with which an item interferes.
    pub(super) fn relations(&self, item: Item) -> &[(Item, Relation)] {
        &self.relations[item]
    }

    /// Whether two items may share no unit.
    pub(super) fn are_apart(&self, a: Item, b: Item) -> bool {
        let found = self.relations[a].binary_search_by_key(&b, |&(other, _)| other);
        found.is_ok_and(|at| self.relations[a][at].1 == Relation::Apart)
    }
}

/// Computes for each pair of items the relation that the checker demands.
fn relations(problem: &Problem, items: &IndexVec<Item, ItemData>) -> IndexVec<Item, Vec<(Item, Relation)>> {
    let mut starts = Vec::new();
    for (item, data) in items.iter_enumerated() {
        starts.extend(data.segments.iter().map(|segment| {
            let is_written = data.access.is_some() || problem.is_written_at(data.range, segment.start);
            Start { at: segment.start, is_written, end: segment.end, who: item }
        }));
    }
    let mut relations: IndexVec<Item, Vec<(Item, Relation)>> = IndexVec::filled(Vec::new(), items.len());
    sweep(starts, |comer, live| {
        let copies = problem.copies_at(comer.at);
        for other in live {
            if let Some(relation) = relation(copies, items, comer, other) {
                relations[comer.who].push((other.who, relation));
                relations[other.who].push((comer.who, relation));
            }
        }
    });
    for list in relations.iter_mut() {
        // If a pair has both relations, `Apart` is sorted first and stays.
        list.sort_unstable_by_key(|&(other, relation)| (other, relation == Relation::Alike));
        list.dedup_by_key(|&mut (other, _)| other);
    }
    relations
}

/// Returns the relation between an item that is written at a point and an item that is live there. `copies` are the
/// copies at the point. A live range and its own pieces have no relation, because only one of them is ever present.
fn relation(
    copies: &[CopyInst],
    items: &IndexVec<Item, ItemData>,
    comer: &Start<Item>,
    other: &Start<Item>,
) -> Option<Relation> {
    let is_before = other.at < comer.at;
    let (comer, other) = (&items[comer.who], &items[other.who]);
    if comer.range == other.range && (comer.access.is_none() || other.access.is_none()) {
        return None;
    }
    let is_source = |copy: &CopyInst| copy.to == comer.range && copy.from == other.range;
    let is_alike = is_before && other.access.is_none() && comer.width == other.width;
    Some(if is_alike && copies.iter().any(is_source) { Relation::Alike } else { Relation::Apart })
}
