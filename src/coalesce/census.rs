//! Census of a function's moves: the number and the executions of each kind.

use std::collections::BTreeMap;

use crate::function::{Function, Inst, Role, VReg};
use crate::index::IndexVec;
use crate::target::{Classification, CopyFamily};

/// Kind of a move in the census. Each move counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoveKind {
    /// A copy between registers of one class.
    Copy,
    /// A copy of a register that has only one definition, which is a constant.
    CopyOfConstant,
    /// A move of an immediate.
    Immediate,
    /// A move of a symbol or of a parameter's address.
    Symbol,
    /// A read of a special register.
    SpecialRegister,
    /// An address of the stack frame, or of an object in it.
    FrameAddress,
    /// A conversion between register classes that keeps the low bits.
    CrossClass,
    /// Several registers that are assembled into a wider register.
    Pack,
    /// A register that is divided into its parts, or of which one part is extracted.
    Unpack,
    /// An unpack of a register whose only definition is a pack.
    RoundTrip,
    /// A conversion between address spaces.
    AddressSpace,
}

impl MoveKind {
    /// Returns the kind's name in statistics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::CopyOfConstant => "copy of constant",
            Self::Immediate => "immediate",
            Self::Symbol => "symbol",
            Self::SpecialRegister => "special register",
            Self::FrameAddress => "frame address",
            Self::CrossClass => "cross-class",
            Self::Pack => "pack",
            Self::Unpack => "unpack",
            Self::RoundTrip => "round trip",
            Self::AddressSpace => "address space",
        }
    }
}

/// Number of moves of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Moves in the code.
    pub count: u64,
    /// Moves that one run of the function executes, estimated from block frequencies.
    pub executed: f64,
}

/// Counts the moves of a function, by kind. Linear.
pub fn census(function: &Function, classification: &Classification) -> BTreeMap<MoveKind, Tally> {
    let definitions = Definitions::new(function);
    let mut tallies: BTreeMap<MoveKind, Tally> = BTreeMap::new();
    for block in function.blocks() {
        for inst in function.block_insts(block) {
            let family = classification.of(function, inst).family;
            let Some(kind) = kind(function, &definitions, inst, family) else { continue };
            let tally = tallies.entry(kind).or_default();
            tally.count += 1;
            tally.executed += function.frequency(block);
        }
    }
    tallies
}

fn kind(function: &Function, definitions: &Definitions, inst: Inst, family: CopyFamily) -> Option<MoveKind> {
    let only_role = |role: fn(Role) -> bool| {
        let source = function.operands(inst).iter().find_map(|operand| operand.use_reg())?;
        definitions.single(source).filter(|&def| role(function.role(def)))
    };
    Some(match family {
        CopyFamily::Copy | CopyFamily::Move | CopyFamily::Proxy => {
            function.as_copy(inst)?;
            match only_role(|role| role == Role::Constant) {
                Some(_) => MoveKind::CopyOfConstant,
                None => MoveKind::Copy,
            }
        }
        CopyFamily::Immediate => MoveKind::Immediate,
        CopyFamily::Symbol | CopyFamily::Parameter => MoveKind::Symbol,
        CopyFamily::SpecialRegister => MoveKind::SpecialRegister,
        CopyFamily::StackAddress | CopyFamily::FrameAddress => MoveKind::FrameAddress,
        CopyFamily::CrossClass => MoveKind::CrossClass,
        CopyFamily::Pack => MoveKind::Pack,
        CopyFamily::Unpack | CopyFamily::Extract => match only_role(|role| role == Role::Pack) {
            Some(_) => MoveKind::RoundTrip,
            None => MoveKind::Unpack,
        },
        CopyFamily::AddressSpace => MoveKind::AddressSpace,
        CopyFamily::Abi | CopyFamily::NotCopy | CopyFamily::Opaque => return None,
    })
}

/// For each register that has only one definition, this definition.
struct Definitions(IndexVec<VReg, Definition>);

#[derive(Clone, Copy)]
enum Definition {
    None,
    One(Inst),
    Many,
}

impl Definitions {
    fn new(function: &Function) -> Self {
        let mut definitions = IndexVec::filled(Definition::None, function.num_regs());
        for inst in function.insts() {
            for reg in function.operands(inst).iter().filter_map(|operand| operand.def()) {
                definitions[reg] = match definitions[reg] {
                    Definition::None => Definition::One(inst),
                    Definition::One(_) | Definition::Many => Definition::Many,
                };
            }
        }
        Self(definitions)
    }

    fn single(&self, reg: VReg) -> Option<Inst> {
        match self.0[reg] {
            Definition::One(inst) => Some(inst),
            Definition::None | Definition::Many => None,
        }
    }
}
