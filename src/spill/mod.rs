//! What to do about values that have no register: computing them again ([`remat`]), or moving them out of the way, to
//! memory too ([`spiller`]).

pub(crate) mod groups;
pub(crate) mod pressure;
pub mod remat;
pub(crate) mod single_definition;
pub mod spiller;
