//! A decoded program: functions as dense lists of operations on rows of registers.
//!
//! A row is a register of a warp: its values in 32 lanes. Constants and special registers are rows that are filled when
//! a function is entered, so every source of an operation is a row.

use rustc_hash::FxHashMap;

pub(crate) use super::access::{Address, AtomicOp, Order, Space};
pub(crate) use super::bulk::Bulk;
pub(crate) use super::product::{GroupMultiply, LeftFactor, Multiply, Tile};
pub(crate) use super::row::{CarriedKind, Init, LaneMask, Row, RowInfo, SINK, Special, ZERO};
pub(crate) use super::tensor::{TensorMultiply, TensorOp};

use super::pure::{MOST_SOURCES, Pure};
use super::source::Sources;
use super::types::{Kind, Ty};
use crate::ptx::Unread;
use crate::target::machine::Repartition;

/// A load or store of one or more elements.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) address: Address,
    pub(crate) ty: Ty,
    pub(crate) elements: Vec<Row>,
    /// The kind of each element.
    pub(crate) kinds: Vec<Kind>,
    /// The class of registers of each element. The class gets the kind of the values that are read into it.
    pub(crate) carried: Vec<Option<CarriedKind>>,
    pub(crate) order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// Collective operations of a warp.
#[derive(Clone, Debug)]
pub(crate) enum WarpOp {
    Shuffle { mode: ShuffleMode, to: Row, is_inside: Row, value: Row, lane: Row, control: Row },
    Vote { vote: Vote, to: Row, predicate: Row },
    Match { is_all: bool, to: Row, is_same: Row, value: Row },
    Reduce { reduction: Reduction, ty: Ty, to: Row, value: Row },
    Elect { to: Row, is_elected: Row },
    Synchronise,
    LoadMatrix { to: Vec<Row>, address: Address, is_transposed: bool, carried: Vec<Option<CarriedKind>> },
    StoreMatrix { from: Vec<Row>, address: Address, is_transposed: bool, kinds: Vec<Kind> },
    MoveMatrix { to: Row, from: Row },
    Multiply(Box<Multiply>),
    GroupMultiply(Box<GroupMultiply>),
    // In tensor memory; an allocation stores the resulting address at `at`.
    Tensor { op: Box<TensorOp>, at: Address },
    LoadTile { to: Vec<Row>, address: Address, stride: Row, tile: Tile },
    StoreTile { from: Vec<Row>, address: Address, stride: Row, tile: Tile },
}

/// Kinds of arrivals at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierMode {
    Sync,
    Arrive,
    And,
    Or,
    Count,
}

/// Operations on an mbarrier.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MbarrierOp {
    Init {
        count: Row,
    },
    Invalidate,
    Arrive {
        to: Row,
        count: Row,
        expected: Row,
        drops: bool,
    },
    Expect {
        bytes: Row,
    },
    Complete {
        bytes: Row,
    },
    /// `test_wait` and `try_wait`: whether the phase is over whose parity is a bit of `by`.
    Test {
        to: Row,
        by: Row,
        bit: u32,
    },
}

/// How a thread's copies count when they arrive at an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// As an additional arrival, which is first added to the expected count.
    Counted,
    /// As an arrival that the mbarrier already expects.
    Planned,
    /// As a byte that the mbarrier already expects.
    Transaction,
}

/// The target of a call.
#[derive(Clone, Debug)]
pub(crate) enum Callee {
    Function(usize),
    Indirect(Row),
    /// A function without a body.
    Missing(String),
}

/// A parameter or result: in registers, or in bytes of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Register(Row),
    Frame { offset: u32, bytes: u32 },
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) arguments: Vec<Place>,
    pub(crate) returns: Vec<Place>,
}

/// The operation of an instruction.
#[derive(Debug)]
pub(crate) enum Op {
    Pure {
        pure: Pure,
        to: [Row; 2],
        from: [Row; MOST_SOURCES],
    },
    /// A selection of one of two rows. The other row may be undefined.
    Select {
        to: Row,
        yes: Row,
        no: Row,
        by: Row,
    },
    Move {
        to: Row,
        from: Row,
    },
    /// A conversion of an address between spaces with the same addresses.
    MoveAddress {
        to: Row,
        from: Row,
    },
    /// `{a, b}` into a wider register: each part has `bits` bits.
    Pack {
        to: Row,
        parts: Vec<Row>,
        bits: u32,
    },
    Unpack {
        parts: Vec<Row>,
        from: Row,
        bits: u32,
    },
    Load(Access),
    Store(Access),
    Atomic {
        address: Address,
        op: AtomicOp,
        ty: Ty,
        to: Row,
        from: [Row; 2],
        kind: Kind,
    },
    /// `isspacep`.
    IsSpace {
        to: Row,
        from: Row,
        space: Space,
        is_global: bool,
    },
    Warp {
        op: WarpOp,
        mask: Row,
    },
    /// The active threads. If some threads of the warp are elsewhere, PTX does not define this set; machine code does,
    /// by its convergence registers.
    ActiveMask {
        to: Row,
        is_known: bool,
    },
    /// The value of the first active thread, for the warp.
    First {
        to: Row,
        from: Row,
    },
    Barrier {
        mode: BarrierMode,
        id: Row,
        count: Option<Row>,
        to: Row,
        predicate: Row,
        negated: bool,
    },
    Mbarrier {
        address: Address,
        op: MbarrierOp,
    },
    AsyncCopy {
        to: Address,
        from: Address,
        bytes: u32,
        given: Option<Row>,
    },
    /// Boxed, because copies of tensors are rare and large.
    Bulk(Box<Bulk>),
    /// `tcgen05.mma`: each active thread starts a product.
    TensorMultiply(Box<TensorMultiply>),
    AsyncCommit,
    AsyncWait {
        left: u32,
    },
    AsyncArrive {
        address: Address,
        as_what: Arrival,
    },
    Fence,
    Nothing,
    /// `setmaxnreg`.
    Registers(Repartition),
    Branch {
        target: u32,
    },
    IndexedBranch {
        index: Row,
        targets: Vec<u32>,
    },
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
    StackSave {
        to: Row,
    },
    StackRestore {
        from: Row,
    },
    Alloca {
        to: Row,
        bytes: Row,
        alignment: u32,
    },
    /// An unknown function of registers: a hash of name and inputs.
    Hashed {
        name: usize,
        to: Vec<Row>,
        from: Vec<Row>,
    },
    /// An operation that cannot be executed: a launch that reaches it is not comparable.
    Unknown(String),
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct Inst {
    pub(crate) op: Op,
    /// The guard predicate, and whether it is negated.
    pub(crate) guard: Option<(Row, bool)>,
    /// The line in the PTX file.
    pub(crate) line: u32,
    /// Whether it is the first of its statement.
    pub(crate) is_first: bool,
    /// Whether it begins a block.
    pub(crate) is_leader: bool,
    /// Whether the warp executes it once: its results are the same in all lanes, whichever threads are active.
    pub(crate) is_uniform: bool,
}

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct KernelParameter {
    pub(crate) name: String,
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
    pub(crate) ty: Option<Ty>,
    /// Whether it is declared as an address.
    pub(crate) is_pointer: bool,
}

/// A decoded function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) insts: Vec<Inst>,
    pub(crate) rows: Vec<RowInfo>,
    pub(crate) frame_bytes: u32,
    pub(crate) parameters: Vec<Place>,
    pub(crate) returns: Vec<Place>,
    pub(crate) kernel: Option<Kernel>,
    /// Whether it has atomic operations. Its volatile reads are then of places where threads meet.
    pub(crate) has_atomics: bool,
}

/// Directives of a kernel that affect launches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) parameters: Vec<KernelParameter>,
    pub(crate) required_block: Option<[u32; 3]>,
    pub(crate) largest_block: Option<[u32; 3]>,
    /// Registers of each thread at entry, if the kernel asks for more or fewer later and ptxas honours this.
    pub(crate) registers_at_entry: Option<u32>,
}

/// A variable of global or constant memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// Initial contents.
    pub(crate) content: Vec<u8>,
}

/// A decoded PTX module.
#[derive(Debug, Default)]
pub struct Program {
    pub(crate) functions: Vec<Function>,
    pub(crate) variables: Vec<Variable>,
    /// The names of hashed instructions.
    pub(crate) hashed: Vec<String>,
    /// Start of the shared variables of unknown size.
    pub(crate) dynamic_shared: u32,
    /// The known end of shared memory: after the variables, unless one has an unknown size.
    pub(crate) shared_end: u32,
    pub(crate) addresses_of_functions: FxHashMap<u64, usize>,
    /// Source lines of the PTX file's lines.
    pub(crate) sources: Sources,
    /// Functions of the PTX module that could not be read.
    pub(crate) unread: Vec<Unread>,
    /// Whether it is machine code: the lines of its instructions are then their numbers in the function, from 1.
    pub(crate) is_machine_code: bool,
}

impl Program {
    /// Returns the functions of the PTX module that could not be read. No launch runs one of them.
    pub fn unread(&self) -> &[Unread] {
        &self.unread
    }

    /// Whether it is machine code.
    pub fn is_machine_code(&self) -> bool {
        self.is_machine_code
    }

    /// Returns an instruction's position for messages: a line of the PTX file, or an address in the function.
    pub fn place(&self, line: u32) -> String {
        if self.is_machine_code {
            return format!("instruction {:#06x}", line.saturating_sub(1) * MACHINE_BYTES);
        }
        format!("line {line}")
    }

    /// Returns the names of all functions, in order.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|function| function.name.as_str())
    }

    /// Returns the names of the kernels, in order.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().filter(|function| function.kernel.is_some()).map(|function| function.name.as_str())
    }

    /// Returns the number of parameters of a kernel.
    pub fn num_parameters(&self, kernel: &str) -> Option<usize> {
        let kernel = self.functions[self.kernel(kernel)?].kernel.as_ref()?;
        Some(kernel.parameters.len())
    }

    /// Returns the bytes of each parameter of a kernel.
    pub fn parameter_sizes(&self, kernel: &str) -> Option<Vec<usize>> {
        let kernel = self.functions[self.kernel(kernel)?].kernel.as_ref()?;
        Some(kernel.parameters.iter().map(|parameter| parameter.bytes as usize).collect())
    }

    pub(crate) fn kernel(&self, name: &str) -> Option<usize> {
        self.functions.iter().position(|function| function.kernel.is_some() && function.name == name)
    }
}

/// Bytes of a machine instruction.
const MACHINE_BYTES: u32 = 16;

/// Returns the address that represents a function.
pub(crate) fn function_address(name: &str) -> u64 {
    0x7000_0000_0000_0000 | super::types::hash_of(name) >> 8 << 4
}
