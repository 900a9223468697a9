//! L1: which sectors are near, and from when on.

use rustc_hash::FxHashMap;

/// Sectors of a line.
const SECTORS: u64 = 4;
/// Bytes of a sector.
pub(super) const SECTOR: u64 = 32;

/// A line of four sectors.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// When each sector is there; those with `u64::MAX` are not.
    there: [u64; SECTORS as usize],
    /// Which of them were written and are nowhere else.
    written: u8,
    used: u64,
}

/// A cache of so many lines, of which that leaves which was used longest ago.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    lines: FxHashMap<u64, Line>,
    most: usize,
    clock: u64,
    /// The lines in the order of their use; older entries of a line are not its own any more.
    queue: std::collections::VecDeque<(u64, u64)>,
}

impl Cache {
    pub(super) fn new(bytes: u64) -> Self {
        let most = (bytes / (SECTORS * SECTOR)).max(16) as usize;
        Self { lines: FxHashMap::default(), most, clock: 0, queue: std::collections::VecDeque::new() }
    }

    /// When a sector is there, if it is or is on its way.
    pub(super) fn find(&mut self, sector: u64) -> Option<u64> {
        let there = self.lines.get(&(sector / SECTORS))?.there[(sector % SECTORS) as usize];
        (there != u64::MAX).then(|| {
            self.touch(sector / SECTORS);
            there
        })
    }

    /// Puts a sector there.
    pub(super) fn put(&mut self, sector: u64, at: u64) {
        self.put_written(sector, at, false);
    }

    /// Puts a sector there, perhaps one that is written and nowhere else. Returns how many written sectors leave.
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

    /// What was used last stays: a ring that is one line too large finds nothing, one that fits finds all.
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

    /// A sector of a line is there for itself alone, and what was written comes back when its line leaves.
    #[test]
    fn sectors() {
        let mut cache = Cache::new(16 * 128);
        cache.put_written(1, 5, true);
        assert_eq!([0, 1, 2].map(|sector| cache.find(sector)), [None, Some(5), None]);
        let left: u64 = (1..=16).map(|line| cache.put_written(4 * line, 0, false)).sum();
        assert_eq!(left, 1);
    }
}
