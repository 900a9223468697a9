//! Index newtypes, and dense vectors that only these newtypes can index.
//!
//! Every entity of a function (block, instruction, virtual register …) is a dense `u32` id. With a newtype for each
//! entity, a block cannot index the registers. A missing id is `None` of an `Option`, never a magic number.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};

/// A dense id: a newtype over `u32` made by [`define_index!`](crate::define_index).
pub trait EntityIndex: Copy + Eq + Ord + std::fmt::Debug {
    /// Returns the id with the number `index`.
    fn new(index: usize) -> Self;
    /// Returns the number of the id.
    fn index(self) -> usize;
}

/// Makes a `u32` newtype that implements [`EntityIndex`] and prints as its prefix and number.
#[macro_export]
macro_rules! define_index {
    ($(#[$meta:meta])* $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        #[allow(unreachable_pub, reason = "a private module may keep its ids to itself")]
        pub struct $name(pub u32);

        impl $crate::index::EntityIndex for $name {
            #[inline]
            fn new(index: usize) -> Self {
                debug_assert!(index <= u32::MAX as usize);
                Self(index as u32)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self, f)
            }
        }
    };
}

/// A dense vector that only `I` can index.
#[derive(Clone, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    raw: Vec<T>,
    key: PhantomData<fn(I) -> I>,
}

impl<I: EntityIndex, T> IndexVec<I, T> {
    /// Creates an empty vector.
    pub fn new() -> Self {
        Self::from(Vec::new())
    }

    /// Creates a vector of `len` copies of `value`.
    pub fn filled(value: T, len: usize) -> Self
    where
        T: Clone,
    {
        Self::from(vec![value; len])
    }

    /// Appends `value` and returns its id.
    pub fn push(&mut self, value: T) -> I {
        let id = I::new(self.raw.len());
        self.raw.push(value);
        id
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Returns the id that the next [`push`](Self::push) returns.
    pub fn next_id(&self) -> I {
        I::new(self.raw.len())
    }

    /// Returns the entry at `id`, if there is one.
    pub fn get(&self, id: I) -> Option<&T> {
        self.raw.get(id.index())
    }

    /// Returns all ids, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.raw.len()).map(I::new)
    }

    /// Returns all entries, in order of their ids.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.raw.iter()
    }

    /// Returns all entries, mutable, in order of their ids.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.raw.iter_mut()
    }

    /// Returns all ids with their entries, in order.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.raw.iter().enumerate().map(|(index, value)| (I::new(index), value))
    }

    /// Returns the entries of a range of ids.
    pub fn range(&self, range: Range<I>) -> &[T] {
        &self.raw[range.start.index()..range.end.index()]
    }

    /// Returns the entries of a range of ids, mutable.
    pub fn range_mut(&mut self, range: Range<I>) -> &mut [T] {
        &mut self.raw[range.start.index()..range.end.index()]
    }

    /// Returns the entries as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.raw
    }

    /// Makes the vector `len` long. New entries are `value`.
    pub fn resize(&mut self, len: usize, value: T)
    where
        T: Clone,
    {
        self.raw.resize(len, value);
    }

    /// Appends the values of an iterator.
    pub fn extend(&mut self, values: impl IntoIterator<Item = T>) {
        self.raw.extend(values);
    }

    /// Removes all entries and keeps the memory.
    pub fn clear(&mut self) {
        self.raw.clear();
    }

    /// Reserves memory for `additional` more entries.
    pub fn reserve(&mut self, additional: usize) {
        self.raw.reserve(additional);
    }
}

impl<I, T> From<Vec<T>> for IndexVec<I, T> {
    fn from(raw: Vec<T>) -> Self {
        Self { raw, key: PhantomData }
    }
}

impl<I: EntityIndex, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: EntityIndex, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<Iter: IntoIterator<Item = T>>(iter: Iter) -> Self {
        Self::from(Vec::from_iter(iter))
    }
}

impl<I: EntityIndex, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.raw[id.index()]
    }
}

impl<I: EntityIndex, T> IndexMut<I> for IndexVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.raw[id.index()]
    }
}

impl<I, T: std::fmt::Debug> std::fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.raw).finish()
    }
}
