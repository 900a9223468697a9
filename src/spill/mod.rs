//! What to do about values that have no register: computing them again ([`remat`]), moving them out of the way, to memory too
//! ([`spiller`]), or keeping predicates as bits of general registers ([`bits`]). What that becomes in the code is in [`lower`].

pub(crate) mod at;
pub(crate) mod bits;
pub(crate) mod groups;
pub mod lower;
pub(crate) mod packing;
pub mod remat;
pub(crate) mod single_definition;
pub mod spiller;
