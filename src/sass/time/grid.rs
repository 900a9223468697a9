//! From the blocks of one SM to a grid.

/// Returns the cycles of a grid whose busiest SM runs `blocks` blocks, `held` at a time. `cycles_of` returns the cycles
/// of a number of blocks that begin together. If there are many waves, blocks end one by one, and each is followed by
/// the next block at once. The last wave then has no separate cost.
pub fn cycles(blocks: u64, held: u64, mut cycles_of: impl FnMut(u64) -> u64) -> u64 {
    let held = held.max(1);
    if blocks <= held {
        return cycles_of(blocks);
    }
    let full = cycles_of(held);
    if blocks > MANY * held {
        return (full as f64 * blocks as f64 / held as f64) as u64;
    }
    let rest = blocks % held;
    full * (blocks / held) + if rest > 0 { cycles_of(rest) } else { 0 }
}

/// The number of waves above which the last wave is not treated separately.
const MANY: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// The cycles do not change if one more resident block leaves the number of waves unchanged.
    #[test]
    fn waves() {
        let of = |blocks, held| cycles(blocks, held, |count| 100 + count);
        assert_eq!([of(1, 4), of(4, 4), of(5, 4), of(8, 4)], [101, 104, 205, 208]);
        assert_eq!(of(100, 4), 2600);
    }
}
