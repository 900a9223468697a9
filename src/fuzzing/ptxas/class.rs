//! Classes of registers. Numbers of each format have separate registers, so that no bits of a NaN reach integers.

use super::drawn::Drawn;

/// The contents of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Pred,
    B16,
    B32,
    B64,
    F32,
    F64,
    F16,
    BF16,
    F16x2,
    BF16x2,
}

impl Class {
    pub(super) const ALL: [Self; 10] = [
        Self::Pred,
        Self::B16,
        Self::B32,
        Self::B64,
        Self::F32,
        Self::F64,
        Self::F16,
        Self::BF16,
        Self::F16x2,
        Self::BF16x2,
    ];

    /// Returns the prefix of register names.
    pub(super) fn prefix(self) -> &'static str {
        ["%p", "%h", "%r", "%d", "%f", "%g", "%hf", "%hb", "%xf", "%xb"][self as usize]
    }

    /// Returns the PTX type of the registers.
    pub(super) fn register_type(self) -> &'static str {
        ["pred", "b16", "b32", "b64", "f32", "f64", "b16", "b16", "b32", "b32"][self as usize]
    }

    /// Returns the PTX type of moves and memory accesses.
    pub(super) fn bits_type(self) -> &'static str {
        match self.bits() {
            1 => "pred",
            16 => "b16",
            32 => "b32",
            _ => "b64",
        }
    }

    /// Returns the PTX type of arithmetic.
    pub(super) fn number_type(self) -> &'static str {
        ["pred", "u16", "u32", "u64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"][self as usize]
    }

    pub(super) fn bits(self) -> u32 {
        [1, 16, 32, 64, 32, 64, 16, 16, 32, 32][self as usize]
    }

    pub(super) fn is_float(self) -> bool {
        self as usize > Self::B64 as usize
    }

    /// Returns the class of a part of a mnemonic, if it is a type.
    pub(super) fn of_type(word: &str) -> Option<Self> {
        Some(match word {
            "pred" => Self::Pred,
            "s8" | "u8" | "b8" | "s16" | "u16" | "b16" => Self::B16,
            "s32" | "u32" | "b32" | "s16x2" | "u16x2" => Self::B32,
            "s64" | "u64" | "b64" => Self::B64,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "f16" => Self::F16,
            "bf16" => Self::BF16,
            "f16x2" => Self::F16x2,
            "bf16x2" => Self::BF16x2,
            _ => return None,
        })
    }

    /// Returns the integer class with twice the bits.
    pub(super) fn twice(self) -> Self {
        if self.bits() == 16 { Self::B32 } else { Self::B64 }
    }

    /// Draws the bits of a constant: an integer, or a NaN, infinite, subnormal, extreme or ordinary number.
    pub(super) fn constant(self, drawn: &mut Drawn) -> u64 {
        const FLOATS: [u32; 16] = [
            0x3f80_0000,
            0xbf80_0000,
            0,
            0x8000_0000,
            0x3f00_0000,
            0x4000_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            5,
            0x4049_0fdb,
            0xff7f_ffff,
            0x0080_0000,
            0x4b00_0000,
            0x4f00_0000,
            0x3e80_0000,
        ];
        const HALVES: [u64; 10] = [0x3c00, 0xbc00, 0, 0x8000, 0x3800, 0x7c00, 0x7e00, 5, 0x4248, 0xfbff];
        let float = drawn.one_of(&FLOATS);
        match self {
            Self::Pred => drawn.next() & 1,
            Self::B16 | Self::B32 | Self::B64 => drawn.integer(self.bits()),
            Self::F32 => float.into(),
            Self::F64 => f64::from(f32::from_bits(float)).to_bits(),
            Self::F16 => drawn.one_of(&HALVES),
            Self::F16x2 => drawn.one_of(&HALVES) | drawn.one_of(&HALVES) << 16,
            Self::BF16 => u64::from(float >> 16),
            Self::BF16x2 => u64::from(float >> 16) | u64::from(drawn.one_of(&FLOATS) >> 16) << 16,
        }
    }
}
