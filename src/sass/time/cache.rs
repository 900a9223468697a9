//! A cache: the present sectors, and the cycles at which they arrive.

use rustc_hash::FxHashMap;

/// The sectors of a line.
const SECTORS: u64 = 4;
/// The bytes of a sector.
pub(super) const SECTOR: u64 = 32;

/// A line of four sectors.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// The cycle at which each sector arrives. `u64::MAX` for absent sectors.
    there: [u64; SECTORS as usize],
    /// The dirty sectors, as bits.
    written: u8,
    used: u64,
}

/// A cache with a limited number of lines and LRU replacement.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    lines: FxHashMap<u64, Line>,
    most: usize,
    clock: u64,
    /// The lines in the order of use. Older entries of a line are stale.
    queue: std::collections::VecDeque<(u64, u64)>,
}

impl Cache {
    pub(super) fn new(bytes: u64) -> Self {
        let most = (bytes / (SECTORS * SECTOR)).max(16) as usize;
        Self { lines: FxHashMap::default(), most, clock: 0, queue: std::collections::VecDeque::new() }
    }

    /// Returns the cycle at which a sector arrives. `None` if it is absent and not requested.
    pub(super) fn find(&mut self, sector: u64) -> Option<u64> {
        let there = self.lines.get(&(sector / SECTORS))?.there[(sector % SECTORS) as usize];
        (there != u64::MAX).then(|| {
            self.touch(sector / SECTORS);
            there
        })
    }

    /// Adds a sector.
    pub(super) fn put(&mut self, sector: u64, at: u64) {
        self.put_written(sector, at, false);
    }

    /// Adds a sector, which may be dirty. Returns the number of dirty sectors that are evicted.
    pub(super) fn put_written(&mut self, sector: u64, at: u64, is_written: bool) -> u64 {
        let line = self.lines.entry(sector / SECTORS).or_insert(Line { there: [u64::MAX; 4], ..Line::default() });
        let place = (sector % SECTORS) as usize;
        line.there[place] = at;
        line.written |= u8::from(is_written) << place;
        self.touch(sector / SECTORS);
        self.shrink()
    }

    fn touch(&mut self, number: u64) {
        self.clock += 1;
        if let Some(line) = self.lines.get_mut(&number) {
            line.used = self.clock;
            self.queue.push_back((self.clock, number));
        }
    }

    fn shrink(&mut self) -> u64 {
        let mut left = 0;
        while self.lines.len() > self.most {
            let Some((used, number)) = self.queue.pop_front() else { break };
            if self.lines.get(&number).is_some_and(|line| line.used == used) {
                left += self.lines.remove(&number).map_or(0, |line| u64::from(line.written.count_ones()));
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The replacement is LRU: a loop over one line too many has no hits, and a loop that fits has only hits.
    #[test]
    fn rings() {
        for (lines, found) in [(16, 16), (17, 0)] {
            let mut cache = Cache::new(16 * 128);
            (0..lines).for_each(|line| assert_eq!(cache.put_written(4 * line, 7, false), 0));
            let mut hits = 0;
            for line in 0..lines {
                match cache.find(4 * line) {
                    Some(at) => hits += u64::from(at == 7),
                    None => cache.put(4 * line, 7),
                }
            }
            assert_eq!(hits, found);
        }
    }

    /// Each sector of a line is cached separately. Dirty sectors are returned when their line is evicted.
    #[test]
    fn sectors() {
        let mut cache = Cache::new(16 * 128);
        cache.put_written(1, 5, true);
        assert_eq!([0, 1, 2].map(|sector| cache.find(sector)), [None, Some(5), None]);
        let left: u64 = (1..=16).map(|line| cache.put_written(4 * line, 0, false)).sum();
        assert_eq!(left, 1);
    }
}
