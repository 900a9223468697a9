//! Measures each phase of a pass separately, on recorded kernels and on generated ones of up to 10^6 instructions. Run
//! with `cargo bench --no-default-features --bench phases`.
//!
//! `recorded/` contains kernels of `examples/` at -O3 before LLVM's coalescer. `scripts/record-views.py` writes them.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use nvptx_ra::analysis::{AnalysisContext, Cfg, Dominators};
use nvptx_ra::check::check;
use nvptx_ra::coalesce::coalesce;
use nvptx_ra::config::Config;
use nvptx_ra::function::{Function, VReg};
use nvptx_ra::target::Classification;

mod support;

/// Returns the recorded functions, smallest first, each with its file's name.
fn recorded() -> Vec<(String, Function)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/recorded");
    let files = std::fs::read_dir(folder).expect("the recorded functions are there");
    let mut functions: Vec<(String, Function)> = files
        .map(|file| {
            let path = file.expect("the folder can be read").path();
            let text = std::fs::read_to_string(&path).expect("a recorded function can be read");
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            (name, Function::parse(&text).expect("a recorded function is a view"))
        })
        .collect();
    functions.sort_by_key(|(_, function)| function.num_insts());
    functions
}

fn phases(criterion: &mut Criterion, name: &str, function: &Function) {
    let mut group = criterion.benchmark_group("phases");
    group.throughput(Throughput::Elements(function.num_insts() as u64));
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    let mut bench = |phase: &str, run: &mut dyn FnMut()| {
        group.bench_function(BenchmarkId::new(phase, name), |bencher| bencher.iter(&mut *run));
    };
    let text = function.to_string();
    bench("parse", &mut || drop(black_box(Function::parse(&text))));
    bench("validate", &mut || drop(black_box(function.validate())));

    let mut wanted = vec![false; function.num_regs()];
    for (to, from) in function.insts().filter_map(|inst| function.as_copy(inst)) {
        wanted[to.0 as usize] = true;
        wanted[from.0 as usize] = true;
    }
    let regs: Vec<VReg> = function.regs().filter(|reg| wanted[reg.0 as usize]).collect();
    let AnalysisContext { cfg, dominators, occurrences, live_ranges, .. } = &mut AnalysisContext::default();
    cfg.compute(function);
    dominators.compute(function, cfg);
    let (mut scratch_cfg, mut scratch_dominators) = (Cfg::default(), Dominators::default());
    bench("cfg", &mut || scratch_cfg.compute(black_box(function)));
    bench("dominators", &mut || scratch_dominators.compute(black_box(function), cfg));
    bench("occurrences", &mut || {
        occurrences.compute(black_box(function), &|_, operand| operand.reg().filter(|reg| wanted[reg.0 as usize]));
    });
    bench("live ranges", &mut || live_ranges.compute(black_box(function), cfg, dominators, occurrences, &regs));

    let config = Config::default();
    // This includes analyses and the sorting of the edits.
    let classification = Classification::by_name(function.opcodes());
    bench("coalesce", &mut || drop(black_box(coalesce(function, &classification, &config))));
    let edits = coalesce(function, &classification, &config).edits;
    bench("edits into phases", &mut || black_box(edits.clone()).finish());
    bench("apply", &mut || drop(black_box(edits.apply(function))));
    bench("check", &mut || drop(black_box(check(function, &edits))));
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for (name, function) in recorded() {
        phases(&mut criterion, &format!("{name}, {}", function.num_insts()), &function);
    }
    for size in [100, 1_000, 10_000, 100_000, 1_000_000] {
        phases(&mut criterion, &format!("generated, {size}"), &support::kernel(size));
    }
    criterion.final_summary();
}
