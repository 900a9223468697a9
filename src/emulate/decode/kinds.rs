//! Kinds of the values in registers, derived from the instructions that use them.
//!
//! Webs that are connected by moves, selections, packing or shuffles form one class. Each class has the most specific
//! kind that any instruction gives it: double, float, address, bits, integer, in this order. Some classes have no such
//! instruction, for example a value that is only loaded from shared memory and stored. Such a class has the kind of the
//! values in shared memory: the common kind of all stores there, or otherwise the kind that a launch reads.

use super::pointers::pointers;
use super::webs::{Value, Webs};
use crate::disjoint_sets::DisjointSets;
use crate::emulate::program::{CarriedKind, Function, Init, LeftFactor, Op, Row, Space, TensorOp, WarpOp};
use crate::emulate::tensor::Numbers;
use crate::emulate::types::Kind;

/// Finds the kinds of the values in a function's loads, stores and atomic operations.
pub(in crate::emulate) fn find(function: &mut Function) {
    let mut webs = Webs::new(function);
    let mut sets: DisjointSets<Value> = DisjointSets::new(webs.count);
    let is_register = |row: Row| row.0 != 0 && function.rows[row.0 as usize].init == Init::Undefined;
    for (at, inst) in function.insts.iter().enumerate() {
        let (to, from): (&[Row], &[Row]) = match &inst.op {
            Op::Move { to, from } | Op::MoveAddress { to, from } => (&[*to], &[*from]),
            Op::Select { to, yes, no, .. } => (&[*to], &[*yes, *no]),
            Op::Pack { to, parts, .. } => (&[*to], parts),
            Op::Unpack { parts, from, .. } => (parts, &[*from]),
            Op::Warp { op: WarpOp::Shuffle { to, value, .. }, .. } => (&[*to], &[*value]),
            _ => continue,
        };
        let results = to.iter().filter(|&&row| is_register(row)).filter_map(|&row| webs.written(at, row));
        let mut all: Vec<usize> = results.collect();
        all.extend(from.iter().filter(|&&row| is_register(row)).filter_map(|&row| webs.read(at, row)));
        all.windows(2).for_each(|pair| sets.unite(Value(pair[0] as u32), Value(pair[1] as u32)));
    }
    let mut kinds = vec![Kind::Integer; webs.count];
    // Whether integer arithmetic reads or writes the class.
    let mut is_counted = vec![false; webs.count];
    let mut vote = |sets: &mut DisjointSets<Value>, web: Option<usize>, kind: Kind| {
        if let Some(web) = web {
            let class = sets.find(Value(web as u32)).0 as usize;
            kinds[class] = kinds[class].max(kind);
        }
    };
    for (at, inst) in function.insts.iter().enumerate() {
        match &inst.op {
            Op::Pure { pure, to, from } => {
                let sources = pure.sources.iter().zip(from).map(|(ty, &row)| (ty, webs.read(at, row)));
                let sources: Vec<_> = sources.collect();
                let results = pure.results.iter().zip(to).map(|(ty, &row)| (ty, webs.written(at, row)));
                for (_, web) in sources.into_iter().chain(results).filter(|(ty, _)| ty.is_integer()) {
                    web.into_iter().for_each(|web| is_counted[sets.find(Value(web as u32)).0 as usize] = true);
                }
                for (&ty, &row) in pure.sources.iter().zip(from) {
                    let kind = if pure.takes_apart { Kind::of(ty).max(Kind::Bits) } else { Kind::of(ty) };
                    vote(&mut sets, webs.read(at, row), kind);
                }
                for (&ty, &row) in pure.results.iter().zip(to) {
                    vote(&mut sets, webs.written(at, row), Kind::of(ty));
                }
            }
            Op::Load(access) => {
                access.elements.iter().for_each(|&row| vote(&mut sets, webs.written(at, row), Kind::of(access.ty)));
            }
            Op::Store(access) => {
                access.elements.iter().for_each(|&row| vote(&mut sets, webs.read(at, row), Kind::of(access.ty)));
            }
            Op::Atomic { ty, to, from, .. } => {
                vote(&mut sets, webs.written(at, *to), Kind::of(*ty));
                from.iter().for_each(|&row| vote(&mut sets, webs.read(at, row), Kind::of(*ty)));
            }
            Op::Warp { op: WarpOp::Multiply(multiply), .. } => {
                for (number, (rows, &ty)) in multiply.rows.iter().zip(&multiply.types).enumerate() {
                    let kind = if ty.bits() == 8 { Kind::Bits } else { Kind::of(ty) };
                    for &row in rows {
                        let web = if number == 0 { webs.written(at, row) } else { webs.read(at, row) };
                        vote(&mut sets, web, kind);
                    }
                }
            }
            Op::Warp { op: WarpOp::GroupMultiply(multiply), .. } => {
                for &row in &multiply.to {
                    vote(&mut sets, webs.written(at, row), Kind::of(multiply.types[0]));
                    vote(&mut sets, webs.read(at, row), Kind::of(multiply.types[0]));
                }
                if let LeftFactor::Registers(rows) = &multiply.left {
                    rows.iter().for_each(|&row| vote(&mut sets, webs.read(at, row), Kind::of(multiply.types[1])));
                }
            }
            _ => {}
        }
    }
    let is_known = |class: usize, kinds: &[Kind]| is_counted[class] || kinds[class] != Kind::Integer;
    for moved in [Space::Shared, Space::Local].map(|space| moved_through(function, space, &mut webs, &mut sets)) {
        for bits in [16, 32, 64] {
            let classes = || moved.iter().filter(|moved| moved.1 == bits).map(|moved| moved.0);
            let mut known = classes().filter(|&class| is_known(class, &kinds)).map(|class| kinds[class]);
            let Some(first) = known.next().filter(|first| first.is_float()) else { continue };
            if known.all(|one| one == first) {
                for class in classes().collect::<Vec<_>>() {
                    if !is_known(class, &kinds) {
                        kinds[class] = first;
                    }
                }
            }
        }
    }
    // Values that reach a product through shared memory, by descriptors, have the kind of the product's factors.
    if let Some(factor) = function.insts.iter().find_map(|inst| kind_of_factors(&inst.op)) {
        for (class, _) in moved_through(function, Space::Shared, &mut webs, &mut sets) {
            if !is_known(class, &kinds) {
                kinds[class] = factor;
            }
        }
    }
    let is_pointer = pointers(function, &mut webs);
    // A class of unknown kind takes the kind of the values that it loads from shared or local memory.
    let mut kind_of = |web: Option<usize>| {
        let Some(web) = web else { return (Kind::Integer, None) };
        let class = sets.find(Value(web as u32)).0;
        let kind = kinds[class as usize];
        let carried = (!is_pointer[web] && !is_known(class as usize, &kinds)).then_some(CarriedKind(class));
        (if is_pointer[web] && kind < Kind::Pointer { Kind::Pointer } else { kind }, carried)
    };
    for (at, inst) in function.insts.iter_mut().enumerate() {
        match &mut inst.op {
            Op::Load(access) => {
                let kinds = access.elements.iter().map(|&row| kind_of(webs.written(at, row)));
                (access.kinds, access.carried) = kinds.unzip();
            }
            Op::Store(access) => {
                let kinds = access.elements.iter().map(|&row| kind_of(webs.read(at, row)));
                (access.kinds, access.carried) = kinds.unzip();
            }
            Op::Warp { op: WarpOp::LoadMatrix { to, carried, .. }, .. } => {
                *carried = to.iter().map(|&row| kind_of(webs.written(at, row)).1).collect();
            }
            Op::Warp { op: WarpOp::StoreMatrix { from, kinds, .. }, .. } => {
                *kinds = from.iter().map(|&row| kind_of(webs.read(at, row)).0).collect();
            }
            Op::Warp { op: WarpOp::Tensor { op, .. }, .. } => match &mut **op {
                TensorOp::Load { to, carried, .. } => {
                    *carried = to.iter().map(|&row| kind_of(webs.written(at, row)).1).collect();
                }
                TensorOp::Store { from, kinds, .. } => {
                    *kinds = from.iter().map(|&row| kind_of(webs.read(at, row)).0).collect();
                }
                _ => {}
            },
            Op::Atomic { kind, from, .. } => *kind = kind_of(webs.read(at, from[0])).0,
            _ => {}
        }
    }
}

/// Returns the kind of the factors of a product in tensor memory.
fn kind_of_factors(op: &Op) -> Option<Kind> {
    let Op::TensorMultiply(multiply) = op else { return None };
    Some(match multiply.numbers {
        Numbers::Halves => Kind::F16,
        Numbers::Words => Kind::F32,
        Numbers::Bytes | Numbers::Integers => Kind::Bits,
    })
}

/// Returns the classes of the values stored to a space and loaded from it, with the bits of each access.
fn moved_through(
    function: &Function,
    space: Space,
    webs: &mut Webs,
    sets: &mut DisjointSets<Value>,
) -> Vec<(usize, u32)> {
    let mut moved = Vec::new();
    for (at, inst) in function.insts.iter().enumerate() {
        let (access, is_load) = match &inst.op {
            Op::Load(access) => (access, true),
            Op::Store(access) => (access, false),
            _ => continue,
        };
        if access.address.space != space {
            continue;
        }
        for &row in &access.elements {
            let web = if is_load { webs.written(at, row) } else { webs.read(at, row) };
            moved.extend(web.map(|web| (sets.find(Value(web as u32)).0 as usize, access.ty.bits())));
        }
    }
    moved
}
