//! The search for the best variant of each kernel, as questions and answers.
//!
//! Nothing here compiles, runs ptxas, reads a file, starts a thread or reads a clock. A search returns questions about
//! variants and receives the answers. The same answers lead to the same questions, for every caller and for every order
//! in which the kernels are served.
//!
//! Terms: a *neighbour* of a variant differs from it in one choice. A variant is *admissible* if no figure is worse
//! than stock's, except where the user allows it. *Turned loops* end in the form that ptxas unrolls. *Choices before
//! LLVM's optimisations* are inlining and unrolling.
//!
//! The modules:
//! * [`ptxas_output`], [`timing`]: what ptxas, machine code and a benchmark report of a kernel;
//! * [`figures`]: the figures of a kernel, and their comparison; [`judgement`]: the figures of a file, and their text
//!   form;
//! * [`relocatable`]: what a linker sees of an object, and what a variant may not change in it;
//! * [`optimisations`], [`spill_options`], [`axis`], [`variant`]: the ways to compile a kernel;
//! * [`agreement`], [`assurance`], [`findings`]: the results of comparisons; [`predicted`]: predicted times;
//! * [`question`]: questions and answers;
//! * [`objective`]: the goal of a search, and its limits;
//! * [`search`]: the kernels, each with its tried variants and the best variant.

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
