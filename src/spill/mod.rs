//! What to do about values that have no register: so far, computing them again.

pub mod remat;
