//! What inline assembly does beyond its registers, as far as its text tells.
//!
//! Assembly that C++ calls `volatile` may do anything to memory, as LLVM sees it, so that no load is the same behind it
//! as ahead. NVIDIA's own headers call `dp4a` so, and many kernels their matrix instructions. NVIDIA's compiler goes by
//! what C++ says instead: without `"memory"` among its clobbers assembly leaves memory alone.

use crate::function::{Effects, Function, Inst, MemorySpace, Operand, Value};

/// What inline assembly does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssemblyEffects {
    /// Beyond registers.
    pub effects: Effects,
    /// In which memory.
    pub space: MemorySpace,
    /// Whether it may read what another thread writes meanwhile, so that a loop may wait for it.
    pub may_wait: bool,
}

/// Instructions that compute their results from their operands, by the part of their name ahead of the first dot.
const COMPUTE: &[&str] = &[
    "abs",
    "add",
    "addc",
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
    "madc",
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
    "subc",
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

/// Instructions in which all threads of a warp compute together.
const COMPUTE_TOGETHER: &[&str] = &["mma", "movmatrix"];

/// Words in the names of loads and stores that keep their order with others, or that are to see what others write.
const STRONG: &[&str] = &["volatile", "relaxed", "acquire", "release", "mmio", "cv", "wt", "async", "weak"];

impl AssemblyEffects {
    /// Reads a text, and the constraints as LLVM IR has them. What is not known for certain is `None`: whatever has a
    /// label, jumps, names a special register (as all do whose name has a `%`), or has no instruction at all, which C++
    /// has for a barrier. O(text).
    pub fn of(text: &str, constraints: &str) -> Option<Self> {
        if text.contains(['%', '#', '"']) || text.contains("/*") || constraints.contains(['*', 'm']) {
            return None;
        }
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
        let statements = lines.flat_map(|line| line.split(';'));
        let bare = statements.map(|statement| statement.trim_start_matches(['{', '}', ' ', '\t', '\r']));
        let instructions = bare.filter(|statement| !statement.is_empty() && !statement.starts_with(".reg"));
        instructions.map(Self::of_instruction).reduce(|all, one| Some(all?.and(one?)))?
    }

    fn of_instruction(statement: &str) -> Option<Self> {
        let mut words = statement.split_ascii_whitespace();
        // Under a predicate it does what it does, or nothing.
        let name = words.find(|word| !word.starts_with('@'))?;
        let mut parts = name.split('.');
        let base = parts.next()?;
        let has = |wanted: &[&str]| name.split('.').any(|part| wanted.contains(&part));
        let (effects, may_wait) = match base {
            _ if COMPUTE.contains(&base) => (Effects::empty(), false),
            _ if COMPUTE_TOGETHER.contains(&base) => (Effects::CONVERGENT, false),
            "ldmatrix" => (Effects::READ | Effects::CONVERGENT, false),
            "stmatrix" => (Effects::WRITE | Effects::CONVERGENT, false),
            "ld" if !has(STRONG) => (Effects::READ, !has(&["nc"])),
            "st" if !has(STRONG) => (Effects::WRITE, false),
            _ => return None,
        };
        let space = match base {
            "ldmatrix" | "stmatrix" => MemorySpace::Shared,
            "ld" | "st" => parts.find_map(space_of).unwrap_or_default(),
            _ => MemorySpace::Generic,
        };
        Some(Self { effects, space, may_wait })
    }

    /// What both do together.
    fn and(self, other: Self) -> Self {
        let space = match (self.effects.intersects(Effects::MEMORY), other.effects.intersects(Effects::MEMORY)) {
            (true, true) if self.space != other.space => MemorySpace::Generic,
            (true, _) => self.space,
            (false, _) => other.space,
        };
        Self { effects: self.effects | other.effects, space, may_wait: self.may_wait || other.may_wait }
    }
}

/// The space that a part of a name stands for.
fn space_of(part: &str) -> Option<MemorySpace> {
    match part {
        "global" => Some(MemorySpace::Global),
        "shared" | "shared::cta" => Some(MemorySpace::Shared),
        "shared::cluster" => Some(MemorySpace::SharedCluster),
        "local" => Some(MemorySpace::Local),
        "const" => Some(MemorySpace::Constant),
        _ => None,
    }
}

/// The function with its inline assembly doing what the text says, where that is less than anything; `None` where it
/// has no such assembly. What LLVM knows to access memory by its constraints stays as it is.
///
/// For ptxas nothing is volatile but what PTX calls so: it gives loads and stores without order any order that their
/// addresses allow. O(size).
pub fn with_assembly_effects(function: &Function) -> Option<Function> {
    let known = |inst| {
        let Some(Operand { value: Value::Symbol(text), .. }) = function.operands(inst).first() else { return None };
        let is_anything = function.effects(inst) | Effects::CONVERGENT == Effects::OPAQUE | Effects::CONVERGENT;
        let is_assembly = || function.opcodes().name(function.opcode(inst)) == "INLINEASM";
        let is_unknown = is_anything && is_assembly();
        is_unknown.then(|| AssemblyEffects::of(function.symbol(*text).trim_start_matches('&'), ""))?
    };
    let all: Vec<(Inst, AssemblyEffects)> = function.insts().filter_map(|inst| Some((inst, known(inst)?))).collect();
    (!all.is_empty()).then(|| {
        let mut told = function.clone();
        all.into_iter().for_each(|(inst, known)| told.set_effects(inst, known.effects, known.space));
        told
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Effects, space, and whether it may wait for another thread.
    fn of(text: &str) -> Option<(Effects, MemorySpace, bool)> {
        let AssemblyEffects { effects, space, may_wait } = AssemblyEffects::of(text, "=r,r,r")?;
        Some((effects, space, may_wait))
    }

    const COMPUTES: Option<(Effects, MemorySpace, bool)> = Some((Effects::empty(), MemorySpace::Generic, false));
    const TOGETHER: Option<(Effects, MemorySpace, bool)> = Some((Effects::CONVERGENT, MemorySpace::Generic, false));

    /// What computes only is known by its instructions, all of them.
    #[test]
    fn computes() {
        assert_eq!(of("dp4a.s32.s32 $0, $1, $2, $3;"), COMPUTES);
        assert_eq!(of("{ .reg .b16 low,high;\n\t mov.b32 {low,high}, $1;\n\t cvt.f32.f16 $0, low;}"), COMPUTES);
        assert_eq!(of("{.reg .pred p; setp.ne.b32 p, $1, 0; @p mov.b32 $0, 7; // a word\n}"), COMPUTES);
    }

    /// What a warp does together stays together.
    #[test]
    fn together() {
        assert_eq!(of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0}, {$1}, {$2}, {$0};"), TOGETHER);
        assert_eq!(of("mov.b32 $0, 0; mma.sync.aligned.m8n8k4 {$0}, {$1}, {$2}, {$0};"), TOGETHER);
        let reads = Some((Effects::READ | Effects::CONVERGENT, MemorySpace::Shared, false));
        assert_eq!(of("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];"), reads);
        assert_eq!(of("ldmatrix.sync.aligned.m8n8.x1.b16 {$0}, [$1]; mma.sync {$0}, {$0}, {$0}, {$0};"), reads);
    }

    /// Loads and stores that PTX gives no order read and write the memory that they name.
    #[test]
    fn accesses() {
        use MemorySpace::{Generic, Global, Shared};
        assert_eq!(of("ld.global.nc.b32 $0, [$1];"), Some((Effects::READ, Global, false)));
        assert_eq!(
            of("mov.u32 $0, $3;\n\t@$2 ld.global.v4.b32 { $0 }, [ $1 + 0 ];"),
            Some((Effects::READ, Global, true))
        );
        assert_eq!(of("@$2 st.shared::cta.b32 [ $0 + 0 ], $1;"), Some((Effects::WRITE, Shared, false)));
        assert_eq!(of("ld.b32 $0, [$1];"), Some((Effects::READ, Generic, true)));
        let both = Some((Effects::READ | Effects::WRITE, Generic, true));
        assert_eq!(of("ld.shared.b32 $0, [$1]; st.global.b32 [$2], $0;"), both);
        assert_eq!(of("add.s32 $0, $1, 1; ld.shared.b32 $0, [$0];"), Some((Effects::READ, Shared, true)));
    }

    /// Whatever is not known may do anything: accesses with an order, jumps, special registers, other threads, memory
    /// that the constraints name, and what has no instruction, for it holds values where it stands.
    #[test]
    fn unknown() {
        for text in [
            "ld.volatile.global.b32 $0, [$1];",
            "ld.acquire.gpu.global.b32 $0, [$1];",
            "ld.global.cv.b32 $0, [$1];",
            "st.release.gpu.global.b32 [$0], $1;",
            "st.async.shared::cluster.b32 [$0], $1, [$2];",
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
            "",
            " // wait for regs: $0,$1",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(AssemblyEffects::of("add.s32 $0, $1, $2;", "=r,r,r,~{memory}"), None);
        assert_eq!(AssemblyEffects::of("add.s32 $0, $1, $2;", "=*r,r,r"), None);
    }

    /// In a function, what may do anything does what its text says, and all else stays as it was.
    #[test]
    fn told() {
        let view = |effects: &str| {
            let text = format!(
                "mfv 1\nfunction \"k\"\nopcode INLINEASM\nregs %0 B32 B32\n@0 = \"&popc.b32 $0, $1;\"\n\
                 @1 = \"&@$1 ld.shared.b32 $0, [4];\"\nbb0: frequency 1.0 depth 0\n  \
                 INLINEASM @0, 1, 10, def %0, 9, %1 :: {effects}\n  INLINEASM @1, 1, 10, def %0, 9, %1 :: {effects}\nend\n"
            );
            Function::parse(&text).expect("a view")
        };
        let told = with_assembly_effects(&view("opaque convergent")).expect("its assembly is known");
        let of = |inst: u32| (told.effects(Inst(inst)), told.memory_space(Inst(inst)));
        assert_eq!(of(0), (Effects::empty(), MemorySpace::Generic));
        assert_eq!(of(1), (Effects::READ, MemorySpace::Shared));
        assert_eq!(with_assembly_effects(&view("opaque read write")), None);
    }
}
