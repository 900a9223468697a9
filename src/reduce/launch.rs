//! Reduces blocks, threads and arguments.

use super::candidate::Candidate;

/// Sizes of a block or grid along an axis, in ascending order.
const SIZES: [u32; 8] = [1, 2, 4, 8, 32, 64, 128, 256];
/// Most bytes of an argument that counts as an integer.
const INTEGER: usize = 8;

/// Returns the candidate with the fewest blocks and threads, and the smallest integer arguments, with which it still
/// passes the test.
pub(super) fn smaller(mut best: Candidate, test: &mut dyn FnMut(&Candidate) -> bool) -> Candidate {
    for axis in 0..3 {
        for of_block in [false, true] {
            let now = if of_block { best.launch.block[axis] } else { best.launch.grid[axis] };
            for smaller in SIZES.into_iter().filter(|&smaller| smaller < now) {
                let mut tried = best.clone();
                let shape = if of_block { &mut tried.launch.block } else { &mut tried.launch.grid };
                shape[axis] = smaller;
                if test(&tried) {
                    best = tried;
                    break;
                }
            }
        }
    }
    for number in 0..best.launch.arguments.len() {
        best = smaller_argument(best, number, test);
    }
    best
}

/// Replaces an argument by zero, one, or half of its value, as long as the test passes.
fn smaller_argument(mut best: Candidate, number: usize, test: &mut dyn FnMut(&Candidate) -> bool) -> Candidate {
    loop {
        let Some(Some(bytes)) = best.launch.arguments.get(number) else { return best };
        if bytes.len() > INTEGER {
            return best;
        }
        let value = bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        // Such large values are addresses of buffers.
        if value >= 1 << 32 {
            return best;
        }
        let length = bytes.len();
        let of = |smaller: u64| {
            let mut tried = best.clone();
            tried.launch.arguments[number] = Some(smaller.to_le_bytes()[..length].to_vec());
            tried
        };
        let smaller =
            [0, 1, value / 2].into_iter().filter(|&smaller| smaller < value).map(of).find(|tried| test(tried));
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}
