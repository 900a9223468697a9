//! What is decided of LLVM's own optimisations, from facts that the shim reads off LLVM IR.
//!
//! Nothing here sees LLVM: facts come in, and what comes out is marks that the shim sets.
//!
//! * [`unroll`]: which loops LLVM unrolls, and how often.

pub mod unroll;
