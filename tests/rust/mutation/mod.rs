//! Tests the symbolic checker with edits that keep the meaning and edits that change it.

mod by_running;
mod effects;
mod interpreter;
mod merges;
mod operands;
mod program;
mod pure;
mod sound;
mod speculation;

use arbitrary::{Result, Unstructured};
use nvptx_ra::check::{ErrorKind, check};
use nvptx_ra::function::{Edit, EditList, Inst};
use program::{Program, program};

/// Runs an oracle for a given time, and repeats this until enough cases are tried, because the number of cases in a
/// given time depends on the machine. The oracle adds its results to the counts.
fn explore<const N: usize>(
    budget_ms: u64,
    is_enough: impl Fn(&[u32; N]) -> bool,
    mut oracle: impl FnMut(&mut Unstructured<'_>, &mut [u32; N]) -> Result<()>,
) -> [u32; N] {
    let mut counts = [0; N];
    for _ in 0..20 {
        arbtest::arbtest(|source| oracle(source, &mut counts)).budget_ms(budget_ms).size_min(2048);
        if is_enough(&counts) {
            break;
        }
    }
    counts
}

/// Returns the kinds of errors that the checker finds in edits of a program. Empty if the checker proves the edits.
fn kinds(text: &str, edit: impl FnOnce(&Program, &mut EditList)) -> Vec<ErrorKind> {
    let program = program(text);
    let mut edits = EditList::new(&program.function);
    edit(&program, &mut edits);
    edits.finish();
    match check(&program.function, &edits) {
        Ok(()) => Vec::new(),
        Err(errors) => {
            assert!(errors.iter().all(|error| !error.to_string().contains('\n')));
            errors.iter().map(|error| error.kind).collect()
        }
    }
}

fn accepts(text: &str, edit: impl FnOnce(&Program, &mut EditList)) {
    let program = program(text);
    let mut edits = EditList::new(&program.function);
    edit(&program, &mut edits);
    edits.finish();
    if let Err(errors) = check(&program.function, &edits) {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("not proven:\n{}", errors.join("\n"));
    }
}

fn refuses(kind: ErrorKind, text: &str, edit: impl FnOnce(&Program, &mut EditList)) {
    let kinds = kinds(text, edit);
    assert!(kinds.contains(&kind), "{kind:?} expected, found {kinds:?}");
}

fn merge(program: &Program, edits: &mut EditList, from: &str, into: &str) {
    edits.push(Edit::Merge { from: program.reg(from), into: program.reg(into) });
}

fn delete(edits: &mut EditList, inst: Inst) {
    edits.push(Edit::Delete { inst });
}

fn set(program: &Program, edits: &mut EditList, inst: Inst, operand: u32, reg: &str) {
    edits.push(Edit::SetRegister { inst, operand, reg: program.reg(reg) });
}

const LINE: &str = "
    bb0
    a = ld 1
    b = ld 2
    c = add a b
    d = copy c
    st c
    e = mul d 3
    st e
    ret
";

/// A loop, out of SSA form, with the counter `i` and the sum `s`.
const LOOP: &str = "
    bb0 -> bb1
    n = ld 1
    i0 = imm 0
    s0 = imm 0
    i = copy i0
    s = copy s0
    bb1 -> bb1 bb2
    t = add s i
    j = addi i 1
    p = setlt j n
    s = copy t
    i = copy j
    br p bb1
    bb2
    st s
    ret
";

/// The swap problem: two PHIs of a loop header exchange their values.
const SWAP: &str = "
    bb0 -> bb1
    a0 = ld 1
    b0 = ld 2
    bb1 -> bb1 bb2
    a = phi a0 bb0 b bb1
    b = phi b0 bb0 a bb1
    p = setlt a b
    br p bb1
    bb2
    st a
    st b
    ret
";

#[test]
fn no_edits_are_accepted() {
    for text in [LINE, LOOP, SWAP, CALLS, PAIRS, BRANCH] {
        accepts(text, |_, _| {});
    }
}

const BRANCH: &str = "
    bb0 -> bb1 bb2
    k = imm 7
    a = ld 1
    x = mul a 5
    p = setlt a 3
    br p bb1
    bb1 -> bb3
    y = add x k
    st y
    goto bb3
    bb2 -> bb3
    st k
    bb3
    st a
    ret
";

const CALLS: &str = "
    bb0
    a = ld 1
    k = mul a 3
    start 0
    q = param a
    argument q
    call 5
    r = result 0
    end 0
    start 1
    argument r
    call 6
    end 1
    st k
    ret
";

/// Packs two registers into a wide register and unpacks them, in one block and across blocks.
const PAIRS: &str = "
    bb0 -> bb1
    a = ld 1
    b = ld 2
    w = pack a b
    c d = unpack w
    st c
    st d
    bb1
    e f = unpack w
    g = high w
    st e
    st f
    st g
    w2 = pack e f
    st w2
    ret
";
