//! Memory: every address has a value.
//!
//! * [`image`]: what memory holds before a program runs, made when the first program reads it and kept for the second;
//! * [`values`]: the values that are drawn for it;
//! * [`global`]: pages of global memory with who wrote what; [`mod@write`]: that; [`apart`]: what threads write that race;
//! * [`flat`]: shared and local memory, where what nobody wrote is undefined;
//! * [`shadow`]: who accessed a word last, for races.

mod apart;
mod flat;
mod global;
mod image;
mod shadow;
mod values;
mod write;

pub(super) use flat::Flat;
pub(super) use global::{Global, note};
pub(super) use image::Image;
pub(super) use shadow::{Shadow, Stamp, View};
pub(super) use values::Values;
pub(super) use write::{Write, Written};
