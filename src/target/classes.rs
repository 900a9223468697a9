//! Register classes in PTX.

use crate::function::RegClass;

impl RegClass {
    /// Returns the prefix of the class's registers in PTX, as LLVM prints them: `%r` for `%r17`. `None` if PTX has no
    /// such class.
    pub fn ptx_prefix(self) -> Option<&'static str> {
        match self {
            Self::B1 => Some("%p"),
            Self::B16 => Some("%rs"),
            Self::B32 => Some("%r"),
            Self::B64 => Some("%rd"),
            Self::B128 => Some("%rq"),
            Self::Other => None,
        }
    }

    /// Returns the type with which PTX declares registers of the class: `.b32` for `.reg .b32 %r<18>;`. `None` if PTX
    /// has no such class.
    pub fn ptx_type(self) -> Option<&'static str> {
        match self {
            Self::B1 => Some(".pred"),
            Self::B16 => Some(".b16"),
            Self::B32 => Some(".b32"),
            Self::B64 => Some(".b64"),
            Self::B128 => Some(".b128"),
            Self::Other => None,
        }
    }

    /// Returns the 32-bit hardware registers of one register of the class. Predicates have a file of their own, so they
    /// count 0. A 16-bit value takes a whole register.
    pub fn words(self) -> u32 {
        match self {
            Self::B1 | Self::Other => 0,
            Self::B16 | Self::B32 => 1,
            Self::B64 => 2,
            Self::B128 => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_ptx_has_a_distinct_prefix_and_other_has_none() {
        let mut prefixes: Vec<_> = RegClass::ALL.iter().map(|class| class.ptx_prefix().unwrap()).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        assert_eq!(prefixes.len(), RegClass::ALL.len());
        assert_eq!(RegClass::Other.ptx_prefix(), None);
        assert_eq!(RegClass::Other.ptx_type(), None);
    }

    #[test]
    fn words_cover_the_bits_of_every_class_but_predicates() {
        for class in RegClass::ALL.into_iter().filter(|&class| class != RegClass::B1) {
            assert_eq!(class.words(), class.bits().div_ceil(32), "{}", class.name());
        }
    }
}
