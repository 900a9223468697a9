//! A function gets the same edits on each thread, with any number of concurrent threads.

use std::thread;

use arbitrary::Unstructured;
use nvptx_ra::coalesce::coalesce;
use nvptx_ra::config::Config;
use nvptx_ra::function::Function;
use nvptx_ra::fuzzing::{Options, lowered_function};
use nvptx_ra::target::Classification;

const THREADS: usize = 4;
const FUNCTIONS: u64 = 50;

/// Returns bytes without a pattern.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..4096).map(next).collect()
}

#[test]
fn threads_agree() {
    let functions: Vec<Function> = (0..FUNCTIONS)
        .map(|seed| lowered_function(&mut Unstructured::new(&bytes(seed)), &Options::default()).expect("enough bytes"))
        .collect();
    // Hash tables of each thread have their own seed, so the test would find an order that depends on hashing.
    let coalesced = |function: &Function| {
        coalesce(function, &Classification::by_name(function.opcodes()), &Config::default()).edits
    };
    let edits = || -> Vec<_> { functions.iter().map(coalesced).collect() };
    let of_threads: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(edits)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    assert!(of_threads[0].iter().any(|edits| !edits.is_empty()), "there is something to compare");
    assert!(of_threads.iter().all(|edits| *edits == of_threads[0]));
}
