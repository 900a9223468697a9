//! What may want a place in one file: every live range, and the piece for each access of those that may be spilled, with
//! who may not share a place with whom.

use super::super::problem::{Class, File, LiveRange, Problem, write_point};
use crate::analysis::{Point, Segment};
use crate::define_index;
use crate::function::Inst;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// A live range of the file, or a piece of one, behind them.
    Item, "item"
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct ItemData {
    pub(super) range: LiveRange,
    pub(super) class: Class,
    /// The number of the access that it is a piece for, among all accesses.
    pub(super) access: Option<usize>,
    pub(super) width: u32,
    pub(super) align: u32,
    pub(super) fixed: Option<u32>,
    /// Bytes that one run moves if it is spilled; none where it may not be, and for pieces.
    pub(super) cost: Option<f64>,
    /// Whether it may have a place beyond the budget, which counts.
    pub(super) may_exceed: bool,
    pub(super) segments: Vec<Segment>,
    /// The pieces that replace it.
    pub(super) pieces: std::ops::Range<u32>,
}

impl ItemData {
    pub(super) fn is_live_at(&self, point: Point) -> bool {
        let at = self.segments.partition_point(|segment| segment.end <= point);
        self.segments.get(at).is_some_and(|segment| segment.start <= point)
    }

    pub(super) fn pieces(&self) -> impl Iterator<Item = Item> + use<> {
        self.pieces.clone().map(Item)
    }
}

/// What two items that cannot be anywhere must keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// They share no unit.
    Apart,
    /// They share no unit or all of them: one is a copy of the other.
    Alike,
}

/// All items of a file, live ranges first.
pub(super) struct Items {
    pub(super) items: IndexVec<Item, ItemData>,
    pub(super) num_wholes: usize,
    /// By item: with whom it interferes, sorted, each once.
    relations: IndexVec<Item, Vec<(Item, Relation)>>,
}

impl Items {
    /// The items of a file. O(segments · (log segments + live at once)).
    pub(super) fn new(problem: &Problem, file: File) -> Self {
        let budget = problem.files()[file].budget;
        let mut items: IndexVec<Item, ItemData> = IndexVec::new();
        let ranges = problem.ranges().iter_enumerated();
        for (range, data) in ranges.filter(|&(range, _)| problem.file(range) == file) {
            if problem.segments(range).is_empty() {
                continue;
            }
            let class = problem.class(range);
            let must_stay = data.fixed.is_some() || data.spill_cost.is_infinite();
            let bytes = |access| super::super::allocation::moved_bytes(problem, range, access);
            items.push(ItemData {
                range,
                class: data.class,
                access: None,
                width: class.width,
                align: class.align,
                fixed: data.fixed,
                cost: (!must_stay && budget.is_some()).then(|| problem.accesses(range).iter().map(bytes).sum()),
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

    /// The live ranges, whole.
    pub(super) fn wholes(&self) -> impl DoubleEndedIterator<Item = Item> + ExactSizeIterator + use<> {
        (0..self.num_wholes).map(Item::new)
    }

    /// With whom an item interferes.
    pub(super) fn relations(&self, item: Item) -> &[(Item, Relation)] {
        &self.relations[item]
    }

    /// Whether two items share no unit wherever they are.
    pub(super) fn are_apart(&self, a: Item, b: Item) -> bool {
        let found = self.relations[a].binary_search_by_key(&b, |&(other, _)| other);
        found.is_ok_and(|at| self.relations[a][at].1 == Relation::Apart)
    }
}

/// A segment of an item, as the sweep takes it up.
struct Start {
    at: Point,
    is_written: bool,
    end: Point,
    item: Item,
}

/// What the checker would refuse, for each pair of items: the same sweep, over all that could be there.
fn relations(problem: &Problem, items: &IndexVec<Item, ItemData>) -> IndexVec<Item, Vec<(Item, Relation)>> {
    let mut starts = Vec::new();
    for (item, data) in items.iter_enumerated() {
        starts.extend(data.segments.iter().map(|segment| {
            let is_written = data.access.is_some() || problem.is_written_at(data.range, segment.start);
            Start { at: segment.start, is_written, end: segment.end, item }
        }));
    }
    starts.sort_unstable_by_key(|start| (start.at, start.is_written, start.item));
    let mut relations: IndexVec<Item, Vec<(Item, Relation)>> = IndexVec::filled(Vec::new(), items.len());
    let mut live: Vec<(Point, Point, Item)> = Vec::new();
    for Start { at, is_written, end, item } in starts {
        live.retain(|&(_, end, _)| end > at);
        if is_written {
            for &(since, _, other) in &live {
                if let Some(relation) = relation(problem, &items[item], &items[other], at, since) {
                    relations[item].push((other, relation));
                    relations[other].push((item, relation));
                }
            }
        }
        live.push((at, end, item));
    }
    for list in relations.iter_mut() {
        // Apart is first, and stands for both.
        list.sort_unstable_by_key(|&(other, relation)| (other, relation == Relation::Alike));
        list.dedup_by_key(|&mut (other, _)| other);
    }
    relations
}

/// What `comer`, written at `at`, and `other`, there since `since`, must keep to. A live range and its own pieces are
/// never there together.
fn relation(problem: &Problem, comer: &ItemData, other: &ItemData, at: Point, since: Point) -> Option<Relation> {
    if comer.range == other.range && (comer.access.is_none() || other.access.is_none()) {
        return None;
    }
    let inst = Inst(at.0 / 4);
    let is_copied = || {
        let copies = problem.copies();
        let mut here = copies[copies.partition_point(|copy| copy.inst < inst)..].iter();
        here.by_ref()
            .take_while(|copy| copy.inst == inst)
            .any(|copy| copy.to == comer.range && copy.from == other.range)
    };
    let is_alike = at == write_point(inst) && since < at && other.access.is_none() && comer.width == other.width;
    Some(if is_alike && is_copied() { Relation::Alike } else { Relation::Apart })
}
