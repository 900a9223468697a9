//! The numbers of a processor: data, each with its source in the file.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The numbers of a processor, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    rows: BTreeMap<String, f64>,
}

impl Numbers {
    /// Reads lines of a name, a value and words on the source; `#` begins a comment.
    ///
    /// # Errors
    /// The first line that is no such line, that has no source, or whose name was there before.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut rows = BTreeMap::new();
        for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
            if line.is_empty() {
                continue;
            }
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default();
            let value = words.next().and_then(|value| value.parse::<f64>().ok()).filter(|value| value.is_finite());
            let has_source = words.next().is_some();
            match value {
                Some(value) if has_source && rows.insert(name.to_owned(), value).is_none() => {}
                _ => return Err(line.to_owned()),
            }
        }
        Ok(Self { rows })
    }

    /// A number; 0 where the file has none of that name, which a test of the file excludes for all names that are used.
    pub fn get(&self, name: &str) -> f64 {
        self.rows.get(name).copied().unwrap_or_default()
    }

    /// The same in whole cycles or bytes.
    pub fn whole(&self, name: &str) -> u64 {
        self.get(name).round() as u64
    }

    /// An SM's share of DRAM's bandwidth, in bytes a cycle.
    pub fn dram_bytes(&self) -> f64 {
        let cycles_a_second = self.get("clock_mhz") * 1e6 * self.get("sms");
        self.get("dram_gb_s") * 1e9 * self.get("dram.efficiency") / cycles_a_second.max(1.0)
    }

    /// Whether there is a number of that name.
    pub fn has(&self, name: &str) -> bool {
        self.rows.contains_key(name)
    }
}

/// sm_90 as in H100 and H200 for SXM.
const SM_90: &str = include_str!("sm_90.txt");

/// The numbers of a processor. Those of another processor than sm_90 are not known, and its kernels get those of sm_90: two
/// codes of one kernel can be compared by them, and times in microseconds mean nothing.
pub fn numbers() -> &'static Numbers {
    static NUMBERS: OnceLock<Numbers> = OnceLock::new();
    // The file is a part of the program, and a test reads it.
    NUMBERS.get_or_init(|| Numbers::read(SM_90).unwrap_or_default())
}

/// Whether a processor's numbers are its own.
pub fn is_known(processor: u32) -> bool {
    processor == 90
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line has a name, a number and a source, and no name comes twice.
    #[test]
    fn lines() {
        let numbers = Numbers::read("# words\n\na.b 1.5 a source\nc 2 assumed # more\n").expect("numbers");
        assert_eq!([numbers.get("a.b"), numbers.get("c"), numbers.get("d")], [1.5, 2.0, 0.0]);
        assert_eq!(numbers.whole("a.b"), 2);
        for wrong in ["a", "a x source", "a 1", "a inf source"] {
            assert_eq!(Numbers::read(wrong), Err(wrong.to_owned()));
        }
        assert_eq!(Numbers::read("a 1 source\na 2 source"), Err("a 2 source".to_owned()));
        assert!(Numbers::read(SM_90).is_ok());
    }
}
