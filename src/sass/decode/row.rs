//! The parts of the tables of operations.

use super::super::operand::Operand;
use super::reader::Reader;

/// An operation in one or more forms.
pub(super) struct Row {
    /// The operation, bits 0 to 8.
    pub code: u16,
    /// The forms (bits 9 to 11) of the operation, as bits.
    pub forms: u8,
    /// The first and last processor with this encoding.
    pub processors: (u32, u32),
    /// The name.
    pub name: &'static str,
    /// The modifiers after the name, in order.
    pub modifiers: &'static [Modifier],
    /// The operands, in the disassembler's order.
    pub operands: &'static [Slot],
    /// Whether the guard is a uniform predicate.
    pub is_uniform: bool,
}

/// All processors that the decoder supports.
pub(super) const ALL: (u32, u32) = (80, 129);
/// Processors before sm_90.
pub(super) const AHEAD_OF_90: (u32, u32) = (80, 89);
/// Processors before sm_100.
pub(super) const AHEAD_OF_100: (u32, u32) = (80, 99);
/// sm_100 to sm_110.
pub(super) const ONLY_100: (u32, u32) = (100, 119);
/// sm_120 and later.
pub(super) const SINCE_120: (u32, u32) = (120, 129);
/// sm_90 only.
pub(super) const ONLY_90: (u32, u32) = (90, 99);
/// sm_89 and later.
pub(super) const SINCE_89: (u32, u32) = (89, 129);
/// sm_90 and later.
pub(super) const SINCE_90: (u32, u32) = (90, 129);
/// sm_86 and later.
pub(super) const SINCE_86: (u32, u32) = (86, 129);
/// sm_100 and later.
pub(super) const SINCE_100: (u32, u32) = (100, 129);

impl Row {
    /// Creates a row for all processors.
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

    /// Makes the guard a uniform predicate.
    pub(super) const fn of_warp(mut self) -> Self {
        self.is_uniform = true;
        self
    }

    /// Restricts the row to processors.
    pub(super) const fn on(mut self, processors: (u32, u32)) -> Self {
        self.processors = processors;
        self
    }
}

/// A number in one or two bit ranges. The second range, if any, holds the higher bits.
#[derive(Clone, Copy)]
pub(super) struct Field {
    from: u8,
    count: u8,
    high: (u8, u8),
}

impl Field {
    /// Reads the number.
    pub(super) fn read(self, reader: &mut Reader) -> usize {
        let low = reader.take(self.from, self.count);
        let high = if self.high.1 == 0 { 0 } else { reader.take(self.high.0, self.high.1) };
        (low | high << self.count) as usize
    }
}

/// A modifier in the name, or bits that are not part of the name.
pub(super) enum Modifier {
    /// A name for each value of a field. An empty name is not printed; [`NO`] marks an unknown value.
    Names(Field, &'static [&'static str]),
    /// A field without a name: the disassembler does not print it.
    Silent(u8, u8),
    /// A field with one permitted value.
    Must(u8, u8, u64),
    /// A field that has a meaning since a processor. Before this processor, the field must be zero.
    Since(u32, u8, u8),
    /// A fixed name.
    Always(&'static str),
    /// A name that depends on several fields.
    Rule(fn(&mut Reader) -> Option<&'static str>),
}

/// The placeholder for a value without a known name.
pub(super) const NO: &str = "?";

/// Returns the modifier that names each value of `count` bits.
pub(super) const fn names(from: u8, count: u8, names: &'static [&'static str]) -> Modifier {
    Modifier::Names(Field { from, count, high: (0, 0) }, names)
}

/// Returns the modifier with a fixed name.
pub(super) const fn always(name: &'static str) -> Modifier {
    Modifier::Always(name)
}

/// Returns the modifier that names each value of two bit ranges.
pub(super) const fn split(low: (u8, u8), high: (u8, u8), names: &'static [&'static str]) -> Modifier {
    Modifier::Names(Field { from: low.0, count: low.1, high }, names)
}

/// Returns the modifier that names a bit's values, 0 and 1.
pub(super) const fn flag(at: u8, both: &'static [&'static str; 2]) -> Modifier {
    Modifier::Names(Field { from: at, count: 1, high: (0, 0) }, both)
}

/// An operand and its encoding.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// The kind of the operand.
    pub kind: Kind,
    /// When the operand is printed.
    pub shown: PrintCondition,
    /// The modifiers of the operand, such as negation.
    pub changing: OperandModifiers,
}

/// The kind of an operand.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A register of a thread.
    Register(u8),
    /// A uniform register.
    Uniform(u8),
    /// The operand at bit 32, by the form: a register, an immediate, a constant of a bank or a uniform register.
    Wide,
    /// The second factor: the operand at bit 32, or the register at bit 64 if the form assigns bit 32 to the third
    /// operand.
    Second,
    /// The third operand: the register at bit 64, or the operand at bit 32 if the form assigns bit 32 to it.
    Third,
    /// [`Kind::Wide`] of a uniform operation: its registers are uniform.
    UniformWide,
    /// A predicate of a thread and, if any, the bit that negates it.
    Predicate(u8, Option<u8>),
    /// A uniform predicate and, if any, the bit that negates it.
    UniformPredicate(u8, Option<u8>),
    /// An unsigned number.
    Number(u8, u8),
    /// A special register.
    Special(u8),
    /// A convergence register.
    Convergence(u8),
    /// A branch target, stored as a distance from the next instruction.
    Target,
    /// An operand that has no bits.
    Fixed(Operand),
    /// A function that reads the bits and appends operands to the list.
    Rule(fn(&mut Reader, &mut Vec<Operand>) -> Option<()>),
}

/// When an operand is printed.
#[derive(Clone, Copy)]
pub(super) enum PrintCondition {
    /// Always.
    Always,
    /// If a bit is set. The operand's bits count as read in both cases.
    If(u8),
    /// Unless it is the predicate that is always true.
    UnlessTrue,
    /// Unless it is the predicate that is always true. Since sm_100, always.
    UnlessTrueAheadOf100,
}

/// The bits that modify an operand. For [`Kind::Wide`], [`Kind::Second`] and [`Kind::Third`], the bits depend on the
/// position.
///
/// * At bit 32: `-` is bit 63, `|x|` is bit 62, and the suffix of halves begins at bit 60.
/// * At bit 64: `-` is bit 75, and `|x|` is bit 74.
/// * At bit 64, for packed halves: `-` is bit 84, `|x|` is bit 83, and the suffix begins at bit 81.
#[derive(Clone, Copy, Default)]
pub(super) struct OperandModifiers {
    /// The bit of `-`.
    pub negate: Option<u8>,
    /// The bit of `|x|`.
    pub absolute: Option<u8>,
    /// The bit that turns `-` into `~`.
    pub inverts: Option<u8>,
    /// Whether `-` is always `~`.
    pub always_inverts: bool,
    /// The two bits of `.H0_H0` and similar suffixes.
    pub halves: Option<u8>,
    /// Whether the operand has the modifier bits of packed halves.
    pub is_packed: bool,
    /// Whether the position has `.H0_H0` and similar suffixes.
    pub has_halves: bool,
    /// The modifiers whose bits depend on the position.
    pub by_place: ByPlace,
}

/// Modifiers whose bits depend on the operand's position.
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

/// The result register, bits 16 to 23.
pub(super) const D: Slot = register(16);
/// The uniform result register.
pub(super) const UD: Slot = slot(Kind::Uniform(16));
/// The first register, bits 24 to 31, without modifiers.
pub(super) const A: Slot = register(24);
/// The first register as a float: bits 72 and 73 modify it.
pub(super) const FLOAT_A: Slot = A.negated_by(72).absolute_by(73);
/// The first register as halves.
pub(super) const HALF_A: Slot = FLOAT_A.halves_at(74);
/// The operand at bit 32, without modifiers.
pub(super) const WIDE: Slot = slot(Kind::Wide);
/// The second factor, without modifiers.
pub(super) const SECOND: Slot = slot(Kind::Second);
/// The third operand, without modifiers.
pub(super) const THIRD: Slot = slot(Kind::Third);
/// The operand at bit 32 of a uniform operation.
pub(super) const UNIFORM_WIDE: Slot = slot(Kind::UniformWide);
/// The first uniform register.
pub(super) const UA: Slot = uniform(24);
/// The uniform register at bit 64.
pub(super) const UC: Slot = uniform(64);
/// The target of a branch.
pub(super) const TARGET: Slot = slot(Kind::Target);

/// Returns the slot of a register.
pub(super) const fn register(at: u8) -> Slot {
    slot(Kind::Register(at))
}
/// Returns the slot of a uniform register.
pub(super) const fn uniform(at: u8) -> Slot {
    slot(Kind::Uniform(at))
}
/// Returns the slot of a predicate that is written.
pub(super) const fn predicate(at: u8) -> Slot {
    slot(Kind::Predicate(at, None))
}
/// Returns the slot of a predicate that is read. The bit after its three bits negates it.
pub(super) const fn condition(at: u8) -> Slot {
    slot(Kind::Predicate(at, Some(at + 3)))
}
/// Returns the slot of a uniform predicate that is written.
pub(super) const fn uniform_predicate(at: u8) -> Slot {
    slot(Kind::UniformPredicate(at, None))
}
/// Returns the slot of a uniform predicate that is read.
pub(super) const fn uniform_condition(at: u8) -> Slot {
    slot(Kind::UniformPredicate(at, Some(at + 3)))
}
/// Returns the slot of an unsigned number.
pub(super) const fn number(from: u8, count: u8) -> Slot {
    slot(Kind::Number(from, count))
}
/// Returns the slot of a special register.
pub(super) const fn special(at: u8) -> Slot {
    slot(Kind::Special(at))
}
/// Returns the slot of a convergence register.
pub(super) const fn convergence(at: u8) -> Slot {
    slot(Kind::Convergence(at))
}
/// Returns the slot of a fixed operand.
pub(super) const fn fixed(operand: Operand) -> Slot {
    slot(Kind::Fixed(operand))
}
/// Returns the slot of operands that a function reads.
pub(super) const fn rule(read: fn(&mut Reader, &mut Vec<Operand>) -> Option<()>) -> Slot {
    slot(Kind::Rule(read))
}

impl Slot {
    /// Adds `-`, controlled by a bit.
    pub(super) const fn negated_by(mut self, bit: u8) -> Self {
        self.changing.negate = Some(bit);
        self
    }
    /// Adds `|x|`, controlled by a bit.
    pub(super) const fn absolute_by(mut self, bit: u8) -> Self {
        self.changing.absolute = Some(bit);
        self
    }
    /// Adds `.H0_H0` and similar suffixes.
    pub(super) const fn halves_at(mut self, from: u8) -> Self {
        self.changing.halves = Some(from);
        self
    }
    /// Adds `-`, at the bits of the position.
    pub(super) const fn negated(mut self) -> Self {
        self.changing.by_place = ByPlace::Negated;
        self
    }
    /// Adds `-` and `|x|`, at the bits of the position.
    pub(super) const fn float(mut self) -> Self {
        self.changing.by_place = ByPlace::Both;
        self
    }
    /// Adds `-`, `|x|` and halves, at the bits of the position.
    pub(super) const fn half(mut self) -> Self {
        self.changing.has_halves = true;
        self.packed()
    }
    /// Adds `-` and `|x|` of two packed halves, at the bits of the position.
    pub(super) const fn packed(mut self) -> Self {
        self.changing.is_packed = true;
        self.float()
    }
    /// Adds `~`, controlled by a bit.
    pub(super) const fn inverted_by(mut self, bit: u8) -> Self {
        self.changing.always_inverts = true;
        self.negated_by(bit)
    }
    /// Replaces `-` by `~`.
    pub(super) const fn inverted(mut self) -> Self {
        self.changing.always_inverts = true;
        self.negated()
    }
    /// Replaces `-` by `~` if a bit is set.
    pub(super) const fn inverted_if(mut self, bit: u8) -> Self {
        self.changing.inverts = Some(bit);
        self
    }
    /// Prints the operand only if a bit is set.
    pub(super) const fn shown_if(mut self, bit: u8) -> Self {
        self.shown = PrintCondition::If(bit);
        self
    }
    /// Makes the operand a carry. Before sm_100, a carry is printed unless it is PT. Since sm_100, it is always
    /// printed.
    pub(super) const fn carry(mut self) -> Self {
        self.shown = PrintCondition::UnlessTrueAheadOf100;
        self
    }
    /// Prints the operand unless it is PT.
    pub(super) const fn unless_true(mut self) -> Self {
        self.shown = PrintCondition::UnlessTrue;
        self
    }
}
