//! The operation of a SIMD video instruction.

/// A relation between two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A function of two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Saturating sum.
    Add,
    /// Saturating difference.
    Subtract,
    /// 1 if the comparison holds, otherwise 0.
    Set(Comparison),
    Minimum,
    Maximum,
    /// Mean, rounded up.
    Average,
    /// Absolute difference.
    Distance {
        /// Whether the result is limited to the largest number of the part's signed type. Otherwise, the result is its
        /// low bits.
        saturates: bool,
    },
}

/// A SIMD video instruction whose operands have one type, without selector, mask or sum of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    /// Width of a part: 8 or 16 bits.
    pub(super) bits: u32,
    pub(super) is_signed: bool,
}

impl Operation {
    /// Parses a mnemonic such as `vsub4.s32.s32.s32.sat`. `None` for other instructions, and for those that ptxas
    /// compiles equally well.
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
            // For halves, ptxas needs at most nine instructions.
            ("min", []) if bits == 8 => Kind::Minimum,
            ("max", []) if bits == 8 => Kind::Maximum,
            // For halves, ptxas needs four instructions. Signed parts are rounded away from zero.
            ("avrg", []) if bits == 8 && !is_signed => Kind::Average,
            // The hardware has a single instruction for this.
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
