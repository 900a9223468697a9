//! The numbers of a processor: data with their sources.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The numbers of a processor, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    rows: BTreeMap<String, f64>,
}

impl Numbers {
    /// Reads lines of a name, a value and the source in words. `#` begins a comment.
    ///
    /// # Errors
    /// The first line that is malformed, lacks a source, or repeats a name.
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

    /// Returns a number. It is 0 if the file does not have the name; a test excludes this for all names in use.
    pub fn get(&self, name: &str) -> f64 {
        self.rows.get(name).copied().unwrap_or_default()
    }

    /// Returns a number in whole cycles or bytes.
    pub fn whole(&self, name: &str) -> u64 {
        self.get(name).round() as u64
    }

    /// Returns an SM's share of the DRAM bandwidth, in bytes per cycle.
    pub fn dram_bytes(&self) -> f64 {
        let cycles_a_second = self.get("clock_mhz") * 1e6 * self.get("sms");
        self.get("dram_gb_s") * 1e9 * self.get("dram.efficiency") / cycles_a_second.max(1.0)
    }

    /// Whether a name has a number.
    pub fn has(&self, name: &str) -> bool {
        self.rows.contains_key(name)
    }
}

/// sm_90: H100 and H200 in the SXM form.
const SM_90: &str = include_str!("sm_90.txt");

/// Returns the numbers of a processor. Only sm_90 is known, so kernels of other processors get the numbers of sm_90.
/// Two versions of a kernel can be compared by them, but times in microseconds have no meaning.
pub fn numbers() -> &'static Numbers {
    static NUMBERS: OnceLock<Numbers> = OnceLock::new();
    // The file is part of the program, and a test reads it.
    NUMBERS.get_or_init(|| Numbers::read(SM_90).unwrap_or_default())
}

/// Whether the numbers were determined for this processor.
pub fn is_known(processor: u32) -> bool {
    processor == 90
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line has a name, a number and a source, and no name is repeated.
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
