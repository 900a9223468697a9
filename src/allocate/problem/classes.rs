//! Interference between classes: the places that members of two classes take from each other.

use std::ops::Index;

use super::{Class, ClassData};
use crate::index::{EntityIndex, IndexVec};

/// The greatest width or alignment of a class in units: far above the tuples of all processors.
pub(super) const WIDEST: u32 = 1024;

/// The classes of a problem. For each pair of classes, it also has the number of places that a member of one class can
/// take away from a member of the other.
///
/// This number replaces the "degree" if classes alias: a live range of class `c` is sure to find a place if its
/// neighbours together can take away fewer places than `c` has. Smith, Ramsey and Holloway, "A generalized algorithm
/// for graph-coloring register allocation" (PLDI 2004).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassTable {
    classes: IndexVec<Class, ClassData>,
    /// A row for each class that wants a place, and a column for each class of a neighbour.
    taken: Vec<u32>,
}

impl ClassTable {
    pub(super) fn new(classes: IndexVec<Class, ClassData>) -> Self {
        let mut taken = Vec::with_capacity(classes.len() * classes.len());
        for wanting in classes.iter() {
            taken.extend(classes.iter().map(|neighbour| places_taken(wanting, neighbour)));
        }
        Self { classes, taken }
    }

    /// Returns all classes.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = Class> + ExactSizeIterator + use<> {
        self.classes.ids()
    }

    /// Returns all classes with their data.
    pub fn iter_enumerated(&self) -> impl Iterator<Item = (Class, &ClassData)> {
        self.classes.iter_enumerated()
    }

    /// Returns the number of classes.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are no classes.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Returns the most places that a neighbour of class `neighbour` takes away from a member of class `wanting`.
    #[inline]
    pub fn taken(&self, wanting: Class, neighbour: Class) -> u32 {
        self.taken[wanting.index() * self.classes.len() + neighbour.index()]
    }

    /// Returns the number of places of a class in `register_limit` units.
    pub fn places(&self, class: Class, register_limit: u32) -> u32 {
        let class = &self.classes[class];
        if register_limit < class.width { 0 } else { (register_limit - class.width) / class.align + 1 }
    }
}

impl Index<Class> for ClassTable {
    type Output = ClassData;

    #[inline]
    fn index(&self, class: Class) -> &ClassData {
        &self.classes[class]
    }
}

/// Returns the most places of `wanting` that overlap one place of `neighbour`. Places are multiples of a class's
/// alignment.
fn places_taken(wanting: &ClassData, neighbour: &ClassData) -> u32 {
    let is_sound = |class: &ClassData| (1..=WIDEST).contains(&class.width) && (1..=WIDEST).contains(&class.align);
    if wanting.file != neighbour.file || !is_sound(wanting) || !is_sound(neighbour) {
        return 0;
    }
    // Counts the places p = k · align with start - width < p < start + neighbour.width. The maximum is taken over all
    // values of `start` modulo align.
    let reach = wanting.width + neighbour.width - 1;
    let count = |start: u32| {
        // A multiple of align is added, so that no number is negative.
        let below = start + wanting.align * wanting.width - wanting.width;
        (below + reach) / wanting.align - below / wanting.align
    };
    (0..wanting.align).map(|step| count(step * neighbour.align % wanting.align)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::File;
    use super::*;

    fn class(width: u32, align: u32) -> ClassData {
        ClassData { name: "c".into(), file: File(0), width, align, bytes: 4 * width, promotes_to: None }
    }

    /// The table equals a count of all places in a long file.
    #[test]
    fn counted_by_hand() {
        let shapes = [(1, 1), (2, 2), (2, 1), (4, 4), (8, 8), (8, 4), (3, 1), (3, 2), (24, 1), (16, 8)];
        for (width, align) in shapes {
            for (other_width, other_align) in shapes {
                let (wanting, neighbour) = (class(width, align), class(other_width, other_align));
                let starts = (0..400).filter(|start| start % other_align == 0 && *start >= 100 && *start < 300);
                let by_hand = starts
                    .map(|start| {
                        let places = (0..400).filter(|place| place % align == 0);
                        places.filter(|place| *place < start + other_width && start < place + width).count()
                    })
                    .max();
                assert_eq!(
                    Some(places_taken(&wanting, &neighbour) as usize),
                    by_hand,
                    "{width}/{align} beside {other_width}/{other_align}"
                );
            }
        }
    }

    /// Files do not overlap, and a class that does not fit has no place.
    #[test]
    fn files_and_limits() {
        let table = ClassTable::new(vec![class(4, 4), ClassData { file: File(1), ..class(1, 1) }].into());
        assert_eq!(table.taken(Class(0), Class(1)), 0);
        assert_eq!([3, 4, 7, 8, 15].map(|register_limit| table.places(Class(0), register_limit)), [0, 1, 1, 2, 3]);
    }
}
