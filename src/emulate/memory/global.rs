//! Global memory: pages that exist once an access touches them.

use rustc_hash::FxHashMap;

use super::bytes::{Bytes, bits_of, first_bytes};
use super::image::{Image, PAGE, mask_of};
use super::origin::Origin;
use super::shadow::{Race, Shadow, Stamp, View};
use super::unordered_writes::UnorderedWrites;
use super::write::{Write, Written};
use crate::emulate::types::Kind;

const WORDS: usize = PAGE as usize / 4;

struct Page {
    number: u64,
    data: [u8; PAGE as usize],
    present: [u64; PAGE as usize / 64],
    written: [u64; PAGE as usize / 64],
    /// Bytes with an undefined stored value.
    undefined: [u64; PAGE as usize / 64],
    writes: [Write; WORDS],
    shadows: [Shadow; WORDS],
    /// Words with racing writes.
    raced: [u64; WORDS / 64],
}

impl Page {
    fn new(number: u64) -> Box<Self> {
        Box::new(Self {
            number,
            data: [0; PAGE as usize],
            present: [0; PAGE as usize / 64],
            written: [0; PAGE as usize / 64],
            undefined: [0; PAGE as usize / 64],
            writes: [Write::default(); WORDS],
            shadows: [Shadow::default(); WORDS],
            raced: [0; WORDS / 64],
        })
    }

    fn is_raced(&self, word: usize) -> bool {
        self.raced[word / 64] >> (word % 64) & 1 == 1
    }

    fn word(&self, word: usize) -> u32 {
        let mut value = [0; 4];
        value.copy_from_slice(&self.data[4 * word..4 * word + 4]);
        u32::from_le_bytes(value)
    }

    fn address(&self, word: usize) -> u64 {
        self.number * PAGE + 4 * word as u64
    }

    /// Returns the bytes of a word in a set of the page's bytes.
    fn of_word(bytes: &[u64; PAGE as usize / 64], word: usize) -> u8 {
        (bytes[word / 16] >> (word % 16 * 4) & 0xf) as u8
    }
}

/// Number of entries in the cache of page numbers.
const CACHED: usize = 256;

/// Global memory of one run.
pub(in crate::emulate) struct Global<'i> {
    pages: Vec<Box<Page>>,
    places: FxHashMap<u64, u32>,
    cache: [(u64, u32); CACHED],
    unordered: UnorderedWrites,
    /// Origins of undefined bytes.
    origins: FxHashMap<u64, Origin>,
    /// The first race of two writes: the earlier write.
    pub(in crate::emulate) first_race: Option<Stamp>,
    pub(in crate::emulate) image: &'i mut Image,
}

impl std::fmt::Debug for Global<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} pages", self.pages.len())
    }
}

impl<'i> Global<'i> {
    pub(in crate::emulate) fn new(image: &'i mut Image) -> Self {
        let (places, unordered, origins) = (FxHashMap::default(), UnorderedWrites::default(), FxHashMap::default());
        Self { pages: Vec::new(), places, cache: [(u64::MAX, 0); CACHED], unordered, origins, first_race: None, image }
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

    /// Returns the number of pages.
    pub(in crate::emulate) fn num_pages(&self) -> usize {
        self.pages.len()
    }

    /// Returns the number of words that are kept separately for each writing thread.
    pub(in crate::emulate) fn num_apart(&self) -> usize {
        self.unordered.len()
    }

    /// Reads at most eight bytes at an aligned address. Unknown contents are drawn with this kind.
    pub(in crate::emulate) fn read(&mut self, address: u64, bytes: usize, kind: Kind) -> Bytes {
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
        let value = Bytes::whole(u64::from_le_bytes(value));
        let undefined = (page.undefined[offset / 64] & mask) >> (offset % 64);
        if undefined == 0 {
            return value;
        }
        let origin = (address..address + bytes as u64).find_map(|at| self.origins.get(&at)).copied();
        Bytes { defined: !undefined as u8, origin: origin.unwrap_or_default(), ..value }
    }

    /// Writes at most eight bytes at an aligned address. Returns whether it is a new store: the place was not written
    /// before, or its contents differ.
    pub(in crate::emulate) fn write(&mut self, address: u64, bytes: usize, value: Bytes, write: Write) -> bool {
        let place = self.page(address / PAGE);
        let offset = (address % PAGE) as usize;
        let page = &mut self.pages[place];
        let (number, mask) = (offset / 64, mask_of(bytes) << (offset % 64));
        let undefined = u64::from(!value.defined & first_bytes(bytes)) << (offset % 64);
        let new = (value.value & bits_of(value.defined)).to_le_bytes();
        let is_new = page.written[number] & mask != mask
            || page.data[offset..offset + bytes] != new[..bytes]
            || page.undefined[number] & mask != undefined;
        page.data[offset..offset + bytes].copy_from_slice(&new[..bytes]);
        page.present[number] |= mask;
        page.written[number] |= mask;
        let words = offset / 4..(offset + bytes).div_ceil(4);
        // A byte of a word with racing writes is undefined once one thread has stored an undefined value to it.
        if !words.clone().any(|word| page.is_raced(word)) {
            page.undefined[number] &= !mask;
        }
        page.undefined[number] |= undefined;
        page.writes[words.clone()].fill(write);
        for word in words.filter(|&word| page.is_raced(word)) {
            self.unordered.write(page.address(word), page.word(word), bytes_of_word(offset, bytes), write);
        }
        if undefined != 0 {
            let lost = (0..bytes).filter(|byte| value.defined >> byte & 1 == 0);
            self.origins.extend(lost.map(|byte| (address + byte as u64, value.origin)));
        }
        is_new
    }

    /// Whether a place already holds a value.
    fn holds(&mut self, address: u64, bytes: usize, value: u64) -> bool {
        let place = self.page(address / PAGE);
        let offset = (address % PAGE) as usize;
        let page = &self.pages[place];
        let mask = mask_of(bytes) << (offset % 64);
        page.present[offset / 64] & mask == mask && page.data[offset..offset + bytes] == value.to_le_bytes()[..bytes]
    }

    /// Records an access and returns the access with which it races, if any. From the first race of two plain writes,
    /// the threads' writes to the word are kept separately.
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
        let page = &mut self.pages[place];
        let offset = (address % PAGE) as usize;
        let now = Stamp { bytes: bytes_of_word(offset, bytes), ..stamp };
        for word in offset / 4..(offset + bytes).div_ceil(4) {
            let is_raced = page.is_raced(word);
            let shadow = &mut page.shadows[word];
            if is_raced && (written.is_none() || now.is_strong) {
                return Some(shadow.last_write());
            }
            let race = match written {
                Some(_) => shadow.write(now, view, is_same && !is_raced),
                None => shadow.read(now, view),
            };
            match race {
                Some(Race { with, is_of_writes: true }) if !with.is_strong && !now.is_strong => {
                    self.first_race.get_or_insert(with);
                    shadow.add_write(now);
                    if !is_raced {
                        page.raced[word / 64] |= 1 << (word % 64);
                        self.unordered.write(page.address(word), page.word(word), with.bytes, page.writes[word]);
                    }
                }
                Some(race) => return Some(race.with),
                None => {}
            }
        }
        None
    }

    /// Returns the words with undefined bytes, by address, and the origin of these bytes.
    pub(in crate::emulate) fn undefined(&self) -> Vec<(Written, Origin)> {
        let mut found = Vec::new();
        for page in self.pages.iter().filter(|page| page.undefined.iter().any(|&bytes| bytes != 0)) {
            for word in 0..WORDS {
                let (bytes, address) = (Page::of_word(&page.undefined, word), page.address(word));
                let origin = (address..address + 4).find_map(|at| self.origins.get(&at)).copied().unwrap_or_default();
                if bytes != 0 {
                    found.push(((address, page.word(word), bytes, page.writes[word]), origin));
                }
            }
        }
        found.sort_unstable_by_key(|(written, _)| written.0);
        found
    }

    /// Returns all written words, by address, without undefined bytes and without words with racing writes.
    pub(in crate::emulate) fn written(&self) -> Vec<Written> {
        let mut found = Vec::new();
        for page in &self.pages {
            for word in (0..WORDS).filter(|&word| !page.is_raced(word)) {
                let bytes = Page::of_word(&page.written, word) & !Page::of_word(&page.undefined, word);
                if bytes != 0 {
                    found.push((page.address(word), page.word(word), bytes, page.writes[word]));
                }
            }
        }
        found.sort_unstable_by_key(|written| written.0);
        found
    }

    /// Returns the last write of each thread to words with racing writes, by thread and address.
    pub(in crate::emulate) fn written_apart(&self) -> Vec<Written> {
        self.unordered.written()
    }
}

/// Returns a mask of the bytes that an access touches in each of its words. An access of less than four bytes touches
/// only one word.
fn bytes_of_word(offset: usize, bytes: usize) -> u8 {
    if bytes >= 4 { 0xf } else { ((1 << bytes) - 1) << (offset % 4) }
}

/// Records an access in the shadows of its words. `is_same` is `None` for a read; for a write, it is whether memory
/// already holds the value.
pub(in crate::emulate) fn note(
    shadows: &mut [Shadow],
    offset: usize,
    bytes: usize,
    is_same: Option<bool>,
    stamp: Stamp,
    view: View<'_>,
) -> Option<Stamp> {
    let now = Stamp { bytes: bytes_of_word(offset, bytes), ..stamp };
    let race = shadows.iter_mut().find_map(|shadow| match is_same {
        Some(is_same) => shadow.write(now, view, is_same),
        None => shadow.read(now, view),
    });
    race.map(|race| race.with)
}
