//! From the blocks of one SM to a grid.

/// The cycles of a grid of which the busiest SM has so many blocks and holds so many at a time. `cycles_of` has the cycles
/// of so many blocks that begin together. Where blocks end one by one, the next ones begin at once: over many waves the
/// tail weighs nothing.
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

/// From so many waves on, the last one is not told from the others.
const MANY: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// One more resident block changes nothing where the waves stay as many.
    #[test]
    fn waves() {
        let of = |blocks, held| cycles(blocks, held, |count| 100 + count);
        assert_eq!([of(1, 4), of(4, 4), of(5, 4), of(8, 4)], [101, 104, 205, 208]);
        assert_eq!(of(100, 4), 2600);
    }
}
