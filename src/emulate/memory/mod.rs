//! Memory: every address has a value.
//!
//! * [`image`]: what memory holds before a program runs, made when the first program reads it and kept for the second;
//! * [`values`]: the values that are drawn for it; [`filled`]: places that a rule fills;
//! * [`global`]: pages of global memory with who wrote what; [`mod@write`]: that; [`unordered_writes`]: what threads write that race;
//! * [`flat`]: shared and local memory, where what nobody wrote is undefined;
//! * [`bytes`]: values of which some bytes are defined; [`origin`]: where the others come from;
//! * [`shadow`]: who accessed a word last, for races.

mod bytes;
mod filled;
mod flat;
mod global;
mod image;
mod origin;
mod shadow;
mod unordered_writes;
mod values;
mod write;

pub(super) use bytes::{Bytes, bits_of, first_bytes};
pub use filled::{Element, Fill, Filled};
pub(super) use flat::Flat;
pub(super) use global::{Global, note};
pub(super) use image::Image;
pub(super) use origin::Origin;
pub(super) use shadow::{Shadow, Stamp, View};
pub(super) use values::Values;
pub(super) use write::{Write, Written};
