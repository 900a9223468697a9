//! Decisions about LLVM's own optimisations, from facts that the shim reads from LLVM IR.
//!
//! This code does not access LLVM. It receives facts and returns marks, which the shim applies.
//!
//! * [`choice`]: the choice of a kernel;
//! * [`ahead`]: the changes for the choices of a module's kernels, before the first optimisation;
//! * [`call_graph`]: the module's functions and calls;
//! * [`stack`]: calls that pass addresses of stack variables;
//! * [`unroll`]: the loops that LLVM unrolls, and their unroll factors.

pub mod ahead;
pub mod call_graph;
pub mod choice;
pub mod stack;
pub mod unroll;
