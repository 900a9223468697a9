//! Runs mutants of a kernel in the emulator and compares them with the original. Prints one JSON object per line.
//!
//!     mutants FILE.ptx KERNEL COUNT SEED LAUNCHES STEPS
//!
//! The first object has the comparison of the kernel with itself; each other object has the result of a mutant.

use std::error::Error;

use nvptx_ra::emulate::{Launches, Program, Reference, Verdict};
use nvptx_ra::fuzzing::{Mutant, mutants};
use nvptx_ra::ptx::Module;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, kernel, count, seed, launches, steps] = arguments.as_slice() else {
        return Err("mutants FILE.ptx KERNEL COUNT SEED LAUNCHES STEPS".into());
    };
    let text = std::fs::read_to_string(file)?;
    let program = |text: &str| Module::read(file, text.as_bytes()).map(|module| Program::new(&module));
    let launches =
        Launches { count: launches.parse()?, most_steps: steps.parse()?, is_exact: true, ..Launches::default() };
    let original = program(&text)?;
    let mut reference = Reference::new(&original, kernel, &launches);
    let itself = reference.compare(&original);
    let [ran, all] = itself.sides[0].coverage.statements;
    let reasons: Vec<&str> = itself
        .launches
        .iter()
        .filter_map(|launched| match &launched.verdict {
            Verdict::NotComparable { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    println!("{}", json!({"equal": itself.equal(), "statements": [ran, all], "reasons": reasons}));
    if itself.equal() == 0 {
        return Ok(());
    }
    for mutant in mutants(&text, kernel, count.parse()?, seed.parse()?) {
        let (verdict, reason) = match program(&mutant.text) {
            Ok(program) => verdict(&mut reference, &program),
            Err(error) => ("refused", error.to_string()),
        };
        let has_run = itself.sides[0].has_run(&original, mutant.line);
        println!("{}", as_json(&mutant, verdict, &reason, has_run));
    }
    Ok(())
}

/// Returns how a mutant is distinguished from the original: by its stored values, by a reason why it is not comparable,
/// or not at all.
fn verdict(reference: &mut Reference<'_>, mutant: &Program) -> (&'static str, String) {
    match reference.told_apart(mutant) {
        Some(Verdict::Different(difference)) => ("different", difference.to_string()),
        Some(Verdict::NotComparable { reason, .. }) => ("refused", reason),
        _ => ("survives", String::new()),
    }
}

fn as_json(mutant: &Mutant, verdict: &str, reason: &str, has_run: bool) -> Value {
    json!({
        "fault": mutant.fault.name(), "line": mutant.line, "before": mutant.lines[0], "after": mutant.lines[1],
        "verdict": verdict, "reason": reason, "has_run": has_run,
    })
}
