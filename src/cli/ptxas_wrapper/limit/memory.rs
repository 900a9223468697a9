//! How many runs of ptxas have room in the machine's memory at once.

use std::fs;

/// A variant may take so much more memory than the unchanged text, in per cent of that.
const PER_CENT: u64 = 125;

const KIB: u64 = 1024;

/// How many runs fit that take as many bytes as the unchanged text's run did; one in any case.
pub(crate) fn runs(bytes: u64) -> usize {
    let said = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    available(&said).map_or(usize::MAX, |available| runs_within(available, bytes))
}

fn runs_within(available: u64, bytes: u64) -> usize {
    let most = u128::from(available) * 100 / u128::from(bytes * PER_CENT).max(1);
    usize::try_from(most).unwrap_or(usize::MAX).max(1)
}

/// The bytes that programs can have without swapping; `None` where the system does not say it.
fn available(said: &str) -> Option<u64> {
    let line = said.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(KIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many runs as fit with a quarter more than the unchanged text took, and at least one.
    #[test]
    fn room() {
        const GIB: u64 = 1 << 30;
        assert_eq!([runs_within(10 * GIB, 4 * GIB), runs_within(10 * GIB - 1, 4 * GIB)], [2, 1]);
        assert_eq!([runs_within(GIB, 4 * GIB), runs_within(0, GIB)], [1, 1]);
        assert!(runs_within(GIB, 0) > 1000, "nothing is known of the run");
    }

    /// The system's words.
    #[test]
    fn words_of_the_system() {
        let said =
            "MemTotal:       24689576 kB\nMemFree:          512000 kB\nMemAvailable:   20480000 kB\nBuffers: 1 kB\n";
        assert_eq!((available(said), available("MemTotal: 1 kB\n")), (Some(20_480_000 * KIB), None));
    }
}
