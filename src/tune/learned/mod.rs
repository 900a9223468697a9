//! What recorded searches say of a kernel that is to be searched: which recipe gains how much, and whether any does.
//!
//! Of some hundred kernels of PTX it was recorded what each [recipe](super::recipe::Recipe) came to. A kernel that is to be
//! searched is compared with all of these by what is known of it ahead of any run, and then also by what its first runs came to
//! ([`expectation`]). That is a weighted mean over neighbours, as a kernel regression takes it (Nadaraya, On Estimating
//! Regression, 1964); the next recipe is the one with the largest expected improvement (Mockus, 1978). A table of outcomes has
//! the advantage over a fitted formula that each answer can be traced to the kernels that it comes from.
//!
//! * [`traits`]: what is known of a kernel ahead of any run, as coordinates;
//! * [`gain`]: what a variant gains beside stock, by its figures;
//! * [`experience`]: the recorded kernels;
//! * [`expectation`]: what is to be expected of a recipe on a kernel.

pub mod expectation;
pub mod experience;
pub mod gain;
pub mod traits;
