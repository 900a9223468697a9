//! What the tables of operations are made of.

use super::super::operand::Operand;
use super::reader::Reader;

/// An operation in some of its forms.
pub(super) struct Row {
    /// Bits 0 to 8.
    pub code: u16,
    /// The forms (bits 9 to 11) that it has, as bits.
    pub forms: u8,
    /// The processors that have it so, from the first to the last.
    pub processors: (u32, u32),
    /// The name.
    pub name: &'static str,
    /// What follows the name, in order.
    pub modifiers: &'static [Modifier],
    /// The operands, in the order in which the disassembler prints them.
    pub operands: &'static [Slot],
    /// Whether the guard is a predicate of the warp.
    pub is_uniform: bool,
}

/// Every processor that is decoded.
pub(super) const ALL: (u32, u32) = (80, 129);
/// Processors ahead of sm_90.
pub(super) const AHEAD_OF_90: (u32, u32) = (80, 89);
/// Processors ahead of sm_100.
pub(super) const AHEAD_OF_100: (u32, u32) = (80, 99);
/// sm_100 to sm_110.
pub(super) const ONLY_100: (u32, u32) = (100, 119);
/// sm_120 and later ones.
pub(super) const SINCE_120: (u32, u32) = (120, 129);
/// sm_90 alone.
pub(super) const ONLY_90: (u32, u32) = (90, 99);
/// sm_89 and later ones.
pub(super) const SINCE_89: (u32, u32) = (89, 129);
/// sm_90 and later ones.
pub(super) const SINCE_90: (u32, u32) = (90, 129);
/// sm_86 and later ones.
pub(super) const SINCE_86: (u32, u32) = (86, 129);
/// sm_100 and later ones.
pub(super) const SINCE_100: (u32, u32) = (100, 129);

impl Row {
    /// A row for all processors.
    pub(super) const fn new(
        code: u16,
        forms: &[u8],
        name: &'static str,
        modifiers: &'static [Modifier],
        operands: &'static [Slot],
    ) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < forms.len() {
            set |= 1 << forms[at];
            at += 1;
        }
        Self { code, forms: set, processors: ALL, name, modifiers, operands, is_uniform: false }
    }

    /// The row of an operation of the warp: its guard is a predicate of the warp.
    pub(super) const fn of_warp(mut self) -> Self {
        self.is_uniform = true;
        self
    }

    /// The row, for some processors.
    pub(super) const fn on(mut self, processors: (u32, u32)) -> Self {
        self.processors = processors;
        self
    }
}

/// Bits that are one number: those from one on, and higher ones elsewhere, if there are any.
#[derive(Clone, Copy)]
pub(super) struct Field {
    from: u8,
    count: u8,
    high: (u8, u8),
}

impl Field {
    /// The number.
    pub(super) fn read(self, reader: &mut Reader) -> usize {
        let low = reader.take(self.from, self.count);
        let high = if self.high.1 == 0 { 0 } else { reader.take(self.high.0, self.high.1) };
        (low | high << self.count) as usize
    }
}

/// A part of the name, or bits that are no part of it.
pub(super) enum Modifier {
    /// A field's number as a name. An empty one is not printed; [`NO`] stands where no meaning is known.
    Names(Field, &'static [&'static str]),
    /// A field without a name: the disassembler prints nothing of it.
    Silent(u8, u8),
    /// A field that has one value.
    Must(u8, u8, u64),
    /// So many bits from one on that have a meaning since a processor, and are zero ahead of it.
    Since(u32, u8, u8),
    /// A name that is always there.
    Always(&'static str),
    /// What follows from several fields.
    Rule(fn(&mut Reader) -> Option<&'static str>),
}

/// No name is known for the value of a field.
pub(super) const NO: &str = "?";

/// Names of the numbers in so many bits from one on.
pub(super) const fn names(from: u8, count: u8, names: &'static [&'static str]) -> Modifier {
    Modifier::Names(Field { from, count, high: (0, 0) }, names)
}

/// A name that is always there.
pub(super) const fn always(name: &'static str) -> Modifier {
    Modifier::Always(name)
}

/// Names of the numbers in two places.
pub(super) const fn split(low: (u8, u8), high: (u8, u8), names: &'static [&'static str]) -> Modifier {
    Modifier::Names(Field { from: low.0, count: low.1, high }, names)
}

/// What a bit is called if it is set. `names` has two: for 0 and 1.
pub(super) const fn flag(at: u8, both: &'static [&'static str; 2]) -> Modifier {
    Modifier::Names(Field { from: at, count: 1, high: (0, 0) }, both)
}

/// An operand, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// What it is.
    pub kind: Kind,
    /// When it is printed.
    pub shown: PrintCondition,
    /// How it is changed ahead of the operation.
    pub changing: OperandModifiers,
}

/// What an operand is.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A register of the thread.
    Register(u8),
    /// A register of the warp.
    Uniform(u8),
    /// What stands at bit 32, as the form says: a register, a constant, a place of the bank, a uniform register.
    Wide,
    /// The second factor: at bit 32, or the register at bit 64 where the form gives bit 32 to the third one.
    Second,
    /// The third operand: the register at bit 64, or what stands at bit 32 where the form says so.
    Third,
    /// The same as [`Kind::Wide`] of an operation of the warp: its registers are uniform.
    UniformWide,
    /// A predicate of the thread and, where there is one, the bit that negates it.
    Predicate(u8, Option<u8>),
    /// A predicate of the warp.
    UniformPredicate(u8, Option<u8>),
    /// A number without sign.
    Number(u8, u8),
    /// A special register.
    Special(u8),
    /// A register of threads that meet.
    Convergence(u8),
    /// A distance from the next instruction, as a target.
    Target,
    /// An operand that is not written down.
    Fixed(Operand),
    /// Whatever a function makes of the bits: operands for the list.
    Rule(fn(&mut Reader, &mut Vec<Operand>) -> Option<()>),
}

/// When an operand is printed.
#[derive(Clone, Copy)]
pub(super) enum PrintCondition {
    /// Always.
    Always,
    /// If a bit is set. Its bits are known all the same.
    If(u8),
    /// Unless it is the predicate that always holds.
    UnlessTrue,
    /// The same ahead of sm_100, which prints it always.
    UnlessTrueAheadOf100,
}

/// The bits that change an operand. Those of [`Kind::Wide`], [`Kind::Second`] and [`Kind::Third`] go with the place:
/// at bit 32 they are 63 (`-`), 62 (`|x|`) and 60 (halves), at bit 64 they are 75, 74, and for halves 84, 83 and 81.
#[derive(Clone, Copy, Default)]
pub(super) struct OperandModifiers {
    /// `-`.
    pub negate: Option<u8>,
    /// `|x|`.
    pub absolute: Option<u8>,
    /// The bit that makes `~` of `-`.
    pub inverts: Option<u8>,
    /// `-` is always `~`.
    pub always_inverts: bool,
    /// `.H0_H0` and the like, two bits.
    pub halves: Option<u8>,
    /// The bits are those of halves.
    pub is_packed: bool,
    /// The place has `.H0_H0` and the like.
    pub has_halves: bool,
    /// The bits of place.
    pub by_place: ByPlace,
}

/// Which changes a place has bits for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ByPlace {
    /// None.
    #[default]
    None,
    /// `-`.
    Negated,
    /// `-` and `|x|`.
    Both,
}

const fn slot(kind: Kind) -> Slot {
    let changing = OperandModifiers {
        negate: None,
        absolute: None,
        inverts: None,
        always_inverts: false,
        halves: None,
        is_packed: false,
        has_halves: false,
        by_place: ByPlace::None,
    };
    Slot { kind, shown: PrintCondition::Always, changing }
}

/// The register of the result, bits 16 to 23.
pub(super) const D: Slot = register(16);
/// The uniform register of the result.
pub(super) const UD: Slot = slot(Kind::Uniform(16));
/// The first register, bits 24 to 31, without changes.
pub(super) const A: Slot = register(24);
/// The first register as a float: bits 72 and 73 change it.
pub(super) const FLOAT_A: Slot = A.negated_by(72).absolute_by(73);
/// The first register as halves.
pub(super) const HALF_A: Slot = FLOAT_A.halves_at(74);
/// What stands at bit 32, without changes.
pub(super) const WIDE: Slot = slot(Kind::Wide);
/// The second factor, without changes.
pub(super) const SECOND: Slot = slot(Kind::Second);
/// The third operand, without changes.
pub(super) const THIRD: Slot = slot(Kind::Third);
/// What stands at bit 32 of an operation of the warp.
pub(super) const UNIFORM_WIDE: Slot = slot(Kind::UniformWide);
/// The first uniform register.
pub(super) const UA: Slot = uniform(24);
/// The uniform register at bit 64.
pub(super) const UC: Slot = uniform(64);
/// The target of a branch.
pub(super) const TARGET: Slot = slot(Kind::Target);

/// A register.
pub(super) const fn register(at: u8) -> Slot {
    slot(Kind::Register(at))
}
/// A uniform register.
pub(super) const fn uniform(at: u8) -> Slot {
    slot(Kind::Uniform(at))
}
/// A predicate that is written.
pub(super) const fn predicate(at: u8) -> Slot {
    slot(Kind::Predicate(at, None))
}
/// A predicate that is read; the bit behind its three negates it.
pub(super) const fn condition(at: u8) -> Slot {
    slot(Kind::Predicate(at, Some(at + 3)))
}
/// A uniform predicate that is written.
pub(super) const fn uniform_predicate(at: u8) -> Slot {
    slot(Kind::UniformPredicate(at, None))
}
/// A uniform predicate that is read.
pub(super) const fn uniform_condition(at: u8) -> Slot {
    slot(Kind::UniformPredicate(at, Some(at + 3)))
}
/// A number.
pub(super) const fn number(from: u8, count: u8) -> Slot {
    slot(Kind::Number(from, count))
}
/// A special register.
pub(super) const fn special(at: u8) -> Slot {
    slot(Kind::Special(at))
}
/// A register of threads that meet.
pub(super) const fn convergence(at: u8) -> Slot {
    slot(Kind::Convergence(at))
}
/// An operand that is always the same.
pub(super) const fn fixed(operand: Operand) -> Slot {
    slot(Kind::Fixed(operand))
}
/// What a function reads.
pub(super) const fn rule(read: fn(&mut Reader, &mut Vec<Operand>) -> Option<()>) -> Slot {
    slot(Kind::Rule(read))
}

impl Slot {
    /// `-` by a bit.
    pub(super) const fn negated_by(mut self, bit: u8) -> Self {
        self.changing.negate = Some(bit);
        self
    }
    /// `|x|` by a bit.
    pub(super) const fn absolute_by(mut self, bit: u8) -> Self {
        self.changing.absolute = Some(bit);
        self
    }
    /// `.H0_H0` and the like.
    pub(super) const fn halves_at(mut self, from: u8) -> Self {
        self.changing.halves = Some(from);
        self
    }
    /// `-`, where the place says so.
    pub(super) const fn negated(mut self) -> Self {
        self.changing.by_place = ByPlace::Negated;
        self
    }
    /// `-` and `|x|`, where the place says so.
    pub(super) const fn float(mut self) -> Self {
        self.changing.by_place = ByPlace::Both;
        self
    }
    /// `-`, `|x|` and halves, where the place says so.
    pub(super) const fn half(mut self) -> Self {
        self.changing.has_halves = true;
        self.packed()
    }
    /// `-` and `|x|` of two halves, where the place says so.
    pub(super) const fn packed(mut self) -> Self {
        self.changing.is_packed = true;
        self.float()
    }
    /// `~` by a bit.
    pub(super) const fn inverted_by(mut self, bit: u8) -> Self {
        self.changing.always_inverts = true;
        self.negated_by(bit)
    }
    /// `~` instead of `-`.
    pub(super) const fn inverted(mut self) -> Self {
        self.changing.always_inverts = true;
        self.negated()
    }
    /// `~` instead of `-` if a bit is set.
    pub(super) const fn inverted_if(mut self, bit: u8) -> Self {
        self.changing.inverts = Some(bit);
        self
    }
    /// Printed if a bit is set.
    pub(super) const fn shown_if(mut self, bit: u8) -> Self {
        self.shown = PrintCondition::If(bit);
        self
    }
    /// A carry: printed unless it is PT, and since sm_100 always.
    pub(super) const fn carry(mut self) -> Self {
        self.shown = PrintCondition::UnlessTrueAheadOf100;
        self
    }
    /// Printed unless it is PT.
    pub(super) const fn unless_true(mut self) -> Self {
        self.shown = PrintCondition::UnlessTrue;
        self
    }
}
