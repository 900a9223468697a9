//! Instructions against plain Rust, on drawn operands.
