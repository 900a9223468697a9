//! Global memory: pages that are made when they are touched.

use rustc_hash::FxHashMap;

use super::image::{Image, PAGE, mask_of};
use super::shadow::{Shadow, Stamp, View};
use crate::emulate::types::Kind;

const WORDS: usize = PAGE as usize / 4;

/// Who wrote a word last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::emulate) struct Write {
    /// The thread's number in the grid.
    pub(in crate::emulate) thread: u64,
    /// The function, and the line in the text.
    pub(in crate::emulate) function: u32,
    pub(in crate::emulate) line: u32,
    /// What kind of value it is.
    pub(in crate::emulate) kind: Kind,
}

struct Page {
    number: u64,
    data: [u8; PAGE as usize],
    present: [u64; PAGE as usize / 64],
    written: [u64; PAGE as usize / 64],
    writes: [Write; WORDS],
    shadows: [Shadow; WORDS],
}

impl Page {
    fn new(number: u64) -> Box<Self> {
        Box::new(Self {
            number,
            data: [0; PAGE as usize],
            present: [0; PAGE as usize / 64],
            written: [0; PAGE as usize / 64],
            writes: [Write::default(); WORDS],
            shadows: [Shadow::default(); WORDS],
        })
    }
}

/// Entries of the cache of page numbers.
const CACHED: usize = 256;

/// Global memory of one run.
pub(in crate::emulate) struct Global<'i> {
    pages: Vec<Box<Page>>,
    places: FxHashMap<u64, u32>,
    cache: [(u64, u32); CACHED],
    pub(in crate::emulate) image: &'i mut Image,
}

impl std::fmt::Debug for Global<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} pages", self.pages.len())
    }
}

impl<'i> Global<'i> {
    pub(in crate::emulate) fn new(image: &'i mut Image) -> Self {
        Self { pages: Vec::new(), places: FxHashMap::default(), cache: [(u64::MAX, 0); CACHED], image }
    }

    fn page(&mut self, number: u64) -> usize {
        let slot = &mut self.cache[number as usize % CACHED];
        if slot.0 == number {
            return slot.1 as usize;
        }
        let next = self.pages.len() as u32;
        let place = *self.places.entry(number).or_insert(next);
        if place == next {
            self.pages.push(Page::new(number));
        }
        *slot = (number, place);
        place as usize
    }

    /// How many pages there are.
    pub(in crate::emulate) fn num_pages(&self) -> usize {
        self.pages.len()
    }

    /// Reads an aligned place of at most eight bytes. What is not known yet is made of that kind.
    pub(in crate::emulate) fn read(&mut self, address: u64, bytes: usize, kind: Kind) -> u64 {
        let place = self.page(address / PAGE);
        let offset = (address % PAGE) as usize;
        let mask = mask_of(bytes) << (offset % 64);
        let page = &mut self.pages[place];
        if page.present[offset / 64] & mask != mask {
            let value = self.image.read(address, bytes, kind).to_le_bytes();
            for (number, &byte) in value[..bytes].iter().enumerate() {
                if page.present[offset / 64] >> (offset % 64 + number) & 1 == 0 {
                    page.data[offset + number] = byte;
                }
            }
            page.present[offset / 64] |= mask;
        }
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&page.data[offset..offset + bytes]);
        u64::from_le_bytes(value)
    }

    /// Writes an aligned place of at most eight bytes.
    pub(in crate::emulate) fn write(&mut self, address: u64, bytes: usize, value: u64, write: Write) {
        let place = self.page(address / PAGE);
        let offset = (address % PAGE) as usize;
        let page = &mut self.pages[place];
        let mask = mask_of(bytes) << (offset % 64);
        page.data[offset..offset + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        page.present[offset / 64] |= mask;
        page.written[offset / 64] |= mask;
        page.writes[offset / 4..(offset + bytes).div_ceil(4)].fill(write);
    }

    /// Whether a place holds a value already.
    fn holds(&mut self, address: u64, bytes: usize, value: u64) -> bool {
        let place = self.page(address / PAGE);
        let offset = (address % PAGE) as usize;
        let page = &self.pages[place];
        let mask = mask_of(bytes) << (offset % 64);
        page.present[offset / 64] & mask == mask && page.data[offset..offset + bytes] == value.to_le_bytes()[..bytes]
    }

    /// Notes an access; the one that it races with, if any.
    pub(in crate::emulate) fn note(
        &mut self,
        address: u64,
        bytes: usize,
        written: Option<u64>,
        stamp: Stamp,
        view: View<'_>,
    ) -> Option<Stamp> {
        let is_same = written.is_some_and(|value| self.holds(address, bytes, value));
        let place = self.page(address / PAGE);
        let offset = (address % PAGE) as usize;
        let shadows = &mut self.pages[place].shadows[offset / 4..(offset + bytes).div_ceil(4)];
        note(shadows, offset, bytes, written.map(|_| is_same), stamp, view)
    }

    /// All places that were written, as aligned words with the bytes that were: address, value, bytes, writer.
    pub(in crate::emulate) fn written(&self) -> Vec<(u64, u32, u8, Write)> {
        let mut found = Vec::new();
        for page in &self.pages {
            for word in 0..WORDS {
                let bytes = (page.written[word / 16] >> (word % 16 * 4) & 0xf) as u8;
                if bytes != 0 {
                    let mut value = [0; 4];
                    value.copy_from_slice(&page.data[4 * word..4 * word + 4]);
                    let address = page.number * PAGE + 4 * word as u64;
                    found.push((address, u32::from_le_bytes(value), bytes, page.writes[word]));
                }
            }
        }
        found.sort_unstable_by_key(|written| written.0);
        found
    }
}

/// Notes an access in the shadows of its words. `is_same` is given of writes.
pub(in crate::emulate) fn note(
    shadows: &mut [Shadow],
    offset: usize,
    bytes: usize,
    is_same: Option<bool>,
    stamp: Stamp,
    view: View<'_>,
) -> Option<Stamp> {
    let mask = if bytes >= 4 { 0xf } else { ((1 << bytes) - 1) << (offset % 4) };
    let now = Stamp { bytes: mask, ..stamp };
    shadows.iter_mut().find_map(|shadow| match is_same {
        Some(is_same) => shadow.write(now, view, is_same),
        None => shadow.read(now, view),
    })
}
