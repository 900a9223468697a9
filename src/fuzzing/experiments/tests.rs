//! Every experiment compares equal to itself.

use super::{Experiment, experiments};
use crate::emulate::{Launches, Program, Reference, Verdict};
use crate::ptx::Module;

fn reasons(experiment: &Experiment) -> Vec<String> {
    // A few kernels of each experiment; tests/bench/experiments.py runs all.
    let parts: Vec<&str> = experiment.text.split("\n\n").collect();
    let text = [&parts[..1], &parts[1..].iter().step_by(24).copied().collect::<Vec<_>>()].concat().join("\n\n");
    let module = Module::read(&experiment.name, text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let program = Program::new(&module);
    let launches = Launches { count: 1, more: 0, is_exact: true, extremes: true, ..Launches::default() };
    let kernels: Vec<String> = program.kernels().map(str::to_owned).collect();
    let mut reasons = Vec::new();
    for kernel in kernels {
        for launched in Reference::new(&program, &kernel, &launches).compare(&program).launches {
            if launched.verdict != Verdict::Same {
                reasons.push(format!("{} {kernel}: {:?}", experiment.name, launched.verdict));
            }
        }
    }
    reasons
}

/// No value is undefined and no threads race, so a difference is a difference in meaning.
#[test]
fn experiments_can_be_compared() {
    let all = experiments(1);
    assert!(all.len() > 90, "{} of them", all.len());
    let found: Vec<String> = all.iter().flat_map(reasons).collect();
    assert!(found.is_empty(), "{} of them:\n{}", found.len(), found.join("\n"));
}
