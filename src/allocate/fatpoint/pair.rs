//! Pair modes: the part of the register file that one live range consumes.

use crate::allocate::problem::{ClassData, FileData};

/// The pair mode of a live range, two bits of its flags in ptxas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairMode {
    /// 0: one register.
    Single,
    /// 1: half of a pair. Here: half of a register, in a file that packs 16-bit values.
    Half,
    /// 3: an aligned pair.
    Double,
    /// More than a pair, or a pair that is not aligned. ptxas has no such mode, and knows these live ranges by their
    /// width.
    Vector,
}

impl PairMode {
    /// Returns the mode of a class's members.
    pub(super) fn of(class: &ClassData, file: &FileData) -> Self {
        let register = file.units_per_register.max(1);
        if class.width < register {
            Self::Half
        } else if class.width == register {
            Self::Single
        } else if class.width == 2 * register && class.align.is_multiple_of(class.width) {
            Self::Double
        } else {
            Self::Vector
        }
    }
}

/// Returns the last unit that a live range consumes. For single registers and pairs, this is ptxas's `place + (1 <<
/// (mode == 3)) - 1`. Vectors consume as many units as they are wide.
pub(super) fn last_unit(place: u32, class: &ClassData) -> u32 {
    place.saturating_add(class.width.max(1) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::problem::File;

    fn class(width: u32, align: u32) -> ClassData {
        ClassData { name: "c".into(), file: File(0), width, align, bytes: 4, promotes_to: None }
    }

    /// Modes follow from width and alignment, in files of whole registers and of halves; a pair consumes two places.
    #[test]
    fn modes() {
        let file = |units_per_register| FileData { name: "R".into(), register_limit: None, units_per_register };
        let mode = |width, align, units| PairMode::of(&class(width, align), &file(units));
        assert_eq!(
            [mode(1, 1, 1), mode(2, 2, 1), mode(4, 4, 1)],
            [PairMode::Single, PairMode::Double, PairMode::Vector]
        );
        assert_eq!([mode(1, 1, 2), mode(2, 2, 2), mode(4, 4, 2)], [PairMode::Half, PairMode::Single, PairMode::Double]);
        assert_eq!(mode(2, 1, 1), PairMode::Vector);
        assert_eq!([last_unit(6, &class(1, 1)), last_unit(6, &class(2, 2))], [6, 7]);
    }
}
