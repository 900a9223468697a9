//! The search for the best way to compile each kernel, as questions and answers.
//!
//! Nothing here compiles, runs ptxas, reads a file, starts a thread or looks at a clock. A search is asked what it
//! wants to know of variants, and is told what is found; so the same answers give the same questions, whoever finds
//! the answers, in whatever order the kernels take their turns.
//!
//! In the order of the files:
//! * [`ptxas_output`], [`timing`]: what ptxas, machine code and a benchmark say of a kernel;
//! * [`figures`]: what a kernel costs by that, and which of two costs is the better; [`judgement`]: the evidence of a file,
//!   and its form as text;
//! * [`relocatable`]: what a linker sees of an object, and what a variant may not change of it;
//! * [`optimisations`], [`spill_options`], [`axis`], [`variant`]: the ways to compile a kernel;
//! * [`agreement`], [`assurance`], [`findings`]: what comparisons say of variants; [`predicted`]: what a model of time does;
//! * [`question`]: what is asked and told;
//! * [`objective`]: what is best, and how much may be asked;
//! * [`search`]: the kernels, each with what was tried on it and what is best.

pub mod agreement;
pub mod assurance;
pub mod axis;
pub mod block_sizes;
pub mod figures;
pub mod findings;
pub mod judgement;
pub mod kernel;
pub mod learned;
pub mod objective;
pub mod optimisations;
pub mod predicted;
pub mod price;
pub mod ptxas_output;
pub mod question;
pub mod recipe;
pub mod relocatable;
pub mod search;
pub mod shares;
pub mod spill_options;
pub mod timing;
pub mod variant;
