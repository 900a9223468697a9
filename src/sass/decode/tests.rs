//! The decoder gives what the disassembler's text says, and nothing where a bit has no known meaning.

use super::decode;

/// Any bits give an instruction or none, on any processor; and an instruction tells its bits.
#[test]
fn decodes_or_says_nothing() {
    let mut state = 1u128;
    for _ in 0..200_000 {
        state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
        for processor in [80, 86, 89, 90, 100, 120] {
            if let Some(instruction) = decode(state >> 3, 0x100, processor) {
                assert_eq!(instruction.bits, state >> 3);
            }
        }
    }
}
