//! Fraction of a kernel's registers that is used, to allow higher occupancy.
//!
//! ptxas is read to compare its demand for registers with a fraction of the available registers. The fraction depends
//! on the number of available registers. It is constant up to 160 registers, and then rises linearly to 1 at 255. If a
//! kernel uses fewer registers, more warps are resident.

/// Fraction of the registers that is used.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedFraction {
    /// Whether only a fraction is used.
    pub is_on: bool,
    /// Fraction that is used if at most [`FLAT`] registers are available: ptxas's coefficient of 0.2.
    pub least: f32,
}

/// Most registers for which the fraction is constant.
const FLAT: f32 = 160.0;
/// Number of registers from which on all are used.
const ALL: f32 = 255.0;
/// Fewest registers with which ptxas compiles a kernel.
const FEWEST: u32 = 16;

impl UsedFraction {
    /// All registers are used.
    pub const OFF: Self = Self { is_on: false, least: 0.2 };

    /// Returns the number of registers that are used.
    pub fn of(&self, registers: u32) -> u32 {
        if !self.is_on {
            return registers;
        }
        let rise = (registers as f32 - FLAT) / (ALL - FLAT);
        let part = self.least + (1.0 - self.least) * rise.clamp(0.0, 1.0);
        let used = ((registers as f32 + 1.0) * part) as u32;
        used.max(FEWEST).min(registers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fifth of few registers is used, all of 255, and a fraction between these in between. Never more are used than
    /// available, and never fewer than ptxas needs.
    #[test]
    fn parts() {
        let on = UsedFraction { is_on: true, ..UsedFraction::OFF };
        assert_eq!([8, 32, 128, 160, 200, 255].map(|registers| on.of(registers)), [8, 16, 25, 32, 107, 255]);
        assert_eq!([8, 128, 255].map(|registers| UsedFraction::OFF.of(registers)), [8, 128, 255]);
        let parts: Vec<u32> = (0..=255).map(|registers| on.of(registers)).collect();
        assert!(parts.is_sorted());
        let all = UsedFraction { least: 1.0, ..on };
        assert!((0..=255).all(|registers| all.of(registers) == registers));
    }
}
