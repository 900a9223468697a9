//! Definitions of a function's registers, and their possible values.

use crate::emulate::decode::Webs;
use crate::emulate::layout;
use crate::emulate::machine::Setting;
use crate::emulate::memory::Image;
use crate::emulate::program::{Access, Function, Init, Op, Row, Space, Special};
use crate::emulate::pure::{Lanes, MOST_SOURCES, Pure};
use crate::emulate::types::{Kind, low};

/// Limits on the depth of definitions and on the values of a register.
pub(super) const MOST_DEPTH: u32 = 14;
const MOST_VALUES: usize = 4;

/// The definitions of a function's registers.
#[derive(Debug)]
pub(super) struct Flow {
    webs: Webs,
    /// The instructions that write each web, in order.
    definitions: Vec<Vec<u32>>,
}

impl Flow {
    pub(super) fn new(function: &Function) -> Self {
        let mut webs = Webs::new(function);
        let mut definitions = vec![Vec::new(); webs.count];
        for at in 0..function.insts.len() {
            for web in webs.all_written(at) {
                definitions[web].push(at as u32);
            }
        }
        Self { webs, definitions }
    }

    /// Returns the instructions that may have written the row that an instruction reads.
    pub(super) fn definitions(&mut self, at: usize, row: Row) -> Vec<u32> {
        self.webs.read(at, row).map_or_else(Vec::new, |web| self.definitions[web].clone())
    }
}

/// Returns the offset of the kernel parameter, or of its part, that a load reads.
pub(super) fn parameter_of(function: &Function, access: &Access, element: usize) -> Option<u32> {
    let Init::Constant(base) = function.rows[access.address.base.0 as usize].init else { return None };
    let bytes = u64::from(access.ty.bytes());
    let address = base.wrapping_add(access.address.offset as u64).wrapping_add(bytes * element as u64);
    let is_parameter = access.address.space == Space::Generic && layout::in_window(address, layout::PARAMETERS);
    is_parameter.then(|| (address - layout::PARAMETERS) as u32)
}

/// Returns the result of an instruction in one lane.
pub(super) fn computed(pure: &Pure, values: [u64; MOST_SOURCES]) -> [u64; 2] {
    let sources: [Lanes; MOST_SOURCES] = values.map(|value| [value; 32]);
    let mut results = [[0; 32]; 2];
    (pure.eval)(&sources.each_ref(), 1, &mut results);
    results.map(|result| result[0])
}

/// Known values of registers in a launch.
pub(super) struct Known<'a> {
    pub(super) function: &'a Function,
    pub(super) flow: &'a mut Flow,
    pub(super) setting: &'a Setting,
    pub(super) image: &'a mut Image,
    /// How many instructions may still be visited.
    pub(super) work: u32,
}

impl Known<'_> {
    /// Returns a few values that a row may hold at an instruction. A load is assumed to return zero or one.
    pub(super) fn values(&mut self, at: usize, row: Row, depth: u32) -> Vec<u64> {
        let info = self.function.rows[row.0 as usize];
        let last = |count: u32| vec![0, u64::from(count.saturating_sub(1))];
        let along = |shape: [u32; 3], axis: u8| shape[usize::from(axis)];
        let Setting { grid, block, .. } = *self.setting;
        match info.init {
            Init::Constant(value) => return vec![value],
            Init::Frame(_) => return Vec::new(),
            Init::Special(Special::Ntid(axis)) => return vec![along(block, axis).into()],
            Init::Special(Special::Nctaid(axis)) => return vec![along(grid, axis).into()],
            Init::Special(Special::Tid(axis)) => return last(along(block, axis)),
            Init::Special(Special::Ctaid(axis)) => return last(along(grid, axis)),
            Init::Special(Special::Lane) => return last(32),
            Init::Special(_) => return Vec::new(),
            Init::Undefined | Init::Leftover { .. } => {}
        }
        if depth == 0 || self.work == 0 {
            return Vec::new();
        }
        self.work -= 1;
        let mut found = Vec::new();
        for definition in self.flow.definitions(at, row).into_iter().take(3) {
            found.extend(self.values_of(definition as usize, row, depth - 1));
        }
        let mut kept: Vec<u64> = Vec::new();
        for value in found.into_iter().map(|value| low(value, info.bits)) {
            if !kept.contains(&value) {
                kept.push(value);
            }
        }
        kept.truncate(MOST_VALUES);
        kept
    }

    /// Returns the values that an instruction may write to a row.
    fn values_of(&mut self, at: usize, row: Row, depth: u32) -> Vec<u64> {
        let function = self.function;
        match &function.insts[at].op {
            Op::Move { from, .. } | Op::MoveAddress { from, .. } => self.values(at, *from, depth),
            Op::Select { yes, no, .. } => [self.values(at, *yes, depth), self.values(at, *no, depth)].concat(),
            Op::Load(access) => {
                let Some(element) = access.elements.iter().position(|&one| one == row) else { return Vec::new() };
                match parameter_of(function, access, element) {
                    Some(offset) => {
                        let bytes = access.ty.bytes() as usize;
                        let kind = access.kinds.get(element).copied().unwrap_or(Kind::Integer);
                        vec![self.image.read(layout::PARAMETERS + u64::from(offset), bytes, kind)]
                    }
                    None => vec![0, 1],
                }
            }
            Op::Pure { pure, to, from } => {
                let Some(result) = to[..pure.results.len()].iter().position(|&one| one == row) else {
                    return Vec::new();
                };
                let sources: Vec<Vec<u64>> =
                    from[..pure.sources.len()].iter().map(|&source| self.values(at, source, depth)).collect();
                if sources.iter().any(Vec::is_empty) {
                    return Vec::new();
                }
                let most = sources.iter().map(Vec::len).max().unwrap_or(1);
                let value = |number: usize| {
                    let mut values = [0; MOST_SOURCES];
                    values.iter_mut().zip(&sources).for_each(|(value, of)| *value = of[number % of.len()]);
                    computed(pure, values)[result]
                };
                (0..most).map(value).collect()
            }
            _ => Vec::new(),
        }
    }
}
