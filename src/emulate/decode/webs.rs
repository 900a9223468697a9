//! Webs of registers: definitions that reach a common read are one web, whatever the registers' names are.

use rustc_hash::FxHashMap;

use crate::define_index;
use crate::disjoint_sets::DisjointSets;
use crate::emulate::program::{Address, Function, Init, LeftFactor, MbarrierOp, Op, Place, Row, TensorOp, WarpOp};
use crate::emulate::tensor::Factor;

define_index! {
    /// A definition of a register, or its value at the start of a block.
    Value, "v"
}

/// Returns the rows that an operation writes, and the rows that it reads.
pub(super) fn rows(op: &Op) -> (Vec<Row>, Vec<Row>) {
    let at = |address: &Address, more: &[Row]| [&[address.base], more].concat();
    match op {
        Op::Pure { pure, to, from } => (to[..pure.results.len()].to_vec(), from[..pure.sources.len()].to_vec()),
        Op::Select { to, yes, no, by } => (vec![*to], vec![*yes, *no, *by]),
        Op::Move { to, from }
        | Op::First { to, from }
        | Op::MoveAddress { to, from }
        | Op::IsSpace { to, from, .. } => (vec![*to], vec![*from]),
        Op::Pack { to, parts, .. } => (vec![*to], parts.clone()),
        Op::Unpack { parts, from, .. } => (parts.clone(), vec![*from]),
        Op::Load(access) => (access.elements.clone(), at(&access.address, &[])),
        Op::Store(access) => (Vec::new(), at(&access.address, &access.elements)),
        Op::Atomic { address, to, from, .. } => (vec![*to], at(address, from)),
        Op::Warp { op, mask } => {
            let (to, mut from) = warp_rows(op);
            from.push(*mask);
            (to, from)
        }
        Op::ActiveMask { to, .. } | Op::StackSave { to } => (vec![*to], Vec::new()),
        Op::Barrier { id, count, to, predicate, .. } => {
            (vec![*to], [Some(*id), *count, Some(*predicate)].into_iter().flatten().collect())
        }
        Op::Mbarrier { address, op } => match *op {
            MbarrierOp::Init { count } => (Vec::new(), at(address, &[count])),
            MbarrierOp::Invalidate => (Vec::new(), at(address, &[])),
            MbarrierOp::Arrive { to, count, expected, .. } => (vec![to], at(address, &[count, expected])),
            MbarrierOp::Expect { bytes } | MbarrierOp::Complete { bytes } => (Vec::new(), at(address, &[bytes])),
            MbarrierOp::Test { to, by, .. } => (vec![to], at(address, &[by])),
        },
        Op::TensorMultiply(multiply) => {
            let left = match multiply.left {
                Factor::Shared(row) => row,
                Factor::Tensor(address) => address.base,
            };
            (Vec::new(), vec![multiply.to.base, left, multiply.right, multiply.descriptor, multiply.adds])
        }
        Op::AsyncCopy { to, from, given, .. } => {
            (Vec::new(), [Some(to.base), Some(from.base), *given].into_iter().flatten().collect())
        }
        Op::Bulk(bulk) => (Vec::new(), bulk.rows()),
        Op::AsyncArrive { address, .. } => (Vec::new(), at(address, &[])),
        Op::IndexedBranch { index, .. } => (Vec::new(), vec![*index]),
        Op::Call(call) => {
            let of = |places: &[Place]| {
                let row = |place: &Place| match place {
                    Place::Register(row) => Some(*row),
                    Place::Frame { .. } => None,
                };
                places.iter().filter_map(row).collect::<Vec<_>>()
            };
            (of(&call.returns), of(&call.arguments))
        }
        Op::StackRestore { from } => (Vec::new(), vec![*from]),
        Op::Alloca { to, bytes, .. } => (vec![*to], vec![*bytes]),
        Op::Hashed { to, from, .. } => (to.clone(), from.clone()),
        Op::AsyncCommit
        | Op::AsyncWait { .. }
        | Op::Fence
        | Op::Nothing
        | Op::Registers(_)
        | Op::Branch { .. }
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::Unknown(_) => (Vec::new(), Vec::new()),
    }
}

fn warp_rows(op: &WarpOp) -> (Vec<Row>, Vec<Row>) {
    let with = |rows: &[Row], more: &[Row]| [rows, more].concat();
    match op {
        WarpOp::Shuffle { to, is_inside, value, lane, control, .. } => {
            (vec![*to, *is_inside], vec![*value, *lane, *control])
        }
        WarpOp::Vote { to, predicate, .. } => (vec![*to], vec![*predicate]),
        WarpOp::Match { to, is_same, value, .. } => (vec![*to, *is_same], vec![*value]),
        WarpOp::Reduce { to, value, .. } => (vec![*to], vec![*value]),
        WarpOp::Elect { to, is_elected } => (vec![*to, *is_elected], Vec::new()),
        WarpOp::Synchronise => (Vec::new(), Vec::new()),
        WarpOp::LoadMatrix { to, address, .. } => (to.clone(), vec![address.base]),
        WarpOp::StoreMatrix { from, address, .. } => (Vec::new(), with(from, &[address.base])),
        WarpOp::MoveMatrix { to, from } => (vec![*to], vec![*from]),
        WarpOp::Multiply(multiply) => (multiply.rows[0].clone(), multiply.rows[1..].concat()),
        WarpOp::GroupMultiply(multiply) => {
            let mut from = with(&multiply.to, &[multiply.right, multiply.adds]);
            match &multiply.left {
                LeftFactor::Shared(row) => from.push(*row),
                LeftFactor::Registers(rows) => from.extend(rows),
            }
            (multiply.to.clone(), from)
        }
        WarpOp::Tensor { op, at } => match &**op {
            TensorOp::Allocate { columns } | TensorOp::Free { columns } => (Vec::new(), vec![at.base, *columns]),
            TensorOp::Load { to, .. } => (to.clone(), vec![at.base]),
            TensorOp::Store { from, .. } => (Vec::new(), with(from, &[at.base])),
        },
        WarpOp::LoadTile { to, address, stride, .. } => (to.clone(), vec![address.base, *stride]),
        WarpOp::StoreTile { from, address, stride, .. } => (Vec::new(), with(from, &[address.base, *stride])),
    }
}

/// The values of all operands.
#[derive(Debug)]
pub(in crate::emulate) struct Webs {
    /// The values of the rows that each instruction writes and reads, in the order of [`rows`]. A guard is the last
    /// value read.
    written: Vec<Vec<(Row, Value)>>,
    read: Vec<Vec<(Row, Value)>>,
    sets: DisjointSets<Value>,
    pub(in crate::emulate) count: usize,
}

impl Webs {
    /// Finds the webs of a function. O(operands + reads at the start of blocks · predecessors).
    pub(in crate::emulate) fn new(function: &Function) -> Self {
        let insts = &function.insts;
        let starts = block_starts(function);
        let block_of: Vec<usize> = {
            let mut block = 0;
            let number = |at: usize| {
                block += usize::from(at > 0 && starts[at]);
                block
            };
            (0..insts.len()).map(number).collect()
        };
        let mut finder = Finder { entries: FxHashMap::default(), open: Vec::new(), count: 0, unions: Vec::new() };
        let mut ends: Vec<FxHashMap<Row, Value>> = Vec::new();
        let (mut written, mut read) = (Vec::with_capacity(insts.len()), Vec::with_capacity(insts.len()));
        for (at, inst) in insts.iter().enumerate() {
            let block = block_of[at];
            if ends.len() <= block {
                ends.push(FxHashMap::default());
            }
            let (to, mut from) = rows(&inst.op);
            from.extend(inst.guard.map(|guard| guard.0));
            let uses = from.into_iter().map(|row| (row, finder.current(&ends[block], block, row))).collect();
            let mut defs = Vec::with_capacity(to.len());
            for row in to {
                let value = finder.fresh();
                if inst.guard.is_some() {
                    let old = finder.current(&ends[block], block, row);
                    finder.unions.push((old, value));
                }
                ends[block].insert(row, value);
                defs.push((row, value));
            }
            written.push(defs);
            read.push(uses);
        }
        let predecessors = predecessors(function, &block_of, ends.len());
        while let Some((block, row, value)) = finder.open.pop() {
            let is_constant = function.rows[row.0 as usize].init != Init::Undefined;
            if is_constant {
                continue;
            }
            for &before in &predecessors[block] {
                let other = finder.current(&ends[before], before, row);
                finder.unions.push((value, other));
            }
        }
        let count = finder.count as usize;
        let mut sets = DisjointSets::new(count);
        finder.unions.iter().for_each(|&(a, b)| sets.unite(a, b));
        Self { written, read, sets, count }
    }

    /// Returns the webs of all rows that an instruction writes.
    pub(in crate::emulate) fn all_written(&mut self, at: usize) -> Vec<usize> {
        let Self { written, sets, .. } = self;
        written[at].iter().map(|&(_, value)| sets.find(value).0 as usize).collect()
    }

    /// Returns the web of a row that an instruction writes.
    pub(super) fn written(&mut self, at: usize, row: Row) -> Option<usize> {
        let value = self.written[at].iter().find(|one| one.0 == row)?.1;
        Some(self.sets.find(value).0 as usize)
    }

    /// Returns the web of a row that an instruction reads.
    pub(in crate::emulate) fn read(&mut self, at: usize, row: Row) -> Option<usize> {
        let value = self.read[at].iter().find(|one| one.0 == row)?.1;
        Some(self.sets.find(value).0 as usize)
    }
}

struct Finder {
    /// The values at the start of blocks.
    entries: FxHashMap<(usize, Row), Value>,
    /// The values at block starts whose predecessors are not visited yet.
    open: Vec<(usize, Row, Value)>,
    count: u32,
    unions: Vec<(Value, Value)>,
}

impl Finder {
    fn fresh(&mut self) -> Value {
        self.count += 1;
        Value(self.count - 1)
    }

    fn current(&mut self, ends: &FxHashMap<Row, Value>, block: usize, row: Row) -> Value {
        if let Some(&value) = ends.get(&row).or_else(|| self.entries.get(&(block, row))) {
            return value;
        }
        let value = self.fresh();
        self.entries.insert((block, row), value);
        self.open.push((block, row, value));
        value
    }
}

/// Returns for each instruction whether a block begins there: at targets, and after branches and ends.
fn block_starts(function: &Function) -> Vec<bool> {
    let mut starts = vec![false; function.insts.len() + 1];
    for (at, inst) in function.insts.iter().enumerate() {
        match &inst.op {
            Op::Branch { target } => {
                starts[*target as usize] = true;
                starts[at + 1] = true;
            }
            Op::IndexedBranch { targets, .. } => {
                targets.iter().for_each(|&target| starts[target as usize] = true);
                starts[at + 1] = true;
            }
            Op::Return | Op::Exit | Op::Trap => starts[at + 1] = true,
            _ => {}
        }
    }
    starts
}

fn predecessors(function: &Function, block_of: &[usize], count: usize) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); count];
    for (at, inst) in function.insts.iter().enumerate() {
        let block = block_of[at];
        let is_last = block_of.get(at + 1).is_none_or(|&next| next != block);
        if !is_last {
            continue;
        }
        let mut follow = |target: usize| {
            if let Some(&to) = block_of.get(target) {
                predecessors[to].push(block);
            }
        };
        let goes_on = match &inst.op {
            Op::Branch { target } => {
                follow(*target as usize);
                inst.guard.is_some()
            }
            Op::IndexedBranch { targets, .. } => {
                targets.iter().for_each(|&target| follow(target as usize));
                inst.guard.is_some()
            }
            Op::Return | Op::Exit | Op::Trap => inst.guard.is_some(),
            _ => true,
        };
        if goes_on {
            follow(at + 1);
        }
    }
    predecessors
}
