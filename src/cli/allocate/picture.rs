//! Common parts of the pictures of an allocation: colours, names, and output.

use std::path::Path;

use nvptx_ra::allocate::{Allocation, LiveRange, Placement, Problem};
use nvptx_ra::error::Error;

/// The data of a picture.
pub(super) struct Picture<'a> {
    pub(super) problem: &'a Problem,
    pub(super) allocation: &'a Allocation,
    /// The allocator that found the allocation.
    pub(super) allocator: &'static str,
}

impl Picture<'_> {
    /// Returns a live range's name, with its virtual register if it has one.
    pub(super) fn name(&self, range: LiveRange) -> String {
        match self.problem.ranges()[range].register {
            Some(register) => format!("{range} %{}", register.0),
            None => range.to_string(),
        }
    }

    /// Returns the first unit of a live range, in the hardware's numbering; `None` if it is spilled.
    pub(super) fn place(&self, range: LiveRange) -> Option<String> {
        match self.allocation.placements[range] {
            Placement::Register(unit) => Some(self.unit(range, unit)),
            Placement::Spilled(_) => None,
        }
    }

    /// Returns the name of a unit in a live range's file.
    pub(super) fn unit(&self, range: LiveRange, unit: u32) -> String {
        format!("{}{unit}", self.problem.files()[self.problem.file(range)].name)
    }
}

/// Writes a picture.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Error> {
    crate::output::write(path, text.as_bytes())
}

/// Returns a light colour for a unit. The hues of adjacent units are a golden angle apart, so they differ clearly.
pub(super) fn color(unit: u32) -> String {
    let hue = f64::from(unit) * 137.508 % 360.0 / 60.0;
    let lightness = [0.72, 0.62, 0.80][unit as usize % 3];
    let chroma = (1.0 - (2.0_f64 * lightness - 1.0).abs()) * 0.6;
    let second = chroma * (1.0 - (hue % 2.0 - 1.0).abs());
    let (red, green, blue) = match hue as u32 {
        0 => (chroma, second, 0.0),
        1 => (second, chroma, 0.0),
        2 => (0.0, chroma, second),
        3 => (0.0, second, chroma),
        4 => (second, 0.0, chroma),
        _ => (chroma, 0.0, second),
    };
    let byte = |part: f64| ((part + lightness - chroma / 2.0) * 255.0).round() as u8;
    format!("#{:02x}{:02x}{:02x}", byte(red), byte(green), byte(blue))
}
