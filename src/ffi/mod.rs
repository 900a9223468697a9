//! The C ABI: the only `unsafe` of the library.
