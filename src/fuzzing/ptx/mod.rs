//! Tests the PTX parser on any bytes, and passes on programs whose definitions have predicates.
//!
//! The oracle runs the PTX module itself, before and after the passes, and does not use views.

mod loops;
mod machine;
mod program;
mod shared;

use std::sync::Arc;

use arbitrary::{Result, Unstructured};

use super::reached;
use crate::config::{COPY_COALESCER, Config, LOOP_SHAPE, Layers, REGALLOC, REMAT, RENAME, SCHEDULE, SHARED_ADDRESSES};
#[cfg(test)]
use crate::emulate::{Launches, Program, compare_programs};
use crate::function::{Function, OperandFlags, Value};
use crate::passes::{self, PtxRun, RunContext, Step, run_on_ptx};
use crate::ptx::{File, Module, Patch};
use machine::run;
use program::program;

/// Checks that the parser does not panic on any bytes, and prints accepted bytes exactly.
pub fn check_ptx_text(u: &mut Unstructured<'_>) -> Result<()> {
    let bytes = u.bytes(u.len())?;
    let file = File::read("-", bytes);
    if let Ok(file) = &file {
        assert!(file.print() == bytes, "printing changed {:?}", String::from_utf8_lossy(bytes));
        let _ = file.opaque().count();
        show_all(bytes);
    }
    Ok(())
}

/// Creates every view of a PTX module. The attempt may succeed or fail, but must not panic.
fn show_all(bytes: &[u8]) {
    if let Ok(module) = Module::read("-", bytes) {
        for body in module.bodies() {
            if let Ok(view) = module.view(body) {
                view.function.validate().unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
}

/// Checks that a PTX module with some changed bytes is refused or printed exactly.
pub fn check_ptx_changed(u: &mut Unstructured<'_>) -> Result<()> {
    let mut bytes = program(u)?.into_bytes();
    for _ in 0..u.int_in_range(1..=6)? {
        let at = u.choose_index(bytes.len())?;
        match u.int_in_range(0..=3u8)? {
            0 => bytes.truncate(at.max(1)),
            1 => bytes[at] = *u.choose(b";{}@%.,:[]()|!$_\"/* \n0r")?,
            2 => bytes.insert(at, *u.choose(b";{}@%.,:[]()|!$_\"/* \n0r")?),
            _ => bytes[at] = u.arbitrary()?,
        }
    }
    if let Ok(file) = File::read("-", &bytes) {
        assert!(file.print() == bytes, "printing changed {:?}", String::from_utf8_lossy(&bytes));
        show_all(&bytes);
        reached("changed and read", true);
    }
    Ok(())
}

/// Draws a pass and its options.
fn draw_pass(u: &mut Unstructured<'_>) -> Result<(&'static str, String)> {
    Ok(match u.int_in_range(0..=6u8)? {
        0 => (COPY_COALESCER, String::new()),
        1 => (REMAT, format!("remat={}", u.choose(&["peaks", "high"])?)),
        2 => {
            let order = u.choose(&["sethi-ullman", "bottom-up", "latency", "late", "eager", "loads-late", "source"])?;
            (SCHEDULE, format!("order={order};order-seed={}", u.int_in_range(0..=9)?))
        }
        3 => {
            let (registers, to) = (u.int_in_range(16..=28)?, u.choose(&["shared", "local", "all"])?);
            let more =
                u.choose(&["regalloc-loops=on;regalloc-redefined=on", "regalloc-loops=on", "regalloc-trials=6"])?;
            (REGALLOC, format!("regalloc={registers};regalloc-slack=0;{more};spill-to={to}"))
        }
        4 | 5 => (SHARED_ADDRESSES, String::new()),
        _ => (RENAME, "rename;rename-all".to_owned()),
    })
}

/// Checks that passes preserve a program's stores, and that a view of the resulting PTX module equals the edited view.
pub fn check_ptx_passes(u: &mut Unstructured<'_>) -> Result<()> {
    passes_keep_the_meaning(u, false).map(|_| ())
}

/// Checks that accesses to a tile keep their addresses if addresses that differ by a constant share one register.
pub fn check_shared_addresses(u: &mut Unstructured<'_>) -> Result<()> {
    let text = program::tile(u)?;
    let changed = passed_by(SHARED_ADDRESSES, &text);
    reached("a register is shared", changed != text);
    let seed = u.arbitrary()?;
    assert_eq!(run(&text, seed), run(&changed, seed), "{text}\n{changed}");
    Ok(())
}

/// Checks that loops with an inverted last branch keep their meaning, and that the checker proves this.
pub fn check_loop_shape(u: &mut Unstructured<'_>) -> Result<()> {
    let text = loops::program(u)?;
    let changed = passed_by(LOOP_SHAPE, &text);
    reached("a loop is turned", changed != text);
    let seed = u.arbitrary()?;
    let (before, after) = (run(&text, seed), run(&changed, seed));
    // An endless loop is cut off at another point.
    if !before.is_cut {
        reached("a loop that ends is turned", changed != text);
        assert_eq!(before, after, "{text}\n{changed}");
    }
    assert_eq!(before.is_cut, after.is_cut, "{text}\n{changed}");
    assert_eq!(passed_by(LOOP_SHAPE, &changed), changed, "{text}\n{changed}");
    Ok(())
}

/// Returns a PTX module after a pass and the checker.
fn passed_by(pass: &str, text: &str) -> String {
    let step = Step { name: pass.to_owned(), parameters: String::new() };
    let wanted = PtxRun { steps: vec![step], options: "verify", ..PtxRun::default() };
    let output = run_on_ptx("-", text.as_bytes(), &wanted).unwrap_or_else(|error| panic!("{error}\n{text}"));
    String::from_utf8(output.text).expect("the text was UTF-8")
}

/// Runs passes on a program and returns whether its stores are the same. If `forgets`, views ignore that a definition
/// under a predicate reads the old value.
fn passes_keep_the_meaning(u: &mut Unstructured<'_>, forgets: bool) -> Result<bool> {
    let ([first, second], seed) = passed(u, forgets)?;
    let (before, after) = (run(&first, seed), run(&second, seed));
    assert!(forgets || before == after, "{before:?}\n{after:?}\n{second}");
    Ok(before == after)
}

/// Checks that the emulator finds a difference after passes only if the interpreter of this module finds one.
#[cfg(test)]
fn check_emulator(u: &mut Unstructured<'_>) -> Result<()> {
    let forgets = u.ratio(1, 2)?;
    let ([first, second], seed) = passed(u, forgets)?;
    let is_same = run(&first, seed) == run(&second, seed);
    let read = |text| Program::new(&Module::read("-", text).unwrap_or_else(|error| panic!("{error}")));
    let programs = [read(first.as_bytes()), read(second.as_bytes())];
    let Some(kernel) = programs[0].kernels().next() else { return Ok(()) };
    // The launch has one thread, like a run of the interpreter.
    let (grid, block) = (Some([1; 3]), Some([1; 3]));
    let launches =
        Launches { count: 2, more: 0, seed, grid, block, is_exact: true, most_steps: 20_000, ..Launches::default() };
    let comparison = compare_programs(&programs[0], &programs[1], kernel, &launches);
    let differs = comparison.difference();
    assert!(forgets || differs.is_none(), "{differs:?}\n{first}\n{second}");
    reached("compared", comparison.is_same());
    reached("told apart by both", !is_same && differs.is_some());
    Ok(())
}

/// Draws a program and a seed, and runs passes on the program.
fn passed(u: &mut Unstructured<'_>, forgets: bool) -> Result<([String; 2], u64)> {
    let original = program(u)?;
    let mut text = original.clone();
    let seed = u.arbitrary()?;
    for _ in 0..u.int_in_range(1..=2)? {
        let (pass, options) = draw_pass(u)?;
        let mut module = Module::read("-", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        if forgets {
            module = module.forgetting_old_values();
        }
        let body = module.bodies().first().expect("a program has one function");
        let view = module.view(body).unwrap_or_else(|reason| panic!("{reason}\n{text}"));
        let layers = Layers { parameters: &options, command_line: "verify;assembly-loads=off", ..Layers::default() };
        let layers =
            if Config::resolve(&layers).is_ok() { layers } else { Layers { command_line: "verify", ..layers } };
        let config = Config::resolve(&layers).unwrap_or_else(|error| panic!("{error}"));
        let context = RunContext::new(config, Arc::clone(&view.classification), "sm_90");
        let output = passes::run(pass, &view.function, &context).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let patch = match module.edit(body, &view, &output.edits) {
            Ok(patch) => patch,
            Err(reason) => {
                reached("the text cannot follow", true);
                assert!(!reason.is_empty());
                Patch::default()
            }
        };
        reached(pass, !patch.is_empty());
        let changed = String::from_utf8(patch.apply(text.as_bytes())).expect("the text was UTF-8");
        if pass != REGALLOC && !forgets {
            let applied = output.edits.apply(&view.function).expect("the edits fit").function;
            check_same_view(&changed, if patch.is_empty() { &view.function } else { &applied });
        }
        text = changed;
    }
    Ok(([original, text], seed))
}

/// Checks that the view of a PTX module is the edited view, except for register numbers and the names of moves.
fn check_same_view(text: &str, expected: &Function) {
    let module = Module::read("-", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let body = module.bodies().first().expect("a function");
    let view = module.view(body).unwrap_or_else(|reason| panic!("{reason}\n{text}"));
    let (own, expected) = (skeleton(&view.function), skeleton(expected));
    assert_eq!(own.len(), expected.len(), "{text}");
    own.iter().zip(&expected).for_each(|(one, other)| assert_eq!(one, other, "{text}"));
}

/// Returns the instructions without register numbers: a new view may assign other registers to definitions. The run of
/// the program tests the register contents.
fn skeleton(function: &Function) -> Vec<String> {
    let mut lines = Vec::new();
    for block in function.blocks() {
        for inst in function.block_insts(block) {
            let name = function.opcodes().name(function.opcode(inst));
            // The operands of a scope depend on register assignment, too: two operands may be the same register.
            if name == "INLINEASM" {
                lines.push(name.to_owned());
                continue;
            }
            let name = match function.as_copy(inst) {
                Some((to, _)) => format!("MOV_B{}_r", function.class(to).bits()),
                None => name.to_owned(),
            };
            let operands = function.operands(inst).iter().map(|operand| match operand.value {
                Value::Reg(reg) => {
                    let is_def = operand.flags.contains(OperandFlags::DEF);
                    format!("{}{}", if is_def { "def " } else { "" }, function.class(reg).name())
                }
                Value::Symbol(symbol) => function.symbol(symbol).to_owned(),
                // An empty block does not exist in the PTX module.
                Value::Block(_) => "block".to_owned(),
                other => format!("{other:?}"),
            });
            lines.push(format!("{name} {}", operands.collect::<Vec<_>>().join(", ")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::explore;
    use super::*;

    /// Random bytes are rarely PTX; the next test covers accepted PTX.
    #[test]
    fn any_bytes() {
        explore(check_ptx_text, 1_000, &[]);
    }

    #[test]
    fn changed_programs() {
        explore(check_ptx_changed, 1_000, &[("changed and read", 20)]);
    }

    /// Every pass acts on programs with conditional definitions, and preserves their meaning.
    #[test]
    fn passes_on_conditional_definitions() {
        let expected =
            [(SCHEDULE, 10), (RENAME, 10), (REMAT, 0), (REGALLOC, 1), (COPY_COALESCER, 1), (SHARED_ADDRESSES, 2)];
        explore(check_ptx_passes, 4_000, &expected);
    }

    #[test]
    fn shared_addresses() {
        explore(check_shared_addresses, 2_000, &[("a register is shared", 10)]);
    }

    #[test]
    fn loop_shape() {
        explore(check_loop_shape, 2_000, &[("a loop is turned", 15), ("a loop that ends is turned", 6)]);
    }

    /// The emulator agrees with the interpreter, on programs that passes preserve and on programs that wrong views
    /// change.
    #[test]
    fn emulator() {
        explore(check_emulator, 3_000, &[("compared", 70), ("told apart by both", 0)]);
    }

    /// A view that ignores that a conditional definition reads the old value leads to programs with other results.
    #[test]
    fn a_forgotten_read_is_caught() {
        let oracle = |u: &mut Unstructured<'_>| {
            reached("caught", !passes_keep_the_meaning(u, true)?);
            Ok(())
        };
        explore(oracle, 2_000, &[("caught", 1)]);
    }
}
