//! A mutant is a kernel with one fault. The emulator distinguishes mutants from the original kernels. `make mutants`
//! draws a thousand mutants from the corpus.

use std::collections::BTreeMap;

use nvptx_ra::emulate::{Launches, Reference, Verdict};
use nvptx_ra::fuzzing::{Fault, mutants};

use super::{program, text};

/// Nine out of ten mutants are distinguished, not counting faults of barriers.
#[test]
fn most_are_found() {
    let kernels = [
        ("scan.ptx", "prefix_sum", 58),
        ("reduce.ptx", "sum", 52),
        ("reduce.ptx", "smallest", 54),
        ("spmv.ptx", "spmv_thread", 28),
        ("spmv.ptx", "spmv_merge", 62),
    ];
    let launches = Launches { count: 6, most_steps: 60_000, is_exact: true, ..Launches::default() };
    let mut counts: BTreeMap<Fault, [usize; 3]> = BTreeMap::new();
    for (seed, (file, kernel, count)) in kernels.into_iter().enumerate() {
        let text = text(file);
        let original = program(&text);
        let mut reference = Reference::new(&original, kernel, &launches);
        for mutant in mutants(&text, kernel, count, seed as u64 + 1) {
            // Distinguished by its stores, by a reason why it is not comparable, or not at all.
            let verdict = match reference.told_apart(&program(&mutant.text)) {
                Some(Verdict::Different(_)) => 0,
                Some(_) => 1,
                None => 2,
            };
            counts.entry(mutant.fault).or_default()[verdict] += 1;
            if verdict == 2 {
                let [before, after] = &mutant.lines;
                println!("{kernel}, line {}: survives: {}: {before} -> {after}", mutant.line, mutant.fault.name());
            }
        }
    }
    let mut all = [0; 3];
    for (fault, [different, refused, survives]) in &counts {
        println!("{}: {different} differ, {refused} are refused, {survives} survive", fault.name());
        if *fault != Fault::BarrierGone {
            all.iter_mut().zip([different, refused, survives]).for_each(|(all, one)| *all += one);
        }
    }
    let total: usize = all.iter().sum();
    println!("of {total} without barriers {} differ, {} are refused, {} survive", all[0], all[1], all[2]);
    assert!(10 * (all[0] + all[1]) >= 9 * total, "{} of {total} survive", all[2]);
    assert!(total >= 150, "{total} mutants");
}
