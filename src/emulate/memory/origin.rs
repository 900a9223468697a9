//! Where undefined values come from.

/// Where an undefined value comes from: a kind, and a line of the text or the number of a special register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::emulate) struct Origin(u32);

const UNSET: u32 = 0;
const SPECIAL: u32 = 1;
const SHARED: u32 = 2;
const LOCAL: u32 = 3;
const DIVISION: u32 = 4;
const SHUFFLE: u32 = 5;
/// The bits of a line or number.
const BITS: u32 = 28;

impl Origin {
    const fn new(kind: u32, line: u32) -> Self {
        Self(kind << BITS | line & ((1 << BITS) - 1))
    }

    /// A register that is not set, read in a line.
    pub(in crate::emulate) const fn unset(line: u32) -> Self {
        Self::new(UNSET, line)
    }

    /// A special register, by its number among those that the program reads.
    pub(in crate::emulate) const fn special(number: u32) -> Self {
        Self::new(SPECIAL, number)
    }

    /// Shared memory that nobody wrote, read in a line.
    pub(in crate::emulate) const fn shared(line: u32) -> Self {
        Self::new(SHARED, line)
    }

    /// Local memory that nobody wrote, read in a line.
    pub(in crate::emulate) const fn local(line: u32) -> Self {
        Self::new(LOCAL, line)
    }

    /// An integer that is divided by zero in a line.
    pub(in crate::emulate) const fn division(line: u32) -> Self {
        Self::new(DIVISION, line)
    }

    /// A shuffle in a line that reads a thread which does not take part.
    pub(in crate::emulate) const fn shuffle(line: u32) -> Self {
        Self::new(SHUFFLE, line)
    }

    /// Whether somebody said where the value comes from.
    pub(in crate::emulate) fn is_known(self) -> bool {
        self != Self::default()
    }

    /// This one, or else another one.
    pub(in crate::emulate) fn or(self, other: Self) -> Self {
        if self.is_known() { self } else { other }
    }

    /// The words for it, with the names of special registers.
    pub(in crate::emulate) fn text(self, specials: &[&str]) -> String {
        let line = self.0 & ((1 << BITS) - 1);
        match self.0 >> BITS {
            UNSET if line == 0 => "a register that is not set".into(),
            UNSET => format!("a register that is not set, read in line {line}"),
            SPECIAL => specials.get(line as usize).map_or_else(String::new, |name| (*name).to_owned()),
            SHARED => format!("shared memory that nobody wrote, read in line {line}"),
            LOCAL => format!("local memory that nobody wrote, read in line {line}"),
            DIVISION => format!("a division by zero in line {line}"),
            _ => format!("a shuffle from a thread that does not take part, in line {line}"),
        }
    }
}
