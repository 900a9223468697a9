//! The types of PTX, and the kinds of their values.

/// A type in a mnemonic or declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// `.pred`
    Pred,
    /// `.u8` to `.u64`, and `.b8` to `.b128`, by bits.
    Unsigned(u8),
    /// `.s8` to `.s64`, by bits.
    Signed(u8),
    F16,
    F16x2,
    BF16,
    BF16x2,
    TF32,
    F32,
    F32x2,
    F64,
    U16x2,
    S16x2,
    /// `.e4m3`
    E4M3,
    /// `.e5m2`
    E5M2,
}

impl Ty {
    /// Returns the type of a modifier without its dot.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "pred" => Self::Pred,
            "u8" | "b8" => Self::Unsigned(8),
            "u16" | "b16" => Self::Unsigned(16),
            "u32" | "b32" => Self::Unsigned(32),
            "u64" | "b64" => Self::Unsigned(64),
            "b128" => Self::Unsigned(128),
            "s8" => Self::Signed(8),
            "s16" => Self::Signed(16),
            "s32" => Self::Signed(32),
            "s64" => Self::Signed(64),
            "f16" => Self::F16,
            "f16x2" => Self::F16x2,
            "bf16" => Self::BF16,
            "bf16x2" => Self::BF16x2,
            "tf32" => Self::TF32,
            "f32" => Self::F32,
            "f32x2" => Self::F32x2,
            "f64" => Self::F64,
            "u16x2" => Self::U16x2,
            "s16x2" => Self::S16x2,
            "e4m3" => Self::E4M3,
            "e5m2" => Self::E5M2,
            _ => return None,
        })
    }

    /// Returns the bits of a value. A predicate has one.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::Unsigned(bits) | Self::Signed(bits) => bits.into(),
            Self::F16 | Self::BF16 => 16,
            Self::F16x2 | Self::BF16x2 | Self::U16x2 | Self::S16x2 | Self::TF32 | Self::F32 => 32,
            Self::F64 | Self::F32x2 => 64,
            Self::E4M3 | Self::E5M2 => 8,
        }
    }

    /// Returns the bytes of a value in memory.
    pub(crate) fn bytes(self) -> u32 {
        self.bits().max(8) / 8
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Self::Signed(_))
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Self::Unsigned(_) | Self::Signed(_))
    }

    pub(crate) fn is_float(self) -> bool {
        !self.is_integer() && !matches!(self, Self::Pred | Self::U16x2 | Self::S16x2)
    }
}

/// The kind of the values in memory or a register: how values are drawn and compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Unknown: a small integer.
    #[default]
    Integer,
    /// A place where threads meet, such as a counter or a lock: initially zero.
    Meeting,
    /// Bits that an operation takes apart: all of them are drawn.
    Bits,
    /// An address.
    Pointer,
    /// One or two halves.
    F16,
    /// One or two bf16.
    BF16,
    /// A float, or two of them in 64 bits.
    F32,
    /// A double.
    F64,
}

impl Kind {
    pub(crate) fn of(ty: Ty) -> Self {
        match ty {
            Ty::F16 | Ty::F16x2 => Self::F16,
            Ty::BF16 | Ty::BF16x2 => Self::BF16,
            Ty::F32 | Ty::F32x2 | Ty::TF32 => Self::F32,
            Ty::F64 => Self::F64,
            Ty::E4M3 | Ty::E5M2 => Self::Bits,
            _ => Self::Integer,
        }
    }

    /// Returns the kind of a place where threads meet.
    pub(crate) fn met(self) -> Self {
        if self.is_float() { self } else { Self::Meeting }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// Returns the bytes of a value of a floating-point kind.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F16 | Self::BF16 => 2,
            Self::F64 => 8,
            _ => 4,
        }
    }
}

/// Returns the lowest `bits` bits of a value.
pub(crate) fn low(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// Returns the lowest `bits` bits as a signed number.
pub(crate) fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    ((value << shift) as i64) >> shift
}

/// Returns a pseudo-random number from any number: splitmix64.
pub(crate) fn mixed(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Returns a hash of a name.
pub(crate) fn hash_of(name: &str) -> u64 {
    name.bytes().fold(0x1234_5678, |hash, byte| mixed(hash ^ u64::from(byte)))
}
