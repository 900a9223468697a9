//! The copy coalescer.
