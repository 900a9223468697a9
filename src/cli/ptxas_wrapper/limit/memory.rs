//! Computes how many runs of ptxas fit into the machine's memory at once.

use std::fs;

/// A variant's assumed memory, in per cent of the stock run's.
const PER_CENT: u64 = 125;

const KIB: u64 = 1024;

/// Returns how many runs fit if the stock run took `bytes`; at least one.
pub(crate) fn runs(bytes: u64) -> usize {
    let said = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    available(&said).map_or(usize::MAX, |available| runs_within(available, bytes))
}

fn runs_within(available: u64, bytes: u64) -> usize {
    let most = u128::from(available) * 100 / u128::from(bytes * PER_CENT).max(1);
    usize::try_from(most).unwrap_or(usize::MAX).max(1)
}

/// Returns the bytes that programs can allocate without swapping; `None` if the system does not report them.
fn available(said: &str) -> Option<u64> {
    let line = said.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(KIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each run is assumed to take 125 % of the stock run's memory, and at least one run is allowed.
    #[test]
    fn room() {
        const GIB: u64 = 1 << 30;
        assert_eq!([runs_within(10 * GIB, 4 * GIB), runs_within(10 * GIB - 1, 4 * GIB)], [2, 1]);
        assert_eq!([runs_within(GIB, 4 * GIB), runs_within(0, GIB)], [1, 1]);
        assert!(runs_within(GIB, 0) > 1000, "nothing is known of the run");
    }

    /// The system's format is parsed.
    #[test]
    fn words_of_the_system() {
        let said =
            "MemTotal:       24689576 kB\nMemFree:          512000 kB\nMemAvailable:   20480000 kB\nBuffers: 1 kB\n";
        assert_eq!((available(said), available("MemTotal: 1 kB\n")), (Some(20_480_000 * KIB), None));
    }
}
