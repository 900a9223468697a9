//! What is decided of LLVM's own optimisations, from facts that the shim reads off LLVM IR.
//!
//! Nothing here sees LLVM: facts come in, and what comes out is marks that the shim sets.
//!
//! * [`choice`]: what a kernel chooses;
//! * [`ahead`]: what the choices of a module's kernels come to, ahead of the first optimisation;
//! * [`call_graph`]: its functions and calls;
//! * [`stack`]: calls that pass addresses of stack variables;
//! * [`unroll`]: which loops LLVM unrolls, and how often.

pub mod ahead;
pub mod call_graph;
pub mod choice;
pub mod stack;
pub mod unroll;
