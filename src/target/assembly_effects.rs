//! The effects of inline assembly, as far as its text determines them.
//!
//! For LLVM, assembly that C++ marks `volatile` may change all memory, so a load after it differs from a load before
//! it. NVIDIA's own headers mark `dp4a` as `volatile`, and many kernels mark their matrix instructions. NVIDIA's
//! compiler follows the rule of C++ instead: assembly without the clobber `"memory"` does not access memory.

use std::collections::BTreeSet;

use crate::function::MemorySpace;

/// The effects of inline assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssemblyEffects {
    /// Computes its results from its operands, independently in each thread.
    Computes,
    /// Computes its results from the operands of all threads of a warp.
    ComputesTogether,
    /// Computes and reads memory. Must not be moved.
    Reads,
    /// Computes and executes plain loads.
    Loads,
    /// Any effect.
    Unknown,
}

/// Instructions that compute their results from their operands, by the part of their name before the first dot.
const COMPUTE: &[&str] = &[
    "abs",
    "add",
    "and",
    "bfe",
    "bfi",
    "bfind",
    "bmsk",
    "brev",
    "clz",
    "cnot",
    "copysign",
    "cos",
    "cvt",
    "cvta",
    "div",
    "dp2a",
    "dp4a",
    "ex2",
    "fma",
    "fns",
    "lg2",
    "lop3",
    "mad",
    "mad24",
    "max",
    "min",
    "mov",
    "mul",
    "mul24",
    "neg",
    "not",
    "or",
    "popc",
    "prmt",
    "rcp",
    "rem",
    "rsqrt",
    "sad",
    "selp",
    "set",
    "setp",
    "shf",
    "shl",
    "shr",
    "sin",
    "slct",
    "sqrt",
    "sub",
    "szext",
    "tanh",
    "testp",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmax2",
    "vmax4",
    "vmin",
    "vmin2",
    "vmin4",
    "vset",
    "vset2",
    "vset4",
    "vshl",
    "vshr",
    "vsub",
    "vsub2",
    "vsub4",
    "xor",
];

/// Modifiers of loads that keep an order with accesses of other threads, that bypass caches, or that mark the last use
/// of a line.
const STRONG: &[&str] = &["volatile", "relaxed", "acquire", "mmio", "cv", "lu"];

/// Instructions that all threads of a warp execute together.
const COMPUTE_TOGETHER: &[&str] = &["mma", "movmatrix"];

impl AssemblyEffects {
    /// Determines the effects from the text in LLVM IR and its constraints. Anything that is not known for certain is
    /// [`Unknown`](Self::Unknown): a label, a jump, a special register (all names with a `%`), anything outside plain
    /// PTX, and a text without instructions, which programs use as a compiler barrier. State that other texts may read
    /// or write is unknown, too: the carry flag, and names that are not declared in a scope of the text. O(text).
    pub fn of(text: &str, constraints: &str) -> Self {
        if text.contains(['%', '#', '"']) || text.contains("/*") || constraints.contains(['*', 'm']) {
            return Self::Unknown;
        }
        let mut declared = Vec::new();
        let mut all = None;
        for statement in statements(text) {
            if let Some(declaration) = statement.strip_prefix(".reg").filter(|_| is_in_scope(text, statement)) {
                let names = declaration.trim_start().split_once(char::is_whitespace).map_or("", |(_, names)| names);
                declared.extend(names.split(',').map(str::trim));
            } else {
                let one = Self::of_instruction(statement, &declared);
                all = Some(all.map_or(one, |all: Self| all.and(one)));
            }
        }
        all.unwrap_or(Self::Unknown)
    }

    /// Determines the effects of one statement. `declared` has the names that are declared in its scope.
    fn of_instruction(statement: &str, declared: &[&str]) -> Self {
        let (guard, name, operands) = parts(statement);
        let words = [guard, operands].into_iter().flat_map(|text| text.split(|c: char| !is_of_word(c)));
        let is_own =
            |word: &str| word.starts_with(|c: char| c == '$' || c.is_ascii_digit()) || declared.contains(&word);
        let has = |wanted| name.split('.').any(|part| part == wanted);
        let base = name.split('.').next().unwrap_or_default();
        if !words.filter(|word| !word.is_empty()).all(is_own) || has("cc") {
            Self::Unknown
        } else if COMPUTE.contains(&base) {
            Self::Computes
        } else if COMPUTE_TOGETHER.contains(&base) {
            Self::ComputesTogether
        } else if base == "ldmatrix" || base == "ld" && has("nc") {
            Self::Reads
        } else if base == "ld" && !STRONG.iter().any(|kind| has(kind)) {
            Self::Loads
        } else {
            Self::Unknown
        }
    }

    /// Returns the combined effects of two statements.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Computes, effects) | (effects, Self::Computes) => effects,
            (same, other) if same == other => same,
            _ => Self::Unknown,
        }
    }
}

/// Whether a part of a text is inside braces. Braces in comments do not count. O(text).
fn is_in_scope(text: &str, part: &str) -> bool {
    let ahead = &text[..part.as_ptr() as usize - text.as_ptr() as usize];
    let code = || ahead.lines().flat_map(|line| line.split("//").next().unwrap_or_default().chars());
    code().filter(|&c| c == '{').count() > code().filter(|&c| c == '}').count()
}

/// Returns the memory space that a text reads, if it contains only weak loads and instructions that compute. `None` for
/// every other text. O(text).
pub(super) fn loaded_space(text: &str) -> Option<MemorySpace> {
    let loads = statements(text).map(|statement| parts(statement).1).filter(|name| name.starts_with("ld"));
    let reads = match AssemblyEffects::of(text, "") {
        AssemblyEffects::Loads => true,
        // A matrix load is executed by all threads of a warp together.
        AssemblyEffects::Reads => loads.clone().all(|name| name.starts_with("ld.")),
        _ => false,
    };
    let spaces: BTreeSet<MemorySpace> = loads.map(space_of).collect();
    reads.then(|| if spaces.len() == 1 { spaces.into_iter().next() } else { None }.unwrap_or_default())
}

fn space_of(load: &str) -> MemorySpace {
    match load.split('.').find(|part| part.starts_with("global") || part.starts_with("shared")) {
        Some("global") => MemorySpace::Global,
        Some("shared" | "shared::cta") => MemorySpace::Shared,
        _ => MemorySpace::Generic,
    }
}

/// Returns the statements of a text, without comments and without the leading braces of scopes.
fn statements(text: &str) -> impl Iterator<Item = &str> + Clone {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let statements = lines.flat_map(|line| line.split(';'));
    let bare = statements.map(|statement| statement.trim_start_matches(['{', '}', ' ', '\t', '\r']).trim_end());
    bare.filter(|statement| !statement.is_empty())
}

/// Returns the predicate, name and operands of an instruction. A predicate adds no effects: an instruction under a
/// predicate has its usual effects, or none.
fn parts(statement: &str) -> (&str, &str, &str) {
    let guarded = statement.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace));
    let (guard, rest) = guarded.unwrap_or(("", statement));
    let rest = rest.trim_start();
    let (name, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (guard, name, operands)
}

pub(super) fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')
}

#[cfg(test)]
mod tests {
    use super::AssemblyEffects::{Computes, ComputesTogether, Loads, Reads, Unknown};
    use super::*;

    fn of(text: &str) -> AssemblyEffects {
        AssemblyEffects::of(text, "=r,r,r")
    }

    /// A text computes only if all of its instructions are known to compute.
    #[test]
    fn computes() {
        assert_eq!(of("dp4a.s32.s32 $0, $1, $2, $3;"), Computes);
        assert_eq!(of("{ .reg .b16 low,high;\n\t mov.b32 {low,high}, $1;\n\t cvt.f32.f16 $0, low;}"), Computes);
        assert_eq!(of("{.reg .pred p; setp.ne.b32 p, $1, 0; @p mov.b32 $0, 7; // a word\n}"), Computes);
        assert_eq!(of("mov.b32 {$0}, $1; { .reg .b32 t; add.u32 t, $0, 1; mov.b32 $0, t; }"), Computes);
    }

    /// A text with an instruction for the whole warp computes together. A text that reads memory does not only compute.
    #[test]
    fn together() {
        assert_eq!(of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0}, {$1}, {$2}, {$0};"), ComputesTogether);
        assert_eq!(of("mov.b32 $0, 0; mma.sync.aligned.m8n8k4 {$0}, {$1}, {$2}, {$0};"), ComputesTogether);
        assert_eq!(of("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];"), Reads);
        assert_eq!(of("ld.global.nc.b32 $0, [$1];"), Reads);
        assert_eq!(of("ldmatrix.sync.aligned.m8n8.x1.b16 {$0}, [$1]; mma.sync {$0}, {$0}, {$0}, {$0};"), Unknown);
    }

    /// Plain loads, with and without a mask, and their memory spaces are found. Loads that synchronise with other
    /// threads are not plain.
    #[test]
    fn loads() {
        let masked = "mov.u16 $0, $1;\n\t@$3 ld.global.b16 { $0 }, [ $2 + 0 ];";
        assert_eq!((of(masked), loaded_space(masked)), (Loads, Some(MemorySpace::Global)));
        let mixed = "ld.shared.v2.b32 {$0, $1}, [$2]; ld.b32 $3, [$4];";
        assert_eq!((of(mixed), loaded_space(mixed)), (Loads, Some(MemorySpace::Generic)));
        assert_eq!(loaded_space("ld.global.nc.L1::no_allocate.b32 $0, [$1];"), Some(MemorySpace::Global));
        assert_eq!(loaded_space("ld.shared::cluster.b32 $0, [$1];"), Some(MemorySpace::Generic));
        for text in [
            "ld.relaxed.gpu.global.b32 $0, [$1];",
            "ld.acquire.sys.b32 $0, [$1];",
            "ld.global.cv.b32 $0, [$1];",
            "ld.local.lu.b32 $0, [$1];",
            "ld.global.b32 $0, [$1]; bar.sync 0;",
            "ld.global.b32 $0, [$1]; st.global.b32 [$1], 0;",
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];",
            "ldu.global.b32 $0, [$1];",
            "add.s32 $0, $1, $2;",
        ] {
            assert_eq!(loaded_space(text), None, "{text}");
        }
        assert_eq!(AssemblyEffects::of("ld.global.b32 $0, [$1];", "=r,l,~{memory}"), Unknown);
    }

    /// Any other text may have any effect: accesses that synchronise with other threads, jumps, special registers,
    /// accesses by other threads, memory in the constraints, the carry flag, and registers of other texts. A text
    /// without instructions is a barrier for C++.
    #[test]
    fn unknown() {
        for text in [
            "ld.volatile.global.b32 $0, [$1];",
            "st.shared.b32 [$0], $1;",
            "cp.async.cg.shared.global [$0], [$1], 16;",
            "mov.u32 $0, %clock;",
            "mov.b64 $0, %globaltimer; add.u32 $0, $0, 1;",
            "bar.sync 0;",
            "dp4a.s32.s32 $0, $1, $2, $3; bar.sync 0;",
            "again: bra again;",
            "shfl.sync.idx.b32 $0, $1, 0, 31, -1;",
            "activemask.b32 $0;",
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, 1;",
            "@$1 trap;",
            "@$1",
            "/* add.s32 */ exit;",
            "// add.s32\nexit;",
            "{ .reg .b32 unused; }",
            "add.cc.u32 $0, $1, $2;",
            "addc.u32 $0, $1, $2;",
            "mov.b32 $0, scratch;",
            "mov.b32 scratch, $1;",
            "@flag mov.b32 $0, $1;",
            ".reg .pred p; setp.eq.b32 p, $1, 0; selp.b32 $0, 1, 0, p;",
            "mov.b32 {$0}, $1; .reg .b32 t; mov.b32 t, $0;",
            "mov.b32 {$0}, $1; // {\n .reg .b32 t; mov.b32 t, $0;",
            "mov.u64 $0, array;",
            " // wait for regs: $0,$1",
            "",
        ] {
            assert_eq!(of(text), Unknown, "{text}");
        }
        assert_eq!(AssemblyEffects::of("add.s32 $0, $1, $2;", "=r,r,r,~{memory}"), Unknown);
        assert_eq!(AssemblyEffects::of("add.s32 $0, $1, $2;", "=*r,r,r"), Unknown);
    }
}
