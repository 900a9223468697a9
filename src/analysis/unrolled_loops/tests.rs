use super::{Obstacle, UnrolledLoops, Unrolling};
use crate::analysis::{Cfg, Dominators, Loops, Occurrences};
use crate::function::Function;
use crate::target::Classification;

/// Returns the unrolling of a loop, bb1, that counts %0 from 0 or from a thread number, with the given body and last
/// branch.
fn unrolling(start: &str, body: &str, end: &str) -> Result<Unrolling, Obstacle> {
    unrolling_where("", start, body, end)
}

/// Does the same as [`unrolling`], with additional words after the depth of the loop's block.
fn unrolling_where(words: &str, start: &str, body: &str, end: &str) -> Result<Unrolling, Obstacle> {
    let text = format!(
        "mfv 1\nfunction \"k\"\nkernel\nopcode \"mov.u32/%tid.x\"\nopcode MOV_B32_i constant\nopcode \"add.s32/rri\"\n\
         opcode \"add.s32/rrr\"\nopcode \"sub.s32/rri\"\nopcode \"fma.rn.f32/rrrr\"\nopcode \"membar.gl/\"\n\
         opcode \"bar.sync/i\"\nopcode \"setp.ne.s32/rri\"\nopcode \"setp.eq.s32/rri\"\nopcode \"setp.lt.s32/rrr\"\n\
         opcode \"setp.gt.u32/rri\"\nopcode \"setp.ne.s16/rri\"\nopcode \"setp.lt.and.s32/rrrr\"\nopcode \"@bra/l\"\n\
         opcode \"@bra.uni/l\"\nopcode \"bra.uni/l\"\nopcode \"ret/\"\nopcode SETP_i32ri\nopcode CBranch\nopcode GOTO\nopcode LD_i32\n\
         regs %0 B32 B32 B32 B1 B1\n@0 = \"!\"\nbb0: frequency 1.0 depth 0 -> bb1\n  %1 = \"mov.u32/%tid.x\"\n  %0 = {start}\n\
         bb1: frequency 9.0 depth 1 {words} -> bb1 bb2\n{body}{end}\nbb2: frequency 1.0 depth 0\n  \"ret/\" :: terminator\nend\n"
    );
    let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let cfg = Cfg::new(&function);
    let loops = Loops::new(&cfg, &Dominators::new(&function, &cfg));
    let occurrences = Occurrences::new(&function, &|_| true);
    let classification = Classification::by_name(function.opcodes());
    let unrolled = UnrolledLoops::new((&function, &classification), &loops, &occurrences);
    let all: Vec<_> = unrolled.all().collect();
    let [one] = all[..] else { panic!("{} loops", all.len()) };
    one
}

const FMA: &str = "  %2 = \"fma.rn.f32/rrrr\" %2, %2, %2\n";
const STEP: &str = "  %0 = \"add.s32/rri\" %0, 1\n";
const BRANCH: &str = "  \"@bra/l\" bb1, %3 :: terminator";
const THREAD: &str = "\"mov.u32/%tid.x\"";

/// The forms of the last branch, the comparison and the step decide whether a loop is unrolled. The expected results
/// are from probes of ptxas.
#[test]
fn forms_of_loops() {
    let ne = "  %3 = \"setp.ne.s32/rri\" %0, 100\n";
    let of = |body: &str, end: &str| unrolling(THREAD, body, end);
    let partly = Ok(Unrolling::Partly(4));
    assert_eq!(of(&format!("{FMA}{STEP}{ne}"), BRANCH), partly);
    assert_eq!(of(&format!("{FMA}{STEP}{ne}  \"bar.sync/i\" 0 :: ordered convergent\n"), BRANCH), partly);
    assert_eq!(
        of(&format!("{FMA}{STEP}{ne}"), "  \"@bra/l\" bb1, %3 :: terminator\n  \"bra.uni/l\" bb2 :: terminator"),
        partly
    );
    let llvm = "  %3 = SETP_i32ri %0, 100, 1\n";
    assert_eq!(of(&format!("{FMA}{STEP}{llvm}"), "  CBranch %3, bb1 :: terminator\n  GOTO bb2 :: terminator"), partly);
    let eq = "  %3 = \"setp.eq.s32/rri\" %0, 100\n";
    for form in [
        "  \"@bra/l\" bb2, %3 :: terminator\n  \"bra.uni/l\" bb1 :: terminator",
        "  \"@bra/l\" bb1, %3, @0 :: terminator",
    ] {
        let expected = Err(Obstacle::Branch(Some(Unrolling::Partly(4))));
        assert_eq!(of(&format!("{FMA}{STEP}{eq}"), form), expected, "{form}");
        assert_eq!(of(&format!("{FMA}{STEP}{ne}"), form), Err(Obstacle::Branch(None)), "{form}");
    }
    let uniform = "  \"@bra.uni/l\" bb1, %3 :: terminator";
    assert_eq!(of(&format!("{FMA}{STEP}{ne}"), uniform), Err(Obstacle::Branch(Some(Unrolling::Partly(4)))));
    for counted in [
        format!("{ne}{STEP}"),
        format!("{STEP}{eq}"),
        format!("  %0 = \"add.s32/rrr\" %0, %1\n{ne}"),
        format!("{STEP}  %3 = \"setp.ne.s16/rri\" %0, 100\n"),
        format!("{STEP}  %3 = \"setp.lt.and.s32/rrrr\" %0, %1, %4\n"),
        format!("  %1 = \"mov.u32/%tid.x\"\n{STEP}  %3 = \"setp.lt.s32/rrr\" %0, %1\n"),
    ] {
        assert_eq!(of(&format!("{FMA}{counted}"), BRANCH), Err(Obstacle::Counter), "{counted}");
    }
    let fence = format!("  \"membar.gl/\" :: opaque\n{STEP}{ne}");
    assert!(matches!(of(&fence, BRANCH), Err(Obstacle::Instruction(_))));
    let load = "  %2 = LD_i32 0, 0, 1, 3, 32, -1, %1, 0 :: read\n";
    for (body, most) in [("", 18), (load, 44)] {
        let with = |count: usize| of(&format!("{body}{}{STEP}{ne}", FMA.repeat(count)), BRANCH);
        assert_eq!((with(most), with(most + 1)), (partly, Err(Obstacle::Length)));
    }
}

/// Short loops with a known trip count are unrolled completely, and longer loops partially.
#[test]
fn known_turns() {
    let of = |start: i64, step: i64, comparison: &str, instructions: usize| {
        let (name, by) = if step < 0 { ("sub", -step) } else { ("add", step) };
        let count = format!("  %0 = \"{name}.s32/rri\" %0, {by}\n  %3 = {comparison}\n");
        unrolling(&format!("MOV_B32_i {start}"), &format!("{}{count}", FMA.repeat(instructions)), BRANCH)
    };
    let ne = |bound: i64| format!("\"setp.ne.s32/rri\" %0, {bound}");
    assert_eq!(of(0, 1, &ne(5), 1), Ok(Unrolling::Whole(5)));
    assert_eq!(of(0, 4, &ne(400), 6), Ok(Unrolling::Whole(100)));
    assert_eq!(of(12, -3, "\"setp.gt.u32/rri\" %0, 0", 1), Ok(Unrolling::Whole(4)));
    assert_eq!(of(0, 1, &ne(1000), 4), Ok(Unrolling::Partly(80)));
    assert_eq!(of(0, 1, &ne(16), 32), Ok(Unrolling::Whole(16)));
    assert_eq!(of(0, 1, &ne(32), 32), Ok(Unrolling::Partly(10)));
    assert_eq!(of(0, 1, &ne(2), 300), Err(Obstacle::Length));
    assert_eq!(of(0, 3, &ne(100), 1), Ok(Unrolling::Partly(4)), "it never ends");
}

/// The source can forbid unrolling in the loop's header, or in metadata that LLVM will print there, but not before the
/// header's label.
#[test]
fn pragmas() {
    let told = |words: &str, first: &str| {
        let ne = "  %3 = \"setp.ne.s32/rri\" %0, 100\n";
        unrolling_where(words, THREAD, &format!("{first}{FMA}{STEP}{ne}"), BRANCH)
    };
    let partly = Unrolling::Partly(4);
    for words in ["nounroll", "nounroll back"] {
        assert_eq!(told(words, ""), Err(Obstacle::Pragma(Some(partly))), "{words}");
        assert_eq!(told(words, "  \"membar.gl/\" :: opaque\n"), Err(Obstacle::Pragma(None)), "{words}");
    }
    assert_eq!([told("", ""), told("nounroll ahead", "")], [Ok(partly); 2]);
}
