//! What a SIMD video instruction computes.

/// How two parts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What is computed of two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A sum that saturates.
    Add,
    /// A difference that saturates.
    Subtract,
    /// 1 or 0.
    Set(Comparison),
    Minimum,
    Maximum,
    /// The mean, rounded up.
    Average,
    /// The magnitude of the difference.
    Distance {
        /// Limited to the largest number of the part's type, which has a sign; else its low bits.
        saturates: bool,
    },
}

/// A SIMD video instruction whose operands have one type, without selector, mask or sum of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    /// Bits of a part: 8 or 16.
    pub(super) bits: u32,
    pub(super) is_signed: bool,
}

impl Operation {
    /// Reads a mnemonic, as `vsub4.s32.s32.s32.sat`. `None`: it is another instruction, or one that ptxas does as well.
    pub(super) fn of(mnemonic: &str) -> Option<Self> {
        let mut words = mnemonic.strip_prefix('v')?.split('.');
        let name = words.next()?;
        let modifiers: Vec<&str> = words.collect();
        let (stem, bits) = match name.strip_suffix('4') {
            Some(stem) => (stem, 8),
            None => (name.strip_suffix('2')?, 16),
        };
        let num_types = if stem == "set" { 2 } else { 3 };
        let (types, rest) = modifiers.split_at_checked(num_types)?;
        let is_signed = match types[0] {
            "s32" => true,
            "u32" => false,
            _ => return None,
        };
        if types.iter().any(|ty| *ty != types[0]) {
            return None;
        }
        let kind = match (stem, rest) {
            ("add", ["sat"]) => Kind::Add,
            ("sub", ["sat"]) => Kind::Subtract,
            ("set", [comparison]) => Kind::Set(compared(comparison)?),
            // Halves take ptxas nine instructions at most.
            ("min", []) if bits == 8 => Kind::Minimum,
            ("max", []) if bits == 8 => Kind::Maximum,
            // ptxas has four instructions for halves. Signed parts are rounded away from zero.
            ("avrg", []) if bits == 8 && !is_signed => Kind::Average,
            // One instruction of the hardware.
            ("absdiff", _) if bits == 8 && !is_signed => return None,
            ("absdiff", []) => Kind::Distance { saturates: false },
            ("absdiff", ["sat"]) if is_signed => Kind::Distance { saturates: true },
            _ => return None,
        };
        Some(Self { kind, bits, is_signed })
    }
}

fn compared(name: &str) -> Option<Comparison> {
    Some(match name {
        "eq" => Comparison::Equal,
        "ne" => Comparison::NotEqual,
        "lt" => Comparison::Less,
        "le" => Comparison::LessOrEqual,
        "gt" => Comparison::Greater,
        "ge" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}
