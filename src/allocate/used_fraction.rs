//! How many of a kernel's registers are used, for the sake of occupancy.
//!
//! ptxas is read to hold its demand for registers against a part of those that there are: a piecewise linear function of
//! their number, flat up to 160 and rising to all of them at 255. Fewer registers let more warps run at once.

/// The part of the registers that is used.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedFraction {
    /// Whether only a part is.
    pub is_on: bool,
    /// That of up to [`FLAT`] registers: ptxas's coefficient of 0.2.
    pub least: f32,
}

/// Up to so many registers the part is the least.
const FLAT: f32 = 160.0;
/// From here on it is all of them.
const ALL: f32 = 255.0;
/// With fewer, ptxas compiles nothing.
const FEWEST: u32 = 16;

impl UsedFraction {
    /// All registers are used.
    pub const OFF: Self = Self { is_on: false, least: 0.2 };

    /// The registers that are used of so many.
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

    /// A fifth of few, all of 255, and what lies between; never more than there are, and never fewer than ptxas takes.
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
