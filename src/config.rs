//! Options: one table.
