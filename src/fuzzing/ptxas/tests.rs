//! Programs are parsed completely, run, and compare equal to themselves.

use super::{Contents, THREADS, alone, program};
use crate::emulate::{Launches, Program, Reference, Verdict};
use crate::ptx::Module;

const CONTENTS: Contents = Contents { kernels: 1, known_faults: false };

fn read(text: &str) -> Program {
    Program::new(&Module::read("-", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// The parser accepts each program, and the emulator models every instruction.
#[test]
fn programs_are_read() {
    for seed in 0..200 {
        let contents = Contents { known_faults: seed % 4 == 0, ..CONTENTS };
        let text = program(seed, &contents).text;
        let program = read(&text);
        assert!(program.unread().is_empty(), "seed {seed}: {:?}\n{text}", program.unread());
        let side = crate::emulate::Side::unknown(&program);
        assert!(side.is_empty(), "seed {seed}: {side:?}\n{text}");
    }
}

/// The same seed gives the same PTX module, and another seed gives another.
#[test]
fn seeds_say_everything() {
    let contents = Contents { kernels: 3, known_faults: false };
    let text = program(7, &contents).text;
    assert_eq!(text, program(7, &contents).text);
    assert_ne!(text, program(8, &contents).text);
    for number in 0..3 {
        let own = alone(7, number, &contents);
        let kernel = own.split_once("\n\n").expect("a head and a kernel").1;
        assert!(text.contains(kernel), "{own}");
    }
}

/// No program reads undefined values, has races, or is endless: nearly every launch is comparable.
#[test]
fn programs_can_be_compared() {
    let (mut equal, mut all) = (0, 0);
    let mut reasons = Vec::new();
    for seed in 1000..1040 {
        let program = read(&program(seed, &CONTENTS).text);
        let (grid, block) = (Some([1, 1, 1]), Some([THREADS, 1, 1]));
        let launches = Launches {
            count: 1,
            limits: 1,
            more: 0,
            seed,
            grid,
            block,
            is_exact: true,
            extremes: seed % 2 == 0,
            most_steps: 100_000,
            ..Launches::default()
        };
        for launched in Reference::new(&program, "k0", &launches).compare(&program).launches {
            all += 1;
            equal += usize::from(launched.verdict == Verdict::Same);
            assert!(!matches!(launched.verdict, Verdict::Different(_)), "seed {seed}: {:?}", launched.verdict);
            if let Verdict::NotComparable { reason, .. } = launched.verdict {
                reasons.push(format!("seed {seed}: {reason}"));
            }
        }
    }
    assert!(equal * 50 >= all * 49, "{equal} of {all}:\n{}", reasons.join("\n"));
}
