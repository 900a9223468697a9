//! What to do about values that have no register: computing them again ([`remat`]), or moving them out of the way, to
//! memory too ([`shared`]).

pub(crate) mod groups;
pub(crate) mod pressure;
pub mod remat;
pub mod shared;
pub(crate) mod single_definition;
