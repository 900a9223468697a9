//! Tests of the reader and of what is built on it.

mod reading;
