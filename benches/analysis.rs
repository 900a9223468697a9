//! Measures each analysis on functions of 10^3 to 10^6 instructions. Run with `cargo bench --bench analysis`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use nvptx_ra::analysis::{AnalysisContext, Cfg, Dominators, Loops, overlap};
use nvptx_ra::function::{Function, VReg};

mod support;

/// Marks the registers of copies. The coalescer requests live ranges for these registers only.
fn copied(function: &Function) -> Vec<bool> {
    let mut wanted = vec![false; function.num_regs()];
    for (to, from) in function.insts().filter_map(|inst| function.as_copy(inst)) {
        wanted[to.0 as usize] = true;
        wanted[from.0 as usize] = true;
    }
    wanted
}

fn analyses(criterion: &mut Criterion) {
    for size in [1_000, 10_000, 100_000, 1_000_000] {
        let function = support::kernel(size);
        let mut group = criterion.benchmark_group("analysis");
        group.throughput(Throughput::Elements(function.num_insts() as u64));
        group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
        let mut bench = |name: &str, run: &mut dyn FnMut()| {
            group.bench_function(BenchmarkId::new(name, size), |bencher| bencher.iter(&mut *run));
        };
        let mut context = AnalysisContext::default();
        context.cfg.compute(&function);
        context.dominators.compute(&function, &context.cfg);
        let (mut cfg, mut dominators, mut loops) = (Cfg::default(), Dominators::default(), Loops::default());
        bench("cfg", &mut || cfg.compute(black_box(&function)));
        bench("dominators", &mut || dominators.compute(black_box(&function), &context.cfg));
        bench("loops", &mut || loops.compute(&context.cfg, black_box(&context.dominators)));

        for (set, wanted) in [("copied", copied(&function)), ("all", vec![true; function.num_regs()])] {
            let AnalysisContext { cfg, dominators, occurrences, live_ranges, .. } = &mut context;
            let regs: Vec<VReg> = function.regs().filter(|reg| wanted[reg.0 as usize]).collect();
            bench(&format!("occurrences of {set}"), &mut || {
                occurrences
                    .compute(black_box(&function), &|_, operand| operand.reg().filter(|reg| wanted[reg.0 as usize]));
            });
            bench(&format!("live ranges of {set}"), &mut || {
                live_ranges.compute(black_box(&function), cfg, dominators, occurrences, &regs);
            });
            bench(&format!("neighbours of {set}"), &mut || {
                let is_overlapping =
                    |pair: &&[VReg]| overlap(live_ranges.segments(pair[0]), live_ranges.segments(pair[1]), |_, _| true);
                black_box(regs.windows(2).filter(is_overlapping).count());
            });
        }
        group.finish();
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    analyses(&mut criterion);
    criterion.final_summary();
}
