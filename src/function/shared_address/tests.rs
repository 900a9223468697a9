//! Tests of access bases and of dominating definitions.

use super::{access, definitions};
use crate::function::{Function, Inst, VReg};

fn parse(text: &str) -> Function {
    Function::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The base is found in a load, a store, and the destination of a copy from global memory. There is no base for global
/// memory, symbols, instructions under a predicate, and barriers.
#[test]
fn bases() {
    let function = parse(
        "mfv 1\nfunction \"k\"\nopcode LD_i32\nopcode ST_i32\nopcode \"ldmatrix.sync.aligned.m8n8.x2.shared.b16/v2a\"\n\
         opcode \"cp.async.ca.shared.global/aai\"\nopcode \"mbarrier.arrive.shared.b64/ra\"\n\
         opcode \"@st.volatile.shared.b32/ar\"\nopcode CP_ASYNC_CG_SHARED_GLOBAL_16\nregs %0 B32 B64 B32\nbb0: frequency 1.0 depth 0\n\
         %0 = LD_i32 0, 0, 3, 32, %1, 8 :: read shared\nST_i32 %0, 0, 0, 3, 32, %1, 8 :: write shared\n\
         %0 = LD_i32 0, 0, 1, 32, %1, 8 :: read global\n%0 = LD_i32 0, 0, 3, 32, 4, 8 :: read shared\n\
         %0, %2 = \"ldmatrix.sync.aligned.m8n8.x2.shared.b16/v2a\" %1, 0 :: read shared\n\
         \"cp.async.ca.shared.global/aai\" %1, 0, %1, 0, 4 :: read write\n\
         %1 = \"mbarrier.arrive.shared.b64/ra\" %1, 0 :: write shared\n\
         \"@st.volatile.shared.b32/ar\" %1, 0, %0 :: write shared\nCP_ASYNC_CG_SHARED_GLOBAL_16 %1, 16, %1, 0 :: read write\nend\n",
    );
    let found: Vec<Option<u32>> = function.insts().map(|inst| Some(access(&function, inst)?.number)).collect();
    assert_eq!(found, [Some(5), Some(5), None, None, Some(2), Some(0), None, None, Some(0)]);
}

/// A definition counts if it dominates all reads: it is earlier in the block, or in a dominating block. It does not
/// count if a path avoids it, if there is a second definition, or if a read precedes it. A constant of the thread may
/// be defined repeatedly.
#[test]
fn single_definitions() {
    let function = parse(
        "mfv 1\nfunction \"k\"\nopcode OP\nopcode INT_PTX_SREG_TID_x\nopcode JUMP\nregs %0 B32 B32 B32 B32 B32\n\
         bb0: frequency 1.0 depth 0 -> bb1 bb2\n%0 = OP\n%3 = INT_PTX_SREG_TID_x\nJUMP :: terminator\n\
         bb1: frequency 1.0 depth 0 -> bb2\n%1 = OP %0\n%2 = OP\n%3 = INT_PTX_SREG_TID_x\n\
         bb2: frequency 1.0 depth 0\n%4 = OP %1, %4, %3\n%2 = OP %2, %0\nend\n",
    );
    let mut dominates = |above: crate::function::Block, _| above.0 == 0;
    let found = definitions(&function, &mut dominates);
    let of = |reg: u32| found[VReg(reg)];
    assert_eq!([of(0), of(1), of(2), of(3), of(4)], [Some(Inst(0)), None, None, Some(Inst(1)), None]);
}
