//! The sequence of statements. Each program has its own weights, so different statements are common in different
//! programs.

use super::body::Body;
use super::class::Class;
use super::drawn::Drawn;
use super::tables::{COMPARISONS, CONVERSIONS, FLOATS, INTEGERS, KNOWN, SEQUENCES};

/// A kind of statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integers,
    Sequences,
    Ranges,
    Comparisons,
    Floats,
    Conversions,
    Branch,
    Loop,
    Switch,
    Exit,
    Load,
    LoadAt,
    LoadVector,
    Store,
    StoreVector,
    Local,
    Shared,
    Scratch,
    Table,
    Atomic,
    Warp,
    Exchange,
    Product,
    Call,
    Uniform,
    Known,
}

/// All kinds, with their default weights.
const KINDS: [(Kind, u32); 26] = [
    (Kind::Integers, 24),
    (Kind::Sequences, 14),
    (Kind::Ranges, 16),
    (Kind::Comparisons, 8),
    (Kind::Floats, 12),
    (Kind::Conversions, 5),
    (Kind::Branch, 8),
    (Kind::Loop, 9),
    (Kind::Switch, 2),
    (Kind::Exit, 1),
    (Kind::Load, 5),
    (Kind::LoadAt, 4),
    (Kind::LoadVector, 2),
    (Kind::Store, 5),
    (Kind::StoreVector, 2),
    (Kind::Local, 3),
    (Kind::Shared, 2),
    (Kind::Scratch, 2),
    (Kind::Table, 1),
    (Kind::Atomic, 2),
    (Kind::Warp, 4),
    (Kind::Exchange, 2),
    (Kind::Product, 1),
    (Kind::Call, 2),
    (Kind::Uniform, 5),
    (Kind::Known, 4),
];

/// The most nested loops, and the most nested blocks.
const MOST_LOOPS: usize = 2;
const MOST_BLOCKS: usize = 4;

impl Body {
    /// Draws the weight of each kind.
    pub(super) fn draw_weights(drawn: &mut Drawn) -> Vec<u32> {
        KINDS.iter().map(|&(_, weight)| weight * drawn.one_of(&[0, 1, 1, 2, 4])).collect()
    }

    /// Appends at most `most` statements.
    pub(super) fn statements(&mut self, most: usize) {
        for _ in 0..1 + self.drawn.below(most) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            self.statement();
        }
    }

    fn can_write(&self, kind: Kind) -> bool {
        match kind {
            Kind::Branch | Kind::Switch => self.depth < MOST_BLOCKS,
            Kind::Loop => self.depth < MOST_BLOCKS && self.loops < MOST_LOOPS,
            // After an exit in a loop, the threads would be missing in the next iteration.
            Kind::Exit => self.is_kernel && self.loops == 0 && !self.has_exits,
            Kind::Warp | Kind::Exchange | Kind::Product => self.is_kernel && self.is_together,
            Kind::Call => !self.callees.is_empty() && self.loops < MOST_LOOPS,
            Kind::Known => self.has_known,
            Kind::Integers
            | Kind::Sequences
            | Kind::Ranges
            | Kind::Comparisons
            | Kind::Floats
            | Kind::Conversions
            | Kind::Uniform => true,
            _ => self.is_kernel,
        }
    }

    fn statement(&mut self) {
        let possible: Vec<(u32, Kind)> = KINDS
            .iter()
            .zip(&self.weights)
            .filter(|((kind, _), _)| self.can_write(*kind))
            .map(|(&(kind, _), &weight)| (weight, kind))
            .collect();
        if possible.iter().all(|one| one.0 == 0) {
            return self.instruction(INTEGERS);
        }
        let kind = self.drawn.weighted(&possible);
        let integers = self.drawn.weighted(&[(5, Class::B32), (2, Class::B64), (1, Class::B16)]);
        match kind {
            Kind::Integers => self.instruction(INTEGERS),
            Kind::Sequences => self.instruction(SEQUENCES),
            Kind::Ranges => self.range(),
            Kind::Comparisons => self.instruction(COMPARISONS),
            Kind::Floats => self.instruction(FLOATS),
            Kind::Conversions => self.instruction(CONVERSIONS),
            Kind::Known => self.instruction(KNOWN),
            Kind::Branch => self.branch(),
            Kind::Loop => self.counted_loop(),
            Kind::Switch => self.switch(),
            Kind::Exit => self.early_exit(),
            Kind::Load => {
                let class = if self.drawn.is(75) { integers } else { self.drawn.one_of(&Class::ALL) };
                self.load(class);
            }
            Kind::LoadAt => {
                let index = self.source(integers);
                self.load_at(&index);
            }
            Kind::LoadVector => self.load_vector(),
            Kind::Store => {
                let at = self.values.len() - 1 - self.drawn.below(self.values.len().min(8));
                let value = self.values[at].clone();
                self.store(&value);
            }
            Kind::StoreVector => self.store_vector(),
            Kind::Local => self.own_memory("local"),
            Kind::Shared => self.own_memory("shared"),
            Kind::Scratch => self.own_memory("global"),
            Kind::Table => self.constant_table(),
            Kind::Atomic => self.atomic(),
            Kind::Warp => self.warp(),
            Kind::Exchange => self.exchange(),
            Kind::Product => self.product(),
            Kind::Call => self.call(),
            Kind::Uniform => self.uniform(),
        }
    }

    /// Appends some statements that only read values that all threads share.
    fn uniform(&mut self) {
        self.reads_uniform = true;
        for _ in 0..self.drawn.between(1, 4) {
            match self.drawn.below(6) {
                0..=2 => self.instruction(INTEGERS),
                3 => self.range(),
                4 => self.instruction(SEQUENCES),
                _ => self.instruction(COMPARISONS),
            }
        }
        self.reads_uniform = false;
    }
}
