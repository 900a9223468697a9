//! Contents of memory before a program runs.

use rustc_hash::FxHashMap;

use super::filled::Filled;
use super::values::{Range, Values, drawn};
use crate::emulate::layout;
use crate::emulate::types::{Kind, mixed};
use crate::emulate::wishes::Wish;

/// Bytes of a page.
pub(super) const PAGE: u64 = 1024;

/// Hash salt for addresses of places with a wish.
const WISHED: u64 = 0x5eed << 48;

#[derive(Clone)]
struct Page {
    data: Box<[u8; PAGE as usize]>,
    present: [u64; PAGE as usize / 64],
}

/// The known initial contents of memory.
#[derive(Clone, Default)]
pub(in crate::emulate) struct Image {
    pages: FxHashMap<u64, Page>,
    seed: u64,
    /// Whether the second program runs: places that it reads and the first did not are counted.
    is_second: bool,
    new_reads: u64,
    /// Candidates for integer parameters.
    sizes: Vec<u64>,
    values: Values,
    /// Places that a rule fills, by address.
    filled: Vec<Filled>,
    /// Whether some buffers have only flags and small counts.
    narrows: bool,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} pages", self.pages.len())
    }
}

impl Image {
    pub(in crate::emulate) fn new(seed: u64) -> Self {
        Self { seed: mixed(seed), ..Self::default() }
    }

    /// Marks the program that runs next as the second one.
    pub(in crate::emulate) fn begin_second(&mut self) {
        self.is_second = true;
        self.new_reads = 0;
    }

    /// Sets the candidates for integer parameters, the kind of all other values, and whether the integers of some
    /// buffers are smaller.
    pub(in crate::emulate) fn draw_from(&mut self, sizes: Vec<u64>, values: Values, narrows: bool) {
        self.sizes = sizes;
        self.narrows = narrows;
        self.values = values;
    }

    /// Sets the places that a rule fills.
    pub(in crate::emulate) fn fill(&mut self, mut filled: Vec<Filled>) {
        filled.sort_by_key(|one| one.start);
        self.filled = filled;
    }

    /// Returns a value from a rule, or a drawn value.
    fn draw(&self, address: u64, bytes: usize, kind: Kind) -> u64 {
        let ahead = self.filled.partition_point(|one| one.start <= address);
        if let Some(one) = ahead.checked_sub(1).map(|at| &self.filled[at]).filter(|one| one.contains(address)) {
            return one.value(address, bytes, self.seed);
        }
        let key = self.seed ^ mixed(address);
        if !layout::in_window(address, layout::PARAMETERS) || self.sizes.is_empty() {
            let range = if self.narrows { Range::of_buffer(self.seed, address) } else { Range::default() };
            return drawn(kind, bytes, key, self.values, range);
        }
        let offset = address - layout::PARAMETERS;
        match kind {
            // Each buffer has a separate range of 4 GiB.
            Kind::Pointer if bytes == 8 => layout::BUFFERS + ((offset / 8 + 1) << 32),
            // A byte is most often a `bool`. Compilers differ if it is neither 0 nor 1.
            Kind::Integer | Kind::Meeting | Kind::Bits | Kind::Pointer if bytes == 1 => mixed(key) % 2,
            Kind::Integer | Kind::Meeting | Kind::Bits | Kind::Pointer => {
                self.sizes[mixed(key) as usize % self.sizes.len()]
            }
            _ => drawn(kind, bytes, key, self.values, Range::default()),
        }
    }

    /// Returns the number of places that the second program read and the first did not.
    pub(in crate::emulate) fn new_reads(&self) -> u64 {
        self.new_reads
    }

    /// Returns at most eight bytes at an aligned address.
    pub(in crate::emulate) fn read(&mut self, address: u64, bytes: usize, kind: Kind) -> u64 {
        let value = self.draw(address, bytes, kind);
        let page = self
            .pages
            .entry(address / PAGE)
            .or_insert_with(|| Page { data: Box::new([0; PAGE as usize]), present: [0; PAGE as usize / 64] });
        let offset = (address % PAGE) as usize;
        let mask = mask_of(bytes) << (offset % 64);
        let present = &mut page.present[offset / 64];
        let place = &mut page.data[offset..offset + bytes];
        if *present & mask != mask {
            self.new_reads += u64::from(self.is_second);
            let value = value.to_le_bytes();
            for (number, byte) in place.iter_mut().enumerate() {
                if *present >> (offset % 64 + number) & 1 == 0 {
                    *byte = value[number];
                }
            }
            *present |= mask;
        }
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(place);
        u64::from_le_bytes(value)
    }

    /// Sets a place without known contents to its wish. Uncertain wishes are ignored at a quarter of the places.
    pub(in crate::emulate) fn prefer(&mut self, address: u64, bytes: usize, wish: &Wish) {
        let hash = mixed(self.seed ^ mixed(address ^ WISHED));
        let mask = mask_of(bytes) << (address % PAGE % 64);
        let is_known = self
            .pages
            .get(&(address / PAGE))
            .is_some_and(|page| page.present[(address % PAGE) as usize / 64] & mask != 0);
        if is_known || wish.values.is_empty() || (!wish.is_sure && hash.is_multiple_of(4)) {
            return;
        }
        let value = wish.values[(hash >> 8) as usize % wish.values.len()];
        self.set(address, &value.to_le_bytes()[..bytes]);
    }

    /// Returns the known pages, by address, each with its bytes, and a bit for each known byte.
    pub(in crate::emulate) fn known(&self) -> Vec<(u64, &[u8], &[u64])> {
        let mut known: Vec<_> = self
            .pages
            .iter()
            .map(|(number, page)| (number * PAGE, page.data.as_slice(), page.present.as_slice()))
            .collect();
        known.sort_unstable_by_key(|page| page.0);
        known
    }

    /// Sets the contents of a place.
    pub(in crate::emulate) fn set(&mut self, address: u64, content: &[u8]) {
        for (number, &byte) in content.iter().enumerate() {
            let address = address + number as u64;
            let page = self
                .pages
                .entry(address / PAGE)
                .or_insert_with(|| Page { data: Box::new([0; PAGE as usize]), present: [0; PAGE as usize / 64] });
            let offset = (address % PAGE) as usize;
            page.data[offset] = byte;
            page.present[offset / 64] |= 1 << (offset % 64);
        }
    }
}

/// Returns the mask of `bytes` bytes.
pub(super) fn mask_of(bytes: usize) -> u64 {
    (1 << bytes) - 1
}
