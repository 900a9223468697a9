//! Predictions from recorded searches for a new kernel: the gain of each recipe, and whether any recipe gains.
//!
//! The result of each [recipe](super::recipe::Recipe) was recorded on about a hundred PTX kernels. A new kernel is
//! compared with all of these by what is known of it before any run, and then also by the results of its first runs
//! ([`expectation`]). The expected gain is a weighted mean over neighbours, as in kernel regression (Nadaraya, On
//! Estimating Regression, 1964). The next recipe is the one with the largest expected improvement (Mockus, 1978).
//! Unlike a fitted formula, a table of outcomes makes each prediction traceable to the kernels that it comes from.
//!
//! * [`traits`]: what is known of a kernel before any run, as coordinates;
//! * [`gain`]: the gain of a variant over stock, from its figures;
//! * [`experience`]: the recorded kernels;
//! * [`expectation`]: the expected gain of a recipe on a kernel.

pub mod expectation;
pub mod experience;
pub mod gain;
pub mod traits;
