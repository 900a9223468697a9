//! Whether inline assembly always continues with the next instruction, and whether it may fault on a path on which it
//! did not execute before, as far as its text determines this.

use super::assembly_effects::{AssemblyEffects, is_of_word};
use crate::function::Effects;

/// PTX instructions after which the next instruction may not execute, by the part of their name before the first dot.
const LEAVE: &[&str] = &["bra", "brkpt", "brx", "call", "exit", "ret", "trap"];

/// Returns the effects of inline assembly, refined by its text as LLVM stores it. O(text).
///
/// Assembly with side effects always continues with the next instruction unless one of its words names a jump, a call,
/// or an instruction that ends or stops the thread. Pure assembly cannot fault if all of its instructions are known to
/// compute.
pub fn told_by_text(effects: Effects, text: &str) -> Effects {
    let text = text.trim_start_matches('&');
    if effects.is_pure() {
        let computes =
            matches!(AssemblyEffects::of(text, ""), AssemblyEffects::Computes | AssemblyEffects::ComputesTogether);
        return if computes { effects - Effects::MAY_FAULT } else { effects };
    }
    let mut words = text.split(|c: char| !is_of_word(c));
    let leaves = words.any(|word| word.split('.').next().is_some_and(|base| LEAVE.contains(&base)));
    if leaves { effects } else { effects - Effects::TRAP }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: Effects = Effects::OPAQUE.union(Effects::TRAP);

    /// Assembly that neither jumps nor ends the thread returns, independently of its effects on memory and other
    /// threads.
    #[test]
    fn what_leaves_is_known_by_its_name() {
        for text in [
            "&st.global.b32 [$1], 1;",
            "bar.sync 0;",
            "{ .reg .pred p; setp.ne.b32 p, $1, 0; @p ld.global.b32 $0, [$2]; }",
            "mbarrier.try_wait.parity.shared::cta.b64 $0, [$1], $2; // try",
            "",
        ] {
            assert_eq!(told_by_text(UNKNOWN, text), Effects::OPAQUE, "{text}");
        }
        for text in [
            "trap;",
            "@$1 exit;",
            "mov.b32 $0, 1;\n\t@$1 bra done;\ndone:",
            "wait: mbarrier.try_wait.shared.b64 p, [$0]; @!p bra wait;",
            "call.uni (retval0), f, (param0);",
            "@ p bra.uni done;",
            "a:bra a;",
            "/* nop */ exit;",
            "$(add.s32 $0, $1, 1;$|trap;$)",
        ] {
            assert_eq!(told_by_text(UNKNOWN, text), UNKNOWN, "{text}");
        }
    }

    /// Pure assembly that loads may fault. Pure assembly that only computes may not.
    #[test]
    fn what_computes_cannot_fault() {
        let pure = Effects::MAY_FAULT;
        assert_eq!(told_by_text(pure, "&cvt.rn.bf16x2.f32 $0, $1, $2;"), Effects::empty());
        assert_eq!(told_by_text(pure, "ld.global.nc.v4.f32 {$0,$1,$2,$3}, [$4];"), pure);
        assert_eq!(told_by_text(pure, "ld.param.b32 $0, [k_param_0];"), pure);
    }
}
