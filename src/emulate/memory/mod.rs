//! Memory: every address has a value.
//!
//! * [`image`]: what memory holds before a program runs, made when the first program reads it and kept for the second;
//! * [`values`]: the values that are drawn for it;
//! * [`global`]: pages of global memory with who wrote what;
//! * [`flat`]: shared and local memory, where what nobody wrote is undefined;
//! * [`shadow`]: who accessed a word last, for races.

mod flat;
mod global;
mod image;
mod shadow;
mod values;

pub(super) use flat::Flat;
pub(super) use global::{Global, Write, note};
pub(super) use image::Image;
pub(super) use shadow::{Shadow, Stamp, View};
pub(super) use values::Values;
