//! What ptxas sees in each instruction: what may move, what it costs beside its operands.

use crate::function::{Effects, Function, Inst, MemorySpace, OpcodeFacts, Role, Symbol, Value};
use crate::index::IndexVec;
use crate::target::{OpcodeInfo, Purity, classify, named_space};

/// How an instruction's place may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    /// A function of its operands: anywhere between them and its readers.
    Free,
    /// A load: not across stores and what is ordered.
    Load,
    /// A store: not across loads, stores and what is ordered.
    Store,
    /// Calls, barriers, exchanges between threads, volatile accesses, terminators: not across anything but what is
    /// free.
    Ordered,
}

/// Operations that the hardware has no instruction for, and whose sequences need registers of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expansion {
    /// One instruction, or a few that need nothing.
    None,
    /// Integer division or remainder, up to 32 bits.
    Division32,
    /// Integer division or remainder of 64 bits: a subroutine.
    Division64,
    /// Division or a square root of 64-bit floating-point numbers: a subroutine.
    Double,
}

/// What is known of an opcode.
struct Known {
    info: OpcodeInfo,
    expansion: Expansion,
    is_double: bool,
    is_anonymous: bool,
}

/// The behaviour of all instructions of a function.
pub(super) struct Behaviours {
    known: OpcodeFacts<Known>,
    motions: IndexVec<Inst, Motion>,
}

impl Behaviours {
    /// O(instructions), and the names of the opcodes that occur and the texts of inline assembly once each.
    pub(super) fn new(function: &Function) -> Self {
        let mut known = OpcodeFacts::new(function.opcodes());
        let mut texts: IndexVec<Symbol, Option<Motion>> = IndexVec::filled(None, function.num_symbols());
        let motions = function.insts().map(|inst| {
            let opcode = function.opcode(inst);
            let known: &Known = known.get_or_insert_with(opcode, || Known::new(function.opcodes().name(opcode)));
            motion(function, inst, &known.info, &mut texts)
        });
        let motions = motions.collect();
        Self { known, motions }
    }

    /// What an instruction's opcode is.
    pub(super) fn info(&self, function: &Function, inst: Inst) -> &OpcodeInfo {
        self.known.get(function.opcode(inst)).map_or(&OpcodeInfo::UNKNOWN, |known| &known.info)
    }

    /// How an instruction's place may change.
    pub(super) fn motion(&self, inst: Inst) -> Motion {
        self.motions[inst]
    }

    /// Whether an instruction is a sequence of several.
    pub(super) fn expansion(&self, function: &Function, inst: Inst) -> Expansion {
        self.known.get(function.opcode(inst)).map_or(Expansion::None, |known| known.expansion)
    }

    /// Whether an instruction computes with 64-bit floating-point numbers.
    pub(super) fn is_double(&self, function: &Function, inst: Inst) -> bool {
        self.known.get(function.opcode(inst)).is_some_and(|known| known.is_double)
    }

    /// Whether LLVM has no name for an instruction's opcode: shuffles, votes, matrix instructions.
    pub(super) fn is_anonymous(&self, function: &Function, inst: Inst) -> bool {
        self.known.get(function.opcode(inst)).is_some_and(|known| known.is_anonymous)
    }
}

impl Known {
    fn new(name: &str) -> Self {
        let is_double = name.contains("f64") || name.contains("F64") || name.starts_with("FDIV64");
        let divides = ["SDIV", "UDIV", "SREM", "UREM"].iter().any(|prefix| name.starts_with(prefix));
        let expansion = match name {
            _ if divides && name[4..].starts_with("64") => Expansion::Division64,
            _ if divides => Expansion::Division32,
            _ if name.starts_with("FDIV64") || (is_double && name.contains("SQRT")) => Expansion::Double,
            _ => Expansion::None,
        };
        Self { info: classify(name), expansion, is_double, is_anonymous: name.starts_with("anonymous_") }
    }
}

fn motion(function: &Function, inst: Inst, info: &OpcodeInfo, texts: &mut IndexVec<Symbol, Option<Motion>>) -> Motion {
    let effects = function.effects(inst);
    let keeps_order = Effects::ORDERED | Effects::CALL_SEQUENCE | Effects::OPAQUE | Effects::TERMINATOR;
    match info.purity {
        // No code comes of debug values.
        _ if function.role(inst) == Role::Debug => Motion::Free,
        Purity::InlineAsm => match function.operands(inst).first().map(|operand| operand.value) {
            Some(Value::Symbol(symbol)) => {
                *texts[symbol].get_or_insert_with(|| motion_of_assembly(function.symbol(symbol)))
            }
            _ => Motion::Ordered,
        },
        Purity::Reads | Purity::ReadsInvariant if !effects.intersects(keeps_order) => Motion::Load,
        Purity::Writes if !effects.intersects(keeps_order) => Motion::Store,
        _ if effects.is_pure() => Motion::Free,
        _ => Motion::Ordered,
    }
}

/// How inline assembly may move. To LLVM it is a box that must not be opened; to ptxas it is instructions like any
/// others, and nearly always arithmetic (conversions and half-precision operations of CUDA's headers).
fn motion_of_assembly(text: &str) -> Motion {
    const ORDERED: &[&str] = &[
        "activemask",
        "atom",
        "bar",
        "barrier",
        "brkpt",
        "call",
        "clusterlaunchcontrol",
        "cp",
        "discard",
        "elect",
        "exit",
        "fence",
        "griddepcontrol",
        "mapa",
        "match",
        "mbarrier",
        "membar",
        "nanosleep",
        "prefetch",
        "red",
        "redux",
        "setmaxnreg",
        "shfl",
        "st",
        "stmatrix",
        "tcgen05",
        "trap",
        "vote",
        "wgmma",
    ];
    let mut motion = Motion::Free;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | '%');
    for word in text.split(|c| !is_part(c)) {
        let stem = word.split('.').next().unwrap_or_default();
        let has = |part: &str| word.contains(part);
        if ORDERED.binary_search(&stem).is_ok() {
            return Motion::Ordered;
        }
        if word.starts_with('%') && (has("clock") || has("timer")) {
            return Motion::Ordered;
        }
        if matches!(stem, "ld" | "ldu" | "ldmatrix" | "tex") {
            if has("volatile") || has("acquire") || has("relaxed") {
                return Motion::Ordered;
            }
            motion = Motion::Load;
        }
    }
    motion
}

/// Whether an instruction reads a parameter of the function itself, which stands in constant memory in a kernel; a
/// call's results are read from the same space.
pub(super) fn reads_own_parameter(function: &Function, info: &OpcodeInfo, inst: Inst) -> bool {
    info.purity == Purity::Reads
        && !function.effects(inst).contains(Effects::CALL_SEQUENCE)
        && named_space(function.operands(inst)) == MemorySpace::Param
}

#[cfg(test)]
mod tests {
    use super::{Motion, motion_of_assembly};

    /// Arithmetic floats, loads stay behind stores, and what other threads or memory see keeps its order.
    #[test]
    fn assembly() {
        assert_eq!(motion_of_assembly("&{ cvt.rn.f16.f32 $0, $1;}\n"), Motion::Free);
        assert_eq!(motion_of_assembly("&{mul.f16 $0,$1,$2;\n}"), Motion::Free);
        assert_eq!(motion_of_assembly("&ld.global.nc.v4.f32 {$0,$1,$2,$3}, [$4];"), Motion::Load);
        assert_eq!(motion_of_assembly("&ld.volatile.global.u32 $0, [$1];"), Motion::Ordered);
        assert_eq!(motion_of_assembly("&@$0 st.global.b32 [ $1 + 0 ], { $2 };"), Motion::Ordered);
        assert_eq!(motion_of_assembly("&cp.async.cg.shared.global [$0], [$1], 16;"), Motion::Ordered);
        assert_eq!(motion_of_assembly("&mov.u32 $0, %clock;"), Motion::Ordered);
    }
}
