//! One type for the registers of all files.

use crate::sass::operand::{PT, Predicate, RZ, Register};

/// A register of one of the five files. Registers that read as zero and predicates that are always true are excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// R0 to R254.
    General(u8),
    /// UR0 to UR254.
    Uniform(u8),
    /// P0 to P6.
    Predicate(u8),
    /// UP0 to UP6.
    UniformPredicate(u8),
    /// B0 to B15.
    Convergence(u8),
}

/// The number of values of [`Place::index`].
pub const PLACES: usize = 2 * FILE + 2 * FEW + 16;
/// The numbers that are reserved for a register file.
const FILE: usize = 256;
/// The numbers that are reserved for a predicate file.
const FEW: usize = 8;

impl Place {
    /// Returns the register of an operand. `None` if it reads as zero.
    pub fn of_register(register: Register) -> Option<Self> {
        let Register { number, is_uniform } = register;
        let place = if is_uniform { Self::Uniform(number) } else { Self::General(number) };
        (number != RZ).then_some(place)
    }

    /// Returns the predicate of an operand. `None` if it is always true.
    pub fn of_predicate(predicate: Predicate) -> Option<Self> {
        let Predicate { number, is_uniform, .. } = predicate;
        let place = if is_uniform { Self::UniformPredicate(number) } else { Self::Predicate(number) };
        (number != PT).then_some(place)
    }

    /// Returns the register that is `distance` registers after this one in its file. `None` after the last register.
    pub fn behind(self, distance: u8) -> Option<Self> {
        let next = |number: u8| number.checked_add(distance);
        match self {
            Self::General(number) => next(number).filter(|&next| next != RZ).map(Self::General),
            Self::Uniform(number) => next(number).filter(|&next| next != RZ).map(Self::Uniform),
            Self::Predicate(number) => next(number).filter(|&next| next < PT).map(Self::Predicate),
            Self::UniformPredicate(number) => next(number).filter(|&next| next < PT).map(Self::UniformPredicate),
            Self::Convergence(number) => next(number).filter(|&next| next < 16).map(Self::Convergence),
        }
    }

    /// Returns a number below [`PLACES`] that is unique to the register.
    pub fn index(self) -> usize {
        match self {
            Self::General(number) => number.into(),
            Self::Uniform(number) => FILE + usize::from(number),
            Self::Predicate(number) => 2 * FILE + usize::from(number) % FEW,
            Self::UniformPredicate(number) => 2 * FILE + FEW + usize::from(number) % FEW,
            Self::Convergence(number) => 2 * FILE + 2 * FEW + usize::from(number) % 16,
        }
    }

    /// Returns the register with a number of [`Self::index`].
    pub fn at(index: usize) -> Option<Self> {
        let number = |from: usize| (index - from) as u8;
        let place = match index {
            0..FILE => Self::General(number(0)),
            FILE..512 => Self::Uniform(number(FILE)),
            512..520 => Self::Predicate(number(512)),
            520..528 => Self::UniformPredicate(number(520)),
            528..PLACES => Self::Convergence(number(528)),
            _ => return None,
        };
        let last =
            matches!(place, Self::General(RZ) | Self::Uniform(RZ) | Self::Predicate(PT) | Self::UniformPredicate(PT));
        (!last).then_some(place)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::General(number) => write!(f, "R{number}"),
            Self::Uniform(number) => write!(f, "UR{number}"),
            Self::Predicate(number) => write!(f, "P{number}"),
            Self::UniformPredicate(number) => write!(f, "UP{number}"),
            Self::Convergence(number) => write!(f, "B{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each register has its own number, and each number of a register leads back to the register.
    #[test]
    fn numbers_and_registers_are_one_to_one() {
        let places: Vec<Place> = (0..PLACES + 10).filter_map(Place::at).collect();
        assert_eq!(places.len(), 255 + 255 + 7 + 7 + 16);
        assert!(places.is_sorted());
        for (index, place) in (0..PLACES).filter_map(|index| Some((index, Place::at(index)?))) {
            assert_eq!((place.index(), place.behind(0)), (index, Some(place)));
            assert_eq!(place.behind(1), Place::at(index + 1).filter(|_| place.behind(1).is_some()));
        }
    }
}
