//! Memory in which every address has a value.
//!
//! * [`image`]: memory before a program runs, drawn when the first program reads it and kept for the second;
//! * [`values`]: drawn values; [`filled`]: places that a rule fills;
//! * [`global`]: pages of global memory with their writers; [`mod@write`]: a written word; [`unordered_writes`]: racing writes of
//!   threads;
//! * [`flat`]: shared and local memory, in which uninitialised bytes are undefined;
//! * [`bytes`]: values with undefined bytes; [`origin`]: the origin of these bytes;
//! * [`shadow`]: the last accesses of a word, for race detection.

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
