//! What is decided by forecasts, without ptxas.
//!
//! * [`order`]: the order of a kernel's instructions, [`preferred_order`](order::preferred_order);
//! * [`variants`]: which of several ways to compile a module, [`preferred_variants`](variants::preferred_variants);
//! * [`register_limit`]: the limit on a kernel's registers, [`Forecast::limit`](super::Forecast::limit).

pub(super) mod order;
mod register_limit;
pub(super) mod variants;
