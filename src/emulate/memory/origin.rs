//! Origins of undefined values.

/// The origin of an undefined value: a kind, and a line of the PTX file or the index of a special register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::emulate) struct Origin(u32);

const UNSET: u32 = 0;
const SPECIAL: u32 = 1;
const SHARED: u32 = 2;
const LOCAL: u32 = 3;
const DIVISION: u32 = 4;
const SHUFFLE: u32 = 5;
/// Bits of a line or index.
const BITS: u32 = 28;

impl Origin {
    const fn new(kind: u32, line: u32) -> Self {
        Self(kind << BITS | line & ((1 << BITS) - 1))
    }

    /// An unset register, read in a line.
    pub(in crate::emulate) const fn unset(line: u32) -> Self {
        Self::new(UNSET, line)
    }

    /// A special register, by its index among those that the program reads.
    pub(in crate::emulate) const fn special(number: u32) -> Self {
        Self::new(SPECIAL, number)
    }

    /// Uninitialised shared memory, read in a line.
    pub(in crate::emulate) const fn shared(line: u32) -> Self {
        Self::new(SHARED, line)
    }

    /// Uninitialised local memory, read in a line.
    pub(in crate::emulate) const fn local(line: u32) -> Self {
        Self::new(LOCAL, line)
    }

    /// An integer division by zero in a line.
    pub(in crate::emulate) const fn division(line: u32) -> Self {
        Self::new(DIVISION, line)
    }

    /// A shuffle in a line that reads a thread outside its mask.
    pub(in crate::emulate) const fn shuffle(line: u32) -> Self {
        Self::new(SHUFFLE, line)
    }

    /// Whether the origin is known.
    pub(in crate::emulate) fn is_known(self) -> bool {
        self != Self::default()
    }

    /// Returns this origin, or the other one if this one is unknown.
    pub(in crate::emulate) fn or(self, other: Self) -> Self {
        if self.is_known() { self } else { other }
    }

    /// Returns a description, with the names of special registers.
    pub(in crate::emulate) fn text(self, specials: &[&str]) -> String {
        let line = self.0 & ((1 << BITS) - 1);
        match self.0 >> BITS {
            UNSET if line == 0 => "an unset register".into(),
            UNSET => format!("an unset register, read in line {line}"),
            SPECIAL => specials.get(line as usize).map_or_else(String::new, |name| (*name).to_owned()),
            SHARED => format!("uninitialised shared memory, read in line {line}"),
            LOCAL => format!("uninitialised local memory, read in line {line}"),
            DIVISION => format!("a division by zero in line {line}"),
            _ => format!("a shuffle from a thread outside the mask, in line {line}"),
        }
    }
}
